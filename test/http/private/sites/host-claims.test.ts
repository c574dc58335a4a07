import { describe, expect, test } from "bun:test"
import { type StartOptions, startInstance } from "../../../kit.ts"
import { nameServer } from "../../../services/oidc/name-server.ts"
import type { Json } from "../scene.ts"

type Dispute = { host: string; belongs_to: string | null; reason: string | null; provable_host: string | null }

/**
 * Starts two organizations: Shop with site 1 and Rival with site 2. Both sites record events by tracking id, and `send` posts events
 * that name no site, or name it by host.
 */
async function startRivals({ hosts, ...options }: StartOptions & { hosts: string[] }) {
  const instance = await startInstance(options)
  const { organizations, sites } = instance.app.instance
  const rival = await organizations.create({ name: "Rival" })
  instance.clock.advance(60_000)
  const theirs = await sites.create(rival.id, { name: "Rival", hosts })
  const owner = await instance.signIn({ role: "owner" })
  const rivalOwner = await instance.signIn({ role: "owner", organizationId: rival.id })
  const admin = await instance.signIn({ isInstanceAdmin: true })
  const ask = async (cookie: string, method: string, path: string, body?: unknown) => {
    const answer = await instance.api.send(method, path, body, undefined, { cookie })
    return { status: answer.status, body: answer.body as Json }
  }
  const countOf = async (siteId: number): Promise<number> => {
    const { body } = await ask(siteId === 1 ? owner : rivalOwner, "GET", `/api/private/sites/${siteId}/stats/summary?period=today`)
    return body.metrics.pageviews
  }
  return {
    ...instance,
    rival,
    theirs,
    owner,
    rivalOwner,
    admin,
    ask,
    /** Sends a pageview of a page and returns why it was dropped. */
    async send(url: string, site?: string) {
      const payload = { n: "pageview", u: url, ...(site !== undefined && { d: site }) }
      const seen = await instance.collect(payload, { headers: { "x-debug-request": "true" } })
      await instance.collect(payload)
      return seen.headers.get("x-footfall-dropped")
    },
    counts: async () => [await countOf(1), await countOf(2)],
    disputes: async (siteId: number): Promise<Dispute[]> =>
      (await ask(siteId === 1 ? owner : rivalOwner, "GET", `/api/private/sites/${siteId}/settings`)).body.host_disputes,
    async drops(siteId: number) {
      const { body } = await ask(siteId === 1 ? owner : rivalOwner, "GET", `/api/private/sites/${siteId}/drops?period=today`)
      const { total, entries } = body.rows.find(({ reason }: { reason: string }) => reason === "host_disputed")
      return { total, entries }
    },
  }
}

const PAGE = "https://shop.example/"
const DISPUTE = { host: "shop.example", provable_host: "shop.example" }
const proofs = (siteId: number) => `/api/private/sites/${siteId}/settings/host-proofs`
const DISPUTES = "/api/private/admin/host-disputes"

