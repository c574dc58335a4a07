import { describe, expect, test } from "bun:test"
import type { Shield } from "../../src/domain/shield.ts"
import { startIntake, TRACKING_ID } from "./intake.ts"

const shield = (kind: Shield["kind"], value: string, enabled = true): { shields: Shield[] } => ({
  shields: [{ id: 1, kind, value, note: "", enabled }],
})
type Row = [
  name: string,
  settings: Parameters<typeof startIntake>[0] & object,
  body: Record<string, unknown>,
  headers: Record<string, string>,
  dropped: string | undefined,
]

const ROWS: Row[] = [
  ["an ordinary pageview", {}, {}, {}, undefined],
  ["an unknown tracking id", {}, { d: "22222222-2222-4222-8222-222222222222" }, {}, "unknown_site"],
  [
    "an unknown tracking id on a known host",
    {},
    { d: "22222222-2222-4222-8222-222222222222", u: "https://example.com/" },
    {},
    "unknown_site",
  ],
  ["an unknown domain", {}, { d: "other.org" }, {}, "unknown_site"],
  ["no site at all", {}, { d: null, u: "/a" }, {}, "unknown_site"],
  ["no id, but a known host", {}, { d: null }, {}, undefined],
  ["no id, but the host in Origin", {}, { d: null, u: "/a" }, { origin: "https://www.example.com" }, undefined],
  ["no id, but the host in Referer", {}, { d: null, u: "/a" }, { origin: "null", referer: "https://example.com/x" }, undefined],
  ["a domain instead of an id", {}, { d: "WWW.example.com" }, {}, undefined],
  [
    "another product's id",
    { settings: { compat_ids: { plausible: ["blog.example"], umami: [], goatcounter: [] } } },
    { d: "blog.example" },
    {},
    undefined,
  ],
  ["a tracking id in capitals", {}, { d: TRACKING_ID.toUpperCase() }, {}, undefined],
  ["a prefetch", {}, {}, { "sec-purpose": "prefetch;prerender" }, "prefetch"],
  ["a prefetch by the older header", {}, {}, { purpose: "prefetch" }, "prefetch"],
  ["Mozilla's prefetch", {}, {}, { "x-moz": "prefetch" }, "prefetch"],
  ["a bot", {}, {}, { "user-agent": "Googlebot/2.1 (+http://www.google.com/bot.html)" }, "bot"],
  ["no user agent", {}, {}, { "user-agent": "" }, "bot"],
  ["a short user agent", {}, {}, { "user-agent": "Firefox/1" }, "bot"],
  [
    "a bot if the site counts bots",
    { settings: { drop_bots: false } },
    {},
    { "user-agent": "Googlebot/2.1 (+http://www.google.com/bot.html)" },
    undefined,
  ],
  ["a bot on a foreign host", {}, { u: "https://evil.org/" }, { "user-agent": "curl/8.0.0000" }, "bot"],
  ["a foreign host", {}, { u: "https://evil.org/" }, {}, "host"],
  ["a foreign Origin with a path as URL", {}, { u: "/a" }, { origin: "https://evil.org" }, "host"],
  ["a path without a host", {}, { u: "/a" }, {}, undefined],
  ["a listed host with www.", {}, { u: "https://www.example.com/" }, {}, undefined],
  ["an unlisted subdomain", {}, { u: "https://a.example.com/" }, {}, "host"],
  ["a subdomain covered by a wildcard", { hosts: ["*.example.com"] }, { u: "https://a.b.example.com/" }, {}, undefined],
  ["any host if the site accepts any host", { settings: { accept_any_host: true } }, { u: "https://evil.org/" }, {}, undefined],
  ["a strict site without Origin", { settings: { strict_origin: true } }, {}, {}, "host"],
  ["a strict site with its Origin", { settings: { strict_origin: true } }, {}, { origin: "https://example.com" }, undefined],
  ["a strict site with a foreign Origin", { settings: { strict_origin: true } }, {}, { origin: "https://evil.org" }, "host"],
  ["a strict site with its Referer", { settings: { strict_origin: true } }, {}, { referer: "https://example.com/a" }, undefined],
  ["a hostname shield", { settings: shield("hostname", "example.com") }, {}, {}, "host"],
  [
    "a hostname shield with a wildcard",
    { hosts: ["*.example.com"], settings: shield("hostname", "stage*.example.com") },
    { u: "https://stage2.example.com/" },
    {},
    "host",
  ],
  ["a disabled shield", { settings: shield("hostname", "example.com", false) }, {}, {}, undefined],
  ["an address shield", { settings: shield("ip", "9.9.9.0/24") }, {}, {}, "ip"],
  ["an address shield for another address", { settings: shield("ip", "8.8.8.8") }, {}, {}, undefined],
  ["a spam referrer", {}, { r: "https://semalt.com/x" }, {}, "spam"],
  ["a subdomain of a spam referrer", {}, { r: "https://a.b.semalt.com/" }, {}, "spam"],
  ["a host that only ends like a spam referrer", {}, { r: "https://notsemalt.com/" }, {}, undefined],
  ["spam if the site counts spam", { settings: { drop_spam: false } }, { r: "https://semalt.com/x" }, {}, undefined],
  ["a referrer shield", { settings: shield("referrer", "bad.org") }, { r: "https://www.bad.org/" }, {}, "spam"],
  ["a probe", {}, { u: "https://example.com/.env" }, {}, "probe"],
  ["a probe in a subfolder", {}, { u: "https://example.com/app/.env.local" }, {}, "probe"],
  ["a probe in capitals", {}, { u: "https://example.com/.GIT/config" }, {}, "probe"],
  ["an encoded probe", {}, { u: "https://example.com/%2Eenv" }, {}, "probe"],
  ["a path traversal", {}, { u: "https://example.com/a/../../etc/passwd" }, {}, "probe"],
  ["an encoded path traversal", {}, { u: "https://example.com/..%2f..%2fetc" }, {}, "probe"],
  ["a database dump", {}, { u: "https://example.com/backup.sql.gz?x=1" }, {}, "probe"],
  ["a page about .env files", {}, { u: "https://example.com/docs/.env-files" }, {}, undefined],
  ["a page about server-status", {}, { u: "https://example.com/docs/server-status" }, {}, undefined],
  ["Apache's server-status", {}, { u: "https://example.com/server-status?auto" }, {}, "probe"],
  ["a probed path that real sites use", {}, { u: "https://example.com/wp-login.php" }, {}, undefined],
  ["a probe if the site counts probes", { settings: { drop_probes: false } }, { u: "https://example.com/.env" }, {}, undefined],
  ["a page shield", { settings: shield("page", "/admin*") }, { u: "https://example.com/admin/users" }, {}, "page"],
  ["a page that does not match the shield", { settings: shield("page", "/admin*") }, { u: "https://example.com/x/admin" }, {}, undefined],
  ["a country shield", { settings: shield("country", "de") }, { tz: "Europe/Berlin" }, {}, "country"],
  ["a country shield and an unknown country", { settings: shield("country", "DE") }, { tz: "UTC" }, {}, undefined],
  ["Global Privacy Control", { settings: { respect_gpc: true } }, {}, { "sec-gpc": "1" }, "gpc"],
  ["Do Not Track", { settings: { respect_gpc: true } }, {}, { dnt: "1" }, "gpc"],
  ["an opt-out signal that the site does not respect", {}, {}, { "sec-gpc": "1" }, undefined],
  ["engagement without a visit", {}, { n: "engagement", e: 5 }, {}, "no_visit"],
  ["vitals without a visit", {}, { n: "vitals", f: { lcp: 5 } }, {}, "no_visit"],
]

