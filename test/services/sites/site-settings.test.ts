import { describe, expect, test } from "bun:test"
import { DEFAULT_SETTINGS } from "../../../src/domain/site.ts"
import { createCalendar } from "../../../src/ingest/identity/salt-period.ts"
import { createExemptValues } from "../../../src/services/definitions/exempt-values.ts"
import { temporaryFolder } from "../../kit.ts"
import { faultsOf } from "../faults.ts"
import { openServices } from "../instance.ts"

const HOUR = 3_600_000
const UUID = "0f8fad5b-d9cb-469f-a165-70867728950e"

async function withSite(options: Parameters<typeof openServices>[0] = {}) {
  const services = await openServices(options)
  const { id } = await services.organizations.create({ name: "Acme" })
  await services.sites.create(id, { name: "Shop", hosts: ["shop.example"] })
  return services
}

test("a change takes effect immediately and keeps the other settings", async () => {
  await using services = await withSite()
  const { sites } = services
  await sites.configure(1, { drop_bots: false, compat_ids: { umami: [UUID.toUpperCase()], plausible: ["Shop.example"] } })
  const site = await sites.configure(1, {
    retention_days: 400,
    strict_origin: true,
    identity_mode: "weekly",
    persistent_days: 395,
    bounce_engaged_seconds: 10,
    allowed_query_params: ["q", "page"],
    hash_routing: true,
    compat_ids: { goatcounter: ["shop", "SHOP"] },
    shields: [
      { kind: "ip", value: "203.0.113.0/24" },
      { kind: "country", value: "de", enabled: false },
      { kind: "hostname", value: "*.Staging.example" },
      { kind: "referrer", value: "Spam.example" },
      { kind: "page", value: "/admin/*" },
      { kind: "page", value: "/search?q=1" },
    ],
  })
  expect(site).toMatchObject({ name: "Shop", retention_days: 400, timezone: "UTC" })
  expect(site.settings).toEqual({
    ...DEFAULT_SETTINGS,
    drop_bots: false,
    strict_origin: true,
    identity_mode: "weekly",
    persistent_days: 395,
    bounce_engaged_seconds: 10,
    allowed_query_params: ["q", "page"],
    hash_routing: true,
    compat_ids: { plausible: ["shop.example"], umami: [UUID], goatcounter: ["shop"] },
    shields: [
      { id: 1, kind: "ip", value: "203.0.113.0/24", note: "", enabled: true },
      { id: 2, kind: "country", value: "DE", note: "", enabled: false },
      { id: 3, kind: "hostname", value: "*.staging.example", note: "", enabled: true },
      { id: 4, kind: "referrer", value: "spam.example", note: "", enabled: true },
      { id: 5, kind: "page", value: "/admin/*", note: "", enabled: true },
      { id: 6, kind: "page", value: "/search?q=1", note: "", enabled: true },
    ],
  })
  expect(sites.directory.byId(1)).toEqual(site)
  expect(sites.directory.byCompatId("umami", UUID.toUpperCase())).toEqual(site)
  const isExempt = createExemptValues({ ...services, directory: sites.directory })
  expect(isExempt(1, "page", "/search?q=1")).toBe(true)
  expect(isExempt(1, "page", "/other")).toBe(false)
})

test("a remaining shield keeps its id, a new one gets another", async () => {
  await using services = await withSite()
  const { sites } = services
  await sites.configure(1, { shields: ["DE", "FR", "US"].map((value) => ({ kind: "country", value })) })
  const { settings } = await sites.configure(1, {
    shields: [
      { id: 9, kind: "country", value: "fr", note: "", enabled: false },
      { kind: "country", value: "IT" },
    ],
  })
  expect(settings.shields).toEqual([
    { id: 2, kind: "country", value: "FR", note: "", enabled: false, version: 2 },
    { id: 4, kind: "country", value: "IT", note: "", enabled: true },
  ])
})

const shields = (kind: string, ...values: unknown[]) => ({ shields: values.map((value) => ({ kind, value })) })