describe("a host that sites of two organizations list", () => {
  test("belongs to the organization that listed it first, if that organization has events from it", async () => {
    await using instance = await startRivals({ hosts: ["rival.example"] })
    expect(await instance.send(PAGE)).toBeNull()
    expect(await instance.counts()).toEqual([1, 0])
    await instance.ask(instance.rivalOwner, "PATCH", "/api/private/sites/2", { hosts: ["rival.example", "shop.example"] })
    expect(await instance.send(PAGE)).toBeNull()
    expect(await instance.send(PAGE, "shop.example")).toBeNull()
    expect(await instance.send("https://www.shop.example/", "www.shop.example")).toBeNull()
    // Events that the rival forges with its own tracking id change nothing.
    expect(await instance.send(PAGE, instance.theirs.tracking_id)).toBeNull()
    expect(await instance.send(PAGE)).toBeNull()
    expect(await instance.counts()).toEqual([5, 1])
    expect(await instance.disputes(1)).toEqual([{ ...DISPUTE, belongs_to: "this_organization", reason: "listed_first" }])
    expect(await instance.disputes(2)).toEqual([{ ...DISPUTE, belongs_to: "another_organization", reason: "listed_first" }])
    expect([await instance.drops(1), await instance.drops(2)]).toEqual(Array(2).fill({ total: 0, entries: [] }))
  })

  test("is dropped as host_disputed for both organizations while the first to list it has no events", async () => {
    await using instance = await startRivals({ hosts: ["shop.example"] })
    expect(await instance.send(PAGE)).toBe("host_disputed")
    expect(await instance.send(PAGE, "shop.example")).toBe("host_disputed")
    // The rival now has events, but did not list the host first.
    expect(await instance.send(PAGE, instance.theirs.tracking_id)).toBeNull()
    expect(await instance.send(PAGE)).toBe("host_disputed")
    instance.app.collector.flush()
    const counted = { total: 3, entries: [{ entry: "shop.example", count: 3 }] }
    expect([await instance.drops(1), await instance.drops(2)]).toEqual([counted, counted])
    const sample = { reason: "host_disputed", hostname: "shop.example", page: "", browser: "", country: "" }
    const samples = (await instance.ask(instance.rivalOwner, "GET", "/api/private/sites/2/drops/sample")).body.data
    expect(samples).toMatchObject(Array(3).fill(sample))
    expect(await instance.disputes(2)).toEqual([{ ...DISPUTE, belongs_to: null, reason: null }])
    // Once for the instance, whatever the number of claimants.
    const ingestion = (path: string) => instance.ask(instance.admin, "GET", `/api/private/admin/ingestion${path}`)
    expect((await ingestion("")).body.totals.dropped).toEqual({ host_disputed: 3 })
    expect((await ingestion("?site=2")).body.totals.dropped).toEqual({ host_disputed: 3 })
    // The first event by tracking id determines the owner.
    expect(await instance.send(PAGE, instance.site.tracking_id)).toBeNull()
    expect(await instance.send(PAGE)).toBeNull()
    expect(await instance.counts()).toEqual([2, 1])
  })

  test("keeps its owner while the spelling of the list changes, but not after the host was removed", async () => {
    await using instance = await startRivals({ hosts: ["rival.example"] })
    await instance.send(PAGE)
    await instance.ask(instance.rivalOwner, "PATCH", "/api/private/sites/2", { hosts: ["shop.example"] })
    instance.clock.advance(60_000)
    await instance.ask(instance.owner, "PATCH", "/api/private/sites/1", { hosts: ["www.shop.example", "blog.example"] })
    expect(await instance.disputes(1)).toMatchObject([{ belongs_to: "this_organization" }])
    // Listing it again after removal is a new claim.
    await instance.ask(instance.owner, "PATCH", "/api/private/sites/1", { hosts: ["blog.example"] })
    expect(await instance.disputes(2)).toEqual([])
    await instance.ask(instance.owner, "PATCH", "/api/private/sites/1", { hosts: ["blog.example", "shop.example"] })
    expect(await instance.disputes(1)).toMatchObject([{ belongs_to: null }])
  })

  test("can also be disputed below a wildcard", async () => {
    await using instance = await startRivals({ hosts: ["rival.example"] })
    await instance.ask(instance.owner, "PATCH", "/api/private/sites/1", { hosts: ["*.shop.example"] })
    const url = "https://my.shop.example/"
    expect(await instance.send(url)).toBeNull()
    instance.clock.advance(60_000)
    await instance.ask(instance.rivalOwner, "PATCH", "/api/private/sites/2", { hosts: ["my.shop.example"] })
    expect(await instance.send(url)).toBeNull()
    const dispute = { host: "my.shop.example", reason: "listed_first" }
    expect(await instance.disputes(1)).toEqual([{ ...dispute, belongs_to: "this_organization", provable_host: "shop.example" }])
    expect(await instance.disputes(2)).toEqual([{ ...dispute, belongs_to: "another_organization", provable_host: "my.shop.example" }])
    // The first organization does not own a host from which it has no events.
    await instance.ask(instance.rivalOwner, "PATCH", "/api/private/sites/2", { hosts: ["new.shop.example"] })
    expect(await instance.send("https://new.shop.example/")).toBe("host_disputed")
    expect(await instance.send(url)).toBeNull()
    expect(await instance.counts()).toEqual([3, 0])
  })

  test("belongs to no one if the name means a different machine for everyone", async () => {
    await using instance = await startRivals({ hosts: ["localhost", "192.168.1.20"] })
    await instance.ask(instance.owner, "PATCH", "/api/private/sites/1", { hosts: ["shop.example", "localhost", "192.168.1.20"] })
    expect(await instance.send("http://localhost/", instance.theirs.tracking_id)).toBeNull()
    expect(await instance.send("http://localhost/")).toBe("host_disputed")
    const shown = { belongs_to: null, reason: null, provable_host: null }
    expect(await instance.disputes(1)).toEqual([
      { host: "192.168.1.20", ...shown },
      { host: "localhost", ...shown },
    ])
  })
})

