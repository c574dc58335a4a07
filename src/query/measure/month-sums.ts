import type { Query } from "../../domain/query.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import { namesPeople } from "../filter/filter-variants.ts"
import { bucketAt } from "../parse/buckets.ts"
import { findKept, keep } from "../parts/kept.ts"
import type { Month } from "../parts/months.ts"
import type { Sums } from "../parts/sums.ts"
import { bitset } from "../parts/visitor-bits.ts"
import { type MeasureContext, type Measures, measureContext, openMeasures, UNKEPT } from "./measures.ts"
import { orderedPart } from "./ordered-part.ts"
import type { Chosen } from "./selection.ts"

/** Sums of a month as they are kept: for any range that contains it, and whatever numbers its groups have there. */
type MonthSums = readonly KeptGroups[]

/** In the order of `Measures.sums`. */
interface KeptGroups {
  /** For each grouping of the choice, the codes of the groups, or the starts of their buckets. */
  codes: Float64Array[]
  /** By measure. If there is a choice, their groups are positions in `codes`. */
  sums: Sums[]
}

/** Returns whether the sums of a month can be kept: no measure needs single values, and nothing outside the month decides about an event. */
export const canBeKept = ({ metrics, filter }: Query): boolean =>
  !metrics.some((metric) => UNKEPT.includes(metric)) && !(filter && namesPeople(filter))

/** Returns the function that says whether a part surely has no event or visit of the query. */
export const lacking = ({ query, chosen }: MeasureContext): ((part: Part) => boolean) =>
  query.metrics.some((metric) => metric.endsWith("conversion_rate")) ? () => false : chosen.filter.lacks

interface MonthsOptions {
  measures: Measures
  months: readonly Month[]
  check: () => void
}

/** Adds the sums of months to the measures, from the results of earlier reports as far as these are known. */
export function addMonths(snapshot: Snapshot, query: Query, { measures, months, check }: MonthsOptions): void {
  const { range: _, now: __, order, limit, offset, ...shape } = query
  const name = `sums ${Bun.hash(JSON.stringify(shape)).toString(36)}`
  let reader: MonthReader | undefined
  for (const month of months) {
    check()
    let kept = findKept(snapshot, month, name) as MonthSums | undefined // set below
    if (!kept) {
      reader ??= openMonthReader(snapshot, query)
      kept = keep(snapshot, month, name, reader(month, check))
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
    return measures.sums.map(({ chosen, summables }) => {
      const taken = summables.map((summable) => summable.take({ from, bits: crossing }))
      return chosen ? numbered(taken, chosen) : { codes: [], sums: taken }
    })
  }
}

/** Numbers the groups that occur in the sums from 0. */
function numbered(taken: readonly Sums[], { index, sources, edges }: Chosen): KeptGroups {
  const numbers = new Map<number, number>()
  const numberOf = (group: number): number => {
    const known = numbers.get(group) ?? numbers.size
    numbers.set(group, known)
    return known
  }
  const sums = taken.map((each) => renumbered(each, numberOf))
  const groups = [...numbers.keys()]
  const codes = sources.map(({ grouping }, place) =>
    Float64Array.from(groups, (group) => {
      const code = index.codeOf(group, place)
      return grouping.by === "time" ? edges[code]! : code
    }),
  )
  return { codes, sums }
}

const renumbered = ({ groups, figures, crossing }: Sums, numberOf: (group: number) => number): Sums => ({
  groups: groups.map(numberOf),
  figures,
  ...(crossing && { crossing: { groups: crossing.groups.map(numberOf), visitors: crossing.visitors } }),
})

function add(kept: MonthSums, { parts }: Month, { sums: measures }: Measures): void {
  const first = Math.min(...parts.map(({ minAt }) => minAt))
  kept.forEach(({ codes, sums }, place) => {
    const { chosen, summables } = measures[place]!
    const groups = chosen && groupsOf(codes, chosen, first)
    sums.forEach((each, index) => {
      summables[index]!.add(groups ? renumbered(each, (number) => groups[number]!) : each)
    })
  })
}

/** Returns the groups with some codes. `first` is the time of the first event of the month. */
function groupsOf(codes: readonly Float64Array[], { index, sources, edges }: Chosen, first: number): Uint32Array {
  const count = codes[0]?.length ?? 1
  const own = codes.map((column, place) =>
    // A range can cut the first bucket of a month, which then has another start.
    Uint32Array.from(column, (code) => (sources[place]!.grouping.by === "time" ? bucketAt(edges, Math.max(code, first)) : code)),
  )
  const groups = new Uint32Array(count)
  index.assign(own, count, groups)
  return groups
}
