import type { NewEvent } from "../../src/domain/event.ts"
import type { FunnelQuery, FunnelResult } from "../../src/domain/query.ts"
import { matches, satisfies } from "./conditions.ts"
import { isCounted, type RawVisit } from "./raw.ts"
import { median } from "./rounding.ts"

interface Seen {
  visit: RawVisit
  event: NewEvent
}

/** Computes a funnel by trying every chain of every visitor (metrics.md section 12). */
export function funnelAnswer(visits: readonly RawVisit[], query: FunnelQuery): FunnelResult {
  const chains = Array.from(trails(visits, query).values(), (trail) => furthestChain(trail, query))
  const steps = query.steps.map((_, step) => {
    const reached = chains.filter((chain) => chain.length > step)
    const times = step === 0 ? [] : reached.map((chain) => chain[step]!.event.at - chain[step - 1]!.event.at)
    return { visitors: reached.length, ...(times.length > 0 && { medianSeconds: median(times, 1000) }) }
  })
  return { steps }
}

/** Returns each visitor's events in the range in order of (time, sequence), where the sequence is that of the visit's first event. */
export function trails(visits: readonly RawVisit[], { range, identifiedOnly }: FunnelQuery): Map<string, Seen[]> {
  const ordered = [...visits].sort((a, b) => a.sequence - b.sequence).filter(({ kind }) => !identifiedOnly || kind !== "rotating")
  const seen = ordered.flatMap((visit) => visit.events.map((event) => ({ visit, event })))
  const inRange = seen.filter(({ event }) => event.at >= range.from && event.at < range.to && isCounted(event))
  return Map.groupBy(
    inRange.sort((a, b) => a.event.at - b.event.at),
    ({ visit }) => visit.visitor,
  )
}

/** Returns the earliest of the longest chains: the first one found when earlier events are tried first. */
export function furthestChain(trail: readonly Seen[], query: FunnelQuery): Seen[] {
  for (let length = query.steps.length; length > 0; length--) {
    const found = chainFrom([], length)
    if (found) return found.map((place) => trail[place]!)
  }
  return []

  function chainFrom(chain: number[], length: number): number[] | undefined {
    if (chain.length === length) return chain
    for (let place = (chain.at(-1) ?? -1) + 1; place < trail.length; place++) {
      if (!serves(place, chain)) continue
      const found = chainFrom([...chain, place], length)
      if (found) return found
    }
    return undefined
  }

  function serves(place: number, chain: readonly number[]): boolean {
    const { visit, event } = trail[place]!
    const step = query.steps[chain.length]!
    if ((event.name === "pageview") !== (step.type === "page")) return false
    if (!matches(step, step.type === "page" ? event.page : event.name)) return false
    if (chain.length === 0) return satisfies(query.filter, event, visit, query.site.goals)
    if (event.at - trail[chain[0]!]!.event.at > (query.windowMs ?? Number.POSITIVE_INFINITY)) return false
    if (query.order === "sequential") return true
    return !trail.slice(chain.at(-1)! + 1, place).some(({ event }) => event.name === "pageview" || event.interactive)
  }
}
