/** Every query that reads visits gives the same answer over ClickHouse as over the embedded store. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { PeopleSet } from "../../src/domain/people.ts"
import type { GoalRule, Query, SiteFacts, Tally } from "../../src/domain/query.ts"
import {
  type Answer,
  answerTask,
  type QueryKind,
  type QueryOf,
  STREAMS,
  type StreamCursor,
  type StreamKind,
  type Task,
} from "../../src/query/engine/queries.ts"
import type { ComparedTables } from "../../src/query/measure/aggregate.ts"
import type { ChosenVisits } from "../../src/query/rows/choice.ts"
import { pseudonyms } from "../../src/query/show/pseudonyms.ts"
import type { Snapshot } from "../../src/store/events/part.ts"
import { bySize, SEED } from "../size.ts"
import { hasClickhouse, startClickhouse, type TestServer } from "../store/clickhouse/server.ts"
import { type ClickhouseTrial, openClickhouseWorld } from "./clickhouse-world.ts"
import { dayStart, plusDays } from "./days.ts"
import { ALL_DIMENSIONS, someFilter } from "./filters.ts"
import { STATES_WITH_TOTALS } from "./life.ts"
import { someSet } from "./people-queries.ts"
import { someFunnel, someMoment, someQuery, someRows } from "./queries.ts"
import type { RawVisit } from "./raw.ts"
import { NAMES, PAGES } from "./values.ts"

/** Queries of each kind in each state. */
const TIMES_EACH = bySize({ check: 1, full: 8, release: 40 })

/** What the queries of one trial have in common. */
interface Given extends ClickhouseTrial {
  site: SiteFacts
  visits: readonly RawVisit[]
  query: Query
  set: PeopleSet
  /** Local midnights around the traffic. */
  days: number[]
}

/** Queries that read no visits: they sum up row tables, or encode the answer to another query. */
type WithoutVisits = "sums" | "amounts" | "exportBreakdown"
type Kinds = Exclude<QueryKind, WithoutVisits> | StreamKind

const SITE_KEY = new Uint8Array(32)
const GOALS: readonly GoalRule[] = [
  { id: 1, name: "Event", kind: "event", match: "exact", value: NAMES[0]! },
  { id: 2, name: "Page", kind: "page", match: "prefix", value: "/" },
]

const SOME: { [Kind in Kinds]: (given: Given) => QueryOf<Kind> } = {
  aggregate: ({ query }) => query,
  compare: ({ query }) => ({ ...query, compared: { from: query.range.from - 86_400_000, to: query.range.from } }),
  funnel: funnelOf,
  funnels: (given) => ({
    ...funnelOf(given),
    variants: [{}, { filter: someFilter(given.random, given.site) }, { range: given.query.range }],
  }),
  retention: ({ site, set, days, random }) => ({
    ...{ site, scope: set.scope, returnCount: random.whole(1, 2), isSame: false, edges: days, cohorts: 4, periods: 4 },
    ...{ mode: random.pick(["first_time", "recurring"]), firstEver: false, counting: random.pick(["exact", "unbounded"]), elapsed: false },
    ...(random.chance(0.5) && { among: set }),
    ...(random.chance(0.5) && { breakdown: "source" }),
  }),
  realtime: ({ site, random, visits, time }) => ({ site, now: someMoment(random, visits, time), limit: 10, latest: 10 }),
  paths: ({ site, query: { range }, random }) => ({
    ...{
      site,
      range,
      mode: random.pick(["start", "end"]),
      anchor: { kind: "page", value: random.pick(PAGES) },
      steps: 4,
      top: 3,
      pins: [],
    },
    ...{ group: random.pick(["page", "directory"]), collapseQuery: random.chance(0.5), withEvents: random.chance(0.5) },
  }),
  evaluate: ({ site, set, query: { range } }) => ({ site, set, range, breakdown: ["country", "entry_page"], earlier: [] }),
  members: ({ site, set, random }) => ({ site, set, after: random.pick([-1, 2 ** 51]), limit: random.pick([3, 1_000]) }),
  propertyKeys: ({ site, query: { range, timezone } }) => ({ site, range, timezone }),
  suggest: ({ site, query: { range, timezone }, random }) => ({
    ...{ site, range, timezone, q: random.pick(["", "a", "e"]), limit: 20 },
    dimension: random.pick(ALL_DIMENSIONS.filter((dimension) => dimension !== "goal" && dimension !== "property")),
  }),
  pulse: ({ site, random, visits, time }) => ({ site, now: someMoment(random, visits, time) }),
  signals: ({ site, query: { range }, random, visits, time }) => ({
    ...{ site, now: someMoment(random, visits, time) },
    signals: [
      { of: "current" },
      { of: "visitors", range },
      { of: "conversions", goal: GOALS[1]!, range },
      { of: "events", name: random.pick(NAMES), range },
      { of: "empty_windows", range: { from: range.from, to: range.from + 7_200_000 }, windowMs: 1_800_000 },
    ],
  }),
  lastMatch: ({ site, random }) => ({ site, goal: random.pick(GOALS) }),
  visitsWeight: rowsOf,
  chosenVisits: rowsOf,
  tally: ({ site, query: { range } }) => ({ site, records: "clicks", range, after: 0, by: ["plan"] }),
  importFacts: ({ site, query: { range } }) => ({ site, range, importedTotals: true }),
  coverage: ({ site, set, query: { range } }) => ({ site, scope: set.scope, range }),
  activeDays: (given) => ({ ...active(given), days: given.days.slice(4, 9), previous: given.days.slice(0, 5) }),
  peopleList: (given) => ({
    ...{ ...active(given), days: given.days, currency: "EUR", limit: 50 },
    sort: given.random.pick(["active_days", "events", "visits", "revenue", "last_seen", "first_seen"]),
  }),
  person: (given) => ({
    ...active(given),
    visitor: given.world.visitorOf(given.site.id, given.random.whole(0, 10)),
    days: given.days,
    limit: 10,
  }),
  visitList: (given) => ({ ...rowsOf(given), bounds: {}, limit: 20, count: true }),
  visitTimeline: ({ site, visits, random }) => ({
    site,
    sequence: visits.length > 0 ? random.pick(visits).sequence : 0,
    offset: 0,
    limit: 50,
  }),
  saleVisits: ({ site, visits, set }) => ({
    ...{ site, now: set.scope.now, siteKey: SITE_KEY },
    of: { sales: visits.flatMap(({ sequence }) => [sequence, sequence + 1]) },
  }),
  touches: ({ site, query: { range }, world }) => ({
    ...{ site, range, siteKey: SITE_KEY, alongside: "clicks" },
    visitors: pseudonyms(SITE_KEY, "visitor")(Array.from({ length: 20 }, (_, ordinal) => world.visitorOf(site.id, ordinal))),
  }),
  engagement: (given) => ({ ...active(given), edges: given.days.slice(-4), days: given.days }),
  rows: (given) => ({ ...rowsOf(given), of: "visits", maxRows: 7 }) as QueryOf<"rows">,
  exportRows: (given) => ({
    ...{ ...rowsOf(given), siteKey: SITE_KEY },
    ...{ of: given.random.pick(["visits", "events"]), format: given.random.pick(["csv", "ndjson", "parquet"]) },
  }),
  importedRows: ({ site }) => ({ site }),
}