describe("a Plausible id that is a host of another organization", () => {
  test("receives no events of that host and causes none to be dropped", async () => {
    await using instance = await startRivals({ hosts: ["rival.example"] })
    expect(await instance.send(PAGE, "shop.example")).toBeNull()
    const settings = { accept_any_host: true, compat_ids: { plausible: ["shop.example"] } }
    expect((await instance.ask(instance.rivalOwner, "PATCH", "/api/private/sites/2/settings", settings)).status).toBe(200)
    expect(await instance.send(PAGE, "shop.example")).toBeNull()
    expect(await instance.send(PAGE, "SHOP.example")).toBeNull()
    expect(await instance.send(PAGE)).toBeNull()
    expect(await instance.counts()).toEqual([4, 0])
    expect(await instance.disputes(2)).toEqual([{ ...DISPUTE, belongs_to: "another_organization", reason: "listed_first" }])
  })

  test("works for its organization after a proof of the host", async () => {
    const records: Record<string, string[][]> = {}
    using names = await nameServer(records)
    await using instance = await startRivals({ hosts: ["rival.example"], nameServers: [names.address] })
    await instance.send(PAGE)
    const settings = { accept_any_host: true, compat_ids: { plausible: ["shop.example"] } }
    await instance.ask(instance.rivalOwner, "PATCH", "/api/private/sites/2/settings", settings)
    const { body: proof } = await instance.ask(instance.rivalOwner, "POST", proofs(2), { host: "shop.example" })
    records["shop.example"] = [[proof.record.value]]
    expect((await instance.ask(instance.rivalOwner, "POST", `${proofs(2)}/${proof.id}/verify`)).status).toBe(200)
    expect(await instance.send(PAGE, "shop.example")).toBeNull()
    expect(await instance.counts()).toEqual([1, 1])
  })
})

