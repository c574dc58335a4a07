import type { Filter } from "../../domain/filter.ts"
import type { DimensionGrouping, Query, Range, SiteFacts } from "../../domain/query.ts"
import type { Snapshot } from "../../store/events/part.ts"
import { conditionsOf } from "./fit.ts"
import { type ImportGroups, readImported } from "./imported.ts"

/** A lookup of the values or keys that events of a range have. It includes imported totals where a breakdown would. */
export interface ImportedLookup {
  site: SiteFacts
  range: Range
  filter?: Filter
  timezone: string
  importedTotals?: boolean
}

/** Returns the visitors of a value in imported totals, by the number of the value in a dictionary of `size` values. */
export function importedVisitors(
  snapshot: Snapshot,
  lookup: ImportedLookup,
  grouping: Pick<DimensionGrouping, "dimension" | "property">,
  size: number,
): (code: number) => number {
  const query: Query = { ...lookup, ...UNORDERED, metrics: ["visitors"], groupings: [{ by: "dimension", ...grouping }] }
  return readImported(snapshot, query, byCode(size)).sum("visitors")
}

/** Yields the number of events with each property key in imported totals, by the number of the key. */
export function* importedPropertyEvents(snapshot: Snapshot, lookup: ImportedLookup): Generator<[key: number, events: number]> {
  const keys = snapshot.dictionary("property")
  const named = new Set(["url", "path", ...propertiesIn(lookup.filter)])
  for (const property of named) {
    const key = keys.find(property)
    if (key !== undefined) yield [key, eventsWith(snapshot, lookup, property)]
  }
  if (lookup.filter) return
  const grouping = { by: "dimension", dimension: "property" } as const
  const query: Query = { ...lookup, ...UNORDERED, metrics: ["events"], groupings: [grouping] }
  const events = readImported(snapshot, query, byCode(keys.size)).sum("events")
  for (let key = 0; key < keys.size; key++) if (!named.has(keys.text(key)) && events(key) > 0) yield [key, events(key)]
}

/** The keys that a filter names. With a filter, totals are known for no other key. */
const propertiesIn = (filter: Filter | undefined): string[] =>
  ((filter && conditionsOf(filter)) ?? []).flatMap(({ property }) => property ?? [])

function eventsWith(snapshot: Snapshot, lookup: ImportedLookup, property: string): number {
  const isMissing: Filter = { op: "is", dimension: "property", property, values: [], missing: true, caseSensitive: true }
  const carries: Filter = { op: "not", filter: isMissing }
  const filter: Filter = lookup.filter ? { op: "and", filters: [lookup.filter, carries] } : carries
  const query: Query = { ...lookup, ...UNORDERED, filter, metrics: ["events"], groupings: [] }
  return readImported(snapshot, query, TOGETHER).sum("events")(0)
}

const UNORDERED = { now: 0, order: [], limit: Number.MAX_SAFE_INTEGER, offset: 0, fillBuckets: false } satisfies Partial<Query>

/** Groups rows by the code of their only grouping. */
const byCode = (size: number): ImportGroups => ({
  assign: ([codes], count, out) => out.set(codes!.subarray(0, count)),
  size: () => size,
  edges: undefined,
})

const TOGETHER: ImportGroups = { assign: (_, __, out) => out.fill(0), size: () => 1, edges: undefined }