test.each(ROWS)("%s", async (_, site, body, headers, dropped) => {
  using intake = startIntake(site)
  const answer = await intake.send(body, { headers })
  expect(answer).toMatchObject({ status: 202, body: "ok" })
  expect(answer.headers["x-plausible-dropped"]).toBe(dropped && "1")
  expect(intake.visits().length).toBe(dropped ? 0 : 1)
  const counted = intake.drops(dropped === "unknown_site" ? 0 : 1)
  expect(dropped ? counted[dropped] : counted).toEqual(dropped ? 1 : {})
})

test.each([
  ["host", {}, { u: "https://evil.org/" }, "evil.org"],
  ["page", shield("page", "/a*"), { u: "https://example.com/abc" }, "/a*"],
  ["country", shield("country", "DE"), { tz: "Europe/Berlin" }, "DE"],
  ["ip", shield("ip", "9.9.9.9/32"), {}, "9.9.9.9/32"],
  ["spam", {}, { r: "https://x.semalt.com/" }, "semalt.com"],
] as const)("%s records the entry that caused it, and never an address", async (reason, settings, body, entry) => {
  using intake = startIntake({ settings: { ...settings, shields: "shields" in settings ? [...settings.shields] : [] } })
  await intake.send(body)
  expect(intake.drops()).toEqual({ [reason]: 1, [`${reason} ${entry}`]: 1 })
})

