import { expect, test } from "bun:test"
import { proofOf } from "../../../src/domain/identity-provider.ts"
import { createHostClaims } from "../../../src/services/sites/host-claims.ts"
import { raw } from "../../../src/store/sql.ts"
import { temporaryFolder } from "../../kit.ts"
import { faultsOf } from "../faults.ts"
import { openServices } from "../instance.ts"

/** Name of a salt's day, in UTC. */
const DAY = { name: "2026-11-21", expiresAt: Date.parse("2026-11-23T00:00:00Z") }
const shop = { name: "Shop", hosts: ["shop.example"] }

/** Opens the services with one organization. */
async function withOrganization(options: Parameters<typeof openServices>[0] = {}) {
  const services = await openServices(options)
  const { id } = await services.organizations.create({ name: "Acme" })
  return { ...services, organizationId: id }
}

test("creates a site from the request and the instance's defaults", async () => {
  await using services = await withOrganization()
  const { sites, organizationId } = services
  expect(
    await sites.create(organizationId, {
      name: "  Cafe\u0301 ",
      hosts: ["Shop.Example.", "münchen.de", "shop.example", "*.shop.example", "192.0.2.1", "localhost"],
      timezone: "europe/berlin",
      retention_days: 30,
      revenue_currency: "eur",
    }),
  ).toMatchObject({
    id: 1,
    organization_id: 1,
    name: "Caf\u00e9",
    hosts: ["shop.example", "xn--mnchen-3ya.de", "*.shop.example", "192.0.2.1", "localhost"],
    timezone: "Europe/Berlin",
    retention_days: 30,
    revenue_currency: "EUR",
    tracking_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
    created_at: Date.parse("2026-11-21T12:00:00Z"),
    updated_at: Date.parse("2026-11-21T12:00:00Z"),
  })
  expect(await sites.create(organizationId, { ...shop, retention_days: null })).toMatchObject({
    id: 2,
    timezone: "UTC",
    retention_days: null,
    revenue_currency: "USD",
    settings: { identity_mode: "daily", drop_bots: true, shields: [] },
  })
})

test.each([
  ["a missing body", undefined, [" invalid_type"]],
  ["a list", [], [" invalid_type"]],
  ["an empty body", {}, ["/name required", "/hosts required"]],
  [
    "wrong types",
    { name: 5, hosts: "shop.example", retention_days: "30" },
    ["/name invalid_type", "/hosts invalid_type", "/retention_days invalid_type"],
  ],
  [
    "null for required values",
    { ...shop, timezone: null, revenue_currency: null },
    ["/timezone invalid_type", "/revenue_currency invalid_type"],
  ],
  ["a name of blanks", { ...shop, name: " \t " }, ["/name too_short"]],
  ["a name of 101 characters", { ...shop, name: "é".repeat(101) }, ["/name too_long"]],
  ["a control character", { ...shop, name: "a\u0000b" }, ["/name invalid_characters"]],
  ["a lone surrogate", { ...shop, name: "a\ud800b" }, ["/name invalid_characters"]],
  ["no hosts", { ...shop, hosts: [] }, ["/hosts too_few"]],
  ["101 hosts", { ...shop, hosts: Array.from({ length: 101 }, (_, i) => `h${i}.example`) }, ["/hosts too_many"]],
  [
    "faults among the hosts",
    { ...shop, hosts: ["a.example", 5, "https://b.example/x"] },
    ["/hosts/1 invalid_type", "/hosts/2 invalid_host"],
  ],
  ["an offset for a zone", { ...shop, timezone: "+02:00" }, ["/timezone invalid_timezone"]],
  ["an abbreviation for a zone", { ...shop, timezone: "PST" }, ["/timezone invalid_timezone"]],
  ["GMT+2", { ...shop, timezone: "GMT+2" }, ["/timezone invalid_timezone"]],
  ["an empty zone", { ...shop, timezone: "" }, ["/timezone invalid_timezone"]],
  ["a historic currency", { ...shop, revenue_currency: "DEM" }, ["/revenue_currency invalid_currency"]],
  ["a metal", { ...shop, revenue_currency: "XAU" }, ["/revenue_currency invalid_currency"]],
  ["a test currency", { ...shop, revenue_currency: "XTS" }, ["/revenue_currency invalid_currency"]],
  ["no retention", { ...shop, retention_days: 0 }, ["/retention_days out_of_range"]],
  ["a long retention", { ...shop, retention_days: 3651 }, ["/retention_days out_of_range"]],
  ["half a day", { ...shop, retention_days: 1.5 }, ["/retention_days invalid_type"]],
  ["a huge number", { ...shop, retention_days: 1e300 }, ["/retention_days invalid_type"]],
  ["an unknown field", { ...shop, colour: "red" }, ["/colour unknown_field"]],
  ["read-only fields", { ...shop, organization_id: 2, settings: {} }, ["/organization_id unknown_field", "/settings unknown_field"]],
  ["a dangerous field", JSON.parse('{"name":"Shop","hosts":["shop.example"],"__proto__":{"x":1}}'), ["/__proto__ unknown_field"]],
  [
    "several faults, in the order of the body",
    { revenue_currency: "DEM", hosts: ["a b"], timezone: "Mars/Base", x: 1 },
    ["/revenue_currency invalid_currency", "/hosts/0 invalid_host", "/timezone invalid_timezone", "/x unknown_field", "/name required"],
  ],
])("rejects a site with %s", async (_, body, faults) => {
  await using services = await withOrganization()
  expect(await faultsOf(services.sites.create(services.organizationId, body))).toEqual(faults)
  expect(await services.sites.list(services.organizationId)).toEqual([])
})

