import type { Key, Query, SiteFacts } from "../../domain/query.ts"
import { groupingOf } from "./array-dimensions.ts"
import { orderOf, type ParsedArrayQuery } from "./array-parse.ts"
import { bucketsOf } from "./buckets.ts"

/** Builds the engine query of a parsed query of the array form. */
export function arrayQuery(parsed: ParsedArrayQuery, site: SiteFacts, now: number): Query {
  const { range, metrics, dimensions, filter, order, limit, offset, isRealtime, include } = parsed
  return {
    site,
    range: range.range,
    timezone: range.timezone,
    now,
    metrics,
    groupings: dimensions.map((dimension) => groupingOf(dimension, range)),
    ...(filter && { filter }),
    order: orderOf(
      order,
      metrics,
      dimensions.map(({ name }) => name),
    ),
    limit,
    offset,
    fillBuckets: false,
    ...(isRealtime && { anyEvent: true }),
    ...(include.imports && { importedTotals: true }),
  }
}

/** Returns the keys of a row in the compared range: the same values and the time bucket with the same number. Undefined when that bucket does not exist. */
export type Partner = (keys: readonly Key[]) => readonly Key[] | undefined

/** Returns the query over the compared range, restricted to the rows with the given keys. */
export function comparedQuery(query: Query, compared: Query["range"], only: readonly (readonly Key[])[]): Query {
  return { ...query, range: compared, only, order: [] }
}

export function partnerOf({ groupings, range, timezone }: Query, compared: Query["range"]): Partner {
  const time = groupings.findIndex((grouping) => grouping.by === "time")
  const grouping = groupings[time]
  if (grouping?.by !== "time") return (keys) => keys
  const starts = bucketsOf(compared, grouping.interval, timezone).edges.subarray(0, -1)
  const places = new Map(Array.from(bucketsOf(range, grouping.interval, timezone).edges, (start, place) => [start, place] as const))
  return (keys) => {
    const start = starts[places.get(Number(keys[time])) ?? -1]
    return start === undefined ? undefined : keys.with(time, start)
  }
}
