import { afterAll, beforeAll, expect, test } from "bun:test"
import { startInstance, type TestInstance } from "../../../kit.ts"
import { auditOf, type Person, signedIn, withoutId } from "../person.ts"

let instance: TestInstance
let owner: Person
let admin: Person
let editor: Person
let viewer: Person
let stranger: Person

beforeAll(async () => {
  instance = await startInstance()
  owner = await signedIn(instance, { role: "owner", isInstanceAdmin: true })
  admin = await signedIn(instance, { role: "admin" })
  editor = await signedIn(instance, { role: "editor" })
  viewer = await signedIn(instance, { role: "viewer" })
  stranger = await signedIn(instance, {})
})
afterAll(() => instance[Symbol.asyncDispose]())

const makeSite = async (name: string): Promise<number> => {
  const { body } = await owner.post("/organizations/1/sites", { name, hosts: [`${name.toLowerCase()}.example`] })
  return (body as { id: number }).id
}
const names = async (person: Person, query = "") =>
  ((await person.get(`/sites${query}`)).body as { data: { name: string }[] }).data.map(({ name }) => name)

test("the response for a site contains the role of the user", async () => {
  const { status, body, headers } = await viewer.get("/sites/1")
  expect(status).toBe(200)
  expect(headers.get("etag")).toBe('"1"')
  expect(body).toMatchObject({
    id: 1,
    name: "Shop",
    hosts: ["shop.example"],
    timezone: "Europe/Berlin",
    organization: { id: 1, name: "Shop" },
    role: "viewer",
    pinned: false,
    version: 1,
  })
})

const ROUTES: [method: "get" | "post" | "patch" | "put" | "remove", path: string, body?: unknown][] = [
  ["get", ""],
  ["patch", "", "{"],
  ["remove", ""],
  ["post", "/restore"],
  ["post", "/transfer", "{"],
  ["put", "/pin"],
  ["remove", "/pin"],
  ["get", "/settings"],
  ["patch", "/settings", "{"],
  ["get", "/retention-preview?days=x"],
  ["get", "/stats/summary?period=x"],
  ["get", "/stats/values"],
  ["post", "/stats/journeys", "{"],
  ["post", "/stats/funnel", "{"],
  ["post", "/stats/batch", "{"],
  ["get", "/goals"],
  ["post", "/goals", "{"],
  ["post", "/goals/test", "{"],
  ["get", "/goals/suggestions"],
  ["get", "/funnels/1"],
  ["get", "/segments"],
  ["get", "/annotations"],
]

test.each(ROUTES)("%s %s on a site the user has no access to answers as if it did not exist", async (...[method, path, body]) => {
  const ask = (site: string) => stranger[method](`/sites/${site}${path}`, body as never)
  const foreign = withoutId(await ask("1"))
  expect(foreign).toMatchObject({ status: 404, body: { code: "site_not_found" } })
  for (const site of ["999", "0", "01", "1e0", "abc", "-1", "99999999999999999"]) expect(withoutId(await ask(site))).toEqual(foreign)
})

test.each([
  ["a viewer updating a site", () => viewer.patch("/sites/1", {}), "site:write"],
  ["an editor updating a site", () => editor.patch("/sites/1", {}), "site:write"],
  ["an editor updating settings", () => editor.patch("/sites/1/settings", {}), "site:write"],
  ["an editor previewing retention", () => editor.get("/sites/1/retention-preview?days=7"), "site:write"],
  ["an editor deleting a site", () => editor.remove("/sites/1"), "site:delete"],
  ["an admin transferring a site", () => admin.post("/sites/1/transfer", { organization_id: 2 }), "org:delete"],
])("forbids %s", async (_, ask, required_permission) => {
  expect(await ask()).toMatchObject({ status: 403, body: { code: "forbidden", required_permission } })
})

