import { type TSchema, type TUnsafe, Type as t } from "@sinclair/typebox"
import { instantText } from "../domain/moment.ts"
import type { SentJson } from "./body.ts"

/** The body of a write, as it was sent: the handler judges it with `inspect`, and says what is wrong with all of it at once. */
export const Sent = t.Any() as unknown as TUnsafe<SentJson>
export const NoQuery = t.Object({}, { additionalProperties: false })
/** Whoever answers reads the parameters, and says what is wrong with all of them at once. */
export const AnyQuery = t.Object({}, { additionalProperties: true })

export const Instant = t.String({ format: "date-time" })
export const orNull = <Schema extends TSchema>(schema: Schema) => t.Union([schema, t.Null()])
/** What `orNull(Instant)` is answered with. */
export const instantOrNull = (at: number | null): string | null => (at === null ? null : instantText(at))

/** A page of a list (areas/00 section 7), as `privatePage` makes it. */
export const Paged = <Row extends TSchema>(row: Row) =>
  t.Object({
    data: t.Array(row),
    has_more: t.Boolean(),
    next_cursor: orNull(t.String()),
    total: t.Optional(t.Integer()),
  })