test.each([
  ["a non-object", [], [" invalid_type"]],
  ["an unknown field", { colour: "red", settings: {} }, ["/colour unknown_field", "/settings unknown_field"]],
  ["a derived field", { identity_history: [] }, ["/identity_history unknown_field"]],
  [
    "wrong types",
    { drop_bots: "on", persistent_days: 1.5, respect_gpc: null },
    ["/drop_bots invalid_type", "/persistent_days invalid_type", "/respect_gpc invalid_type"],
  ],
  ["an unknown mode", { identity_mode: "yearly" }, ["/identity_mode invalid_choice"]],
  [
    "durations that are too long",
    { persistent_days: 396, bounce_engaged_seconds: 86_401 },
    ["/persistent_days out_of_range", "/bounce_engaged_seconds out_of_range"],
  ],
  [
    "durations that are too short",
    { persistent_days: 0, bounce_engaged_seconds: -1 },
    ["/persistent_days out_of_range", "/bounce_engaged_seconds out_of_range"],
  ],
  [
    "secret parameters",
    { allowed_query_params: ["q", "Token", "session_id"] },
    ["/allowed_query_params/1 invalid_choice", "/allowed_query_params/2 invalid_choice"],
  ],
  ["21 parameters", { allowed_query_params: Array.from({ length: 21 }, (_, i) => `p${i}`) }, ["/allowed_query_params too_many"]],
  ["a duplicate parameter", { allowed_query_params: ["q", "q"] }, ["/allowed_query_params not_unique"]],
  ["an empty parameter", { allowed_query_params: [" "] }, ["/allowed_query_params/0 too_short"]],
  ["an unknown product", { compat_ids: { matomo: ["1"] } }, ["/compat_ids/matomo unknown_field"]],
  [
    "ids that no tracker sends",
    { compat_ids: { plausible: ["a b", "a,b"], umami: ["shop"], goatcounter: ["shop.example"] } },
    [
      "/compat_ids/plausible/0 invalid_characters",
      "/compat_ids/plausible/1 invalid_characters",
      "/compat_ids/umami/0 invalid_characters",
      "/compat_ids/goatcounter/0 invalid_characters",
    ],
  ],
  ["a shield of an unknown kind", { shields: [{ kind: "city", value: "Bonn" }] }, ["/shields/0/kind invalid_choice"]],
  ["a shield without a value", { shields: [{ kind: "ip" }] }, ["/shields/0/value required"]],
  [
    "invalid addresses",
    shields("ip", "10.0.0", "10.0.0.0/33", "example.com", "10.0.0.1/"),
    [0, 1, 2, 3].map((i) => `/shields/${i}/value invalid_choice`),
  ],
  ["invalid countries", shields("country", "Germany", "D1"), ["/shields/0/value invalid_choice", "/shields/1/value invalid_choice"]],
  [
    "invalid hosts",
    shields("hostname", "a b", "https://*.example", "*".repeat(9)),
    [0, 1, 2].map((i) => `/shields/${i}/value invalid_host`),
  ],
  [
    "invalid pages",
    shields("page", "admin", "/a?q=1", "/*/*/*/*/*/*/*/*/*"),
    ["/shields/0/value invalid_path", "/shields/1/value invalid_path", "/shields/2/value invalid_pattern"],
  ],
  ["a duplicate shield", shields("country", "DE", "de"), ["/shields/1 not_unique"]],
  ["101 shields of a kind", shields("page", ...Array.from({ length: 101 }, (_, i) => `/${i}`)), ["/shields too_many"]],
  [
    "faults in fields and settings, in the order of the body",
    { hash_routing: 1, timezone: "Mars/Base", drop_spam: 1, hosts: [] },
    ["/hash_routing invalid_type", "/timezone invalid_timezone", "/drop_spam invalid_type", "/hosts too_few"],
  ],
])("rejects settings with %s", async (_, patch, faults) => {
  await using services = await withSite()
  const before = await services.sites.get(1)
  expect(await faultsOf(services.sites.configure(1, patch))).toEqual(faults)
  expect(await services.sites.get(1)).toEqual(before)
})

test("rejects a change to a site that does not exist", async () => {
  await using services = await withSite()
  expect(await faultsOf(services.sites.configure(2, { drop_bots: false }))).toBe("site_not_found")
})