function funnelOf({ random, time, site, world }: Given): QueryOf<"funnel"> {
  return { ...someFunnel(random, time, (id) => world.visits(id)), site }
}

function rowsOf({ random, time, site, world }: Given): QueryOf<"chosenVisits"> {
  return { ...someRows(random, time, (id) => world.visits(id)), site }
}

function active({ site, set, random }: Given) {
  return {
    site,
    scope: set.scope,
    ...(random.chance(0.5) && { among: set }),
    ...(random.chance(0.5) && { filter: someFilter(random, site) }),
  }
}

/** Returns the answer to a query; for a stream all of its batches. */
function answersOf(snapshot: () => Snapshot, kind: Kinds, query: unknown): unknown[] {
  const answers: unknown[] = []
  let cursor: StreamCursor | undefined
  do {
    // The kind and the query are from the same entry of the table.
    const task = { kind, query, ...(kind in STREAMS && { cursor }) } as unknown as Task & { kind: Kinds }
    const answer = answerTask(snapshot(), task, () => {})
    answers.push(inOrder(kind, answer))
    cursor = kind in STREAMS ? (answer as { next: StreamCursor | undefined }).next : undefined
  } while (cursor)
  return answers
}

/** Returns an answer with an order for what has none: it depends on the parts and on the numbers of texts. */
function inOrder(kind: Kinds, answer: Answer): unknown {
  if (kind === "chosenVisits") {
    const { sequences, starts, visitors } = answer as ChosenVisits
    return Array.from(sequences, (sequence, at) => [sequence, starts[at]!, visitors[at]!]).sort(([a], [b]) => a! - b!)
  }
  if (kind === "tally") {
    const { groups, ...others } = answer as Tally
    return { ...others, groups: sorted(groups) }
  }
  if (kind === "compare") {
    const { table, before } = answer as ComparedTables
    return { table, before: { ...before, rows: sorted(before.rows) } }
  }
  return answer
}

const sorted = (items: readonly unknown[]): string[] => items.map((item) => JSON.stringify(item)).sort()

function check(given: Given, kind: Kinds): void {
  const query = SOME[kind](given)
  const { world, site } = given
  const expected = answersOf(() => world.embeddedSnapshot(site.id), kind, query)
  const found = answersOf(() => world.snapshot(site.id), kind, query)
  expect(found, `${kind} ${JSON.stringify(query)}`).toEqual(expected)
}

describe.skipIf(!hasClickhouse())("both stores", () => {
  let running: TestServer
  let opened: ClickhouseTrial
  beforeAll(async () => {
    running = await startClickhouse()
    opened = await openClickhouseWorld(running, SEED)
  })
  afterAll(async () => {
    opened[Symbol.dispose]()
    await running[Symbol.asyncDispose]()
  })

  test.each(STATES_WITH_TOTALS)(
    "give the same answers to every kind of query: %s",
    async (_, reach) => {
      const { world, random, time } = opened
      await reach(world, random)
      await world.follow()
      for (let left = TIMES_EACH; left > 0; left--) {
        for (const kind of Object.keys(SOME) as Kinds[]) {
          const query = someQuery(random, time, (id) => world.visits(id))
          const site = { ...query.site, goals: GOALS }
          const visits = world.visits(site.id)
          if (visits.length === 0) continue
          const set = someSet({ random, time, site, visits, snapshot: world.embeddedSnapshot(site.id) })
          const days = Array.from({ length: 12 }, (_, day) => dayStart(plusDays(time.day, day - 6), set.scope.timezone))
          check({ ...opened, site, visits, query: { ...query, site }, set, days }, kind)
        }
      }
    },
    600_000,
  )
})
