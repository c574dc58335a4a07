import { describe, expect, test } from "bun:test"
import { siteOf, startIntake, TRACKING_ID } from "../intake.ts"
import { eventsOf, faultsOf, KNOWN, sendUmami, umamiView, WEBSITE } from "./foreign.ts"

test("reads a view of the script as a pageview", async () => {
  using intake = startIntake(KNOWN)
  const view = umamiView({
    url: "https://www.example.com/shop/?utm_source=news&utm_campaign=spring#offers",
    referrer: "https://www.google.com/search?q=x",
    title: " The  shop ",
    tag: "variant-b",
  })
  expect(await sendUmami(intake, view)).toEqual([{}])
  const [visit] = intake.visits()
  expect(visit).toMatchObject({ pageviews: 1, events: 1, entry: "example.com/shop/#offers" })
  // The tag takes precedence over the referrer, as in every payload; only the class of the screen is stored.
  expect(visit!.traits).toStartWith("news|google.com/search|")
  expect(visit!.traits).toContain("|1440+|")
  expect(visit!.traits).toEndWith("|en-US")
  expect(eventsOf(intake)[0]).toMatchObject({
    name: "pageview",
    page: "/shop/#offers",
    hostname: "example.com",
    title: "The shop",
    props: ["tag=variant-b"],
  })
})

describe("the page", () => {
  test.each([
    ["from a path and a host", { url: "/a", hostname: "www.Example.com" }, "example.com/a"],
    ["from a URL with its own host", { url: "https://example.com/a?x=1", hostname: "ignored.org" }, "example.com/a"],
    ["from a path without a host", { url: "/a", hostname: null }, "/a"],
    ["that is missing", { url: undefined }, "example.com/"],
    ["that is empty", { url: "" }, "example.com/"],
    ["with a fragment", { url: "/a#b" }, "example.com/a#b"],
  ])("%s", async (_, payload, entry) => {
    using intake = startIntake(KNOWN)
    expect(await sendUmami(intake, umamiView(payload))).toEqual([{}])
    expect(intake.visits()).toMatchObject([{ entry }])
  })

  test("that is missing is taken from the request's referrer", async () => {
    using intake = startIntake(KNOWN)
    await sendUmami(intake, umamiView({ url: null, hostname: null }), { headers: { referer: "https://example.com/from?x=1" } })
    expect(intake.visits()).toMatchObject([{ entry: "example.com/from" }])
  })

  test("is not recorded as the referrer of the next one in single-page navigation", async () => {
    using intake = startIntake(KNOWN)
    await sendUmami(intake, umamiView({ url: "/b", referrer: "/a" }))
    await sendUmami(intake, umamiView({ url: "/c", referrer: "https://example.com/b" }))
    expect(intake.visits()[0]!.traits).toStartWith("||Direct|")
  })
})

describe("an event", () => {
  test("stores its data as properties, nested ones by their path", async () => {
    using intake = startIntake(KNOWN)
    const data = {
      plan: "pro",
      seats: 3,
      trial: false,
      none: null,
      list: [1, 2],
      empty: "",
      deep: { a: { b: "c" }, d: 1.5 },
      __proto__x: "y",
    }
    expect(await sendUmami(intake, umamiView({ name: "signup", data, tag: "t" }))).toEqual([{}])
    expect(eventsOf(intake)[0]).toMatchObject({
      name: "signup",
      props: ["tag=t", "plan=pro", "seats=3", "trial=false", "deep.a.b=c", "deep.d=1.5", "__proto__x=y"],
    })
  })

  test("stores revenue from amount and currency, and keeps both as properties", async () => {
    using intake = startIntake(KNOWN)
    await sendUmami(intake, umamiView({ name: "purchase", data: { revenue: 19.99, currency: "eur", order_id: "A1" } }))
    await sendUmami(intake, umamiView({ name: "purchase", data: { revenue: "5" } }))
    await sendUmami(intake, umamiView({ name: "purchase", data: { revenue: "much", currency: "EUR" } }))
    expect(eventsOf(intake)).toMatchObject([
      { revenue: "1999 EUR", props: ["revenue=19.99", "currency=eur", "order_id=A1"] },
      { revenue: undefined, props: ["revenue=5"] },
      { revenue: undefined, props: ["revenue=much", "currency=EUR"] },
    ])
  })

  test("keeps its tag if it has more properties than fit", async () => {
    using intake = startIntake(KNOWN)
    const data = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`k${i}`, i]))
    await sendUmami(intake, umamiView({ name: "many", data, tag: "t" }))
    const { props } = eventsOf(intake)[0]!
    expect([props.length, props[0]]).toEqual([30, "tag=t"])
  })

  test("accepts data of any depth", async () => {
    using intake = startIntake(KNOWN)
    const deep = `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`
    expect(await sendUmami(intake, JSON.stringify(umamiView({ name: "deep", data: "@" })).replace('"@"', deep))).toEqual([{}])
    expect(eventsOf(intake)[0]).toMatchObject({ name: "deep", props: [] })
  })
})

