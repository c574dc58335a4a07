import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import type { Filter } from "../../../src/domain/filter.ts"
import type { PeopleCondition, PeopleScope, PeopleSet } from "../../../src/domain/people.ts"
import type { VisitorKind } from "../../../src/domain/visit.ts"
import { answerTask } from "../../../src/query/engine/queries.ts"
import { peopleStates } from "../../../src/query/people/sets.ts"
import { IN, OUT, PENDING } from "../../../src/query/people/slice.ts"
import { pseudonyms } from "../../../src/query/show/pseudonyms.ts"
import type { Snapshot } from "../../../src/store/events/part.ts"
import { openTraffic, SITE } from "../traffic.ts"

const unwatched = () => {}
const at = (time: string) => Date.parse(`2026-${time}:00Z`)
const START = at("03-01T00:00")
const DAY_MS = 86_400_000

const SCOPE: PeopleScope = {
  site: SITE,
  timezone: "UTC",
  now: at("03-20T12:00"),
  identifiedOnly: false,
  saltEdges: [START, at("04-01T00:00")],
  deviceMs: 5 * DAY_MS,
  siteKey: new Uint8Array(32).fill(7),
}

const is = (dimension: "event" | "page" | "country", value: string): Filter => ({
  op: "is",
  dimension,
  values: [value],
  missing: false,
  caseSensitive: true,
})
const did = (event: string, more: Partial<PeopleCondition> = {}): PeopleCondition => ({
  test: { of: "events", filter: is("event", event) },
  negate: false,
  ...more,
})

let keys = 0
function setOf(conditions: readonly PeopleCondition[], more: Partial<Omit<PeopleSet, "members">> & { now?: number } = {}): PeopleSet {
  const { now = SCOPE.now, ...rest } = more
  return {
    key: `set ${keys++}`,
    scope: { ...SCOPE, now },
    until: at("03-21T00:00"),
    members: { by: "group", group: { match: "all", conditions } },
    ...rest,
  }
}

type Traffic = ReturnType<typeof openTraffic>

/** Records a visit with one event for each time. */
function visit(traffic: Traffic, visitor: number, name: string, times: readonly string[], kind: VisitorKind = "user"): void {
  traffic.visit({
    visitor,
    kind,
    traits: { country: visitor % 2 === 0 ? "DE" : "FR" },
    events: times.map((time) => ({ at: at(time), name })),
  })
}

/** Returns the states of the first visitors, in the order in which they appeared. */
const states = (snapshot: Snapshot, set: PeopleSet) => [...peopleStates(snapshot, set, unwatched)]

describe("signed up, and no purchase within 7 days", () => {
  const conditions = [did("signup"), did("purchase", { negate: true, window: { after: 0, days: 7 } })]

  test("counts a purchase until the end of the local day 7 days later", () => {
    using traffic = openTraffic(START)
    for (const visitor of [0, 1, 2, 3]) visit(traffic, visitor, "signup", ["03-01T23:50"])
    visit(traffic, 0, "purchase", ["03-08T23:59"])
    visit(traffic, 1, "purchase", ["03-09T00:00"])
    visit(traffic, 2, "purchase", ["03-01T23:49"])
    visit(traffic, 4, "purchase", ["03-02T00:00"])
    expect(states(traffic.snapshot(), setOf(conditions))).toEqual([OUT, IN, IN, IN, OUT])
  })

  test("leaves people undecided until the window has ended", () => {
    using traffic = openTraffic(START)
    visit(traffic, 0, "signup", ["03-01T23:50"])
    visit(traffic, 1, "signup", ["03-02T00:10"])
    const asOf = (day: string, now: string) => states(traffic.snapshot(), setOf(conditions, { until: at(`${day}T00:00`), now: at(now) }))
    expect(asOf("03-09", "03-08T23:59")).toEqual([PENDING, PENDING])
    expect(asOf("03-09", "03-09T00:00")).toEqual([IN, PENDING])
    // As of an earlier day nothing is known of the days since.
    expect(asOf("03-05", "03-20T00:00")).toEqual([PENDING, PENDING])
    expect(asOf("03-10", "03-10T00:00")).toEqual([IN, IN])
  })

  test("needs a person who was recognized throughout", () => {
    using traffic = openTraffic(START)
    visit(traffic, 0, "signup", ["03-01T10:00"], "device")
    visit(traffic, 1, "signup", ["03-01T10:00"], "rotating")
    visit(traffic, 2, "signup", ["03-01T10:00"], "user")
    expect(states(traffic.snapshot(), setOf(conditions))).toEqual([OUT, IN, IN])
    const weekly = { ...SCOPE, saltEdges: [START, at("03-08T00:00"), at("03-15T00:00")], deviceMs: 8 * DAY_MS }
    expect(states(traffic.snapshot(), setOf(conditions, { scope: weekly }))).toEqual([IN, OUT, IN])
    expect(states(traffic.snapshot(), setOf(conditions, { scope: { ...weekly, identifiedOnly: true } }))).toEqual([IN, OUT, IN])
  })
})