test("counts an unknown site for the instance, under the id that was sent", async () => {
  using intake = startIntake()
  await intake.send({ d: "some-id" })
  await intake.send({ d: null, u: "https://other.org/" })
  expect(intake.drops(0)).toEqual({ unknown_site: 2, "unknown_site some-id": 1, "unknown_site other.org": 1 })
})

test("shows a dropped event without its address and full user agent", async () => {
  using intake = startIntake()
  await intake.send({ u: "https://evil.org/a?b" })
  intake.collector.flush()
  expect(intake.store.dropSamples(1)).toEqual([
    { at: intake.clock.now(), reason: "host", hostname: "evil.org", page: "/a", browser: "Firefox", country: "" },
  ])
})

test("stores a flood of drops in a few rows without losing a count", async () => {
  using intake = startIntake()
  for (let host = 0; host < 1_000; host++)
    await intake.send({ u: `https://h${host % 300}.org/` }, { peer: `10.0.${host >> 8}.${host & 255}` })
  const drops = intake.drops()
  expect(drops.host).toBe(1_000)
  expect(Object.keys(drops).length).toBeLessThanOrEqual(102)
  expect(intake.store.dropSamples(1).length).toBe(100)
  expect(intake.visits()).toEqual([])
})

describe("an invalid event", () => {
  test("is rejected and counted for its site", async () => {
    using intake = startIntake()
    await expect(intake.send({ n: "", id: "x" })).rejects.toMatchObject({
      code: "invalid_event",
      members: {
        errors: [
          { pointer: "/n", code: "too_short" },
          { pointer: "/id", code: "invalid_characters" },
        ],
      },
    })
    expect(intake.drops()).toEqual({ invalid: 1 })
  })

  test("without a site is rejected and counted for the instance", async () => {
    using intake = startIntake()
    await expect(intake.send("{")).rejects.toMatchObject({ code: "invalid_event" })
    await expect(intake.send({ d: "nobody", n: "" })).rejects.toMatchObject({ code: "invalid_event" })
    expect(intake.drops(0)).toEqual({ invalid: 2, "invalid (none)": 1, "invalid nobody": 1 })
  })
})

test("too many events of a visitor answer 429 with the time to wait", async () => {
  const limits = { visitorEventsPerMinute: 2, siteEventsPerSecond: 0, siteBurst: 0, instanceEventsPerSecond: 0 }
  using intake = startIntake({}, { limits })
  await intake.send()
  await intake.send()
  await expect(intake.send()).rejects.toMatchObject({ code: "rate_limited", members: { retry_after: 30 } })
  await intake.send({}, { peer: "8.8.8.8" })
  expect(intake.drops()).toEqual({ rate: 1 })
  intake.clock.advance(30_000)
  expect(await intake.send()).toMatchObject({ status: 202 })
})
