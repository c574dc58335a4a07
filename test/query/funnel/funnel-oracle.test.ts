import { expect, test } from "bun:test"
import fc from "fast-check"
import type { FunnelQuery } from "../../../src/domain/query.ts"
import { BREAKS } from "../../../src/query/funnel/chain.ts"
import { funnel } from "../../../src/query/funnel/funnel.ts"
import type { VisitRow } from "../../../src/query/rows/rows.ts"
import { bySize, SEED } from "../../size.ts"
import { rowBatches } from "../engine/row-batches.ts"
import { slowly } from "../engine/slow-chains.ts"
import { openTraffic, SITE } from "../traffic.ts"

const START = Date.parse("2026-11-21T10:00:00Z")
const PAGES = ["/a", "/b", "/c"]
const neverStop = () => {}

const anyEvent = fc.record({
  wait: fc.integer({ min: 0, max: 3 }),
  page: fc.constantFrom(...PAGES),
  name: fc.constantFrom("pageview", "pageview", "pageview", "S", "T", "engagement"),
  interactive: fc.boolean(),
})
const anyVisit = fc.record({
  visitor: fc.integer({ min: 0, max: 5 }),
  start: fc.integer({ min: 0, max: 60 }),
  country: fc.constantFrom("DE", "FR"),
  events: fc.array(anyEvent, { minLength: 1, maxLength: 6 }),
})
const anyStep = fc.constantFrom(
  { type: "page", match: "exact", value: "/a" } as const,
  { type: "page", match: "exact", value: "/b" } as const,
  { type: "page", match: "prefix", value: "/" } as const,
  { type: "event", match: "exact", value: "S" } as const,
  { type: "event", match: "wildcard", value: "*" } as const,
)
const anyQuery = fc.record({
  steps: fc.array(anyStep, { minLength: 2, maxLength: 4 }),
  order: fc.constantFrom("sequential" as const, "strict" as const),
  window: fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }),
  from: fc.integer({ min: 0, max: 20 }),
  to: fc.integer({ min: 30, max: 80 }),
  onlyGerman: fc.boolean(),
})

type RandomVisit = typeof anyVisit extends fc.Arbitrary<infer Value> ? Value : never
type RandomQuery = typeof anyQuery extends fc.Arbitrary<infer Value> ? Value : never

const second = (seconds: number) => START + seconds * 1000

test("agrees with a funnel computed by reading every event of every visitor", async () => {
  const agree = fc.asyncProperty(
    fc.array(anyVisit, { minLength: 1, maxLength: 30 }),
    fc.nat(30),
    fc.array(anyQuery, { minLength: 8, maxLength: 8 }),
    async (visits, sealed, queries) => {
      using traffic = openTraffic(START)
      const record = (some: typeof visits) => {
        for (const visit of some) recordVisit(traffic, visit)
      }
      record(visits.slice(0, sealed))
      await traffic.seal()
      record(visits.slice(sealed))
      const snapshot = traffic.snapshot()
      const all = [...rowBatches(snapshot, { site: SITE, range: { from: 0, to: second(1_000) } })].flat()
      for (const one of queries) {
        const query = toQuery(one)
        expect(funnel(snapshot, query, neverStop)).toEqual(slowFunnel(all, query, one.onlyGerman))
      }
    },
  )
  await fc.assert(agree, { seed: SEED, numRuns: bySize({ check: 15, full: 40, release: 2_000 }) })
})

function recordVisit(traffic: ReturnType<typeof openTraffic>, { visitor, start, country, events }: RandomVisit) {
  let at = second(start)
  const timed = events.map(({ wait, name, ...event }, i) => {
    at += wait * 1000
    // Engagement does not open a visit.
    const own = i === 0 && name === "engagement" ? "pageview" : name
    return { ...event, name: own, at, ...(own === "engagement" && { engagement: { engagedMs: 100 } }) }
  })
  traffic.visit({ visitor, traits: { country }, events: timed })
}

function toQuery({ steps, order, window, from, to, onlyGerman }: RandomQuery): FunnelQuery {
  const filter = { op: "is", dimension: "country", values: ["DE"], missing: false, caseSensitive: true } as const
  return {
    site: SITE,
    range: { from: second(from), to: second(to) },
    steps,
    order,
    ...(window !== undefined && { windowMs: window * 1000 }),
    ...(onlyGerman && { filter }),
  }
}

function slowFunnel(visits: readonly VisitRow[], query: FunnelQuery, onlyGerman: boolean) {
  const rules = { steps: query.steps.length, strict: query.order === "strict", windowMs: query.windowMs ?? Number.POSITIVE_INFINITY }
  const results = [...Map.groupBy(visits, ({ visitor }) => visitor).values()].map((own) => slowly(eventsOf(own, query, onlyGerman), rules))
  return {
    steps: query.steps.map((_, step) => {
      const reached = results.filter((result) => result.reached > step)
      const gaps = reached.map(({ times }) => times[step]! - times[step - 1]!).sort((a, b) => a - b)
      if (step === 0 || reached.length === 0) return { visitors: reached.length }
      const middle = (gaps[Math.floor((gaps.length - 1) / 2)]! + gaps[Math.ceil((gaps.length - 1) / 2)]!) / 2
      return { visitors: reached.length, medianSeconds: Math.round(middle / 1000) }
    }),
  }
}

/** Returns each visitor's events in order of time; ties are in the order of the visits' first events. */
function eventsOf(visits: readonly VisitRow[], { steps, range }: FunnelQuery, onlyGerman: boolean) {
  const events = visits.flatMap((visit) => visit.events.map((event, index) => ({ ...event, index, visit })))
  events.sort((a, b) => a.at - b.at || a.visit.sequence - b.visit.sequence || a.index - b.index)
  return events
    .filter(({ at, name }) => at >= range.from && at < range.to && name !== "engagement")
    .map(({ at, name, page, interactive, visit }) => {
      const isPageview = name === "pageview"
      const matches = steps.map(({ type, match, value }) =>
        type === "page" ? isPageview && (match === "prefix" || page === value) : !isPageview && (match === "wildcard" || name === value),
      )
      if (onlyGerman && visit.country !== "DE") matches[0] = false
      const bits = matches.reduce((sum, isMatch, step) => sum | (isMatch ? 1 << step : 0), 0)
      return { at, marks: bits | (isPageview || interactive ? BREAKS : 0) }
    })
}