test("the response of GET can be sent back, and read-only fields are named when changed", async () => {
  const id = await makeSite("Back")
  const shown = (await admin.get(`/sites/${id}`)).body as Record<string, unknown>
  expect(await admin.patch(`/sites/${id}`, shown)).toMatchObject({ status: 200, body: { version: 1 } })
  expect(await admin.patch(`/sites/${id}`, { name: "Renamed" })).toMatchObject({ status: 200, body: { name: "Renamed", version: 2 } })
  expect(await admin.patch(`/sites/${id}`, { ...shown, name: "Late" })).toMatchObject({
    status: 409,
    body: { code: "version_conflict", current: { name: "Renamed", version: 2, organization: { id: 1 } } },
  })
  expect(await admin.patch(`/sites/${id}`, { name: "Late" }, { "if-match": '"1"' })).toMatchObject({ status: 412 })
  const { body } = await admin.patch(`/sites/${id}`, { timezone: "Asia/Tokyo", retention_days: 7, colour: "red" })
  expect((body as { errors: { pointer: string; code: string }[] }).errors.map(({ pointer, code }) => `${pointer} ${code}`)).toEqual([
    "/timezone read_only",
    "/retention_days read_only",
    "/colour unknown_field",
  ])
})

test("a deleted site disappears for everyone and can be restored completely", async () => {
  const id = await makeSite("Phoenix")
  expect((await admin.remove(`/sites/${id}`)).status).toBe(204)
  expect((await owner.get(`/sites/${id}`)).body).toMatchObject({ code: "site_not_found" })
  expect(await names(owner)).not.toContain("Phoenix")
  expect((await editor.post(`/sites/${id}/restore`, undefined)).body).toMatchObject({ required_permission: "site:delete" })
  expect((await admin.post("/sites/1/restore", undefined)).body).toMatchObject({ code: "site_not_found" })
  expect(await admin.post(`/sites/${id}/restore`, undefined)).toMatchObject({ status: 200, body: { id, name: "Phoenix" } })
  expect(await names(owner)).toContain("Phoenix")
  expect((await admin.post(`/sites/${id}/restore`, undefined)).body).toMatchObject({ code: "site_not_found" })
})

test("a deleted site cannot be restored after thirty days", async () => {
  await using other = await startInstance()
  const person = await signedIn(other, { role: "owner" })
  await person.remove("/sites/1")
  other.clock.advance(30 * 86_400_000)
  const again = await signedIn(other, { role: "owner" })
  expect((await again.post("/sites/1/restore", undefined)).body).toMatchObject({ code: "site_not_found" })
})

test("deleting and transferring need a recent proof of identity", async () => {
  const late = await signedIn(instance, { role: "owner", provedAt: instance.clock.now() - 601_000 })
  for (const ask of [late.remove("/sites/1"), late.post("/sites/1/transfer", {})])
    expect(await ask).toMatchObject({ status: 403, body: { code: "reauth_required" } })
})

test("a site moves to another organization, and its keys and members lose access", async () => {
  const id = await makeSite("Moving")
  const key = await instance.makeKey(["stats:read"], [id])
  const { body: organization } = await owner.post("/organizations", { name: "Elsewhere" })
  const { id: elsewhere } = organization as { id: number }
  expect((await owner.post(`/sites/${id}/transfer`, { organization_id: 999 })).body).toMatchObject({ code: "organization_not_found" })
  expect((await owner.post(`/sites/${id}/transfer`, {})).body).toMatchObject({
    errors: [{ pointer: "/organization_id", code: "required" }],
  })
  expect((await owner.get(`/sites/${id}`)).body).toMatchObject({ organization: { name: "Shop" } })
  expect(await owner.post(`/sites/${id}/transfer`, { organization_id: elsewhere })).toMatchObject({
    status: 200,
    body: { organization: { name: "Elsewhere" }, role: "owner" },
  })
  expect((await viewer.get(`/sites/${id}`)).body).toMatchObject({ code: "site_not_found" })
  expect((await instance.api.get(`/api/public/v1/sites/${id}`, key)).body).toMatchObject({ code: "site_not_found" })
})

