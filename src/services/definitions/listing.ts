import { API } from "../../domain/limits.ts"
import { ArgumentReader, type Form, refuseArguments } from "../../query/parse/arguments.ts"
import type { Slice } from "../../store/catalog/catalog.ts"
import { cursorAfter, readCursor } from "../lists/paging.ts"
import type { Days } from "./annotations.ts"

/** Parameters of a list request. */
export interface Listing extends Slice {
  search?: string
  /** Local days, both included. */
  days?: Days
}

/** A page of a list. `next_cursor` is present if more rows follow. */
export interface Page<Row> {
  data: Row[]
  has_more: boolean
  next_cursor?: string
}

const NAMES = { plain: [], searched: ["search"], dated: ["from", "to"] } as const

/** Reads `limit`, `cursor` and the other parameters of a list. Throws all faults at once, or `invalid_cursor`. */
export function parseListing(
  list: string,
  given: Record<string, unknown>,
  kind: keyof typeof NAMES = "plain",
  form: Form = "text",
): Listing {
  const reader = new ArgumentReader(given, ["limit", "cursor", ...NAMES[kind]])
  const limit = reader.integer("limit", API.listLimit) ?? API.listLimit.default
  const cursor = reader.text("cursor", { min: 0, max: API.searchChars })
  const search = reader.text("search", { min: 0, max: API.searchChars })
  const days = readDays(reader)
  refuseArguments(reader, form)
  const after = cursor === undefined ? 0 : readCursor(list, cursor)
  return { after, limit, ...(search !== undefined && { search }), ...(days && { days }) }
}

/** Reads a page. It requests one row more than the page holds, which shows whether more rows follow. */
export async function pageOf<Row extends { id: number }>(
  list: string,
  listing: Listing,
  read: (slice: Slice) => Promise<Row[]>,
): Promise<Page<Row>> {
  const { after, limit } = listing
  const rows = await read({ after, limit: limit + 1 })
  const data = rows.slice(0, limit)
  return rows.length > limit ? { data, has_more: true, next_cursor: cursorAfter(list, data.at(-1)!.id) } : { data, has_more: false }
}

/** Reads two local days. Both are given or neither. */
export function readDays(reader: ArgumentReader): Days | undefined {
  const [from, to] = [reader.day("from"), reader.day("to")]
  for (const [name, other] of [
    ["from", "to"],
    ["to", "from"],
  ] as const)
    if (reader.has(other) && !reader.has(name))
      reader.refuse({ pointer: `/${name}`, code: "invalid_range", detail: "Give from and to together." })
  if (!from || !to) return undefined
  if (Temporal.PlainDate.compare(from, to) > 0)
    reader.refuse({ pointer: "/from", code: "invalid_range", detail: "from must not be after to." })
  return { from: from.toString(), to: to.toString() }
}
