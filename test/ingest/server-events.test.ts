import { describe, expect, test } from "bun:test"
import type { Site } from "../../src/domain/site.ts"
import { BROWSER, siteOf, startIntake } from "./intake.ts"

const VIEW = { name: "pageview", url: "https://example.com/a" }
const DAY = 86_400_000

test("processes each event of a server independently", async () => {
  using intake = startIntake({ settings: { shields: [{ id: 1, kind: "ip", value: "10.0.0.0/8", note: "", enabled: true }] } })
  const answer = await intake.collector.collectServerEvents(
    siteOf({ settings: { shields: [{ id: 1, kind: "ip", value: "10.0.0.0/8", note: "", enabled: true }] } }),
    [
      { ...VIEW, id: "abcdefgh" },
      { name: "" },
      { ...VIEW, id: "abcdefgh" },
      { ...VIEW, user_agent: "curl/8.4.0 (x86_64)" },
      { ...VIEW, ip: "10.1.1.1", user_agent: BROWSER },
      "nonsense",
      { ...VIEW, url: "https://elsewhere.org/", revenue: { amount: "5.5" } },
      { ...VIEW, revenue: { amount: "5.555" } },
      { ...VIEW, revenue: { amount: 5, currency: "DEM" } },
    ],
  )
  expect(answer).toEqual({
    accepted: 2,
    rejected: [
      { index: 1, code: "too_short", detail: "name must not be empty." },
      { index: 5, code: "invalid_type", detail: "An event must be an object." },
      { index: 7, code: "too_many_decimals", detail: "revenue has more decimal places than its currency." },
      { index: 8, code: "invalid_currency", detail: "revenue must have a current ISO 4217 currency code, such as EUR." },
    ],
    dropped: [
      { index: 2, reason: "duplicate" },
      { index: 3, reason: "bot" },
      { index: 4, reason: "ip" },
    ],
  })
  expect(intake.visits()).toMatchObject([{ pageviews: 2, exit: "elsewhere.org/" }])
  expect(intake.drops()).toMatchObject({ duplicate: 1, bot: 1, ip: 1 })
})

test("lets requests with too many events wait, and refuses them when too many wait", async () => {
  using intake = startIntake()
  const events = Array.from({ length: 1_000 }, () => VIEW)
  const answers = await Promise.allSettled(Array.from({ length: 24 }, () => intake.collector.collectServerEvents(siteOf({}), events)))
  const accepted = answers.filter((answer) => answer.status === "fulfilled").map(({ value }) => value.accepted)
  expect(accepted).toEqual(new Array(22).fill(1_000))
  expect(answers.slice(22)).toMatchObject(new Array(2).fill({ status: "rejected", reason: { code: "unavailable" } }))
  expect(await intake.collector.collectServerEvents(siteOf({}), events)).toMatchObject({ accepted: 1_000 })
})

describe("the timestamp of a server event", () => {
  test.each([
    ["is accepted up to one minute ahead", 60_000, 60_000],
    ["is replaced by the current time if it is further ahead", 60_001, 0],
    ["is accepted in the past", -5 * DAY, -5 * DAY],
  ])("%s", async (_, offset, expected) => {
    using intake = startIntake()
    const now = intake.clock.now()
    await intake.collector.collectServerEvents(siteOf({}), [{ ...VIEW, timestamp: now + offset }])
    expect(intake.visits().map(({ start }) => start)).toEqual([now + expected])
  })

  test.each([
    ["2026-11-20T23:00:00Z", 1],
    ["2026-11-20T22:59:59Z", 0],
  ])("an event of %s with one day of retention is accepted %p times", async (timestamp, accepted) => {
    using intake = startIntake()
    const site = siteOf({ timezone: "Europe/Berlin", retention_days: 0 })
    const answer = await intake.collector.collectServerEvents(site, [{ ...VIEW, timestamp }])
    expect(answer.accepted).toBe(accepted)
    expect(answer.rejected.map(({ code }) => code)).toEqual(accepted ? [] : ["beyond_retention"])
  })
})