describe("identify", () => {
  const identified = { settings: { ...KNOWN.settings, identity_mode: "identified" as const } }

  test("assigns the running visit to the user without recording an event", async () => {
    using intake = startIntake(identified)
    await sendUmami(intake, umamiView())
    intake.clock.advance(60_000)
    expect(await sendUmami(intake, umamiView({ id: "user-1", data: { plan: "pro" } }, "identify"))).toEqual([{}])
    expect(intake.visits()).toMatchObject([{ kind: 2, pageviews: 1, events: 1, duration: 0, rows: [{ name: "pageview", props: [] }] }])
    // The same user on another day, with another rotating id, is the same visitor.
    const { visitor } = intake.visits()[0]!
    intake.clock.advance(86_400_000)
    await sendUmami(intake, umamiView({ id: "user-1" }))
    expect(intake.visits().map((visit) => visit.visitor)).toEqual([visitor, visitor])
  })

  test("is dropped without a visit, and ignored without an id", async () => {
    using intake = startIntake(identified)
    expect(await sendUmami(intake, umamiView({ id: "user-1" }, "identify"))).toEqual([{ reason: "no_visit" }])
    expect(await sendUmami(intake, umamiView({ data: { plan: "pro" } }, "identify"))).toEqual([{}])
    expect([intake.visits(), intake.drops()]).toEqual([[], { no_visit: 1 }])
  })

  test("is ignored and counted if the site does not identify users", async () => {
    using intake = startIntake(KNOWN)
    await sendUmami(intake, umamiView())
    expect(await sendUmami(intake, umamiView({ id: "user-1" }, "identify"))).toEqual([{}])
    expect(intake.visits()).toMatchObject([{ kind: 0, events: 1 }])
    expect(intake.drops()).toEqual({ identify_ignored: 1 })
  })
})

test("stores performance data as vitals of the visit", async () => {
  using intake = startIntake(KNOWN)
  await sendUmami(intake, umamiView())
  expect(await sendUmami(intake, umamiView({ lcp: 1_200.4, cls: 0.1234, inp: 90_000 }, "performance"))).toEqual([{}])
  expect(intake.visits()).toMatchObject([{ pageviews: 1, events: 1, rows: [{ name: "pageview" }, { name: "vitals" }] }])
  expect(eventsOf(intake)[1]).toMatchObject({ vitals: [1_200, undefined, undefined, undefined, 123] })
})

describe("the site", () => {
  test.each([
    ["by its Umami id", WEBSITE],
    ["by its Umami id in capitals", WEBSITE.toUpperCase()],
    ["by our own id", TRACKING_ID],
  ])("%s", async (_, website) => {
    using intake = startIntake(KNOWN)
    expect(await sendUmami(intake, umamiView({ website }))).toEqual([{}])
  })

  test("is not taken from the host if the id is unknown", async () => {
    using intake = startIntake(KNOWN)
    const website = "99999999-9999-4999-8999-999999999999"
    expect(await sendUmami(intake, umamiView({ website }))).toEqual([{ reason: "unknown_site" }])
    expect(intake.drops(0)).toEqual({ unknown_site: 1, [`unknown_site ${website}`]: 1 })
  })

  test("of our own script can be named by its Umami id too", async () => {
    using intake = startIntake(KNOWN)
    expect((await intake.send({ d: WEBSITE })).headers["x-plausible-dropped"]).toBeUndefined()
  })
})

