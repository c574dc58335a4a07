import { describe, expect, test } from "bun:test"
import { sql } from "#plugin"
import { linkStand, PATH } from "./kit.ts"

const destination = "https://example.com/"
const DOMAINS = "/api/private/sites/1/link-domains"

test("serves no slug on an unverified domain, and only its own slugs on a verified one", async () => {
  await using stand = await linkStand()
  const { catalog } = stand.instance.app.instance
  const domain = (await stand.ask("POST", DOMAINS, { host: "Go.Shop.Example", root_destination: "https://shop.example/" })).body
  expect(domain).toMatchObject({
    host: "go.shop.example",
    verified_at: null,
    txt_record: expect.stringMatching(/^footfall-verify=[0-9a-f]{40}$/),
    file: { path: "/.well-known/footfall-verify" },
  })
  expect(await stand.ask("POST", PATH, { destination, domain_id: domain.id })).toMatchObject({ body: { code: "domain_not_verified" } })
  const host = "go.shop.example"
  const before = await stand.visit("/spring", { host })
  expect(before.headers.get("location")).toBeNull()
  // Verifies the domain directly in the store; the cache is updated by the next change.
  await catalog.run(sql`update links_domains set verified_at = 1 where id = ${domain.id}`)
  await stand.ask("PATCH", `${DOMAINS}/${domain.id}`, { not_found_destination: "https://shop.example/404" })
  const link = await stand.make({ destination, slug: "spring", domain_id: domain.id })
  expect(link.short_url).toBe("http://go.shop.example/spring")
  await stand.make({ destination: "https://example.com/own", slug: "spring" })
  const at = async (path: string) => (await stand.visit(path, { host })).headers.get("location")
  expect(await at("/spring")).toBe(destination)
  expect(await at("/SPRING/")).toBe(destination)
  expect(await at("/")).toBe("https://shop.example/")
  expect(await at("/unknown")).toBe("https://shop.example/404")
  expect((await stand.visit("/l/spring")).headers.get("location")).toBe("https://example.com/own")
  expect((await stand.visit("/spring", { host: "GO.shop.example:8080" })).headers.get("location")).toBe(destination)
  // Reserved paths of the program are still served.
  expect((await stand.visit("/health/live", { host })).status).toBe(200)
  expect((await stand.visit("/js/script.js", { host })).status).toBe(200)
  expect(await stand.ask("DELETE", `${DOMAINS}/${domain.id}`)).toMatchObject({ status: 409, body: { code: "domain_in_use" } })
  await stand.ask("DELETE", `${PATH}/${link.id}`)
  expect((await stand.ask("DELETE", `${DOMAINS}/${domain.id}`)).status).toBe(204)
  expect((await stand.visit("/spring", { host })).headers.get("location")).toBeNull()
})

test.each([
  ["localhost", 422, "validation_failed"],
  ["*.example.com", 422, "validation_failed"],
  ["https://example.com", 422, "validation_failed"],
  ["a b.example", 422, "validation_failed"],
  ["192.0.2.7", 422, "validation_failed"],
  ["192.0.2.7.", 422, "validation_failed"],
  ["[2001:db8::7]", 422, "validation_failed"],
  ["2001:db8::7", 422, "validation_failed"],
  ["dash.example.com", 409, "domain_in_use"],
])("rejects the host %s", async (host, status, code) => {
  await using stand = await linkStand({ settings: { allowed_hosts: "dash.example.com" } })
  expect(await stand.ask("POST", DOMAINS, { host })).toMatchObject({ status, body: { code } })
})

