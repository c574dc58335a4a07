import { describe, expect, test } from "bun:test"
import { startIntake } from "./intake.ts"

const MINUTE = 60_000
const at = (text: string) => Date.parse(text)
const HOME = "https://example.com/"
const BUY = "https://example.com/buy"

describe("a visit", () => {
  test("starts with a pageview and continues within 30 minutes", async () => {
    using intake = startIntake()
    await intake.send({ u: HOME })
    intake.clock.advance(30 * MINUTE)
    await intake.send({ u: BUY })
    await intake.send({ n: "Signup", u: BUY, p: { plan: "pro" } })
    expect(intake.visits()).toMatchObject([
      {
        visitor: 0,
        kind: 0,
        start: at("2026-11-21T12:00:00Z"),
        duration: 30 * MINUTE,
        pageviews: 2,
        events: 3,
        interactive: 1,
        entry: "example.com/",
        exit: "example.com/buy",
        rows: [
          { name: "pageview", page: "/" },
          { name: "pageview", page: "/buy" },
          { name: "Signup", page: "/buy", props: [["plan", "pro"]] },
        ],
      },
    ])
  })

  test("ends after more than 30 minutes, while the visitor stays the same", async () => {
    using intake = startIntake()
    await intake.send()
    intake.clock.advance(30 * MINUTE + 1)
    await intake.send()
    expect(intake.visits().map(({ visitor, pageviews }) => [visitor, pageviews])).toEqual([
      [0, 1],
      [0, 1],
    ])
  })

  test("is extended by engagement, which is not counted as an event", async () => {
    using intake = startIntake()
    await intake.send()
    intake.clock.advance(20 * MINUTE)
    await intake.send({ n: "engagement", e: 4_000, sd: 50 })
    intake.clock.advance(20 * MINUTE)
    await intake.send({ n: "vitals", f: { lcp: 900 } })
    intake.clock.advance(20 * MINUTE)
    await intake.send()
    expect(intake.visits()).toMatchObject([{ pageviews: 2, events: 2, engaged: 4_000, duration: 60 * MINUTE }])
    expect(intake.visits()[0]!.rows.length).toBe(4)
  })

  test("lasts at most 24 hours", async () => {
    using intake = startIntake({ timezone: "Asia/Tokyo", settings: { identity_mode: "monthly" } })
    for (let step = 0; step <= 49; step++) {
      await intake.send()
      intake.clock.advance(30 * MINUTE)
    }
    expect(intake.visits().map(({ pageviews, duration }) => [pageviews, duration])).toEqual([
      [49, 24 * 60 * MINUTE],
      [1, 0],
    ])
  })

  test("holds at most 10,000 events", async () => {
    const limits = { visitorEventsPerMinute: 0, siteEventsPerSecond: 0, siteBurst: 0, instanceEventsPerSecond: 0 }
    using intake = startIntake({}, { limits })
    for (let sent = 0; sent < 10_001; sent += 73)
      await Promise.all(Array.from({ length: Math.min(73, 10_001 - sent) }, () => intake.send()))
    expect(intake.visits().map(({ pageviews }) => pageviews)).toEqual([10_000, 1])
  })

  test("can start with a custom event", async () => {
    using intake = startIntake()
    await intake.send({ n: "Signup", i: false })
    expect(intake.visits()).toMatchObject([{ pageviews: 0, events: 1, interactive: 0, entry: "" }])
  })

  test("is separate for another address, user agent or site", async () => {
    using intake = startIntake()
    await intake.send()
    await intake.send({}, { peer: "9.9.9.8" })
    await intake.send({}, { headers: { "user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:121.0) Gecko/20100101 Firefox/121.0" } })
    expect(intake.visits().map(({ visitor }) => visitor)).toEqual([0, 1, 2])
  })

  test("is shared by two hosts of a site, and by addresses of one IPv6 network", async () => {
    using intake = startIntake({ hosts: ["example.com", "*.example.com"] })
    await intake.send({}, { peer: "2001:db8::1" })
    await intake.send({ u: "https://shop.example.com/" }, { peer: "2001:db8::ffff" })
    expect(intake.visits()).toMatchObject([{ pageviews: 2, exit: "shop.example.com/" }])
  })

  test("continues across midnight for the same visitor", async () => {
    using intake = startIntake({ timezone: "Europe/Berlin" })
    intake.clock.advance(at("2026-11-21T22:50:00Z") - intake.clock.now())
    await intake.send()
    for (let step = 0; step < 3; step++) {
      intake.clock.advance(20 * MINUTE)
      await intake.send()
    }
    intake.clock.advance(31 * MINUTE)
    await intake.send()
    expect(intake.visits().map(({ visitor, pageviews }) => [visitor, pageviews])).toEqual([
      [0, 4],
      [1, 1],
    ])
  })

  test("keeps its acquisition, whatever comes later", async () => {
    using intake = startIntake()
    await intake.send({ r: "https://google.com/", tz: "Europe/Berlin", w: 400, l: "de-de" })
    await intake.send({ u: `${BUY}?utm_source=x&utm_medium=cpc`, r: "https://bing.com/", tz: "Asia/Tokyo", w: 2_000 })
    expect(intake.visits().map(({ traits }) => traits)).toEqual([
      "Google|google.com|Organic Search|||||||DE|||Desktop|<576|Firefox|120.0|Linux||de-DE",
    ])
  })
})

