import { describe, expect, test } from "bun:test"
import type { PeopleListQuery, PeopleScope } from "../../../src/domain/people.ts"
import { activeDays } from "../../../src/query/people/active-days.ts"
import { engagement } from "../../../src/query/people/engagement.ts"
import { peopleList } from "../../../src/query/people/people-list.ts"
import { person } from "../../../src/query/people/person.ts"
import { dayStart, plusDays } from "../../oracle/days.ts"
import { openTraffic, SITE } from "../traffic.ts"

const ZONE = "Europe/Berlin"
const START = Date.parse("2026-08-01T00:00:00Z")
const neverStop = () => {}

const scope: PeopleScope = {
  site: SITE,
  timezone: ZONE,
  now: Date.parse("2026-11-20T12:00:00Z"),
  identifiedOnly: false,
  saltEdges: [],
  deviceMs: 0,
  siteKey: new Uint8Array(32).fill(1),
}
const base = { site: SITE, scope }

/** Returns the edges of local days, the last one included. */
const edges = (from: string, days: number) => Array.from({ length: days + 1 }, (_, day) => dayStart(plusDays(from, day), ZONE))
/** Returns noon of a local day, and some minutes. */
const noon = (day: string, minutes = 0) => dayStart(day, ZONE) + (12 * 60 + minutes) * 60_000
const days = (from: string, count: number) => Array.from({ length: count }, (_, day) => plusDays(from, day))

/** Records a visit with pageviews a minute apart. */
function visitOn(traffic: ReturnType<typeof openTraffic>, visitor: number, day: string, pages: readonly string[] = ["/"]) {
  traffic.visit({ visitor, kind: "user", events: pages.map((page, i) => ({ page, at: noon(day, i) })) })
}

describe("the histogram of active days", () => {
  test("counts people by distinct local days, in a window with a day of 25 hours and in the one before", () => {
    using traffic = openTraffic(START)
    // Berlin's clocks go back on 25 October. The visits are on the last half hour of that day, and on the first of the next one.
    traffic.visit({ visitor: 1, events: [{ at: Date.parse("2026-10-25T22:59:00Z") }] })
    traffic.visit({ visitor: 1, events: [{ at: Date.parse("2026-10-25T23:00:00Z") }] })
    traffic.visit({ visitor: 2, events: [{ at: Date.parse("2026-10-24T22:00:00Z") }] })
    traffic.visit({ visitor: 2, events: [{ at: Date.parse("2026-10-25T22:30:00Z") }] })
    visitOn(traffic, 3, "2026-10-20")
    const found = activeDays(traffic.snapshot(), { ...base, days: edges("2026-10-24", 3), previous: edges("2026-10-20", 3) }, neverStop)
    expect(found).toMatchObject({ people: [1, 1, 0], previous: [1, 0, 0] })
  })

  test("counts more than 32 days", () => {
    using traffic = openTraffic(START)
    for (const day of days("2026-09-01", 40)) visitOn(traffic, 1, day)
    for (const day of ["2026-09-01", "2026-10-03", "2026-10-10"]) visitOn(traffic, 2, day)
    const { people } = activeDays(traffic.snapshot(), { ...base, days: edges("2026-09-01", 40), previous: [0, 1] }, neverStop)
    expect([people.indexOf(1) + 1, people.lastIndexOf(1) + 1, people.length]).toEqual([3, 40, 40])
  })

  test("divides the people into tenths by active days, then by events", () => {
    using traffic = openTraffic(START)
    // Visitor 0 is active on two days with two events; visitors 1 to 11 on one day with as many events as their number.
    visitOn(traffic, 0, "2026-10-01")
    visitOn(traffic, 0, "2026-10-02")
    for (let visitor = 1; visitor <= 11; visitor++) visitOn(traffic, visitor, "2026-10-02", new Array(visitor).fill("/"))
    const { tenths } = activeDays(traffic.snapshot(), { ...base, days: edges("2026-10-01", 7), previous: [0, 1] }, neverStop)
    expect(tenths).toEqual([2 + 11, 10 + 9, 8, 7, 6, 5, 4, 3, 2, 1])
  })

  test("ranks people with thousands of events by days first, too", () => {
    using traffic = openTraffic(START)
    for (const [visitor, views] of [3, 1_500, 1_024, 1_023].entries()) visitOn(traffic, visitor, "2026-10-02", new Array(views).fill("/"))
    visitOn(traffic, 4, "2026-10-01", new Array(1_200).fill("/"))
    visitOn(traffic, 0, "2026-10-01")
    visitOn(traffic, 4, "2026-10-03")
    const { tenths } = activeDays(traffic.snapshot(), { ...base, days: edges("2026-10-01", 7), previous: [0, 1] }, neverStop)
    expect(tenths).toEqual([1_201, 4, 1_500, 1_024, 1_023, 0, 0, 0, 0, 0])
  })

  test("counts a visit over midnight on the day on which it starts, with all of its events", () => {
    using traffic = openTraffic(START)
    const midnight = dayStart("2026-10-02", ZONE)
    traffic.visit({ visitor: 1, events: [{ at: midnight - 60_000 }, { at: midnight }, { at: midnight + 60_000 }] })
    const { people, tenths } = activeDays(traffic.snapshot(), { ...base, days: edges("2026-10-01", 1), previous: [0, 1] }, neverStop)
    expect({ people, events: tenths[0] }).toEqual({ people: [1], events: 3 })
  })
})