test("searches and sorts the list, with pinned sites first", async () => {
  await using other = await startInstance()
  const person = await signedIn(other, { role: "owner" })
  for (const name of ["Bakery", "Archive", "Cinema"]) await person.post("/organizations/1/sites", { name, hosts: [`${name}.example`] })
  expect(await names(person)).toEqual(["Archive", "Bakery", "Cinema", "Shop"])
  expect(await names(person, "?sort=created")).toEqual(["Shop", "Bakery", "Archive", "Cinema"])
  expect(await names(person, "?search=CINEMA.ex")).toEqual(["Cinema"])
  expect((await person.put("/sites/4/pin")).status).toBe(204)
  expect((await person.put("/sites/4/pin")).status).toBe(204)
  expect(await names(person)).toEqual(["Cinema", "Archive", "Bakery", "Shop"])
  expect(await names(await signedIn(other, { role: "viewer" }))).toEqual(["Archive", "Bakery", "Cinema", "Shop"])

  await other.collect({ n: "pageview", u: "https://bakery.example/" })
  await other.collect({ n: "pageview", u: "https://bakery.example/" }, { address: "198.51.100.9" })
  await other.collect({ n: "pageview", u: "https://shop.example/" })
  expect(await names(person, "?sort=visitors")).toEqual(["Cinema", "Bakery", "Shop", "Archive"])
  const { body } = await person.get("/sites?sparkline=7d&search=bakery")
  expect((body as { data: object[] }).data).toMatchObject([
    {
      name: "Bakery",
      role: "owner",
      organization: { id: 1, name: "Shop" },
      current_visitors: 2,
      visitors: 2,
      visitors_by_day: [0, 0, 0, 0, 0, 0, 2],
    },
  ])
  expect((await person.remove("/sites/4/pin")).status).toBe(204)
  expect((await auditOf(other)).filter((action) => action.includes("pin"))).toEqual(["sites.site.pin", "sites.site.unpin"])
})

test("pages through the list without gaps or duplicates while sites are added", async () => {
  await using other = await startInstance()
  const person = await signedIn(other, { role: "owner" })
  for (const name of ["B", "D", "F"]) await person.post("/organizations/1/sites", { name, hosts: ["x.example"] })
  const first = (await person.get("/sites?limit=2&count=true")).body as { data: { name: string }[]; next_cursor: string; total: number }
  expect([first.data.map(({ name }) => name), first.total]).toEqual([["B", "D"], 4])
  await person.post("/organizations/1/sites", { name: "A", hosts: ["x.example"] })
  await person.post("/organizations/1/sites", { name: "E", hosts: ["x.example"] })
  const second = (await person.get(`/sites?limit=9&cursor=${first.next_cursor}`)).body
  expect(second).toMatchObject({ data: [{ name: "E" }, { name: "F" }, { name: "Shop" }], has_more: false, next_cursor: null })
  expect((await person.get(`/sites?sort=created&cursor=${first.next_cursor}`)).body).toMatchObject({ code: "invalid_cursor" })
  expect((await person.get("/sites?limit=201&sort=size&colour=red")).body).toMatchObject({
    code: "invalid_query",
    errors: [{ pointer: "/limit" }, { pointer: "/sort" }, { pointer: "/colour" }],
  })
})

test("the settings have one endpoint and are validated together", async () => {
  const id = await makeSite("Settings")
  const path = `/sites/${id}/settings`
  const { body } = await viewer.get(path)
  expect(body).toEqual({
    timezone: "UTC",
    retention_days: null,
    revenue_currency: "USD",
    strict_origin: false,
    accept_any_host: false,
    identity_mode: "daily",
    persistent_days: 180,
    store_user_ids: false,
    consent_default: "denied",
    respect_gpc: false,
    drop_bots: true,
    drop_spam: true,
    drop_probes: true,
    drop_datacenters: false,
    min_group: 5,
    bounce_engaged_seconds: 0,
    allowed_query_params: [],
    hash_routing: false,
    compat_ids: { plausible: [], umami: [], goatcounter: [] },
    public: false,
    order_property: "order_id",
    read_role: "viewer",
    host_disputes: [],
    version: 1,
  })
  const changes = {
    drop_bots: false,
    min_group: 2,
    timezone: "Asia/Tokyo",
    consent_default: "granted",
    compat_ids: { plausible: ["x.example"] },
  }
  expect(await admin.patch(path, { ...(body as object), ...changes })).toMatchObject({
    status: 200,
    body: { ...changes, compat_ids: { plausible: ["x.example"], umami: [], goatcounter: [] }, version: 2 },
  })
  expect((await admin.patch(path, { min_group: 3, version: 1 })).body).toMatchObject({
    code: "version_conflict",
    current: { version: 2, min_group: 2 },
  })
  const other = await makeSite("Taken")
  expect((await admin.patch(`/sites/${other}/settings`, { compat_ids: { plausible: ["x.example"] } })).body).toMatchObject({
    code: "compat_id_taken",
  })
})

