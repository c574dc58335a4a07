import { expect, test } from "bun:test"
import type { RetentionQuery } from "../../../src/domain/people.ts"
import type { Range } from "../../../src/domain/query.ts"
import { averageRates, type CellRules, cellStates } from "../../../src/domain/retention-report.ts"
import { retention } from "../../../src/query/retention/retention.ts"
import { openTraffic, SITE } from "../traffic.ts"

const DAY = 86_400_000
const utc = (text: string) => Date.parse(text.length === 10 ? `${text}T00:00:00Z` : `${text}:00Z`)
const neverStop = () => {}

const isEvent = (name: string) => ({ op: "is", dimension: "event", values: [name], missing: false, caseSensitive: true }) as const
const isCountry = (code: string) => ({ op: "is", dimension: "country", values: [code], missing: false, caseSensitive: true }) as const

/** Returns the edges of UTC periods of some days, until the one that contains `now` is over. */
function edgesFrom(first: string, days: number, now: number): number[] {
  const edges = [utc(first)]
  while (edges.at(-1)! <= now) edges.push(edges.at(-1)! + days * DAY)
  return edges
}

function queryBy(days: number, first: string, now: string, more: Partial<RetentionQuery> = {}): RetentionQuery {
  const scope = {
    ...{ site: SITE, timezone: "UTC", now: utc(now), identifiedOnly: false, saltEdges: [], deviceMs: 180 * DAY },
    siteKey: new Uint8Array(16),
  }
  const edges = edgesFrom(first, days, scope.now)
  return {
    ...{ site: SITE, scope, returnCount: 1, isSame: true, edges, cohorts: edges.length - 1, periods: edges.length - 1 },
    ...{ mode: "first_time", firstEver: false, counting: "exact", elapsed: false },
    ...more,
  }
}

/** Records one visit per text: the person, and the times of its events, `name@time` for custom events. */
function record(traffic: ReturnType<typeof openTraffic>, visits: readonly (readonly [person: number, ...events: string[]])[]): void {
  for (const [visitor, ...events] of visits) {
    const timed = events.map((text) => {
      const [name, time] = text.includes("@") ? text.split("@") : ["pageview", text]
      return { name: name!, at: utc(time!) }
    })
    traffic.visit({ visitor, kind: "user", events: timed })
  }
}

function rowsOf(visits: Parameters<typeof record>[1], query: RetentionQuery) {
  using traffic = openTraffic(utc("2026-10-01"))
  record(traffic, visits)
  return retention(traffic.snapshot(), query, neverStop).rows
}

const [A, B, C] = [1, 2, 3]
/** The example of the chapter: on 21 October, a Wednesday. */
const EXAMPLE = [
  [A, "2026-10-06T10:00"],
  [A, "2026-10-15T10:00"],
  [B, "2026-10-11T10:00"],
  [B, "2026-10-12T10:00"],
  [C, "2026-10-14T10:00"],
] as const
const WEEKS = queryBy(7, "2026-10-05", "2026-10-21T12:00", { cohorts: 2 })

test("counts three people by week, and says for each cell what is known", () => {
  const rows = rowsOf(EXAMPLE, WEEKS)
  expect(rows).toEqual([
    { cohort: 0, size: 2, counts: [2, 2, 0] },
    { cohort: 1, size: 1, counts: [1, 0, 0] },
  ])
  const states = cellStates({ ...WEEKS, now: WEEKS.scope.now }, () => true)
  expect(states).toEqual([
    ["complete", "complete", "partial"],
    ["complete", "partial", "future"],
  ])
  const stated = rows.map((row, i) => ({ ...row, states: states[i]! }))
  expect(averageRates(stated, 3)).toEqual([
    { period: 0, rate: 100, based_on_people: 3 },
    { period: 1, rate: 100, based_on_people: 2 },
    { period: 2, rate: null, based_on_people: 0 },
  ])
})

test("counts the same people by day, from the day on which each started", () => {
  const rows = rowsOf(EXAMPLE, queryBy(1, "2026-10-05", "2026-10-15T12:00", { periods: 10 }))
  const sizes = rows.map(({ size }) => size)
  expect(sizes).toEqual([0, 1, 0, 0, 0, 0, 1, 0, 0, 1, 0])
  expect(rows[1]!.counts).toEqual([1, 0, 0, 0, 0, 0, 0, 0, 0, 1])
  expect(rows[6]!.counts).toEqual([1, 1, 0, 0, 0, 0, 0, 0, 0, 0])
  expect(rows[9]!.counts).toEqual([1, 0, 0, 0, 0, 0, 0, 0, 0, 0])
})