describe("a late event", () => {
  const late = (minutes: number) => ({ o: minutes * MINUTE })

  test("is stored at the server's time minus its age, at most six hours", async () => {
    using intake = startIntake()
    await intake.send(late(10))
    await intake.send({ o: 1e15 }, { peer: "8.8.8.8" })
    expect(intake.visits().map(({ start }) => start)).toEqual([at("2026-11-21T06:00:00Z"), at("2026-11-21T11:50:00Z")])
  })

  test("joins an open visit that began at most 30 minutes later, and moves its start and acquisition", async () => {
    using intake = startIntake()
    await intake.send({ u: HOME, r: "https://bing.com/" })
    await intake.send({ u: BUY, r: "https://google.com/", ...late(30) })
    expect(intake.visits()).toMatchObject([
      { start: at("2026-11-21T11:30:00Z"), duration: 30 * MINUTE, pageviews: 2, entry: "example.com/buy", exit: "example.com/" },
    ])
    expect(intake.visits()[0]!.traits).toStartWith("Google|google.com|Organic Search|")
  })

  test("does not move the acquisition if it is engagement", async () => {
    using intake = startIntake()
    await intake.send({ r: "https://bing.com/" })
    await intake.send({ n: "engagement", e: 1_000, ...late(1) })
    expect(intake.visits()[0]!.traits).toStartWith("Bing|bing.com|Organic Search|")
  })

  test("that is older forms a visit of its own and never merges two", async () => {
    using intake = startIntake()
    await intake.send({ u: "https://example.com/3" })
    await intake.send({ u: "https://example.com/1", ...late(70) })
    await intake.send({ u: "https://example.com/2", ...late(35) })
    expect(intake.visits().map(({ entry, pageviews }) => [entry, pageviews])).toEqual(
      [
        ["example.com/1", 1],
        ["example.com/3", 1],
        ["example.com/2", 1],
      ].sort((a, b) => (a[0]! < b[0]! ? -1 : 1)),
    )
  })

  test("joins the most recently active of several matching visits", async () => {
    using intake = startIntake()
    await intake.send({ u: "https://example.com/now" })
    await intake.send({ u: "https://example.com/before", ...late(50) })
    await intake.send({ u: "https://example.com/between", ...late(25) })
    expect(intake.visits().map(({ rows }) => rows.map((row) => (row as { page: string }).page))).toEqual([
      ["/before"],
      ["/between", "/now"],
    ])
  })

  test("does not join a visit that ended before it arrived", async () => {
    using intake = startIntake()
    await intake.send()
    intake.clock.advance(31 * MINUTE)
    await intake.send(late(20))
    expect(intake.visits().length).toBe(2)
  })
})

