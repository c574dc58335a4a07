import fc from "fast-check"
import type { NewEvent } from "../../../src/domain/event.ts"
import { event, NO_TRAITS } from "./samples.ts"

/** Random visits for tests of the parts of a store. */
export const START = Date.parse("2026-03-28T00:00:00Z")
export const HOUR = 3_600_000

/** Generates visits of four visitors. `lastHour` is that of the latest start, `maxEvents` the most events after the first. */
export const plannedVisit = ({ lastHour, maxEvents }: { lastHour: number; maxEvents: number }) =>
  fc.record({
    hour: fc.integer({ min: 0, max: lastHour }),
    visitor: fc.integer({ min: 0, max: 3 }),
    events: fc.array(
      fc.record({
        minutes: fc.integer({ min: 0, max: 29 }),
        name: fc.constantFrom("pageview", "engagement", "vitals", "Signup"),
        page: fc.constantFrom("/", "/a", "/b"),
      }),
      { maxLength: maxEvents },
    ),
  })
export type PlannedVisit = ReturnType<typeof plannedVisit> extends fc.Arbitrary<infer Value> ? Value : never

/** Returns a visit as an import stores it. */
export function toImported({ hour, visitor, events }: PlannedVisit) {
  let at = START + hour * HOUR
  const made = events.map(({ minutes, name, page }): NewEvent => {
    at += minutes * 60_000
    return event({
      ...{ at, name, page, props: name === "Signup" ? [["plan", page]] : [] },
      ...(name === "Signup" && { revenue: { amount: minutes, currency: "EUR" } }),
      ...(name === "engagement" && { engagement: { engagedMs: minutes, scrollDepth: minutes } }),
      ...(name === "vitals" && { vitals: { lcp: minutes } }),
    })
  })
  const first = event({ at: START + hour * HOUR })
  return { visitor: `${visitor}`, traits: { ...NO_TRAITS, country: `${visitor}` }, events: [first, ...made], day: "2026-03-28" }
}
