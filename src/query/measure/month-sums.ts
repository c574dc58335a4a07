import type { Grouping, Query } from "../../domain/query.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import { namesPeople } from "../filter/filter-variants.ts"
import { bucketAt } from "../parse/buckets.ts"
import type { Month } from "../parts/months.ts"
import type { Sums } from "../parts/sums.ts"
import { bitset } from "../parts/visitor-bits.ts"
import { type MeasureContext, type Measures, measureContext, openMeasures, UNKEPT } from "./measures.ts"
import { orderedPart } from "./ordered-part.ts"

/** Sums of a month as they are kept: for any range that contains it, and whatever numbers its groups have there. */
interface MonthSums {
  /** For each grouping the codes of the groups, or the starts of their buckets. */
  codes: Float64Array[]
  /** By measure. The groups of those with groupings are positions in `codes`. */
  sums: Sums[]
}

/** Returns whether the sums of a month can be kept: no measure needs single values, and nothing outside the month decides about an event. */
export const canBeKept = ({ metrics, filter }: Query): boolean =>
  !metrics.some((metric) => UNKEPT.includes(metric)) && !(filter && namesPeople(filter))

/** Returns the function that says whether a part surely has no event or visit of the query. */
export const lacking = ({ query, chosen }: MeasureContext): ((part: Part) => boolean) =>
  query.metrics.includes("conversion_rate") ? () => false : chosen.filter.lacks

interface MonthsOptions {
  measures: Measures
  months: readonly Month[]
  check: () => void
}

/** Adds the sums of months to the measures, from the results of earlier reports as far as these are known. */
export function addMonths(snapshot: Snapshot, query: Query, { measures, months, check }: MonthsOptions): void {
  const { metrics, groupings, filter, site, timezone } = query
  const key = `sums ${Bun.hash(JSON.stringify([metrics, groupings, filter, site, timezone])).toString(36)}`
  let reader: MonthReader | undefined
  for (const month of months) {
    check()
    let kept = snapshot.results.get(`${key} ${month.name}`, month.version) as MonthSums | undefined // set below
    if (!kept) {
      reader ??= openMonthReader(snapshot, query)
      kept = reader(month, check)
      snapshot.results.set(`${key} ${month.name}`, month.version, kept, bytesOf(kept))
    }
    add(kept, month, measures)
  }
}

type MonthReader = (month: Month, check: () => void) => MonthSums

/** Creates the function that computes the sums of a month. Its measures are used for one month after the other. */
function openMonthReader(snapshot: Snapshot, query: Query): MonthReader {
  const returning = bitset(snapshot.visitorLimit)
  const native: Snapshot = { ...snapshot, imports: [], totals: () => [] }
  const measures = openMeasures(measureContext(native, query), returning)
  return ({ parts, visitors: { from, again }, crossing }, check) => {
    for (let word = 0; word < again.length; word++) returning[from + word] = again[word]! | crossing[word]!
    for (const part of parts) {
      check()
      measures.read(orderedPart(part))
    }
    returning.fill(0, from, from + again.length)
    const taken = measures.sums.map(({ summable }) => summable.take({ from, bits: crossing }))
    return numbered(taken, measures, query.groupings)
  }
}

/** Numbers the groups that occur in the sums from 0. */
function numbered(taken: readonly Sums[], { chosen, buckets, sums }: Measures, groupings: readonly Grouping[]): MonthSums {
  const numbers = new Map<number, number>()
  const numberOf = (group: number): number => {
    const known = numbers.get(group) ?? numbers.size
    numbers.set(group, known)
    return known
  }
  const all = taken.map((each, index) => (sums[index]!.isGrouped ? renumbered(each, numberOf) : each))
  const groups = [...numbers.keys()]
  const codes = groupings.map(({ by }, grouping) =>
    Float64Array.from(groups, (group) => {
      const code = chosen.index.codeOf(group, grouping)
      return by === "time" ? buckets!.edges[code]! : code
    }),
  )
  return { codes, sums: all }
}

const renumbered = ({ groups, figures, crossing }: Sums, numberOf: (group: number) => number): Sums => ({
  groups: groups.map(numberOf),
  figures,
  ...(crossing && { crossing: { groups: crossing.groups.map(numberOf), visitors: crossing.visitors } }),
})

function add({ codes, sums }: MonthSums, month: Month, { chosen, buckets, sums: measures }: Measures): void {
  const count = codes[0]?.length ?? 1
  // A range can cut the first bucket of a month, which then has another start.
  const first = Math.min(...month.parts.map(({ minAt }) => minAt))
  const own = codes.map((column, grouping) =>
    Uint32Array.from(column, (code) =>
      chosen.sources[grouping]!.grouping.by === "time" ? bucketAt(buckets!.edges, Math.max(code, first)) : code,
    ),
  )
  const groups = new Uint32Array(count)
  chosen.index.assign(own, count, groups)
  sums.forEach((each, index) => {
    const { summable, isGrouped } = measures[index]!
    summable.add(isGrouped ? renumbered(each, (number) => groups[number]!) : each)
  })
}

function bytesOf({ codes, sums }: MonthSums): number {
  const columns = sums.flatMap(({ groups, figures, crossing }) => [
    groups,
    figures,
    ...(crossing ? [crossing.groups, crossing.visitors] : []),
  ])
  return [...codes, ...columns].reduce((bytes, { byteLength }) => bytes + byteLength, 0)
}