test.each([
  "",
  "shop",
  "shop_1.example",
  "http://shop.example",
  "shop.example:80",
  "shop.example/x",
  "me@shop.example",
  "shop..example",
  "-shop.example",
  "shop-.example",
  "a b.example",
  "%73hop.example",
  "*.example",
  "*",
  "*.192.0.2.1",
  "192.0.2",
  "192.0.2.01",
  "256.0.0.1",
  "0x7f.1",
  "[::1]",
  "1.2.3.4.5",
  `${"a".repeat(64)}.example`,
  `${"a.".repeat(126)}ab`,
  "xn--a.example",
  "shop.example..",
])("rejects the host %j", async (host) => {
  await using services = await withOrganization()
  expect(await faultsOf(services.sites.create(services.organizationId, { name: "Shop", hosts: [host] }))).toEqual(["/hosts/0 invalid_host"])
})

test("suggests the host that was probably meant", async () => {
  await using services = await withOrganization()
  const refused = services.sites.create(services.organizationId, { name: "Shop", hosts: ["https://Shop.example/cart"] })
  await expect(refused).rejects.toMatchObject({
    message: "1 field is not valid.",
    members: {
      errors: [{ pointer: "/hosts/0", code: "invalid_host", detail: "Enter a host name, not a URL. Did you mean shop.example?" }],
    },
  })
})

test.each([
  ["Etc/UTC", "Etc/UTC"],
  ["GMT", "GMT"],
  ["Europe/Kiev", "Europe/Kiev"],
  ["asia/calcutta", "Asia/Calcutta"],
  ["US/Pacific", "US/Pacific"],
  ["america/argentina/buenos_aires", "America/Argentina/Buenos_Aires"],
])("accepts the time zone %s", async (timezone, kept) => {
  await using services = await withOrganization()
  expect(await services.sites.create(services.organizationId, { ...shop, timezone })).toMatchObject({ timezone: kept })
})