test("an id of another product belongs to one site of the instance", async () => {
  await using services = await withSite()
  const { sites, organizations } = services
  const other = await organizations.create({ name: "Other" })
  await sites.create(other.id, { name: "Blog", hosts: ["blog.example"] })
  await sites.configure(1, { compat_ids: { plausible: ["shop.example"] } })
  const taking = sites.configure(2, { drop_bots: false, compat_ids: { plausible: ["blog.example", "SHOP.example"] } })
  await expect(taking).rejects.toMatchObject({ code: "compat_id_taken", members: { pointer: "/compat_ids/plausible/1" } })
  expect(await sites.get(2)).toMatchObject({ settings: DEFAULT_SETTINGS })
  expect(sites.directory.byCompatId("plausible", "shop.example")?.id).toBe(1)
  // The same text of another product is another id, and an id that was released can be used again.
  await sites.configure(2, { compat_ids: { goatcounter: ["shop"] } })
  await sites.configure(1, { compat_ids: { plausible: [] } })
  expect(await sites.configure(2, { compat_ids: { plausible: ["shop.example"] } })).toMatchObject({ id: 2 })
})

test.each([
  ["daily", "identified", true],
  ["identified", "identified", true],
  ["identified", "daily", false],
  ["identified", "persistent", false],
  ["persistent", "weekly", false],
])("a change from %s to %s keeps the identity key: %p", async (from, to, keeps) => {
  await using services = await withSite()
  const { sites, siteKeys } = services
  await sites.configure(1, { identity_mode: from })
  const before = await siteKeys.identityKey(1)
  await sites.configure(1, { identity_mode: to })
  expect((await siteKeys.identityKey(1)).toHex() === before.toHex()).toBe(keeps)
  // A rejected change keeps the key.
  const now = await siteKeys.identityKey(1)
  await sites.configure(1, { identity_mode: "daily", persistent_days: 0 }).catch(() => {})
  expect(await siteKeys.identityKey(1)).toEqual(now)
})

describe("a change of zone or mode", () => {
  const periodsNow = ({ sites, clock }: Awaited<ReturnType<typeof openServices>>) => {
    const { current, previous } = createCalendar().periods(sites.directory.byId(1)!, clock.now())
    return [current.name, previous.name]
  }

  test("waits for the end of the current period, also across a restart, and keeps the current salt", async () => {
    using folder = temporaryFolder()
    const salt = await (async () => {
      await using services = await withSite({ folder: folder.path })
      const { sites, salts, clock } = services
      const salt = await salts.get(1, createCalendar().periods(sites.directory.byId(1)!, clock.now()).current)
      await sites.configure(1, { identity_mode: "monthly" })
      await sites.update(1, { timezone: "Asia/Tokyo" })
      expect(periodsNow(services)).toEqual(["2026-11-21", "2026-11-20"])
      return salt
    })()
    await using services = await openServices({ folder: folder.path, seed: "later", now: "2026-11-21T23:00:00Z" })
    const { sites, salts, clock } = services
    expect(sites.directory.byId(1)).toMatchObject({ timezone: "Asia/Tokyo", settings: { identity_mode: "monthly" } })
    expect(periodsNow(services)).toEqual(["2026-11-21", "2026-11-20"])
    expect(await salts.get(1, createCalendar().periods(sites.directory.byId(1)!, clock.now()).current)).toEqual(salt)
    clock.advance(HOUR)
    expect(periodsNow(services)).toEqual(["2026-11 Asia/Tokyo", "2026-11-21"])
    // Tokyo's December begins at 15:00 of UTC's last day of November.
    clock.advance(Date.parse("2026-11-30T15:00:00Z") - clock.now())
    expect(periodsNow(services)).toEqual(["2026-12 Asia/Tokyo", "2026-11 Asia/Tokyo"])
  })

  test("to the same value changes nothing", async () => {
    await using services = await withSite()
    expect(await services.sites.configure(1, { timezone: "UTC", identity_mode: "daily" })).toMatchObject({ identity_history: [] })
  })

  test("on a day of 23 hours takes effect at its end", async () => {
    await using services = await withSite({ now: "2026-03-28T12:00:00Z" })
    const { sites, clock } = services
    await sites.update(1, { timezone: "Europe/Berlin" })
    clock.advance(24 * HOUR)
    expect(await sites.configure(1, { identity_mode: "weekly" })).toMatchObject({
      identity_history: [
        { from: 0, timezone: "UTC", identity_mode: "daily" },
        { from: Date.parse("2026-03-29T00:00:00Z"), timezone: "Europe/Berlin", identity_mode: "daily" },
        { from: Date.parse("2026-03-29T22:00:00Z"), timezone: "Europe/Berlin", identity_mode: "weekly" },
      ],
    })
  })
})