describe("a DNS record", () => {
  test("proves a host for every site of the organization that claims it", async () => {
    const records: Record<string, string[][]> = {}
    using names = await nameServer(records)
    await using instance = await startRivals({ hosts: ["shop.example", "*.shop.example", "localhost"], nameServers: [names.address] })
    await instance.send(PAGE, instance.site.tracking_id)
    expect(await instance.send(PAGE)).toBeNull()
    expect(await instance.counts()).toEqual([2, 0])
    const made = await instance.ask(instance.rivalOwner, "POST", proofs(2), { host: "WWW.Shop.Example" })
    const { value } = made.body.record
    expect(value).toMatch(/^footfall-verify=[0-9a-f]{40}$/)
    expect(made).toMatchObject({
      status: 201,
      body: { id: 1, host: "shop.example", record: { type: "TXT", name: "shop.example" }, verified_at: null },
    })
    expect((await instance.ask(instance.rivalOwner, "POST", proofs(2), { host: "*.shop.example" })).body).toEqual(made.body)
    const verify = () => instance.ask(instance.rivalOwner, "POST", `${proofs(2)}/1/verify`)
    expect(await verify()).toMatchObject({ status: 409, body: { code: "domain_not_verified" } })
    expect(await instance.send(PAGE)).toBeNull()
    records["shop.example"] = [["v=spf1 -all"], [value]]
    const proved = { ...made.body, verified_at: "2026-11-21T12:01:00Z" }
    expect(await verify()).toEqual({ status: 200, body: proved })
    expect((await instance.ask(instance.rivalOwner, "GET", proofs(2))).body).toEqual({ data: [proved], has_more: false, next_cursor: null })
    expect((await instance.ask(instance.owner, "GET", proofs(1))).body.data).toEqual([])
    expect(await instance.send(PAGE)).toBeNull()
    expect(await instance.counts()).toEqual([3, 1])
    expect(await instance.disputes(1)).toEqual([{ ...DISPUTE, belongs_to: "another_organization", reason: "proved" }])
    // Without the proof, the rule applies again.
    expect((await instance.ask(instance.rivalOwner, "DELETE", `${proofs(2)}/1`)).status).toBe(204)
    expect(await instance.disputes(1)).toMatchObject([{ belongs_to: "this_organization", reason: "listed_first" }])
    const audit = (await instance.ask(instance.rivalOwner, "GET", `/api/private/organizations/${instance.rival.id}/audit`)).body.data
    const actions = audit.map(({ action, site_id }: { action: string; site_id: number }) => [action, site_id])
    expect(actions).toEqual([
      ["sites.host_proof.delete", 2],
      ["sites.host_proof.verify", 2],
      ["sites.host_proof.create", 2],
    ])
  })

  test("of another organization is valid until it is removed from the DNS", async () => {
    const records: Record<string, string[][]> = {}
    using names = await nameServer(records)
    await using instance = await startRivals({ hosts: ["shop.example"], nameServers: [names.address] })
    const [own, theirs] = [
      (await instance.ask(instance.owner, "POST", proofs(1), { host: "shop.example" })).body,
      (await instance.ask(instance.rivalOwner, "POST", proofs(2), { host: "shop.example" })).body,
    ]
    records["shop.example"] = [[own.record.value], [theirs.record.value]]
    expect((await instance.ask(instance.owner, "POST", `${proofs(1)}/${own.id}/verify`)).status).toBe(200)
    const verifyTheirs = () => instance.ask(instance.rivalOwner, "POST", `${proofs(2)}/${theirs.id}/verify`)
    expect(await verifyTheirs()).toMatchObject({ status: 409, body: { code: "domain_taken" } })
    expect(await instance.disputes(1)).toMatchObject([{ belongs_to: "this_organization", reason: "proved" }])
    // The domain changed hands.
    records["shop.example"] = [[theirs.record.value]]
    expect((await verifyTheirs()).status).toBe(200)
    expect(await instance.disputes(1)).toMatchObject([{ belongs_to: "another_organization", reason: "proved" }])
    expect((await instance.ask(instance.owner, "GET", proofs(1))).body.data).toMatchObject([{ verified_at: null }])
    expect((await instance.ask(instance.owner, "GET", "/api/private/organizations/1/audit")).body.data[0]).toMatchObject({
      action: "sites.host_proof.replace",
      site_id: null,
      target_label: "shop.example",
    })
  })

  test.each([
    ["a host of no site of the organization", { host: "other.example" }, "/host invalid_choice"],
    ["a host without a record", { host: "localhost" }, "/host invalid_host"],
    ["an invalid host", { host: "a b" }, "/host invalid_host"],
    ["nothing", {}, "/host required"],
    ["an unknown field", { host: "shop.example", site: 1 }, "/site unknown_field"],
  ])("is rejected for %s", async (_, body, refusal) => {
    await using instance = await startRivals({ hosts: ["shop.example", "localhost"] })
    const answer = await instance.ask(instance.rivalOwner, "POST", proofs(2), body)
    expect([answer.status, ...answer.body.errors.map((one: { pointer: string; code: string }) => `${one.pointer} ${one.code}`)]).toEqual([
      422,
      refusal,
    ])
  })

  test("of another organization, or with an unknown id, is not found", async () => {
    await using instance = await startRivals({ hosts: ["shop.example"] })
    await instance.ask(instance.owner, "POST", proofs(1), { host: "shop.example" })
    for (const id of ["1", "9", "x"])
      expect(await instance.ask(instance.rivalOwner, "DELETE", `${proofs(2)}/${id}`)).toMatchObject({
        status: 404,
        body: { code: "host_proof_not_found" },
      })
  })
})