describe("the coverage of a window", () => {
  test("contains the rotating ids of one salt period, the devices that do not expire, and the users", () => {
    using traffic = openTraffic(START)
    traffic.visit({ visitor: 1, kind: "rotating", events: [{ at: noon("2026-10-06") }] })
    traffic.visit({ visitor: 2, kind: "user", events: [{ at: noon("2026-10-06") }] })
    traffic.visit({ visitor: 3, kind: "device", events: [{ at: noon("2026-10-06") }] })
    traffic.visit({ visitor: 4, kind: "device", events: [{ at: noon("2026-09-30") }] })
    traffic.visit({ visitor: 4, kind: "device", events: [{ at: noon("2026-10-06") }] })
    const weeks = [dayStart("2026-10-05", ZONE), dayStart("2026-10-12", ZONE)]
    // The id of visitor 4 expires on 10 October, before the end of the window.
    const known = { ...scope, saltEdges: weeks, deviceMs: 10 * 86_400_000 }
    const coverageOf = (some: PeopleScope, from: string, count: number) =>
      activeDays(traffic.snapshot(), { site: SITE, scope: some, days: edges(from, count), previous: [0, 1] }, neverStop).coverage
    expect(coverageOf(known, "2026-10-05", 7)).toEqual({ visits: 4, recognized: 3 })
    expect(coverageOf(known, "2026-10-05", 2)).toEqual({ visits: 4, recognized: 4 })
    expect(coverageOf({ ...known, identifiedOnly: true }, "2026-10-05", 7)).toEqual({ visits: 4, recognized: 2 })
    expect(coverageOf(known, "2026-10-04", 7)).toEqual({ visits: 4, recognized: 2 })
  })
})