test("a person with an undecided condition is undecided for the sets that refer to this one", () => {
  using traffic = openTraffic(START)
  visit(traffic, 0, "signup", ["03-18T10:00"])
  visit(traffic, 1, "signup", ["03-01T10:00"])
  const inner = setOf([did("signup"), did("purchase", { negate: true, window: { after: 0, days: 7 } })])
  const refer = (negate: boolean) => states(traffic.snapshot(), setOf([{ test: { of: "set", set: inner }, negate }]))
  expect(refer(false)).toEqual([PENDING, IN])
  expect(refer(true)).toEqual([PENDING, OUT])
})

test("active days are decided as soon as the days that are left do not suffice", () => {
  using traffic = openTraffic(START)
  visit(traffic, 0, "pageview", ["03-18T10:00"])
  visit(traffic, 1, "pageview", ["03-19T10:00"])
  const days = { test: { of: "active_days" }, negate: false, count: { op: "gte", n: 3 }, window: { afterFirstSeen: 3 } } as const
  // Visitor 0 has 20 and 21 March left, of which the set ends with the first; visitor 1 has a third day.
  expect(states(traffic.snapshot(), setOf([days]))).toEqual([PENDING, PENDING])
  expect(states(traffic.snapshot(), setOf([days], { until: at("03-22T00:00"), now: at("03-21T10:00") }))).toEqual([OUT, PENDING])
})

describe("the memory of a worker", () => {
  const bought = setOf([did("purchase", { negate: true, window: { afterFirstSeen: 7 } })])
  const withNow = (now: string) => ({ ...bought, scope: { ...bought.scope, now: at(now) } })

  test("is not used once an event has changed the data", async () => {
    using traffic = openTraffic(START)
    visit(traffic, 0, "pageview", ["03-01T10:00"])
    expect(states(traffic.snapshot(), bought)).toEqual([IN])
    visit(traffic, 0, "purchase", ["03-02T10:00"])
    expect(states(traffic.snapshot(), bought)).toEqual([OUT])
    await traffic.seal()
    expect(states(traffic.snapshot(), bought)).toEqual([OUT])
    visit(traffic, 1, "pageview", ["03-02T11:00"])
    expect(states(traffic.snapshot(), bought)).toEqual([OUT, IN])
  })

  test("is used while only the time of the query changes, and not once a window has ended", () => {
    using traffic = openTraffic(START)
    visit(traffic, 0, "pageview", ["03-13T10:00"])
    const snapshot = traffic.snapshot()
    const first = peopleStates(snapshot, withNow("03-20T10:00"), unwatched)
    expect(peopleStates(traffic.snapshot(), withNow("03-20T23:59"), unwatched)).toBe(first)
    expect([...first]).toEqual([PENDING])
    expect(states(traffic.snapshot(), withNow("03-21T00:00"))).toEqual([IN])
    expect(states(traffic.snapshot(), withNow("03-20T23:59"))).toEqual([PENDING])
  })

  test("is not used once a device id has expired, which decides without an event", () => {
    using traffic = openTraffic(START)
    visit(traffic, 0, "pageview", ["03-16T10:00"], "device")
    const set = setOf([did("purchase", { window: { afterFirstSeen: 7 } })], { until: at("03-22T00:00") })
    const asOf = (now: string) => states(traffic.snapshot(), { ...set, scope: { ...set.scope, now: at(now) } })
    expect(asOf("03-21T09:59")).toEqual([PENDING])
    expect(asOf("03-21T10:00")).toEqual([OUT])
  })
})