test("a patch changes only the given fields, by the rules of a new site", async () => {
  await using services = await withOrganization()
  const { sites, clock, organizationId } = services
  const made = await sites.create(organizationId, { ...shop, retention_days: 30, timezone: "Asia/Tokyo" })
  clock.advance(1000)
  const changed = await sites.update(made.id, { hosts: ["new.example"], retention_days: null })
  const updated_at = made.updated_at + 1000
  const fields = { hosts: ["new.example"], hosts_listed_at: { "new.example": updated_at }, retention_days: null }
  expect(changed).toEqual({ ...made, ...fields, updated_at, version: 2 })
  expect(await sites.get(made.id)).toEqual(changed)
  expect(sites.directory.byHost("shop.example")).toBeUndefined()
  expect(sites.directory.byHost("new.example")).toEqual(changed)
  // The body of GET may be sent back.
  expect(await sites.update(made.id, { id: 9, created_at: 1, tracking_id: "x", snippet: "<script>", name: "New" })).toMatchObject({
    id: 1,
    name: "New",
  })
  // In the order of the patch, not of the merged settings.
  expect(await faultsOf(sites.update(made.id, { colour: 1, timezone: null, hosts: [] }))).toEqual([
    "/colour unknown_field",
    "/timezone invalid_type",
    "/hosts too_few",
  ])
  expect(await faultsOf(sites.update(made.id, "x"))).toEqual([" invalid_type"])
  expect(await faultsOf(sites.update(7, { name: "x" }))).toBe("site_not_found")
})

test("a removed site disappears immediately, and its id is not reused", async () => {
  await using services = await withOrganization()
  const { sites, keys, organizationId } = services
  const site = await sites.create(organizationId, shop)
  const other = await sites.create(organizationId, { name: "Other", hosts: ["other.example"] })
  const { secret } = await keys.create(organizationId, {
    name: "Two",
    scopes: ["stats:read"],
    site_access: "list",
    site_ids: [site.id, other.id],
  })
  await sites.remove(site.id)
  expect(await faultsOf(sites.get(site.id))).toBe("site_not_found")
  expect(await faultsOf(sites.remove(site.id))).toBe("site_not_found")
  expect(sites.directory.byTrackingId(site.tracking_id)).toBeUndefined()
  expect(sites.directory.byHost("shop.example")).toBeUndefined()
  expect((await sites.list(organizationId)).map(({ id }) => id)).toEqual([2])
  expect(await keys.find(secret)).toMatchObject({ site_ids: [2] })
  await sites.remove(other.id)
  expect(await keys.find(secret)).toMatchObject({ site_ids: [] })
  expect(await sites.create(organizationId, shop)).toMatchObject({ id: 3 })
})

test("limits the number of sites, also for concurrent calls", async () => {
  await using services = await withOrganization({ maxSites: 3 })
  const { sites, organizations, organizationId } = services
  const results = await Promise.allSettled(Array.from({ length: 8 }, () => sites.create(organizationId, shop)))
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(3)
  await expect(sites.create(organizationId, shop)).rejects.toMatchObject({
    code: "limit_reached",
    members: { limit: 3, resource: "sites" },
  })
  const other = await organizations.create({ name: "Other" })
  await sites.create(other.id, shop)
  await sites.remove(1)
  expect(await sites.create(organizationId, shop)).toMatchObject({ organization_id: organizationId })
})

test("searches names and hosts, case-insensitively", async () => {
  await using services = await withOrganization()
  const { sites, organizationId } = services
  await sites.create(organizationId, { name: "Größe", hosts: ["a.example"] })
  await sites.create(organizationId, { name: "Other", hosts: ["shop.example"] })
  const found = async (search: string) => (await sites.list(organizationId, { search })).map(({ id }) => id)
  expect(await found("GRÖ")).toEqual([1])
  expect(await found("Shop.")).toEqual([2])
  expect(await found("")).toEqual([1, 2])
  expect(await found("%")).toEqual([])
})

