import type { FunnelQuery } from "../../domain/query.ts"
import type { Snapshot } from "../../store/events/part.ts"
import { findKept, keep } from "../parts/kept.ts"
import type { Month } from "../parts/months.ts"
import { bitset } from "../parts/visitor-bits.ts"
import type { KeptVisits, Trails } from "./trails.ts"
import { type Followed, openWalk } from "./walk.ts"

/** What a funnel has counted over some visitors. */
export interface StepSums {
  /** Number of visitors by the number of steps that they reached. */
  furthest: Float64Array
  /** By step, the times from the previous step in ms. */
  gaps: (Uint32Array | Float64Array)[]
}

interface StepCounter extends Followed {
  take(): StepSums
  addSums(sums: StepSums): void
}

/** What a month contributes: the visitors who are only there, and the visits of the others. */
interface MonthSteps extends StepSums {
  crossing: KeptVisits
}

interface MonthsOptions {
  tally: StepCounter
  trails: Trails
  months: readonly Month[]
  /** Creates a tally for the visitors of single months. */
  open: () => StepCounter
  check: () => void
}

/** Adds the visitors of months to a tally and to trails, from the results of earlier funnels as far as these are known. */
export function addMonths(snapshot: Snapshot, query: FunnelQuery, { tally, trails, months, open, check }: MonthsOptions): void {
  const { range: _, ...rules } = query
  const name = `steps ${Bun.hash(JSON.stringify(rules)).toString(36)}`
  let reader: MonthReader | undefined
  for (const month of months) {
    check()
    let kept = findKept(snapshot, month, name) as MonthSteps | undefined // set below
    if (!kept) {
      reader ??= openMonthReader(snapshot, query, open())
      kept = keep(snapshot, month, name, reader(month, check))
    }
    tally.addSums(kept)
    trails.addKept(kept.crossing, month.parts)
  }
}

type MonthReader = (month: Month, check: () => void) => MonthSteps

/** Creates the function that follows the visitors of a month. Its trails are used for one month after the other. */
function openMonthReader(snapshot: Snapshot, query: FunnelQuery, tally: StepCounter): MonthReader {
  const returning = bitset(snapshot.visitorLimit)
  const walk = openWalk(snapshot, query, tally, returning)
  return ({ parts, visitors: { from, again }, crossing }, check) => {
    for (let word = 0; word < again.length; word++) returning[from + word] = again[word]! | crossing[word]!
    walk.trails.expect({ from, bits: crossing })
    walk.read(parts, check)
    const kept = walk.trails.takeKept({ from, bits: crossing }, parts)
    walk.trails.finish()
    walk.trails.clear()
    returning.fill(0, from, from + again.length)
    return { ...tally.take(), crossing: kept }
  }
}