describe("the visitor of a server event", () => {
  const visitors = (intake: ReturnType<typeof startIntake>) => intake.visits().map(({ visitor, pageviews }) => [visitor, pageviews])

  test("is the same as that of the browser", async () => {
    using intake = startIntake()
    await intake.send()
    await intake.collector.collectServerEvents(siteOf({}), [{ ...VIEW, ip: "9.9.9.9", user_agent: BROWSER }])
    expect(visitors(intake)).toEqual([[0, 2]])
  })

  test("is one for all events without address and user agent", async () => {
    using intake = startIntake()
    await intake.collector.collectServerEvents(siteOf({}), [VIEW, VIEW])
    expect(intake.visits()).toMatchObject([{ visitor: 0, pageviews: 2 }])
    expect(intake.visits()[0]!.traits).toBe(`||Direct${"|".repeat(16)}`)
  })

  test("on a day whose salt was destroyed is recognized only within the request", async () => {
    using intake = startIntake()
    const old = { ...VIEW, ip: "9.9.9.9", timestamp: intake.clock.now() - 10 * DAY }
    await intake.collector.collectServerEvents(siteOf({}), [old, old])
    await intake.collector.collectServerEvents(siteOf({}), [old])
    expect(visitors(intake)).toEqual([
      [0, 2],
      [1, 1],
    ])
  })

  test("on such a day has visits that close with the request, and are sealed without waiting", async () => {
    using intake = startIntake()
    const now = intake.clock.now()
    const old = { ...VIEW, ip: "9.9.9.9", timestamp: now - 10 * DAY }
    await intake.collector.collectServerEvents(siteOf({}), [old, { ...old, timestamp: now - 10 * DAY + 60_000 }, old])
    await intake.store.seal(now, true)
    expect(intake.store.facts()).toMatchObject({ segments: 1, hotRows: 0 })
    expect(visitors(intake)).toEqual([[0, 3]])
    // The salt of today exists, so this visit may continue.
    await intake.collector.collectServerEvents(siteOf({}), [VIEW])
    await intake.store.seal(now, true)
    expect(intake.store.facts()).toMatchObject({ segments: 1, hotRows: 1 })
  })

  describe("across a midnight whose salts were destroyed", () => {
    const visitor = { ip: "9.9.9.9", user_agent: BROWSER }
    const at = (timestamp: string, page = "/a") => ({ ...VIEW, ...visitor, url: `https://example.com${page}`, timestamp })
    const shown = (intake: ReturnType<typeof startIntake>) =>
      intake.visits().map(({ visitor, pageviews, duration }) => [visitor, pageviews, duration / 1_000])

    test.each<[string, Partial<Site["settings"]>, string, string[], number[][]]>([
      ["is one visitor with one visit", {}, "UTC", ["2026-11-09T23:50:00Z", "2026-11-10T00:05:00Z"], [[0, 2, 900]]],
      ["is one visitor, whatever the order of the events", {}, "UTC", ["2026-11-10T00:05:00Z", "2026-11-09T23:50:00Z"], [[0, 2, 900]]],
      ["is one visitor by the site's local midnight", {}, "Asia/Tokyo", ["2026-11-10T14:50:00Z", "2026-11-10T15:05:00Z"], [[0, 2, 900]]],
      [
        "is one visitor across the end of a week",
        { identity_mode: "weekly" },
        "UTC",
        ["2026-11-08T23:50:00Z", "2026-11-09T00:05:00Z"],
        [[0, 2, 900]],
      ],
      [
        "is one visitor across the end of a month",
        { identity_mode: "monthly" },
        "UTC",
        ["2026-09-30T23:50:00Z", "2026-10-01T00:05:00Z"],
        [[0, 2, 900]],
      ],
      // The salt of 20 November still exists, that of the 19th was destroyed at midnight.
      ["is one visitor if only the earlier salt was destroyed", {}, "UTC", ["2026-11-19T23:50:00Z", "2026-11-20T00:05:00Z"], [[0, 2, 900]]],
      [
        "is another visitor after more than 30 minutes",
        {},
        "UTC",
        ["2026-11-09T23:50:00Z", "2026-11-10T00:20:01Z"],
        [
          [0, 1, 0],
          [1, 1, 0],
        ],
      ],
      [
        "is the same visitor for the rest of the visit, and another one later that day",
        {},
        "UTC",
        ["2026-11-09T23:50:00Z", "2026-11-10T00:05:00Z", "2026-11-10T00:30:00Z", "2026-11-10T02:00:00Z"],
        [
          [0, 3, 2_400],
          [1, 1, 0],
        ],
      ],
    ])("%s", async (_, settings, timezone, times, expected) => {
      using intake = startIntake({ settings, timezone })
      await intake.collector.collectServerEvents(
        siteOf({ settings, timezone }),
        times.map((time) => at(time)),
      )
      expect(shown(intake)).toEqual(expected)
    })

    test("is another visitor in another request", async () => {
      using intake = startIntake()
      await intake.collector.collectServerEvents(siteOf({}), [at("2026-11-09T23:50:00Z")])
      await intake.collector.collectServerEvents(siteOf({}), [at("2026-11-10T00:05:00Z")])
      expect(visitors(intake)).toEqual([
        [0, 1],
        [1, 1],
      ])
    })

    test("starts at the earliest event, whatever was sent first", async () => {
      using intake = startIntake()
      const events = [at("2026-11-10T00:05:00Z", "/late"), at("2026-11-09T23:50:00Z", "/early?utm_source=news")]
      await intake.collector.collectServerEvents(siteOf({}), events)
      expect(intake.visits()).toMatchObject([{ entry: "example.com/early", exit: "example.com/late" }])
    })
  })

  test("has one visit for three events sent out of order", async () => {
    using intake = startIntake()
    const sent = ["2026-11-10T10:00:00Z", "2026-11-10T10:50:00Z", "2026-11-10T10:25:00Z"]
    await intake.collector.collectServerEvents(
      siteOf({}),
      sent.map((timestamp) => ({ ...VIEW, timestamp })),
    )
    expect(visitors(intake)).toEqual([[0, 3]])
  })

  test("is the same for an identified user, also on such a day", async () => {
    using intake = startIntake({ settings: { identity_mode: "identified" } })
    const site = siteOf({ settings: { identity_mode: "identified" } })
    await intake.collector.collectServerEvents(site, [{ ...VIEW, user_id: "ann", timestamp: intake.clock.now() - 10 * DAY }])
    await intake.collector.collectServerEvents(site, [{ ...VIEW, user_id: "ann" }])
    expect(new Set(intake.visits().map(({ visitor }) => visitor)).size).toBe(1)
  })
})