describe("a repeated event id", () => {
  test("counts once per site within 24 hours", async () => {
    using intake = startIntake()
    await intake.send({ id: "abcdefgh" })
    const again = await intake.send({ id: "abcdefgh" })
    expect(again.headers["x-plausible-dropped"]).toBe("1")
    expect(intake.visits()).toMatchObject([{ pageviews: 1 }])
    expect(intake.drops()).toEqual({ duplicate: 1 })
    intake.clock.advance(25 * 60 * MINUTE)
    await intake.send({ id: "abcdefgh" })
    expect(intake.visits().length).toBe(2)
  })

  test("counts once within a commit", async () => {
    using intake = startIntake()
    const answers = await Promise.all([intake.send({ id: "abcdefgh" }), intake.send({ id: "abcdefgh" })])
    expect(answers.map(({ headers }) => headers["x-plausible-dropped"])).toEqual([undefined, "1"])
  })
})

describe("identity", () => {
  const user = (id: string) => ({ x: id })
  const device = { y: "0123456789abcdef0123456789abcdef" }
  const who = (intake: ReturnType<typeof startIntake>) => intake.visits().map(({ visitor, kind, events }) => [visitor, kind, events])

  test("is ignored and counted in daily mode", async () => {
    using intake = startIntake()
    await intake.send(user("ann"))
    expect(who(intake)).toEqual([[0, 0, 1]])
    expect(intake.drops()).toEqual({ identify_ignored: 1 })
  })

  test("of a user replaces the visitor of the open visit and all its events", async () => {
    using intake = startIntake({ settings: { identity_mode: "identified" } })
    await intake.send()
    await intake.send(user("ann"))
    await intake.send()
    expect(who(intake)).toEqual([[1, 2, 3]])
    expect(intake.drops()).toEqual({})
  })

  test("of a user is the same across days and devices", async () => {
    using intake = startIntake({ settings: { identity_mode: "identified" } })
    await intake.send(user("ann"))
    intake.clock.advance(40 * 60 * MINUTE)
    await intake.send(user("ann"), { peer: "8.8.8.8" })
    const [first, second] = intake.visits()
    expect(first!.visitor).toBe(second!.visitor)
  })

  test("of another user starts another visit; events without one join the latest visit", async () => {
    using intake = startIntake({ settings: { identity_mode: "identified" } })
    await intake.send(user("ann"))
    intake.clock.advance(MINUTE)
    await intake.send(user("bob"))
    await intake.send()
    expect(who(intake)).toEqual([
      [1, 2, 1],
      [2, 2, 2],
    ])
  })

  test("is ignored for visitors who opt out", async () => {
    using intake = startIntake({ settings: { identity_mode: "identified" } })
    await intake.send(user("ann"), { headers: { "sec-gpc": "1" } })
    expect(who(intake)).toEqual([[0, 0, 1]])
    expect(intake.drops()).toEqual({ identify_ignored: 1 })
  })

  test("by a stored id works only in persistent mode", async () => {
    using persistent = startIntake({ settings: { identity_mode: "persistent" } })
    await persistent.send(device)
    expect(who(persistent)).toEqual([[1, 1, 1]])
    using identified = startIntake({ settings: { identity_mode: "identified" } })
    await identified.send(device)
    expect(who(identified)).toEqual([[0, 0, 1]])
  })

  test("by a stored id ends when the id expires, even if the browser still sends it", async () => {
    using intake = startIntake({ settings: { identity_mode: "persistent", persistent_days: 2 } })
    await intake.send(device)
    intake.clock.advance(2 * 24 * 60 * MINUTE - 1)
    await intake.send(device)
    intake.clock.advance(1)
    await intake.send(device)
    intake.clock.advance(31 * MINUTE)
    await intake.send(device)
    await intake.send(user("ann"))
    const [first, second, third] = who(intake)
    expect([first, second]).toEqual([
      [1, 1, 1],
      // The visit that was open when the id expired stays that of its visitor.
      [1, 1, 2],
    ])
    // Afterwards only the rotating id counts, and nothing shows a consent.
    expect(third).toEqual([2, 0, 2])
  })

  test("of a user stores the user id only if the site does", async () => {
    for (const store_user_ids of [false, true]) {
      using intake = startIntake({ settings: { identity_mode: "identified", store_user_ids } })
      await intake.send(user("ann"))
      expect(await intake.store.peopleOfUser(1, "ann")).toEqual(store_user_ids ? [1] : [])
    }
  })

  test("of a user needs consent in persistent mode", async () => {
    using intake = startIntake({ settings: { identity_mode: "persistent" } })
    await intake.send(user("ann"))
    expect(who(intake)).toEqual([[0, 0, 1]])
    expect(intake.drops()).toEqual({ identify_ignored: 1 })
    await intake.send(device)
    expect(who(intake)).toEqual([[1, 1, 2]])
    await intake.send(user("ann"))
    expect(who(intake)).toEqual([[2, 2, 3]])
    await intake.send(device)
    expect(who(intake)).toEqual([[2, 2, 4]])
  })

  test("of a user needs no consent if the site assumes it", async () => {
    using intake = startIntake({ settings: { identity_mode: "persistent", consent_default: "granted" } })
    await intake.send(user("ann"))
    expect(who(intake)).toEqual([[1, 2, 1]])
    expect(intake.drops()).toEqual({})
  })
})