test.each([
  [{ name: "X" }, "/name unknown_field"],
  [{ hosts: ["x.example"] }, "/hosts unknown_field"],
  [{ shields: [] }, "/shields unknown_field"],
  [{ min_group: 0 }, "/min_group out_of_range"],
  [{ min_group: "5" }, "/min_group invalid_type"],
  [{ consent_default: "maybe" }, "/consent_default invalid_choice"],
  [{ order_property: " " }, "/order_property too_short"],
  [{ order_property: "x".repeat(301) }, "/order_property too_long"],
  [{ order_property: "a\u0000" }, "/order_property invalid_characters"],
  [{ order_property: null }, "/order_property invalid_type"],
  [{ read_role: "owner" }, "/read_role invalid_choice"],
  [{ identity_mode: "yearly" }, "/identity_mode invalid_choice"],
  [{ allowed_query_params: ["token"] }, "/allowed_query_params/0 invalid_choice"],
  [{ retention_days: 0 }, "/retention_days out_of_range"],
  [{ timezone: "Mars/Base" }, "/timezone invalid_timezone"],
  [{ version: "1" }, "/version invalid_type"],
  [[], " invalid_type"],
])("rejects the settings %j", async (patch, fault) => {
  const { status, body } = await admin.patch("/sites/1/settings", patch)
  const { errors } = body as { errors: { pointer: string; code: string }[] }
  expect([status, errors.map(({ pointer, code }) => `${pointer} ${code}`)]).toEqual([422, [fault]])
})

test("previews a shorter retention before it is applied", async () => {
  await using other = await startInstance({ now: "2026-11-01T12:00:00Z" })
  await other.collect({ n: "pageview", u: "https://shop.example/" })
  await other.collect({ n: "Signup", u: "https://shop.example/" })
  other.clock.advance(10 * 86_400_000)
  await other.collect({ n: "pageview", u: "https://shop.example/" })
  const person = await signedIn(other, { role: "admin" })
  const ask = async (days: number) => (await person.get(`/sites/1/retention-preview?days=${days}`)).body
  expect(await ask(9)).toEqual({ cutoff_day: "2026-11-02", events: 2, visits: 1, first_run_at: "2026-11-11T12:00:00Z" })
  expect(await ask(10)).toMatchObject({ cutoff_day: "2026-11-01", events: 0, visits: 0 })
  await person.patch("/sites/1/settings", { retention_days: 30 })
  expect(await ask(9)).toMatchObject({ first_run_at: "2026-11-11T23:00:00Z" })
  for (const query of ["", "?days=0", "?days=3651", "?days=x"])
    expect(await person.get(`/sites/1/retention-preview${query}`)).toMatchObject({ status: 400, body: { errors: [{ pointer: "/days" }] } })
})

test("every write leaves one audit entry, and a write without a change none", async () => {
  await using other = await startInstance()
  const person = await signedIn(other, { role: "owner" })
  await person.patch("/sites/1", { name: "New" })
  await person.patch("/sites/1", { name: "New" })
  await person.patch("/sites/1/settings", { drop_bots: false })
  await person.patch("/sites/1", { name: "" })
  await person.remove("/sites/1")
  await person.post("/sites/1/restore", undefined)
  expect(await auditOf(other)).toEqual(["sites.site.update", "sites.settings.update", "sites.site.delete", "sites.site.restore"])
})

test("the API description is still readable after a site was created", async () => {
  // The framework closes a response schema in place when its route is first used; copies of the schema must not stay open.
  await makeSite("Described")
  expect((await owner.get("/openapi.json")).status).toBe(200)
})