test("stored pseudonyms are people of the set if they have a visit before its end", () => {
  using traffic = openTraffic(START)
  for (const visitor of [0, 1, 2]) visit(traffic, visitor, "pageview", ["03-02T10:00"])
  visit(traffic, 3, "pageview", ["03-10T10:00"])
  const name = pseudonyms(SCOPE.siteKey, "visitor")
  const foreign = pseudonyms(new Uint8Array(32), "visitor")([1])
  const write = (chunks: readonly (readonly string[])[]) => {
    using db = new Database(traffic.path)
    db.run("create table if not exists members (chunk integer primary key, visitors blob not null)")
    db.run("delete from members")
    chunks.forEach((names, chunk) => {
      db.query("insert into members values (?, ?)").run(chunk, Buffer.from(names.join(""), "hex"))
    })
  }
  write([name([2, 3, 40]), [...name([0]), ...foreign]])
  const stored = setOf([], { until: at("03-05T00:00") })
  const set = { ...stored, members: { by: "stored", text: "select visitors from members where chunk < ?", values: [10] } } as const
  expect(states(traffic.snapshot(), set)).toEqual([IN, OUT, IN, OUT])
  expect(states(traffic.snapshot(), { ...set, key: "later", until: at("03-11T00:00") })).toEqual([IN, OUT, IN, IN])
})

test("reports, rows and erasures test the visitor of a visit", () => {
  using traffic = openTraffic(START)
  visit(traffic, 0, "signup", ["03-02T10:00"])
  visit(traffic, 1, "pageview", ["03-02T10:00", "03-02T10:01"])
  visit(traffic, 0, "pageview", ["03-10T10:00"])
  const set = setOf([did("signup")])
  const range = { from: START, to: at("04-01T00:00") }
  const events = (filter: Filter) => {
    const query = {
      site: SITE,
      range,
      timezone: "UTC",
      now: SCOPE.now,
      metrics: ["visitors", "visits", "events"],
      groupings: [],
      filter,
    } as const
    const whole = { ...query, order: [], offset: 0, limit: 1, fillBuckets: false }
    return answerTask(traffic.snapshot(), { kind: "aggregate", query: whole }, unwatched)
  }
  const people: Filter = { op: "people", set }
  expect(events(people)).toMatchObject({ rows: [{ values: [1, 2, 2] }] })
  expect(events({ op: "not", filter: people })).toMatchObject({ rows: [{ values: [1, 1, 2] }] })
  expect(events({ op: "and", filters: [people, is("event", "pageview")] })).toMatchObject({ rows: [{ values: [1, 1, 1] }] })
  expect(events({ op: "has_done", filter: people })).toMatchObject({ rows: [{ values: [1, 2, 2] }] })
  const weight = answerTask(traffic.snapshot(), { kind: "visitsWeight", query: { site: SITE, range, filter: people } }, unwatched)
  expect(weight).toEqual({ visits: 2, events: 2 })
})

test("a set is given up between parts when its query is", () => {
  using traffic = openTraffic(START)
  visit(traffic, 0, "signup", ["03-02T10:00"])
  const stop = () => {
    throw new Error("given up")
  }
  expect(() => peopleStates(traffic.snapshot(), setOf([did("signup")]), stop)).toThrow("given up")
})
