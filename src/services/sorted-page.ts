import { AppError } from "../domain/error.ts"
import type { PrivatePage } from "./paging.ts"

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
