import { PLAUSIBLE } from "../../domain/limits.ts"
import { ArgumentReader, refuseArguments } from "../../query/parse/arguments.ts"
import { cursorAfter, MAX_CURSOR_CHARS, readCursor } from "./paging.ts"

/** A page of a list that can be turned in both directions, as in Plausible's API. */
export interface PlacedPage<Row> {
  rows: Row[]
  /** `after` and `before` are the cursors of the pages around it. */
  meta: { after: string | null; before: string | null; limit: number }
}

/**
 * Reads the parameters of a list with the cursors `after` and `before`. `names` are its other parameters. The result cuts the page from
 * all rows, which are in memory, by id ascending. Throws `invalid_query` with all faults, or `invalid_cursor`.
 */
export function placedPage(list: string, given: Record<string, unknown>, names: readonly string[] = []) {
  const reader = new ArgumentReader(given, ["after", "before", "limit", ...names])
  const limit = reader.integer("limit", PLAUSIBLE.listed) ?? PLAUSIBLE.listed.default
  const [after, before] = [reader.text("after", CURSOR), reader.text("before", CURSOR)]
  if (after !== undefined && before !== undefined)
    reader.refuse({ pointer: "/before", code: "unsupported_combination", detail: "before cannot be combined with after." })
  refuseArguments(reader, "text")
  const start = after === undefined ? 0 : readCursor(list, after)
  const end = before === undefined ? undefined : readCursor(list, before)

  return {
    of<Row extends { id: number }>(all: readonly Row[]): PlacedPage<Row> {
      const rows = end === undefined ? all.filter(({ id }) => id > start).slice(0, limit) : all.filter(({ id }) => id < end).slice(-limit)
      const [first, last] = [rows[0], rows.at(-1)]
      const hasMore = last !== undefined && last !== all.at(-1)
      const hasEarlier = first !== undefined && first !== all[0]
      return {
        rows,
        meta: { after: hasMore ? cursorAfter(list, last.id) : null, before: hasEarlier ? cursorAfter(list, first.id) : null, limit },
      }
    },
  }
}

const CURSOR = { min: 1, max: MAX_CURSOR_CHARS }