test("leaves out people who started before the first cohort", () => {
  const late = queryBy(7, "2026-10-12", "2026-10-21T12:00")
  expect(rowsOf(EXAMPLE, late)).toEqual([
    { cohort: 0, size: 1, counts: [1, 0] },
    { cohort: 1, size: 0, counts: [0, 0] },
  ])
})

test("counts recurring people in every period with a start", () => {
  expect(rowsOf(EXAMPLE, { ...WEEKS, mode: "recurring" })).toEqual([
    { cohort: 0, size: 2, counts: [2, 2, 0] },
    { cohort: 1, size: 3, counts: [3, 0, 0] },
  ])
})

test("counts an unbounded return in all periods up to the last one", () => {
  const visits = [
    [A, "2026-10-06T10:00"],
    [A, "2026-10-20T10:00"],
  ] as const
  expect(rowsOf(visits, { ...WEEKS, counting: "unbounded" })[0]).toEqual({ cohort: 0, size: 1, counts: [1, 1, 1] })
  expect(rowsOf(visits, { ...WEEKS, counting: "unbounded", periods: 2 })[0]).toEqual({ cohort: 0, size: 1, counts: [1, 1] })
})

test("counts a visit over midnight on both days, and elapsed days from the person's own start", () => {
  const visits = [[A, "2026-10-06T23:45", "2026-10-07T00:01"]] as const
  const days = queryBy(1, "2026-10-06", "2026-10-08T12:00", { cohorts: 1 })
  expect(rowsOf(visits, days)).toEqual([{ cohort: 0, size: 1, counts: [1, 1, 0] }])
  expect(rowsOf(visits, { ...days, elapsed: true })).toEqual([{ cohort: 0, size: 1, counts: [1, 0, 0] }])
  const next = [...visits, [A, "2026-10-07T23:44"], [B, "2026-10-06T23:45"], [B, "2026-10-07T23:45"]] as const
  expect(rowsOf(next, { ...days, elapsed: true })).toEqual([{ cohort: 0, size: 2, counts: [2, 1, 0] }])
})

test("counts returns after the start only, when starts and returns differ", () => {
  const query = { ...WEEKS, isSame: false, start: isEvent("signup") }
  const visits = [
    [A, "2026-10-06T10:00", "signup@2026-10-06T10:05"],
    [B, "signup@2026-10-06T10:00", "2026-10-06T10:05"],
    [C, "signup@2026-10-06T10:00"],
    [C, "2026-10-12T10:00"],
  ] as const
  expect(rowsOf(visits, query)[0]).toEqual({ cohort: 0, size: 3, counts: [1, 1, 0] })
})

test("orders a start and a return of the same moment by their visits", () => {
  const query = { ...WEEKS, isSame: false, start: isEvent("signup"), returning: isEvent("order") }
  const before = [
    [A, "order@2026-10-06T10:00"],
    [A, "signup@2026-10-06T10:00"],
  ] as const
  expect(rowsOf(before, query)[0]).toEqual({ cohort: 0, size: 1, counts: [0, 0, 0] })
  expect(rowsOf(before.toReversed(), query)[0]).toEqual({ cohort: 0, size: 1, counts: [1, 0, 0] })
})

test("needs the number of returns within one period", () => {
  const visits = [
    [A, "2026-10-06T10:00", "2026-10-06T10:01", "2026-10-06T10:02"],
    [A, "2026-10-12T10:00"],
    [A, "2026-10-19T10:00", "2026-10-20T10:00"],
    [B, "2026-10-06T10:00", "2026-10-06T10:01"],
  ] as const
  const query = { ...WEEKS, isSame: false, returnCount: 2 }
  expect(rowsOf(visits, query)[0]).toEqual({ cohort: 0, size: 2, counts: [1, 0, 1] })
  expect(rowsOf(visits, { ...query, counting: "unbounded" })[0]).toEqual({ cohort: 0, size: 2, counts: [1, 1, 1] })
})