test.each([
  ["text that is not JSON", "[1", [" invalid_type"]],
  ["no payload", { type: "event" }, [" invalid_type"]],
  ["no type", { payload: umamiView().payload }, ["/type required"]],
  ["an unknown type", umamiView({}, "error"), ["/type invalid_choice"]],
  ["no site", umamiView({ website: undefined }), ["/payload/website required"]],
  ["a site that is not a UUID", umamiView({ website: "shop" }), ["/payload/website invalid_characters"]],
  ["a link", umamiView({ website: undefined, link: WEBSITE }), ["/payload/link invalid_choice", "/payload/website required"]],
  ["a pixel", umamiView({ pixel: WEBSITE }), ["/payload/pixel invalid_choice"]],
  ["a URL of another scheme", umamiView({ url: "data:,x" }), ["/payload/url invalid_url"]],
  ["a URL that is too long", umamiView({ url: `/${"a".repeat(8_192)}` }), ["/payload/url too_long"]],
  ["an invalid host", umamiView({ hostname: "a b" }), ["/payload/hostname invalid_host"]],
  ["a long host", umamiView({ hostname: `${"a".repeat(101)}` }), ["/payload/hostname too_long"]],
  ["a long name", umamiView({ name: "n".repeat(51) }), ["/payload/name too_long"]],
  ["a reserved name", umamiView({ name: "engagement" }), ["/payload/name invalid_choice"]],
  ["a long tag", umamiView({ tag: "t".repeat(51) }), ["/payload/tag too_long"]],
  ["a long language", umamiView({ language: "l".repeat(36) }), ["/payload/language too_long"]],
  ["a long screen", umamiView({ screen: "123456x123456" }), ["/payload/screen too_long"]],
  ["data that is not an object", umamiView({ data: [1] }), ["/payload/data invalid_type"]],
  [
    "wrong types",
    umamiView({ title: 1, referrer: [], id: {} }),
    ["/payload/id invalid_type", "/payload/referrer invalid_type", "/payload/title invalid_type"],
  ],
  ["vitals out of range", umamiView({ lcp: -1 }, "performance"), ["/payload out_of_range"]],
])("rejects %s", async (_, body, faults) => {
  using intake = startIntake(KNOWN)
  const taken = await sendUmami(intake, body)
  expect(faultsOf(taken)).toEqual(faults)
  expect(intake.visits()).toEqual([])
  expect({ ...intake.drops(0), ...intake.drops(1) }).toMatchObject({ invalid: 1 })
})

test("ignores fields that only a server may set", async () => {
  using intake = startIntake(KNOWN)
  await sendUmami(intake, umamiView({ ip: "1.2.3.4", userAgent: "curl/8", browser: "x", os: "y", device: "z", timestamp: 1 }))
  const [visit] = intake.visits()
  expect(visit).toMatchObject({ start: intake.clock.now() })
  expect(visit!.traits).toContain("|Desktop|")
  expect(visit!.traits).toContain("|Firefox|")
})

describe("a batch", () => {
  test("is stored in one commit, with each event processed independently", async () => {
    using intake = startIntake(KNOWN)
    intake.directory.put(siteOf({ id: 2, tracking_id: "33333333-3333-4333-8333-333333333333", hosts: ["other.org"] }))
    const taken = await sendUmami(intake, [
      umamiView(),
      umamiView({ website: "99999999-9999-4999-8999-999999999999" }),
      umamiView({ name: "signup" }),
      { type: "event" },
      umamiView({ url: "https://evil.org/" }),
      umamiView({ website: "33333333-3333-4333-8333-333333333333", hostname: "other.org" }),
    ])
    expect(taken).toMatchObject([{}, { reason: "unknown_site" }, {}, { reason: "invalid" }, { reason: "host" }, {}])
    expect([intake.visits(1), intake.visits(2)]).toMatchObject([[{ events: 2 }], [{ events: 1 }]])
  })

  test.each([
    ["that is not a list", umamiView(), "invalid_type"],
    ["of too many events", Array.from({ length: 101 }, () => umamiView()), "too_many"],
  ])("%s is rejected as a whole", async (_, body, code) => {
    using intake = startIntake(KNOWN)
    const { umamiBatch } = await import("../../../src/ingest/payloads/umami.ts")
    const sent = { method: "POST", url: "http://stats.example/api/batch", headers: new Headers(), peer: "9.9.9.9" }
    const taking = intake.collector.collectForeign({ ...sent, body: new TextEncoder().encode(JSON.stringify(body)) }, umamiBatch)
    await expect(taking).rejects.toMatchObject({ code: "invalid_event", members: { errors: [{ pointer: "", code }] } })
    expect([intake.visits(), intake.drops(0)]).toMatchObject([[], { invalid: 1 }])
  })
})