test.each([
  [undefined],
  [""],
  ["0"],
  ["01"],
  ["-1"],
  ["1e0"],
  ["1.0"],
  ["abc"],
  ["9"],
  ["9999999999999999"],
  ["99999999999999999"],
  ["2"],
  ["3"],
])("a key does not see the site %j", async (id) => {
  await using services = await withOrganization()
  const { sites, keys, organizations, organizationId } = services
  await sites.create(organizationId, shop)
  await sites.create(organizationId, shop)
  const otherOrganization = await organizations.create({ name: "Stranger" })
  await sites.create(otherOrganization.id, shop)
  const { key } = await keys.create(organizationId, { name: "One", scopes: ["stats:read"], site_access: "list", site_ids: [1] })
  expect(await sites.visible(key, "1")).toMatchObject({ id: 1 })
  await expect(sites.visible(key, id)).rejects.toMatchObject({
    code: "site_not_found",
    message: "This site doesn't exist or you don't have access to it.",
  })
})

test("routes an event without a site id by its host", async () => {
  await using services = await withOrganization()
  const { sites, organizations, organizationId } = services
  const otherOrganization = await organizations.create({ name: "Stranger" })
  const add = (owner: number, ...hosts: string[]) => sites.create(owner, { name: "x", hosts })
  await add(organizationId, "shop.example", "*.shop.example") // 1
  await add(organizationId, "www.shop.example", "blog.shop.example") // 2
  await add(organizationId, "*.eu.shop.example", "shared.example") // 3
  await add(otherOrganization.id, "shared.example", "*.foreign.example") // 4
  await add(organizationId, "www.foreign.example", "my.foreign.example") // 5
  const routed = (host: string) => sites.directory.byHost(host)?.id
  expect(routed("shop.example")).toBe(1)
  expect(routed("www.shop.example")).toBe(1) // www. is ignored on both sides; of several the lowest id
  expect(routed("blog.shop.example")).toBe(2) // exact before *.
  expect(routed("deep.blog.shop.example")).toBe(1)
  expect(routed("de.eu.shop.example")).toBe(1)
  expect(routed("shop.example.evil.example")).toBeUndefined()
  expect(routed("shared.example")).toBeUndefined() // listed by two organizations
  expect(routed("my.foreign.example")).toBeUndefined() // another organization's *. covers it
  expect(routed("a.foreign.example")).toBe(4)
  expect(routed("example")).toBeUndefined()
  await sites.remove(4)
  expect(routed("shared.example")).toBe(3)
  expect(routed("my.foreign.example")).toBe(5)
  await sites.update(1, { hosts: ["*.shop.example"] })
  expect(routed("shop.example")).toBe(2)
})

test("a host that two organizations list has no site until its owner is known, also after a restart", async () => {
  using folder = temporaryFolder()
  const listed = await (async () => {
    await using services = await withOrganization({ folder: folder.path })
    const { sites, organizations, organizationId, clock } = services
    const otherOrganization = await organizations.create({ name: "Stranger" })
    await sites.create(otherOrganization.id, { name: "x", hosts: ["other.example"] })
    clock.advance(1_000)
    await sites.create(organizationId, shop)
    clock.advance(1_000)
    await sites.update(1, { hosts: ["other.example", "*.shop.example", "www.shop.example"] })
    return sites.directory.disputes()
  })()
  expect(listed).toMatchObject([
    {
      host: "shop.example",
      claims: [
        { site: { id: 2 }, listedAt: Date.parse("2026-11-21T12:00:01Z") },
        { site: { id: 1 }, listedAt: Date.parse("2026-11-21T12:00:02Z") },
      ],
    },
  ])
  const records: string[] = []
  const claimsOf = (services: Awaited<ReturnType<typeof openServices>>) =>
    createHostClaims({
      ...services,
      random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
      resolveTxt: async () => records,
      outbound: { enabled: true },
    })
  {
    await using services = await openServices({ folder: folder.path, seed: "later" })
    const { sites } = services
    expect(sites.directory.disputes()).toEqual(listed)
    expect(sites.directory.byHost("shop.example")).toBeUndefined()
    const claims = claimsOf(services)
    const site = await sites.get(1)
    records.push(proofOf(await claims.createProof(site, { host: "shop.example" })))
    await claims.verify(site, "1")
    expect(sites.directory.byHost("shop.example")).toEqual(site)
  }
  {
    await using services = await openServices({ folder: folder.path, seed: "latest" })
    expect(services.sites.directory.byHost("shop.example")?.id).toBe(1)
    await claimsOf(services).decide("shop.example", { organization_id: 1 }, null)
    expect(services.sites.directory.byHost("shop.example")?.id).toBe(2)
  }
  await using services = await openServices({ folder: folder.path, seed: "last" })
  expect(services.sites.directory.byHost("shop.example")?.id).toBe(2)
})

