import { describe, expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import type { FlatCondition } from "../../src/domain/filter.ts"
import { RULE_DIMENSIONS, type RuleCondition, type Shield } from "../../src/domain/shield.ts"
import { openPlaceFile } from "../../src/ingest/place/place.ts"
import { temporaryFolder } from "../kit.ts"
import { siteOf, startIntake, TRACKING_ID } from "./intake.ts"
import { placeFileBytes } from "./place-file.ts"

const rule = (...conditions: RuleCondition[]): Shield => ({ id: 1, kind: "rule", value: "the rule", conditions, note: "", enabled: true })
const is = (dimension: RuleCondition["dimension"], ...values: string[]): RuleCondition => ({ dimension, operator: "is", values })
const plan = (operator: FlatCondition["operator"], ...values: string[]): RuleCondition => ({
  dimension: "property",
  property: "plan",
  operator,
  values,
})

/** An event from an address in the operator's place file. */
const EVENT = {
  n: "signup",
  u: "https://www.example.com/Shop/caf%C3%A9?utm_source=ig&utm_medium=cpc&utm_campaign=Spring&utm_term=t&utm_content=c&gclid=1",
  r: "https://blog.example.org/post/",
  t: "The  Shop",
  p: { plan: "pro" },
  l: "de-at",
  w: 1_000,
}

async function isDropped(shields: readonly Shield[], body: object = {}): Promise<boolean> {
  using folder = temporaryFolder()
  const path = join(folder.path, "places.mmdb")
  const place = { country: { iso_code: "US" }, subdivisions: [{ iso_code: "CA" }], city: { geoname_id: 5_391_959 } }
  writeFileSync(path, placeFileBytes({ "9.9.9.9": place }))
  const placeFile = openPlaceFile(path)
  await placeFile.refresh()
  using intake = startIntake({ settings: { shields } }, { placeFile })
  const { headers } = await intake.send({ ...EVENT, ...body })
  const drops = intake.drops()
  const dropped = headers["x-plausible-dropped"] === "1"
  expect(drops).toEqual(dropped ? { rule: 1, "rule the rule": 1 } : {})
  expect(intake.visits().length).toBe(dropped ? 0 : 1)
  return dropped
}

/** The stored value of each dimension. */
const STORED: Record<RuleCondition["dimension"], string> = {
  page: "/Shop/café",
  title: "The Shop",
  hostname: "example.com",
  event: "signup",
  source: "Instagram",
  referrer: "blog.example.org/post",
  channel: "Paid Social",
  utm_source: "ig",
  utm_medium: "cpc",
  utm_campaign: "Spring",
  utm_term: "t",
  utm_content: "c",
  click_id_type: "gclid",
  country: "US",
  region: "US-CA",
  city: "5391959",
  device: "Desktop",
  size: "992-1439",
  browser: "Firefox",
  browser_version: "120.0",
  os: "Linux",
  os_version: "",
  language: "de-AT",
  property: "pro",
}

test.each(RULE_DIMENSIONS)("compares the %s as it is stored", async (dimension) => {
  const stored = STORED[dimension]
  const on = (operator: FlatCondition["operator"], value: string) =>
    rule({ dimension, operator, values: [value], ...(dimension === "property" && { property: "plan" }) })
  expect(await isDropped([on("is", stored === "" ? "(none)" : stored)])).toBe(true)
  expect(await isDropped([on("is_not", stored === "" ? "(none)" : stored)])).toBe(false)
  expect(await isDropped([on("is", "something else")])).toBe(false)
})

test.each<[string, RuleCondition, boolean]>([
  ["is one of several", is("page", "/a", "/Shop/café"), true],
  ["is in another case", is("page", "/shop/café"), false],
  ["is_not", { dimension: "page", operator: "is_not", values: ["/a"] }, true],
  ["contains", { dimension: "page", operator: "contains", values: ["hop/"] }, true],
  ["contains in another case", { dimension: "page", operator: "contains", values: ["HOP/"] }, false],
  ["contains in another case, where case is ignored", { dimension: "browser", operator: "contains", values: ["FIRE"] }, true],
  ["contains_not", { dimension: "page", operator: "contains_not", values: ["/blog"] }, true],
  ["starts_with", { dimension: "page", operator: "starts_with", values: ["/Shop"] }, true],
  ["matches_wildcard", { dimension: "page", operator: "matches_wildcard", values: ["/*/caf*"] }, true],
  ["matches_wildcard needs a match of the whole value", { dimension: "page", operator: "matches_wildcard", values: ["Shop*"] }, false],
  ["matches_wildcard_not", { dimension: "page", operator: "matches_wildcard_not", values: ["/blog/*"] }, true],
  ["a property", plan("contains", "pr"), true],
  ["a missing property is (none)", { dimension: "property", property: "other", operator: "is", values: ["(none)"] }, true],
  ["a present property is not (none)", plan("is", "(none)"), false],
  ["a missing property matches a negative operator", { dimension: "property", property: "other", operator: "is_not", values: ["x"] }, true],
  ["a missing property contains nothing", { dimension: "property", property: "other", operator: "contains", values: [""] }, false],
])("applies a condition: %s", async (_, condition, dropped) => {
  expect(await isDropped([rule(condition)])).toBe(dropped)
})

describe("a rule with several conditions", () => {
  const five = [is("page", "/Shop/café"), is("event", "signup"), is("country", "US"), is("browser", "Firefox"), plan("is", "pro")]

  test("drops an event if all of them match", async () => {
    expect(await isDropped([rule(...five)])).toBe(true)
  })
  test.each(five.map((_, at) => at))("accepts an event that does not match condition %d", async (at) => {
    expect(await isDropped([rule(...five.with(at, { ...five[at]!, operator: "is_not" }))])).toBe(false)
  })
  test("accepts every event while it is disabled", async () => {
    expect(await isDropped([{ ...rule(...five), enabled: false }])).toBe(false)
  })
  test("applies in addition to other rules", async () => {
    expect(await isDropped([{ ...rule(is("page", "/other")), value: "another" }, rule(...five)])).toBe(true)
  })
})

test("matches direct visits by the name Direct", async () => {
  using intake = startIntake({ settings: { shields: [rule(is("source", "Direct"))] } })
  await intake.send()
  await intake.send({ r: "https://google.com/" })
  expect(intake.drops()).toEqual({ rule: 1, "rule the rule": 1 })
  expect(intake.visits().length).toBe(1)
})

test.each<[string, Parameters<typeof startIntake>[0], Record<string, unknown>, Record<string, string>, string]>([
  ["a country shield before a rule", {}, { tz: "Europe/Berlin" }, {}, "country"],
  ["a rule before an opt-out signal", { settings: { respect_gpc: true } }, {}, { "sec-gpc": "1" }, "rule"],
  ["a page shield before a rule", {}, { u: "https://example.com/shielded" }, {}, "page"],
])("the first matching reason counts: %s", async (_, site, body, headers, reason) => {
  const shields: Shield[] = [
    rule(is("event", "pageview")),
    { id: 2, kind: "country", value: "DE", note: "", enabled: true },
    { id: 3, kind: "page", value: "/shielded", note: "", enabled: true },
  ]
  using intake = startIntake({ ...site, settings: { ...site?.settings, shields } })
  await intake.send(body, { headers })
  expect(intake.drops()).toMatchObject({ [reason]: 1 })
  expect(intake.visits()).toEqual([])
})

test("applies rules to engagement too", async () => {
  using intake = startIntake({ settings: { shields: [rule(is("page", "/secret"))] } })
  await intake.send()
  await intake.send({ n: "engagement", e: 5_000, u: "https://example.com/secret" })
  expect(intake.drops()).toMatchObject({ rule: 1 })
  expect(intake.visits()).toMatchObject([{ engaged: 0 }])
})

describe("instance shields", () => {
  const ALL: Record<string, [shield: Partial<Shield>, body: object, reason: string]> = {
    ip: [{ kind: "ip", value: "9.9.9.0/24" }, {}, "ip"],
    country: [{ kind: "country", value: "DE" }, { tz: "Europe/Berlin" }, "country"],
    page: [{ kind: "page", value: "/admin*" }, { u: "/admin/x" }, "page"],
    hostname: [{ kind: "hostname", value: "example.com" }, { u: "https://example.com/" }, "host"],
    referrer: [{ kind: "referrer", value: "bad.org" }, { r: "https://bad.org/" }, "spam"],
    rule: [{ kind: "rule", value: "r", conditions: [is("page", "/x")] }, { u: "/x" }, "rule"],
  }

  test.each(Object.keys(ALL))("of kind %s apply to every site", async (kind) => {
    const [fields, body, reason] = ALL[kind]!
    const shield = { id: 1, note: "", enabled: true, ...fields } as Shield
    using intake = startIntake({}, { instanceShields: () => list })
    const list: Shield[] = [shield]
    intake.directory.put(siteOf({ id: 2, tracking_id: "33333333-3333-4333-8333-333333333333" }))
    for (const d of [TRACKING_ID, "33333333-3333-4333-8333-333333333333"]) await intake.send({ d, ...body })
    expect([intake.drops(1)[reason], intake.drops(2)[reason], intake.visits(1), intake.visits(2)]).toEqual([1, 1, [], []])
  })

  test("apply immediately, and no longer after they are removed", async () => {
    let list: readonly Shield[] = []
    using intake = startIntake({}, { instanceShields: () => list })
    await intake.send()
    list = [{ id: 1, kind: "ip", value: "9.9.9.9", note: "", enabled: true }]
    await intake.send()
    list = []
    await intake.send()
    expect([intake.visits()[0]!.pageviews, intake.drops()]).toEqual([2, { ip: 1, "ip 9.9.9.9": 1 }])
  })

  test("apply after the shields of the site", async () => {
    const list: Shield[] = [{ id: 1, kind: "ip", value: "9.9.0.0/16", note: "", enabled: true }]
    using intake = startIntake({ settings: { shields: [{ ...list[0]!, value: "9.9.9.0/24" }] } }, { instanceShields: () => list })
    await intake.send()
    expect(intake.drops()).toEqual({ ip: 1, "ip 9.9.9.0/24": 1 })
  })
})
