import { cursorAfter, readCursor } from "../domain/cursor.ts"
import { API } from "../domain/limits.ts"
import { ArgumentReader, refuseArguments } from "../query/arguments.ts"

/** What a caller asks of a list of the private API (areas/00 section 7). */
export interface Paging<Filters> {
  /** Which rows; good for no other list, order or filter: what a cursor is checked against. */
  list: string
  /** The id behind which the page begins; undefined: at the beginning. */
  after: number | undefined
  limit: number
  /** Whether all rows are to be counted. */
  count: boolean
  filters: Filters
}

/** A page of a list of the private API. */
export interface PrivatePage<Row> {
  data: Row[]
  has_more: boolean
  next_cursor: string | null
  total?: number
}

/** `readFilters` reads what the list has besides; `names` are its parameters. Throws all that is wrong at once, or `invalid_cursor`. */
export function readPaging<Filters>(
  list: string,
  given: Record<string, unknown>,
  names: readonly string[],
  readFilters: (reader: ArgumentReader) => Filters,
): Paging<Filters> {
  const reader = new ArgumentReader(given, ["limit", "cursor", "count", ...names])
  const limit = reader.integer("limit", API.privateListLimit) ?? API.privateListLimit.default
  const cursor = reader.text("cursor", { min: 1, max: 200 })
  const count = reader.choice("count", ["true", "false"]) === "true"
  const filters = readFilters(reader)
  refuseArguments(reader, "text")
  const named = listName(list, given, names)
  return { list: named, limit, count, filters, after: cursor === undefined ? undefined : readCursor(named, cursor) }
}

/** A list that has no filters. */
export const readPlainPaging = (list: string, given: Record<string, unknown>): Paging<object> => readPaging(list, given, [], () => ({}))

/** `read` is asked for one row more than the page has, which tells whether more follows. */
export async function privatePage<Row extends { id: number }>(
  { list, limit, count }: Paging<unknown>,
  read: (limit: number) => Promise<readonly Row[]>,
  countAll: () => Promise<number>,
): Promise<PrivatePage<Row>> {
  const rows = await read(limit + 1)
  const data = rows.slice(0, limit)
  const hasMore = rows.length > limit
  return {
    data,
    has_more: hasMore,
    next_cursor: hasMore ? cursorAfter(list, data.at(-1)!.id) : null,
    ...(count && { total: await countAll() }),
  }
}

/** The same of a list that is in memory as a whole, by id ascending. */
export const pageOfAll = <Row extends { id: number }>(paging: Paging<unknown>, rows: readonly Row[]): Promise<PrivatePage<Row>> =>
  privatePage(
    paging,
    async (limit) => rows.filter(({ id }) => id > (paging.after ?? 0)).slice(0, limit),
    async () => rows.length,
  )

/** With a short hash of the filters, whatever the texts that were searched for. */
function listName(list: string, given: Record<string, unknown>, names: readonly string[]): string {
  const filters = names.filter((name) => given[name] !== undefined).map((name) => [name, given[name]])
  return filters.length === 0 ? list : `${list}?${Bun.hash.wyhash(JSON.stringify(filters)).toString(36)}`
}
