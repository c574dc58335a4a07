import { cursorAfter, readCursor } from "../../domain/cursor.ts"
import { AppError } from "../../domain/error.ts"
import { API } from "../../domain/limits.ts"
import { ArgumentReader, refuseArguments } from "../../query/parse/arguments.ts"
import type { Slice } from "../../store/catalog/catalog.ts"

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

/** What a caller asks of a list in an order of its own, for `sortedPage`. */
export interface SortedPaging<Filters> extends Omit<Paging<Filters>, "after"> {
  /** As it was sent: `sortedPage` reads it. */
  cursor: string | undefined
}

/**
 * Reads the parameters of a list that `sortedPage` cuts. `readFilters` reads what the list has besides; `names` are its parameters.
 * Throws `invalid_query` with all problems.
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

/** Reads the parameters of a list by id, as `readSortedPaging` does. Throws `invalid_query` with all problems, or `invalid_cursor`. */
export function readPaging<Filters>(
  list: string,
  given: Record<string, unknown>,
  names: readonly string[],
  readFilters: (reader: ArgumentReader) => Filters,
): Paging<Filters> {
  const { cursor, ...paging } = readSortedPaging(list, given, names, readFilters)
  return { ...paging, after: cursor === undefined ? undefined : readCursor(paging.list, cursor) }
}

/** A cursor of an order by name holds a name of 100 characters. */
const MAX_CURSOR_CHARS = 1_000

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

/** A row's place in a list: compared part by part, lower first. The last part is its id, so that no two are the same. */
export type Place = readonly (number | string)[]

/**
 * A page of a list that is in memory as a whole, in an order of its own. The cursor says the place of the last row, not its
 * number: what is added or goes meanwhile shifts nothing. It is good for this list alone, whose name holds order and filters.
 */
export function sortedPage<Row>(
  rows: readonly Row[],
  placeOf: (row: Row) => Place,
  { list, cursor, limit, count }: { list: string; cursor: string | undefined; limit: number; count: boolean },
): PrivatePage<Row> {
  const after = cursor === undefined ? undefined : readPlace(list, cursor)
  const sorted = rows.map((row) => ({ row, place: placeOf(row) })).sort((a, b) => compare(a.place, b.place))
  const left = after ? sorted.filter(({ place }) => compare(place, after) > 0) : sorted
  const page = left.slice(0, limit)
  const hasMore = left.length > limit
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

const cursorOf = (list: string, place: Place): string => Buffer.from(JSON.stringify([list, ...place])).toString("base64url")

function readPlace(list: string, cursor: string): Place {
  const invalid = () => new AppError("invalid_cursor", "The cursor is unreadable or belongs to another list.")
  try {
    const [name, ...place] = JSON.parse(Buffer.from(cursor, "base64url").toString()) as [string, ...(number | string)[]]
    // Decoding is lenient; only what encodes to the same text is a cursor of this list.
    if (name === list && cursorOf(list, place) === cursor) return place
  } catch {
    throw invalid()
  }
  throw invalid()
}

/** As long as one statement may be on the event loop. */
const SLICE = 1_000

type Read<Row> = (slice: Slice) => Promise<Row[]>

/** A list that no single statement may read as a whole, part by part, by ascending id. */
export async function* slicesOf<Row extends { id: number }>(read: Read<Row>, after = 0): AsyncGenerator<Row[]> {
  for (let last = after; ; ) {
    const slice = await read({ after: last, limit: SLICE })
    yield slice
    if (slice.length < SLICE) return
    last = slice.at(-1)!.id
  }
}

/** The whole list. */
export async function inSlices<Row extends { id: number }>(read: Read<Row>): Promise<Row[]> {
  const rows: Row[] = []
  for await (const slice of slicesOf(read)) rows.push(...slice)
  return rows
}
