import { ENGAGEMENT, VITALS } from "../../domain/dimension.ts"
import type { Metric } from "../../domain/metric.ts"
import type { Key, Query, Table } from "../../domain/query.ts"
import { compareCodePoints } from "../../domain/text.ts"
import type { CodeSource } from "./codes.ts"
import { FEW, firstInOrder } from "./first-in-order.ts"
import type { Measures } from "./measures.ts"
import { type MetricValue, metricValue, visitorsOf } from "./metrics.ts"

/** Returns the result table once all parts are read. */
export function tableOf(measures: Measures, query: Query, otherCurrencies: string[]): Table {
  const values = query.metrics.map((metric) => metricValue(metric, measures, query))
  const named = rowGroups(measures, query)
  const groups = largeGroups(named, measures, query)
  const page = query.only ? chosenGroups(groups, query.only, measures) : sortedPage(groups, values, measures, query)
  const rows = page.map((group) => ({ keys: keysOf(group, measures), values: values.map((value) => value(group)) }))
  const small = query.minVisitors !== undefined && { smallRows: named.length - groups.length }
  const { facts } = measures.imported
  return { rows, totalRows: groups.length, ...small, otherCurrencies, ...(facts && { imports: facts }) }
}

/**
 * Returns the groups that become rows: those with an event of E or a visit of V, and, when conversions are requested, those with a
 * conversion. Without groupings there is one row; with `fillBuckets` every bucket is a row. The internal names `engagement` and
 * `vitals` are never rows, although completions of scroll goals and realtime events can be in their groups.
 */
function rowGroups(measures: Measures, { groupings, fillBuckets, metrics }: Query): Uint32Array {
  const { chosen, events, visits, conversions, imported } = measures
  const all = Uint32Array.from({ length: chosen.index.size }, (_, group) => group)
  if (groupings.length === 0 || fillBuckets) return all
  // E may contain only completions of scroll goals, which have a visitor but are not events.
  const visitors = visitorsOf(measures)
  const converts = metrics.some((metric) => metric === "conversions" || metric.endsWith("conversion_rate"))
  const named = groupings.findIndex((grouping) => grouping.by === "dimension" && grouping.dimension === "event")
  const isInternal = (group: number) => named !== -1 && INTERNAL.includes(chosen.index.codeOf(group, named))
  const isRow = (group: number) =>
    events.events(group) > 0 ||
    visitors(group) > 0 ||
    imported.hasRows(group) ||
    visits.visits(group) > 0 ||
    (converts && conversions.count(group) > 0)
  return all.filter((group) => isRow(group) && !isInternal(group))
}

/** Leaves out groups with too few visitors. Totals and time buckets are not affected. */
function largeGroups(groups: Uint32Array, measures: Measures, { groupings, minVisitors }: Query): Uint32Array {
  if (minVisitors === undefined || !groupings.some(({ by }) => by === "dimension")) return groups
  const visitors = visitorsOf(measures)
  return groups.filter((group) => visitors(group) >= minVisitors)
}

const INTERNAL: readonly number[] = [ENGAGEMENT, VITALS]

const keysOf = (group: number, { chosen }: Measures): Key[] =>
  chosen.sources.map((source, grouping) => source.keyOf(chosen.index.codeOf(group, grouping)))

function chosenGroups(groups: Uint32Array, only: readonly (readonly Key[])[], measures: Measures): number[] {
  const wanted = new Set(only.map((keys) => JSON.stringify(keys)))
  return Array.from(groups).filter((group) => wanted.has(JSON.stringify(keysOf(group, measures))))
}

/**
 * Returns the requested page in order. Numbers are compared rounded, as displayed. Rows without a measured value come last in both
 * directions; missing revenue counts as 0. Texts are compared by code point, a missing value by the text the flat form shows.
 */
function sortedPage(groups: Uint32Array, values: readonly MetricValue[], measures: Measures, query: Query): number[] {
  const { order, offset, limit } = query
  const columns = order.map(({ by, index }) =>
    by === "metric" ? numbersOf(values[index]!, measures, ABSENT[query.metrics[index]!]) : undefined,
  )
  const keys = measures.chosen.sources.map(({ keyOf }) => (offset + limit > FEW ? memoized(keyOf) : keyOf))
  const comparisons = order.map(({ index, descending }, i) =>
    columns[i] ? byNumber(columns[i], descending) : byKey(measures, index, descending, keys[index]!),
  )
  const ties = query.groupings.map((_, index) => byKey(measures, index, false, keys[index]!))
  const all = [...comparisons, ...ties]
  const compare = (a: number, b: number) => firstDifference(all, a, b)
  const [first] = order
  const [leading] = columns
  const candidates = leading ? withinReach(groups, leading, first!.descending, offset + limit) : groups
  return firstInOrder(candidates, compare, offset + limit).slice(offset)
}

type Compare = (a: number, b: number) => number

function firstDifference(comparisons: readonly Compare[], a: number, b: number): number {
  for (const compare of comparisons) {
    const difference = compare(a, b)
    if (difference !== 0) return difference
  }
  return 0
}

/** Values by which rows without a value are ordered instead of last. */
const ABSENT: Partial<Record<Metric, number>> = { total_revenue: 0 }

/** Returns the values of a metric by group. */
const numbersOf = (value: MetricValue, { chosen }: Measures, absent = Number.NaN): Float64Array =>
  Float64Array.from({ length: chosen.index.size }, (_, group) => value(group) ?? absent)

function byNumber(numbers: Float64Array, descending: boolean): Compare {
  return (a, b) => {
    const [one, other] = [numbers[a]!, numbers[b]!]
    if (Number.isNaN(one) || Number.isNaN(other)) return Number(Number.isNaN(one)) - Number(Number.isNaN(other))
    return descending ? other - one : one - other
  }
}

function byKey({ chosen }: Measures, grouping: number, descending: boolean, keyOf: CodeSource["keyOf"]): Compare {
  const { missing } = chosen.sources[grouping]!
  const key = (group: number) => keyOf(chosen.index.codeOf(group, grouping)) ?? missing
  const ascending: Compare = (a, b) => compareKeys(key(a), key(b))
  return descending ? (a, b) => ascending(b, a) : ascending
}

const compareKeys = (one: string | number, other: string | number): number =>
  typeof one === "string" && typeof other === "string" ? compareCodePoints(one, other) : Number(one) - Number(other)

/** Keeps the keys of rows that are all sorted, because reading their texts takes longer than comparing them. */
function memoized(keyOf: CodeSource["keyOf"]): CodeSource["keyOf"] {
  const known = new Map<number, Key>()
  return (code) => {
    let key = known.get(code)
    if (key === undefined) {
      key = keyOf(code)
      known.set(code, key)
    }
    return key
  }
}

/** Leaves out rows that cannot be among the first `count`, so that few rows are compared by text. */
function withinReach(groups: Uint32Array, numbers: Float64Array, descending: boolean, count: number): Uint32Array {
  const measured = Float64Array.from(groups, (group) => numbers[group]!).filter((number) => !Number.isNaN(number))
  if (measured.length <= count) return groups
  measured.sort()
  const last = descending ? measured[measured.length - count]! : measured[count - 1]!
  return groups.filter((group) => (descending ? numbers[group]! >= last : numbers[group]! <= last))
}