test("a restart keeps everything and continues the ids", async () => {
  using folder = temporaryFolder()
  const before = await (async () => {
    await using services = await withOrganization({ folder: folder.path })
    const { sites, goals, funnels, keys, organizationId } = services
    const site = await sites.create(organizationId, { ...shop, timezone: "Asia/Kathmandu" })
    await sites.create(organizationId, shop)
    await sites.remove(2)
    await goals.create(site, { kind: "page", value: "/thanks", props: { plan: "pro" } })
    await funnels.create(site, {
      name: "Order",
      steps: [
        { type: "page", value: "/cart" },
        { type: "event", value: "order" },
      ],
    })
    const { secret } = await keys.create(organizationId, { name: "All", scopes: ["stats:read"], site_access: "all" })
    return {
      site,
      secret,
      rules: goals.rules(1),
      funnels: funnels.all(1),
      salt: await services.salts.get(1, DAY),
      identity: await services.siteKeys.identityKey(1),
    }
  })()
  await using services = await openServices({ folder: folder.path, seed: "later" })
  expect(await services.sites.list(1)).toEqual([before.site])
  expect(services.sites.directory.byTrackingId(before.site.tracking_id.toUpperCase())).toEqual(before.site)
  expect(services.goals.rules(1)).toEqual(before.rules)
  expect(services.funnels.all(1)).toEqual(before.funnels)
  expect(await services.keys.find(before.secret)).toMatchObject({ id: 1, name: "All" })
  expect(await services.salts.get(1, DAY)).toEqual(before.salt)
  expect(await services.siteKeys.identityKey(1)).toEqual(before.identity)
  expect(await services.sites.create(1, shop)).toMatchObject({ id: 3 })
})

test("purges a site and all its data 30 days after its deletion", async () => {
  await using services = await withOrganization()
  const { sites, goals, funnels, salts, catalog, clock, organizationId } = services
  const site = await sites.create(organizationId, shop)
  await sites.create(organizationId, { name: "Kept", hosts: ["kept.example"] })
  await goals.create(site, { kind: "event", value: "signup" })
  await funnels.create(site, {
    name: "Order",
    steps: [
      { type: "page", value: "/cart" },
      { type: "event", value: "order" },
    ],
  })
  await salts.get(1, DAY)
  await sites.remove(1)
  const erased: number[] = []
  const erase = async (id: number) => erased.push(id)
  const deletedAt = clock.now()
  expect(await sites.purge(deletedAt + 30 * 86_400_000 - 1, erase)).toEqual([])
  const failing = () => Promise.reject(new Error("the disk is full"))
  await expect(sites.purge(deletedAt + 30 * 86_400_000, failing)).rejects.toThrow("full")
  expect(await sites.purge(deletedAt + 30 * 86_400_000, erase)).toEqual([1])
  expect(erased).toEqual([1])
  for (const table of ["goals", "funnels", "salts"]) expect(await catalog.get(raw(`select count(*) as n from ${table}`))).toEqual({ n: 0 })
  expect(await catalog.all(raw("select site_id from site_keys group by 1"))).toEqual([{ site_id: 2 }])
  expect(await sites.create(organizationId, shop)).toMatchObject({ id: 3 })
})