describe("an instance admin", () => {
  test("decides a dispute, overriding listing and proof, and withdraws the decision", async () => {
    await using instance = await startRivals({ hosts: ["shop.example"] })
    await instance.send(PAGE, instance.site.tracking_id)
    const { body: list } = await instance.ask(instance.admin, "GET", DISPUTES)
    const dispute = {
      host: "shop.example",
      organizations: [
        { id: 1, name: "Shop", sites: [{ id: 1, name: "Shop" }], listed_at: "2026-11-21T12:00:00Z", has_events: true, is_proved: false },
        { id: 2, name: "Rival", sites: [{ id: 2, name: "Rival" }], listed_at: "2026-11-21T12:01:00Z", has_events: false, is_proved: false },
      ],
      owner: { organization_id: 1, reason: "listed_first" },
      decision: null,
    }
    expect(list).toEqual({ data: [dispute], has_more: false, next_cursor: null })
    const decide = (body: unknown) => instance.ask(instance.admin, "PUT", `${DISPUTES}/shop.example`, body)
    const decided = {
      owner: { organization_id: 2, reason: "decided" },
      decision: { organization_id: 2, decided_at: "2026-11-21T12:01:00Z" },
    }
    expect(await decide({ organization_id: 2 })).toEqual({ status: 200, body: { ...dispute, ...decided } })
    expect(await instance.send(PAGE)).toBeNull()
    expect(await instance.counts()).toEqual([1, 1])
    expect(await instance.disputes(1)).toEqual([{ ...DISPUTE, belongs_to: "another_organization", reason: "decided" }])
    expect((await decide({ organization_id: 1 })).body.owner).toEqual({ organization_id: 1, reason: "decided" })
    expect(await instance.ask(instance.admin, "DELETE", `${DISPUTES}/shop.example`)).toMatchObject({ status: 204 })
    expect(await instance.disputes(1)).toMatchObject([{ belongs_to: "this_organization", reason: "listed_first" }])
    const rows = (await instance.ask(instance.admin, "GET", "/api/private/admin/audit?action=admin.host-dispute.*")).body.data
    expect(rows).toMatchObject([
      { action: "admin.host-dispute.withdraw", organization_id: 1, target_id: "shop.example" },
      { action: "admin.host-dispute.decide", organization_id: 1 },
      { action: "admin.host-dispute.decide", organization_id: 2 },
    ])
  })

  test.each([
    ["for an organization that does not claim the host", "shop.example", { organization_id: 3 }, 422, "validation_failed"],
    ["without an organization", "shop.example", {}, 422, "validation_failed"],
    ["about a host that is not disputed", "rival.example", { organization_id: 1 }, 404, "host_dispute_not_found"],
  ])("rejects a decision %s", async (_, host, body, status, code) => {
    await using instance = await startRivals({ hosts: ["shop.example", "rival.example"] })
    await instance.app.instance.organizations.create({ name: "Third" })
    expect(await instance.ask(instance.admin, "PUT", `${DISPUTES}/${host}`, body)).toMatchObject({ status, body: { code } })
    expect(await instance.ask(instance.admin, "DELETE", `${DISPUTES}/${host}`)).toMatchObject({ status: 404 })
  })

  test("searches disputes by host and by organization, page by page", async () => {
    await using instance = await startRivals({ hosts: ["shop.example", "*.b.example", "a.example"] })
    const { sites } = instance.app.instance
    await sites.create(1, { name: "More", hosts: ["*.b.example", "a.example"] })
    const hostsIn = async (query: string) =>
      (await instance.ask(instance.admin, "GET", `${DISPUTES}${query}`)).body.data.map(({ host }: { host: string }) => host)
    expect(await hostsIn("")).toEqual(["*.b.example", "a.example", "shop.example"])
    expect(await hostsIn("?q=SHOP.ex")).toEqual(["shop.example"])
    expect(await hostsIn("?q=rival")).toHaveLength(3)
    const first = (await instance.ask(instance.admin, "GET", `${DISPUTES}?limit=2&count=true`)).body
    expect(first).toMatchObject({ has_more: true, total: 3 })
    expect(await hostsIn(`?limit=2&cursor=${first.next_cursor}`)).toEqual(["shop.example"])
    expect(
      await instance.ask(instance.admin, "PUT", `${DISPUTES}/${encodeURIComponent("*.b.example")}`, { organization_id: 2 }),
    ).toMatchObject({
      status: 200,
      body: { owner: { organization_id: 2 } },
    })
  })
})

test("the response of GET on the settings can be sent back with its disputes", async () => {
  await using instance = await startRivals({ hosts: ["shop.example"] })
  const { body } = await instance.ask(instance.owner, "GET", "/api/private/sites/1/settings")
  expect(await instance.ask(instance.owner, "PATCH", "/api/private/sites/1/settings", body)).toEqual({ status: 200, body })
})