describe("a null property", () => {
  const props = (intake: ReturnType<typeof startIntake>) =>
    intake.visits().flatMap(({ rows }) => rows.flatMap((row) => (row as { props: [string, string][] }).props))

  test("is treated as absent", async () => {
    using intake = startIntake()
    const event = { ...VIEW, props: { plan: "pro", coupon: null, ["k".repeat(301)]: null } }
    expect(await intake.collector.collectServerEvents(siteOf({}), [event])).toEqual({ accepted: 1, rejected: [], dropped: [] })
    expect(props(intake)).toEqual([["plan", "pro"]])
  })

  test("does not count towards the limit of thirty", async () => {
    using intake = startIntake()
    const thirty = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`k${i}`, i]))
    const answer = await intake.collector.collectServerEvents(siteOf({}), [{ ...VIEW, props: { first: null, ...thirty, last: null } }])
    expect(answer).toEqual({ accepted: 1, rejected: [], dropped: [] })
    expect(props(intake)).toHaveLength(30)
  })

  test.each([
    ["a list", { tags: ["a"] }],
    ["an object", { plan: { name: "pro" } }],
  ])("differs from %s, which is rejected", async (_, props) => {
    using intake = startIntake()
    const { rejected } = await intake.collector.collectServerEvents(siteOf({}), [{ ...VIEW, props }])
    expect(rejected).toMatchObject([{ index: 0, code: "invalid_type" }])
  })
})

test("stores a thousand events in one commit", async () => {
  using intake = startIntake()
  const events = Array.from({ length: 1_000 }, (_, index) => ({ ...VIEW, ip: `10.0.${index >> 8}.${index & 255}` }))
  expect(await intake.collector.collectServerEvents(siteOf({}), events)).toEqual({ accepted: 1_000, rejected: [], dropped: [] })
  expect(intake.visits().length).toBe(1_000)
})
