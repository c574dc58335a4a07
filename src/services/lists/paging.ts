import { AppError } from "../../domain/error.ts"
import { API } from "../../domain/limits.ts"
import type { PrivatePage } from "../../domain/response.ts"
import { ArgumentReader, refuseArguments } from "../../query/parse/arguments.ts"
import type { Slice } from "../../store/catalog/catalog.ts"

/** Parsed parameters of a list of the private API (areas/00 section 7). */
export interface Paging<Filters> {
  /** Name of the list with its order and filters. A cursor is valid only for the same name. */
  list: string
  /** Id of the last row of the previous page. Undefined for the first page. */
  after: number | undefined
  limit: number
  /** Whether to count all rows. */
  count: boolean
  filters: Filters
}

/** Parsed parameters of a list that is not ordered by id. */
export interface SortedPaging<Filters> extends Omit<Paging<Filters>, "after"> {
  /** Unparsed cursor, which `sortedPage` reads. */
  cursor: string | undefined
}

/**
 * Reads the parameters of a list for `sortedPage`. `readFilters` reads the further parameters of the list, whose names are `names`.
 * Throws `invalid_query` with all faults.
 */
export function readSortedPaging<Filters>(
  list: string,
  given: Record<string, unknown>,
  names: readonly string[],
  readFilters: (reader: ArgumentReader) => Filters,
): SortedPaging<Filters> {
  const reader = new ArgumentReader(given, ["limit", "cursor", "count", ...names])
  const limit = reader.integer("limit", API.privateListLimit) ?? API.privateListLimit.default
  const cursor = reader.text("cursor", { min: 1, max: MAX_CURSOR_CHARS })
  const count = reader.choice("count", ["true", "false"]) === "true"
  const filters = readFilters(reader)
  refuseArguments(reader, "text")
  return { list: listName(list, given, names), limit, count, filters, cursor }
}

/** Reads the parameters of a list by id, as `readSortedPaging` does. Throws `invalid_query` with all faults, or `invalid_cursor`. */
export function readPaging<Filters>(
  list: string,
  given: Record<string, unknown>,
  names: readonly string[],
  readFilters: (reader: ArgumentReader) => Filters,
): Paging<Filters> {
  const { cursor, ...paging } = readSortedPaging(list, given, names, readFilters)
  return { ...paging, after: cursor === undefined ? undefined : readCursor(paging.list, cursor) }
}

/** Maximum length of a cursor. In a list ordered by name it contains a name of up to 100 characters. */
export const MAX_CURSOR_CHARS = 1_000

/** Reads the parameters of a list without filters. */
export const readPlainPaging = (list: string, given: Record<string, unknown>): Paging<object> => readPaging(list, given, [], () => ({}))

/** Returns a page of a list. `read` is called with one row more than the page has, to find out whether there are more. */
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

/** Returns a page of a list that is entirely in memory, by id ascending. */
export const pageOfAll = <Row extends { id: number }>(paging: Paging<unknown>, rows: readonly Row[]): Promise<PrivatePage<Row>> =>
  privatePage(
    paging,
    async (limit) => rows.filter(({ id }) => id > (paging.after ?? 0)).slice(0, limit),
    async () => rows.length,
  )

/** Returns the name of a list with a short hash of its filters, whose texts can be long. */
function listName(list: string, given: Record<string, unknown>, names: readonly string[]): string {
  const filters = names.filter((name) => given[name] !== undefined).map((name) => [name, given[name]])
  return filters.length === 0 ? list : `${list}?${Bun.hash.wyhash(JSON.stringify(filters)).toString(36)}`
}

/** Position of a row in a list, compared part by part, ascending. The last part is the id, so that positions are unique. */
export type Place = readonly (number | string)[]

/**
 * Returns a page of a list that is entirely in memory and has its own order. The cursor contains the sort values of the last row and
 * not its index, so that added and removed rows do not shift pages. It is valid only for this list, whose name includes order and filters.
 */
export function sortedPage<Row>(
  rows: readonly Row[],
  placeOf: (row: Row) => Place,
  { list, cursor, limit, count }: { list: string; cursor: string | undefined; limit: number; count: boolean },
): PrivatePage<Row> {
  const after = cursor === undefined ? undefined : readPlace(list, cursor)
  const sorted = rows.map((row) => ({ row, place: placeOf(row) })).sort((a, b) => compare(a.place, b.place))
  const following = after ? sorted.filter(({ place }) => compare(place, after) > 0) : sorted
  const page = following.slice(0, limit)
  const hasMore = following.length > limit
  return {
    data: page.map(({ row }) => row),
    has_more: hasMore,
    next_cursor: hasMore ? cursorOf(list, page.at(-1)!.place) : null,
    ...(count && { total: rows.length }),
  }
}

function compare(a: Place, b: Place): number {
  for (let part = 0; part < a.length; part++) {
    const [one, other] = [a[part]!, b[part]!]
    if (one !== other) return one < other ? -1 : 1
  }
  return 0
}

/** Returns the cursor for the page after a place. It is valid only for this list. */
export const cursorOf = (list: string, place: Place): string => Buffer.from(JSON.stringify([list, ...place])).toString("base64url")

/** Returns the place of a cursor. Throws `invalid_cursor` for an unreadable cursor and for one of another list. */
export function readPlace(list: string, cursor: string): Place {
  const invalid = () => new AppError("invalid_cursor", "The cursor is unreadable or belongs to another list.")
  try {
    const [name, ...place] = JSON.parse(Buffer.from(cursor, "base64url").toString()) as [string, ...(number | string)[]]
    // Decoding is lenient, so the cursor must also encode to the same text.
    if (name === list && cursorOf(list, place) === cursor) return place
  } catch {
    throw invalid()
  }
  throw invalid()
}

/** Number of rows per statement, so that no statement blocks the event loop for long. */
const SLICE = 250

type Read<Row> = (slice: Slice) => Promise<Row[]>

/** Reads a list in slices by ascending id. */
export async function* slicesOf<Row extends { id: number }>(read: Read<Row>, after = 0): AsyncGenerator<Row[]> {
  for (let last = after; ; ) {
    const slice = await read({ after: last, limit: SLICE })
    yield slice
    if (slice.length < SLICE) return
    last = slice.at(-1)!.id
  }
}

/** Reads a whole list in slices. */
export async function inSlices<Row extends { id: number }>(read: Read<Row>): Promise<Row[]> {
  const rows: Row[] = []
  for await (const slice of slicesOf(read)) rows.push(...slice)
  return rows
}

/**
 * Returns an opaque cursor for the page after an id. The cursor contains the name of its list, so that it is not valid for any
 * other list.
 */
export const cursorAfter = (list: string, id: number): string => Buffer.from(`${list}:${id}`).toString("base64url")

/** Returns the id after which a page begins. Throws `invalid_cursor` for an unreadable cursor and for one of another list. */
export function readCursor(list: string, cursor: string): number {
  const id = Number(
    Buffer.from(cursor, "base64url")
      .toString()
      .slice(list.length + 1),
  )
  // Decoding is lenient, so the id is encoded again: only an identical text is a cursor of this list.
  if (Number.isSafeInteger(id) && id > 0 && cursorAfter(list, id) === cursor) return id
  throw new AppError("invalid_cursor", "The cursor is unreadable or belongs to another list. Start again without a cursor.")
}