describe("the list of people", () => {
  const week = edges("2026-11-01", 7)
  const list: PeopleListQuery = { ...base, days: week, sort: "events", currency: "EUR", limit: 2 }

  test("orders ties by pseudonym and continues after the last person of a page", () => {
    using traffic = openTraffic(START)
    for (let visitor = 1; visitor <= 5; visitor++) visitOn(traffic, visitor, "2026-11-02")
    visitOn(traffic, 6, "2026-11-03", ["/a", "/b"])
    const snapshot = traffic.snapshot()
    const first = peopleList(snapshot, list, neverStop)
    const second = peopleList(snapshot, { ...list, after: { value: 1, pseudonym: first.people[1]!.pseudonym } }, neverStop)
    const third = peopleList(snapshot, { ...list, after: { value: 1, pseudonym: second.people[1]!.pseudonym } }, neverStop)
    expect([first, second, third].map(({ people, total, hasMore }) => [people.map(({ events }) => events), total, hasMore])).toEqual([
      [[2, 1], 6, true],
      [[1, 1], 6, true],
      [[1, 1], 6, false],
    ])
    const names = [first, second, third].flatMap(({ people }) => people.map(({ pseudonym }) => pseudonym))
    expect(new Set(names).size).toBe(6)
    expect(names.slice(1)).toEqual(names.slice(1).sort())
  })

  test("shows what a person did in the window, and when they were seen at any time", () => {
    using traffic = openTraffic(START)
    visitOn(traffic, 1, "2026-09-01", ["/old"])
    traffic.visit({
      visitor: 1,
      kind: "user",
      events: [
        { at: noon("2026-11-06"), page: "/a" },
        { at: noon("2026-11-06", 1), name: "Purchase", revenue: { amount: 500, currency: "USD" } },
        { at: noon("2026-11-06", 2), name: "Purchase", revenue: { amount: 250, currency: "EUR" } },
        { at: noon("2026-11-06", 3), name: "engagement", engagement: { engagedMs: 100 } },
      ],
    })
    visitOn(traffic, 1, "2026-11-07", ["/b", "/c", "/b", "/d"])
    visitOn(traffic, 1, "2026-11-09", ["/late", "/late", "/late"])
    expect(peopleList(traffic.snapshot(), { ...list, sort: "revenue" }, neverStop).people).toEqual([
      {
        visitor: expect.any(Number),
        pseudonym: expect.stringMatching(/^[0-9a-f]{16}$/),
        kind: "user",
        active_days: 2,
        streak: 2,
        visits: 2,
        events: 7,
        pageviews: 5,
        revenue: [
          { currency: "EUR", amount_minor: 250 },
          { currency: "USD", amount_minor: 500 },
        ],
        first_seen: noon("2026-09-01"),
        last_seen: noon("2026-11-09", 2),
        top_pages: ["/b", "/a", "/c"],
      },
    ])
  })

  test("follows a streak back to before the window, over the day on which clocks change", () => {
    using traffic = openTraffic(START)
    for (const day of days("2026-10-20", 19)) visitOn(traffic, 1, day)
    for (const day of days("2026-11-01", 7)) visitOn(traffic, 2, day)
    for (const day of days("2026-10-20", 18)) visitOn(traffic, 3, day)
    const { people } = peopleList(traffic.snapshot(), { ...list, sort: "first_seen", limit: 10 }, neverStop)
    const streaks = people.map(({ first_seen, active_days, streak }) => [first_seen === noon("2026-11-01"), active_days, streak])
    expect(streaks.sort()).toEqual([
      [false, 6, 0],
      [false, 7, 19],
      [true, 7, 7],
    ])
  })

  test.each([
    ["active_days", [3, 1, 2]],
    ["visits", [1, 3, 2]],
    ["events", [2, 1, 3]],
    ["last_seen", [2, 3, 1]],
    ["first_seen", [3, 1, 2]],
    ["revenue", [1, 3, 2]],
  ] as const)("is ordered by %s", (sort, expected) => {
    using traffic = openTraffic(START)
    const pay = (visitor: number, day: string, minutes: number, amount: number) =>
      traffic.visit({ visitor, kind: "user", events: [{ at: noon(day, minutes), name: "Pay", revenue: { amount, currency: "EUR" } }] })
    // Visitor 2 was first seen in October, and visitor 3 after visitor 1.
    visitOn(traffic, 2, "2026-10-01")
    for (const minutes of [0, 40, 80, 120]) pay(1, "2026-11-02", minutes, 300)
    pay(1, "2026-11-03", 0, -100)
    for (const day of days("2026-11-02", 3)) pay(3, day, 60, 200)
    visitOn(traffic, 2, "2026-11-05", new Array(9).fill("/"))
    const { people } = peopleList(traffic.snapshot(), { ...list, sort, limit: 10 }, neverStop)
    // Ordinals are assigned in the order of first visits.
    const first = Math.min(...people.map(({ visitor }) => visitor))
    expect(people.map(({ visitor }) => [2, 1, 3][visitor - first])).toEqual([...expected])
  })
})