describe("revenue", () => {
  const sale = (amount: unknown, currency?: string, order?: string) => ({
    n: "Buy",
    $: { amount, ...(currency && { currency }) },
    ...(order && { p: { order_id: order } }),
  })
  const revenues = (intake: ReturnType<typeof startIntake>) =>
    intake.visits().flatMap(({ rows }) => rows.flatMap((row) => (row as { revenue: string[] }).revenue))

  test("is stored in minor units of its currency", async () => {
    using intake = startIntake()
    await intake.send(sale("9.5"))
    await intake.send(sale(1_000, "jpy"))
    await intake.send(sale("-1.234", "KWD"))
    expect(revenues(intake)).toEqual(["950 EUR", "1000 JPY", "-1234 KWD"])
  })

  test("that cannot be read is omitted and counted, and the event is stored", async () => {
    using intake = startIntake()
    await intake.send(sale("1.005"))
    await intake.send(sale(5, "XXX"))
    await intake.send({ n: "Buy", $: "nonsense" })
    expect(revenues(intake)).toEqual([])
    expect(intake.visits()).toMatchObject([{ events: 3 }])
    expect(intake.drops()).toEqual({ revenue_invalid: 3 })
  })

  test("of one order counts once in 24 hours", async () => {
    using intake = startIntake()
    await intake.send(sale(5, "EUR", "A-1"))
    await intake.send(sale(5, "EUR", "A-1"))
    await intake.send(sale(7, "EUR", "A-2"))
    expect(revenues(intake)).toEqual(["500 EUR", "700 EUR"])
    expect(intake.visits()).toMatchObject([{ events: 3 }])
    expect(intake.drops()).toEqual({ revenue_duplicate: 1 })
  })

  test.each<[string, amounts: (string | number)[], string[], Record<string, number>]>([
    ["a refund within 24 hours of its order", [5, "-2.50"], ["500 EUR", "-250 EUR"], {}],
    ["several refunds of one order", [5, -1, -1], ["500 EUR", "-100 EUR", "-100 EUR"], {}],
    ["an order after its refund", [-5, 5], ["-500 EUR", "500 EUR"], {}],
    ["an amount of 0 as an order", [0, 5], ["0 EUR"], { revenue_duplicate: 1 }],
    ["an order repeated after its refund only once", [5, -5, 5], ["500 EUR", "-500 EUR"], { revenue_duplicate: 1 }],
  ])("counts %s", async (_, amounts, expected, counted) => {
    using intake = startIntake()
    for (const amount of amounts) await intake.send(sale(amount, "EUR", "A-1"))
    expect(revenues(intake)).toEqual(expected)
    expect(intake.drops()).toEqual(counted)
  })
})

test("sets properties with reserved names on the server", async () => {
  using intake = startIntake()
  await intake.send({ n: "404", u: "https://example.com/gone?x", p: { path: "/forged" } })
  await intake.send({ n: "File Download", p: { url: "https://example.com/a.pdf?token=1#x" } })
  await intake.send({ n: "Form: Submission", u: BUY })
  expect(intake.visits()[0]!.rows.map((row) => (row as { props: unknown }).props)).toEqual([
    [["path", "/gone"]],
    [["url", "https://example.com/a.pdf"]],
    [["path", "/buy"]],
  ])
})

test("counts properties beyond the limit", async () => {
  using intake = startIntake()
  await intake.send({ n: "x1", p: Object.fromEntries(Array.from({ length: 31 }, (_, index) => [`k${index}`, 1])) })
  expect(intake.drops()).toEqual({ props_discarded: 1 })
})