test("applies filters to starts only, and first_ever to the very first start", () => {
  using traffic = openTraffic(utc("2026-10-01"))
  const visit = (visitor: number, country: string, ...times: string[]) =>
    traffic.visit({ visitor, kind: "user", traits: { country }, events: times.map((time) => ({ at: utc(time) })) })
  visit(A, "DE", "2026-10-06T10:00")
  visit(A, "FR", "2026-10-13T10:00")
  visit(B, "FR", "2026-10-06T10:00")
  visit(B, "DE", "2026-10-13T10:00")
  const rows = (more: Partial<RetentionQuery>) => retention(traffic.snapshot(), { ...WEEKS, ...more }, neverStop).rows
  expect(rows({ filter: isCountry("DE") })).toEqual([
    { cohort: 0, size: 1, counts: [1, 1, 0] },
    { cohort: 1, size: 1, counts: [1, 0, 0] },
  ])
  expect(rows({ filter: isCountry("DE"), firstEver: true })).toEqual([
    { cohort: 0, size: 1, counts: [1, 1, 0] },
    { cohort: 1, size: 0, counts: [0, 0, 0] },
  ])
  expect(rows({ breakdown: "country" })).toEqual([
    { cohort: 0, value: "DE", size: 1, counts: [1, 1, 0] },
    { cohort: 0, value: "FR", size: 1, counts: [1, 1, 0] },
    { cohort: 1, value: "DE", size: 0, counts: [0, 0, 0] },
    { cohort: 1, value: "FR", size: 0, counts: [0, 0, 0] },
  ])
})

test("gives the 20 largest values rows of their own, and the others one together", () => {
  using traffic = openTraffic(utc("2026-10-01"))
  let visitor = 0
  const visit = (city: string) => traffic.visit({ visitor: ++visitor, kind: "user", traits: { city }, events: [{ at: utc("2026-10-06") }] })
  for (let city = 10; city < 32; city++) visit(`city ${city}`)
  visit("city 31")
  for (let i = 0; i < 3; i++) visit("(other)")
  const rows = retention(traffic.snapshot(), { ...WEEKS, breakdown: "city", cohorts: 1 }, neverStop).rows
  expect(rows.map(({ value, isOther, size }) => [value ?? isOther, size])).toEqual([
    ["city 31", 2],
    ...Array.from({ length: 19 }, (_, i) => [`city ${i + 10}`, 1]),
    [true, 5],
  ])
})

test("counts only people with a user id or device id when the scope says so, and nothing after its time", () => {
  using traffic = openTraffic(utc("2026-10-01"))
  traffic.visit({ visitor: A, kind: "rotating", events: [{ at: utc("2026-10-06") }] })
  traffic.visit({ visitor: B, kind: "device", events: [{ at: utc("2026-10-06") }] })
  traffic.visit({ visitor: B, kind: "device", events: [{ at: utc("2026-10-21T12:00") + 1 }] })
  const identified = retention(traffic.snapshot(), { ...WEEKS, scope: { ...WEEKS.scope, identifiedOnly: true } }, neverStop)
  expect(identified.rows[0]).toEqual({ cohort: 0, size: 1, counts: [1, 0, 0] })
  // Of the two visits that start in a cohort.
  expect(identified.coverage).toEqual({ visits: 2, recognized: 1 })
  expect(retention(traffic.snapshot(), WEEKS, neverStop).rows[0]).toEqual({ cohort: 0, size: 2, counts: [2, 0, 0] })
})

test("counts only the people of a set", () => {
  const { scope } = WEEKS
  const test = { of: "visits" } as const
  const range = { from: utc("2026-10-12"), to: utc("2026-10-13") }
  // B, who returned on the 12th.
  const group = { match: "all", conditions: [{ test, negate: false, window: { range } }] } as const
  const among = { key: "on the 12th", scope, until: utc("2026-10-21"), members: { by: "group", group } } as const
  for (const query of [WEEKS, { ...WEEKS, breakdown: "country" as const }]) {
    const rows = rowsOf(EXAMPLE, { ...query, among })
    expect(rows.map(({ size, counts }) => [size, ...counts])).toEqual([
      [1, 1, 1, 0],
      [0, 0, 0, 0],
    ])
  }
})

test("stops between parts", () => {
  using traffic = openTraffic(utc("2026-10-01"))
  record(traffic, EXAMPLE)
  const stop = () => {
    throw new Error("stopped")
  }
  for (const query of [WEEKS, { ...WEEKS, elapsed: true }]) expect(() => retention(traffic.snapshot(), query, stop)).toThrow("stopped")
})

/** Salt periods of `monthly`. */
const MONTHS = ["2026-10-01", "2026-11-01", "2026-12-01", "2027-01-01"].map(utc)
const isInOneMonth = ({ from, to }: Range) => MONTHS.some((month, i) => from >= month && to <= MONTHS[i + 1]!)