test("gives a host to one organization, and its TXT record only to users who can change the organization", async () => {
  await using stand = await linkStand({ settings: { outbound: "off" } })
  const { body } = await stand.ask("POST", DOMAINS, { host: "go.shop.example" })
  expect(await stand.ask("POST", DOMAINS, { host: "GO.shop.example." })).toMatchObject({ status: 409, body: { code: "domain_in_use" } })
  const editor = { cookie: await stand.instance.signIn({ role: "editor" }) }
  expect(await stand.ask("GET", `${DOMAINS}/${body.id}`, undefined, editor)).toMatchObject({ body: { txt_record: null, file: null } })
  expect(await stand.ask("POST", `${DOMAINS}/${body.id}/verify`, undefined, editor)).toMatchObject({
    status: 403,
    body: { required_permission: "org:write" },
  })
  expect(await stand.ask("POST", `${DOMAINS}/${body.id}/verify`)).toMatchObject({ status: 422, body: { code: "outbound_disabled" } })
  expect(await stand.ask("PATCH", `${DOMAINS}/${body.id}`, { root_destination: "javascript:x" })).toMatchObject({
    status: 422,
    body: { code: "invalid_destination", pointer: "/root_destination" },
  })
})

describe("the paths below the prefix on a link domain", () => {
  const host = "go.shop.example"

  /** Creates two organizations with a link each. The first has a verified link domain. */
  async function twoOrganizations() {
    const stand = await linkStand()
    const { catalog, organizations, sites } = stand.instance.app.instance
    const { id } = (await stand.ask("POST", DOMAINS, { host })).body
    await catalog.run(sql`update links_domains set verified_at = 1 where id = ${id}`)
    await stand.ask("PATCH", `${DOMAINS}/${id}`, { root_destination: "https://shop.example/" })
    await stand.make({ destination: "https://example.com/own", slug: "own" })
    const other = await organizations.create({ name: "Other" })
    const theirs = await sites.create(other.id, { name: "Other", hosts: ["other.example"] })
    const otherOwner = { cookie: await stand.instance.signIn({ role: "owner", organizationId: other.id }) }
    const answer = await stand.ask("POST", `/api/private/sites/${theirs.id}/links`, { destination, slug: "theirs" }, otherOwner)
    expect(answer.status).toBe(201)
    return { stand, domainId: id, otherOrganization: other.id }
  }

  test("lead to links of its own organization and to no others", async () => {
    const { stand } = await twoOrganizations()
    await using _ = stand
    const at = async (path: string, hostHeader = host) => {
      const { status, headers } = await stand.visit(path, { host: hostHeader })
      return [status, headers.get("location")]
    }
    expect(await at("/l/own")).toEqual([302, "https://example.com/own"])
    expect(await at("/l/theirs")).toEqual([404, null])
    expect(await at("/l/theirs+")).toEqual([404, null])
    expect(await at("/l/theirs", "GO.SHOP.example.:443")).toEqual([404, null])
    expect(await at("/l")).toEqual([302, "https://shop.example/"])
    expect((await stand.visit("/l/theirs", { host, method: "POST" })).status).toBe(405)
    for (const elsewhere of ["localhost", "unknown.example"]) expect(await at("/l/theirs", elsewhere)).toEqual([302, destination])
  })

  test("lead to all links until the host is verified", async () => {
    const { stand, domainId } = await twoOrganizations()
    await using _ = stand
    await stand.instance.app.instance.catalog.run(sql`update links_domains set verified_at = null where id = ${domainId}`)
    await stand.ask("PATCH", `${DOMAINS}/${domainId}`, { root_destination: null })
    expect((await stand.visit("/l/theirs", { host })).headers.get("location")).toBe(destination)
  })

  test("count as links when a new link would close a redirect loop", async () => {
    const { stand } = await twoOrganizations()
    await using _ = stand
    const refused = await stand.ask("POST", PATH, { destination: `http://${host}/l/round`, slug: "round" })
    expect(refused).toMatchObject({ status: 422, body: { code: "redirect_loop" } })
  })

  test("lead nowhere, like the domain's own slugs, once the site of a link has moved to another organization", async () => {
    const { stand, domainId, otherOrganization } = await twoOrganizations()
    await using _ = stand
    await stand.make({ destination, slug: "moved", domain_id: domainId })
    expect((await stand.visit("/moved", { host })).status).toBe(302)
    await stand.instance.app.instance.sites.transfer(1, otherOrganization, 1)
    for (const path of ["/moved", "/l/own"]) expect((await stand.visit(path, { host })).status).toBe(404)
  })
})
