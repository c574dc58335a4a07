import { type TSchema, type TUnsafe, Type as t } from "@sinclair/typebox"
import type { SentJson } from "./body.ts"

/** The body of a write, as it was sent: the handler judges it with `inspect`, and says what is wrong with all of it at once. */
export const Sent = t.Any() as unknown as TUnsafe<SentJson>
export const NoQuery = t.Object({}, { additionalProperties: false })

/** A page of a list (areas/00 section 7), as `privatePage` makes it. */
export const Paged = <Row extends TSchema>(row: Row) =>
  t.Object({
    data: t.Array(row),
    has_more: t.Boolean(),
    next_cursor: t.Union([t.String(), t.Null()]),
    total: t.Optional(t.Integer()),
  })