describe("the page of a person", () => {
  const query = { ...base, days: edges("2026-11-01", 7), limit: 2 }

  test("lists visits newest first, page by page, with their events", () => {
    using traffic = openTraffic(START)
    for (const day of days("2026-11-01", 3)) visitOn(traffic, 1, day, ["/in", "/out"])
    visitOn(traffic, 2, "2026-11-02")
    traffic.visit({
      visitor: 1,
      kind: "user",
      traits: { country: "DE" },
      events: [
        { at: noon("2026-11-04"), page: "/a" },
        { at: noon("2026-11-04", 1), name: "Buy", page: "", props: [["plan", "pro"]], revenue: { amount: 5, currency: "EUR" } },
        { at: noon("2026-11-04", 2), name: "engagement", engagement: { engagedMs: 100 } },
      ],
    })
    const snapshot = traffic.snapshot()
    const { visitor } = peopleList(snapshot, { ...query, sort: "visits", currency: "EUR", limit: 1 }, neverStop).people[0]!
    const first = person(snapshot, { ...query, visitor }, neverStop)
    expect(first.visits.map(({ start }) => start)).toEqual([noon("2026-11-04"), noon("2026-11-03")])
    expect(first.visits[0]).toMatchObject({
      durationMs: 60_000,
      pageviews: 1,
      values: { country: "DE", entry_page: "/a", source: null },
      events: [
        { at: noon("2026-11-04"), name: "pageview", page: "/a", properties: {} },
        { at: noon("2026-11-04", 1), name: "Buy", page: null, properties: { plan: "pro" }, revenue: { currency: "EUR", amount_minor: 5 } },
      ],
    })
    const { start, sequence } = first.visits[1]!
    const second = person(snapshot, { ...query, visitor, before: { start, sequence } }, neverStop)
    expect([first.hasMore, second.hasMore, second.visits.map((visit) => visit.start)]).toEqual([
      true,
      false,
      [noon("2026-11-02"), noon("2026-11-01")],
    ])
  })

  test("ends early when its visits have 20,000 events", () => {
    using traffic = openTraffic(START)
    for (const day of days("2026-11-01", 4)) visitOn(traffic, 1, day, new Array(9_000).fill("/"))
    const snapshot = traffic.snapshot()
    const { visitor } = peopleList(snapshot, { ...query, sort: "visits", currency: "EUR", limit: 1 }, neverStop).people[0]!
    const { visits, hasMore } = person(snapshot, { ...query, visitor, limit: 50 }, neverStop)
    expect([visits.length, hasMore]).toEqual([3, true])
  })

  test("knows nobody without a visit, or with a rotating id when only identified people count", () => {
    using traffic = openTraffic(START)
    traffic.visit({ visitor: 1, kind: "rotating", events: [{ at: noon("2026-11-02") }] })
    const snapshot = traffic.snapshot()
    const { visitor } = peopleList(snapshot, { ...query, sort: "visits", currency: "EUR", limit: 1 }, neverStop).people[0]!
    const nothing = { visits: [], hasMore: false }
    expect(person(snapshot, { ...query, visitor, scope: { ...scope, identifiedOnly: true } }, neverStop)).toEqual(nothing)
    expect(person(snapshot, { ...query, visitor: 1_000_000 }, neverStop)).toEqual(nothing)
  })
})

describe("engagement", () => {
  test("counts three people by day: new, returning, resurrected and dormant", () => {
    using traffic = openTraffic(START)
    for (const day of ["2026-11-02", "2026-11-03", "2026-11-05"]) visitOn(traffic, 1, day)
    for (const day of ["2026-11-03", "2026-11-04", "2026-11-05"]) visitOn(traffic, 2, day)
    for (const day of ["2026-10-05", "2026-11-04"]) visitOn(traffic, 3, day)
    const query = { ...base, edges: edges("2026-11-01", 5), days: edges("2026-10-05", 33) }
    const { points } = engagement(traffic.snapshot(), query, neverStop)
    const named = points.map((point) => Object.values(point))
    // dau, wau, mau, new, returning, resurrected, dormant
    expect(named).toEqual([
      [1, 1, 1, 1, 0, 0, 0],
      [2, 2, 2, 1, 1, 0, 0],
      [2, 3, 3, 0, 1, 1, 1],
      [2, 3, 3, 0, 1, 1, 1],
    ])
  })

  test("counts the windows of a running week up to today", () => {
    using traffic = openTraffic(START)
    visitOn(traffic, 1, "2026-11-16")
    visitOn(traffic, 2, "2026-11-20")
    visitOn(traffic, 3, "2026-10-24")
    visitOn(traffic, 4, "2026-11-13")
    // Today is Friday, 20 November. 24 October is the first of the 28 days up to today, 14 November the first of the 7 days.
    const query = {
      ...base,
      edges: [edges("2026-11-09", 7)[0]!, ...edges("2026-11-16", 7).filter((_, i) => i % 7 === 0)],
      days: edges("2026-10-19", 35),
    }
    expect(engagement(traffic.snapshot(), query, neverStop).points).toEqual([
      { dau: 1, wau: 2, mau: 4, new: 2, returning: 0, resurrected: 0, dormant: 1 },
    ])
  })
})