test("never takes 30 October and 2 November for one person with monthly ids", () => {
  using traffic = openTraffic(utc("2026-10-01"))
  const visit = (month: string, visitor: number, time: string) => {
    traffic.store.write(utc(time), (writer) => {
      const ordinal = writer.visitor(SITE.id, month, { high: 0, low: visitor })
      const traits = NO_TRAITS
      const id = writer.openVisit(SITE.id, { rotating: ordinal, visitor: ordinal, visitorKind: "rotating", traits }, time.slice(0, 10))
      writer.add(SITE.id, id, { ...PAGEVIEW, at: utc(time) }, time.slice(0, 10))
    })
  }
  // The same browser has a new id in November.
  visit("2026-10", 1, "2026-10-30T10:00")
  visit("2026-11", 2, "2026-11-02T10:00")
  visit("2026-11", 2, "2026-11-10T10:00")
  const query = queryBy(7, "2026-10-26", "2026-12-09T12:00", { cohorts: 2, periods: 6 })
  const { rows } = retention(traffic.snapshot(), query, neverStop)
  expect(rows).toEqual([
    { cohort: 0, size: 1, counts: [1, 0, 0, 0, 0, 0] },
    { cohort: 1, size: 1, counts: [1, 1, 0, 0, 0, 0] },
  ])
  // The zeros of the first row mean nothing. The second row is known in the weeks of 9, 16 and 23 November.
  expect(cellStates({ ...query, now: query.scope.now }, isInOneMonth)).toEqual([
    ["complete", ...Array.from({ length: 5 }, () => "unobservable" as const)],
    ["complete", "complete", "complete", "complete", "unobservable", "unobservable"],
  ])
})

const NO_TRAITS = {
  ...{ source: "", referrer: "", channel: "", utm_source: "", utm_medium: "", utm_campaign: "", utm_term: "", utm_content: "" },
  ...{ click_id_type: "", country: "", region: "", city: "", device: "", size: "", browser: "", browser_version: "", os: "" },
  ...{ os_version: "", language: "" },
}
const PAGEVIEW = { name: "pageview", page: "/", hostname: "", title: "", interactive: true, props: [] }

type StateCase = [name: string, rules: Partial<CellRules>, recognizes: (window: Range) => boolean, states: string[]]
/** Days from 1 to 4 November 2026, at noon on the 3rd. Letters are the first ones of states. */
const days = { edges: ["2026-11-01", "2026-11-02", "2026-11-03", "2026-11-04"].map(utc), now: utc("2026-11-03T12:00") }
const upTo = (time: string) => (window: Range) => window.to <= utc(time)

test.each<StateCase>([
  ["ends a period with its day", {}, () => true, ["ccpf", "cpff", "pfff"]],
  ["counts elapsed days until the last person's are over", { elapsed: true }, () => true, ["cppf", "ppff", "pfff"]],
  ["knows nothing within a daily salt but the cohorts themselves", {}, () => false, ["cuuf", "cuff", "pfff"]],
  ["needs the first period when it counts returns", { isSame: false }, () => false, ["uuuf", "uuff", "ufff"]],
  ["needs the time until the end of the cell", {}, upTo("2026-11-03"), ["ccuf", "cuff", "pfff"]],
  ["needs the time until now with unbounded counting", { counting: "unbounded" }, upTo("2026-11-03"), ["cuuf", "cuff", "pfff"]],
  ["needs the last person's elapsed days", { elapsed: true }, upTo("2026-11-04"), ["cpuf", "puff", "pfff"]],
])("a cell's state %s", (_, rules, recognizes, states) => {
  const all: CellRules = { ...days, cohorts: 3, periods: 4, isSame: true, counting: "exact", elapsed: false, ...rules }
  expect(cellStates(all, recognizes).map((row) => row.map((state) => state[0]).join(""))).toEqual(states)
})

test("weighs averages by people, and leaves out cells that are not complete", () => {
  const rows = [
    { size: 3, counts: [3, 1], states: ["complete", "complete"] as const },
    { size: 1, counts: [1, 1], states: ["complete", "complete"] as const },
    { size: 90, counts: [90, 0], states: ["suppressed", "partial"] as const },
    { size: 0, counts: [0, 0], states: ["complete", "complete"] as const },
  ]
  expect(averageRates(rows, 2)).toEqual([
    { period: 0, rate: 100, based_on_people: 4 },
    { period: 1, rate: 50, based_on_people: 4 },
  ])
  expect(averageRates([], 1)).toEqual([{ period: 0, rate: null, based_on_people: 0 }])
})
