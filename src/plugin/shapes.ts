import { type TSchema, type TUnsafe, Type as t } from "@sinclair/typebox"
import { instantText } from "../domain/moment.ts"
import type { SentJson } from "../web/body.ts"

/** Unvalidated body of a write. The handler validates it with `inspect`, which reports all problems at once. */
export const Sent = t.Any() as unknown as TUnsafe<SentJson>
export const NoQuery = t.Object({}, { additionalProperties: false })
/** Unvalidated query. The handler parses the parameters and reports all problems at once. */
export const AnyQuery = t.Object({}, { additionalProperties: true })

export const Instant = t.String({ format: "date-time" })
export const orNull = <Schema extends TSchema>(schema: Schema) => t.Union([schema, t.Null()])
/** Formats a time as an RFC 3339 timestamp, or returns null. Matches the schema `orNull(Instant)`. */
export const instantOrNull = (at: number | null): string | null => (at === null ? null : instantText(at))

/** Schema of a page of a list (areas/00 section 7), as returned by `privatePage`. */
export const Paged = <Row extends TSchema>(row: Row) =>
  t.Object({
    data: t.Array(row),
    has_more: t.Boolean(),
    next_cursor: orNull(t.String()),
    total: t.Optional(t.Integer()),
  })
