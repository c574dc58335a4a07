import { afterAll, afterEach, beforeAll, expect, test } from "bun:test"
import { sql } from "../../../../src/store/sql.ts"
import { type Answer, startInstance, type TestInstance } from "../../../kit.ts"
import { auditOf, type Person, signedIn, withoutId } from "../person.ts"

let instance: TestInstance
let editor: Person
let viewer: Person
let admin: Person

beforeAll(async () => {
  instance = await startInstance({ settings: { geo_header: "cf-ipcountry", trusted_proxies: "198.51.100.0/24" } })
  for (const [i, country] of ["DE", "DE", "DE", "FR"].entries()) {
    const headers = { "cf-ipcountry": country, "x-forwarded-for": `203.0.113.${i}` }
    await instance.collect({ n: "pageview", u: "https://shop.example/" }, { headers })
    await instance.collect({ n: "pageview", u: `https://shop.example/${country}` }, { headers })
  }
  admin = await signedIn(instance, { role: "admin" })
  editor = await signedIn(instance, { role: "editor" })
  viewer = await signedIn(instance, { role: "viewer" })
  await admin.patch("/sites/1/settings", { min_group: 1 })
})
afterAll(() => instance[Symbol.asyncDispose]())
// A site can have only a few views, so each test removes them.
afterEach(() => instance.app.instance.catalog.script("delete from shares"))

const SHARES = "/sites/1/shares"
interface Made {
  id: number
  slug: string
  version: number
}
const share = async (body: object): Promise<Made> => {
  const { status, body: made } = await editor.post(SHARES, { name: "For you", ...body })
  expect(status).toBe(201)
  return made as Made
}
const open = (slug: string, path = "", headers: Record<string, string> = {}): Promise<Answer> =>
  instance.api.get(`/api/share/s/${slug}${path}`, undefined, headers)
const filters = (...list: object[]) => encodeURIComponent(JSON.stringify(list))

test("a shared view has a URL with 22 letters and digits, and only the requested parts", async () => {
  const { status, body, headers } = await editor.post(SHARES, { name: "  For  Ann " })
  expect([status, headers.get("etag")]).toEqual([201, '"1"'])
  const { id, slug } = body as Made
  expect(slug).toMatch(/^[0-9A-Za-z]{22}$/)
  expect(headers.get("location")).toBe(`/api/private/sites/1/shares/${id}`)
  expect(body).toMatchObject({
    name: "For  Ann",
    url: expect.stringMatching(new RegExp(`/share/s/${slug}$`)),
    has_password: false,
    expires_at: null,
    locked_filters: [],
    allow_range: true,
    allow_filters: true,
    allow_export: false,
    embed_origins: [],
    is_public: false,
    version: 1,
  })
  expect((body as { sections: string[] }).sections).not.toContain("revenue")
  expect((await editor.get(`${SHARES}/${id}`)).body).toEqual(body)
  expect(await open(slug)).toMatchObject({ status: 200, body: { password_required: false, name: "For  Ann", site: { name: "Shop" } } })
  expect((await open(slug)).headers.get("x-robots-tag")).toBe("noindex")
})

test("stores neither slug nor password in plain text, nor in the audit log", async () => {
  const { slug } = await share({ password: "correct horse" })
  const rows = await instance.app.instance.catalog.all<object>(sql`select * from shares`)
  const log = await instance.app.instance.catalog.all<{ changes_json: string }>(sql`select changes_json from audit_log`)
  const text = JSON.stringify([rows, log], (_, value) => (value instanceof Uint8Array ? new TextDecoder().decode(value) : value))
  expect(text).toContain("password_version")
  for (const secret of [slug, "correct horse"]) expect(text).not.toContain(secret)
})

test.each([
  [{}, ["/name required"]],
  [{ name: "" }, ["/name too_short"]],
  [{ name: "x", password: "short" }, ["/password too_short"]],
  [{ name: "x", expires_at: "tomorrow" }, ["/expires_at invalid_date"]],
  [{ name: "x", expires_at: "2020-01-01T00:00:00Z" }, ["/expires_at out_of_range"]],
  [{ name: "x", sections: ["people"] }, ["/sections/0 invalid_choice"]],
  [{ name: "x", sections: [] }, ["/sections too_few"]],
  [{ name: "x", locked_filters: [{ dimension: "colour", values: ["red"] }] }, ["/locked_filters/0/dimension invalid_choice"]],
  [{ name: "x", locked_filters: [{ dimension: "segment", values: [99] }] }, ["/locked_filters/0/values invalid_choice"]],
  [
    { name: "x", embed_origins: ["http://x.example", "https://x.example/page"] },
    ["/embed_origins/0 invalid_url", "/embed_origins/1 invalid_url"],
  ],
  [{ name: "x", allow_range: "yes", colour: 1 }, ["/allow_range invalid_type", "/colour unknown_field"]],
])("rejects the view %j", async (body, faults) => {
  const answer = await editor.post(SHARES, body)
  const { errors } = answer.body as { errors: { pointer: string; code: string }[] }
  expect([answer.status, errors.map(({ pointer, code }) => `${pointer} ${code}`)]).toEqual([422, faults])
})

test("an embedded view cannot have a password", async () => {
  const both = { name: "x", password: "correct horse", embed_origins: ["https://x.example"] }
  expect(await editor.post(SHARES, both)).toMatchObject({ status: 422, body: { code: "embed_needs_no_password" } })
})

test("editors can create and manage shared views", async () => {
  const { id } = await share({})
  for (const ask of [viewer.get(SHARES), viewer.post(SHARES, {}), viewer.remove(`${SHARES}/${id}`)])
    expect(await ask).toMatchObject({ status: 403, body: { required_permission: "dashboards:share" } })
  expect(await editor.patch(`${SHARES}/${id}`, { name: "Other", version: 1 })).toMatchObject({
    status: 200,
    body: { name: "Other", version: 2 },
  })
  expect(await editor.patch(`${SHARES}/${id}`, { name: "Third", version: 1 })).toMatchObject({
    status: 409,
    body: { current: { version: 2 } },
  })
  expect(await editor.patch(`${SHARES}/99`, {})).toMatchObject({ status: 404, body: { code: "share_not_found" } })
  const shown = (await editor.get(`${SHARES}/${id}`)).body
  expect(await editor.patch(`${SHARES}/${id}`, shown)).toMatchObject({ status: 200, body: { version: 2 } })
  expect((await editor.remove(`${SHARES}/${id}`)).status).toBe(204)
  expect((await auditOf(instance)).filter((action) => action.startsWith("sites.share.")).slice(-3)).toEqual([
    "sites.share.create",
    "sites.share.update",
    "sites.share.delete",
  ])
})

test("unknown, expired and removed views receive the same response", async () => {
  const unknown = withoutId(await open("a".repeat(22)))
  expect(unknown).toMatchObject({ status: 404, body: { code: "not_found" } })
  const removed = await share({})
  await editor.remove(`${SHARES}/${removed.id}`)
  const expiring = await share({ expires_at: new Date(instance.clock.now() + 60_000).toISOString() })
  expect((await open(expiring.slug)).status).toBe(200)
  instance.clock.advance(60_000)
  for (const slug of [removed.slug, expiring.slug, "x", "%00", "a".repeat(300)]) {
    expect(withoutId(await open(slug))).toEqual(unknown)
    expect(withoutId(await open(slug, "/stats/summary"))).toEqual(unknown)
  }
  expect(withoutId(await instance.api.post(`/api/share/s/${removed.slug}/unlock`, { password: "x" }))).toEqual(unknown)
})

test("reports equal those of the site", async () => {
  const { slug } = await share({ allow_export: true })
  const query = "?period=7d&metrics=visitors,pageviews"
  const own = await viewer.get(`/sites/1/stats/summary${query}`)
  expect((await open(slug, `/stats/summary${query}`)).body).toEqual(own.body)
  expect((await open(slug, "/stats/breakdown?dimension=country")).body).toMatchObject({
    rows: [
      { value: "DE", visitors: 3 },
      { value: "FR", visitors: 1 },
    ],
  })
  expect(await open(slug, "/stats/goals")).toMatchObject({ status: 200, body: { funnels: [] } })
  for (const report of ["timeseries", "realtime", "busy-hours", "events", "properties", "values?dimension=page"])
    expect((await open(slug, `/stats/${report}`)).status).toBe(200)
  for (const report of ["people", "funnel", "journeys"])
    expect((await open(slug, `/stats/${report}`)).body).toMatchObject({ code: "not_found" })
  expect((await open(slug, "/export?type=country")).body).toStartWith("value,label,visitors,pageviews,share\r\n")
  expect((await open(slug, "/export?type=visits")).body).toMatchObject({ code: "not_allowed" })
})

test("locked filters apply to every request of a viewer", async () => {
  const { slug } = await share({ locked_filters: [{ dimension: "country", values: ["FR"] }], allow_export: true })
  const visitors = async (query = "") =>
    ((await open(slug, `/stats/summary${query}`)).body as { metrics: { visitors: number } }).metrics.visitors
  expect(await visitors()).toBe(1)
  expect(await visitors(`?filters=${filters({ dimension: "country", values: ["DE"] })}`)).toBe(0)
  expect(await visitors(`?filters=${filters({ dimension: "page", values: ["/", "/DE"] })}`)).toBe(1)
  expect((await open(slug, "/stats/breakdown?dimension=page")).body).toMatchObject({ rows: [{ value: "/" }, { value: "/FR" }] })
  expect((await open(slug, "/stats/realtime")).body).toMatchObject({ visitors: 1, countries: [{ value: "FR" }] })
  expect((await open(slug, "/stats/values?dimension=page")).body).toMatchObject({ data: [{ value: "/" }, { value: "/FR" }] })
  expect((await open(slug, "/export?type=country")).body).toContain('"FR"')
  expect((await open(slug, "/export?type=country")).body).not.toContain('"DE"')
})

test("a group of alternatives can't reach what a view hides or locks", async () => {
  const { slug } = await share({ locked_filters: [{ dimension: "country", values: ["FR"] }], sections: ["summary", "locations"] })
  const [german, page] = [
    { dimension: "country", values: ["DE"] },
    { dimension: "page", values: ["/"] },
  ]
  const asked = (any: unknown) => open(slug, `/stats/summary?filters=${filters({ any })}`)
  expect((await asked([german])).body).toMatchObject({ metrics: { visitors: 0 } })
  expect((await asked([german, { dimension: "country", values: ["FR"] }])).body).toMatchObject({ metrics: { visitors: 1 } })
  expect((await asked([german, page])).body).toMatchObject({ code: "not_allowed" })
  expect((await asked([german, { dimension: "segment", values: [1] }])).body).toMatchObject({ code: "not_allowed" })
})

test("a locked segment that was deleted matches nothing", async () => {
  const segment = (
    await editor.post("/sites/1/segments", { name: "Germans", scope: "site", filters: [{ dimension: "country", values: ["DE"] }] })
  ).body as Made
  const { slug, id } = await share({ locked_filters: [{ dimension: "segment", values: [segment.id] }] })
  expect((await open(slug, "/stats/summary")).body).toMatchObject({ metrics: { visitors: 3 } })
  expect(await editor.remove(`/sites/1/segments/${segment.id}`)).toMatchObject({
    status: 409,
    body: { code: "segment_in_use", used_by: [{ type: "share", id, name: "For you" }] },
  })
  expect((await editor.remove(`/sites/1/segments/${segment.id}?force=true`)).status).toBe(204)
  expect((await open(slug, "/stats/summary")).body).toMatchObject({ metrics: { visitors: 0 } })
})

test.each([
  ["a dimension that is not shared", {}, "/stats/breakdown?dimension=country"],
  ["a report that is not shared", {}, "/stats/realtime"],
  ["another range", { allow_range: false }, "/stats/summary?period=7d"],
  ["another comparison", { allow_range: false }, "/stats/summary?compare=previous_period"],
  ["additional filters", { allow_filters: false }, `/stats/summary?filters=${filters({ dimension: "page", values: ["/"] })}`],
  ["filters by a dimension that is not shared", {}, `/stats/summary?filters=${filters({ dimension: "country", values: ["DE"] })}`],
  ["filters by a segment", {}, `/stats/summary?filters=${filters({ dimension: "segment", values: [1] })}`],
  ["values of a dimension that is not shared", {}, "/stats/values?dimension=country"],
  ["an export", {}, "/export?type=page"],
  ["an export of a dimension that is not shared", { allow_export: true }, "/export?type=country"],
])("a view rejects %s", async (_, more, path) => {
  const { slug } = await share({ sections: ["summary", "pages"], ...more })
  expect(await open(slug, path)).toMatchObject({ status: 422, body: { code: "not_allowed" } })
})

test("revenue is visible where its part is shared", async () => {
  const hidden = await share({})
  expect((await open(hidden.slug, "/stats/summary?metrics=revenue")).body).toMatchObject({ errors: [{ code: "unsupported_metric" }] })
  const shown = await share({ sections: ["summary", "revenue"] })
  expect((await open(shown.slug, "/stats/summary?metrics=revenue")).body).toMatchObject({ metrics: { revenue: 0 } })
})

test("a password protects everything except its form, and unlocks the view for an hour", async () => {
  const { slug, id } = await share({ password: "correct horse" })
  expect(await open(slug)).toMatchObject({ status: 200, body: { password_required: true } })
  expect(Object.keys((await open(slug)).body as object)).toEqual(["password_required"])
  expect(await open(slug, "/stats/summary")).toMatchObject({ status: 401, body: { code: "share_locked" } })
  const unlock = (password: unknown, headers: Record<string, string> = {}) =>
    instance.api.post(`/api/share/s/${slug}/unlock`, { password }, undefined, headers)
  expect(await unlock("wrong horse")).toMatchObject({ status: 401, body: { code: "invalid_credentials" } })
  expect(await unlock("correct horse", { "sec-fetch-site": "cross-site" })).toMatchObject({
    status: 403,
    body: { code: "origin_not_allowed" },
  })
  const { status, headers } = await unlock("correct horse")
  expect(status).toBe(204)
  const [pair, ...attributes] = headers.get("set-cookie")!.split("; ")
  expect(attributes).toEqual(["Path=/", "Max-Age=3600", "HttpOnly", "SameSite=Lax"])
  const cookie = { cookie: pair! }
  expect((await open(slug, "", cookie)).body).toMatchObject({ password_required: false })
  expect((await open(slug, "/stats/summary", cookie)).status).toBe(200)
  for (const forged of [`${pair}x`, pair!.replace(/=\d/, "=9"), `unlock-${id}=`, `unlock-${id}=%FF`])
    expect((await open(slug, "/stats/summary", { cookie: forged })).status).toBe(401)
  const other = await share({ password: "correct horse" })
  expect((await open(other.slug, "/stats/summary", { cookie: pair!.replace(String(id), String(other.id)) })).status).toBe(401)

  await editor.patch(`${SHARES}/${id}`, { name: "Renamed" })
  expect((await open(slug, "/stats/summary", cookie)).status).toBe(200)
  await editor.patch(`${SHARES}/${id}`, { password: "another horse" })
  expect((await open(slug, "/stats/summary", cookie)).status).toBe(401)
  const again = { cookie: (await unlock("another horse")).headers.get("set-cookie")!.split("; ")[0]! }
  expect((await open(slug, "/stats/summary", again)).status).toBe(200)
  instance.clock.advance(3_600_000)
  expect((await open(slug, "/stats/summary", again)).status).toBe(401)
  await editor.patch(`${SHARES}/${id}`, { password: null })
  expect((await open(slug, "/stats/summary")).status).toBe(200)
})

test("allows five wrong passwords a minute per network and view", async () => {
  const { slug } = await share({ password: "correct horse" })
  const guess = async (address: string, password = "wrong horse") => {
    const request = new Request(`http://localhost/api/share/s/${slug}/unlock`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ password }),
    })
    return (await instance.fetch(request, address)).status
  }
  for (let i = 0; i < 5; i++) expect(await guess("192.0.2.1")).toBe(401)
  expect(await guess("192.0.2.1", "correct horse")).toBe(429)
  expect(await guess("192.0.3.1", "correct horse")).toBe(204)
  instance.clock.advance(60_000)
  expect(await guess("192.0.2.1", "correct horse")).toBe(204)
})

test("the organization decides whether sharing is allowed", async () => {
  await using other = await startInstance()
  const owner = await signedIn(other, { role: "owner" })
  const path = "/sites/1/shares"
  const { slug } = (await owner.post(path, { name: "Open" })).body as Made
  const secret = (await owner.post(path, { name: "Secret", password: "correct horse" })).body as Made
  const status = async (address: string) => (await other.api.get(`/api/share/s/${address}`)).status
  const policy = (public_links: string) => owner.patch("/organizations/1", { policy: { public_links } })

  await policy("password_required")
  expect([await status(slug), await status(secret.slug)]).toEqual([404, 200])
  expect((await owner.post(path, { name: "x" })).body).toMatchObject({ code: "password_required" })
  expect((await owner.patch(`${path}/${secret.id}`, { password: null })).body).toMatchObject({ code: "password_required" })
  expect((await owner.patch("/sites/1/settings", { public: true })).body).toMatchObject({ code: "password_required" })
  await policy("off")
  expect([await status(slug), await status(secret.slug)]).toEqual([404, 404])
  expect((await owner.post(path, { name: "x", password: "correct horse" })).body).toMatchObject({ code: "sharing_disabled" })
  await policy("allowed")
  expect([await status(slug), await status(secret.slug)]).toEqual([200, 200])
})

test("a public site has a view for as long as it is public", async () => {
  await using other = await startInstance()
  const owner = await signedIn(other, { role: "owner" })
  const shares = async () => ((await owner.get("/sites/1/shares")).body as { data: { slug: string; is_public: boolean }[] }).data
  expect((await owner.patch("/sites/1/settings", { public: true })).body).toMatchObject({ public: true })
  const [made] = await shares()
  expect(made).toMatchObject({ name: "Public", is_public: true, has_password: false })
  expect((await other.api.get(`/api/share/s/${made!.slug}/stats/summary`)).status).toBe(200)
  await owner.patch("/sites/1/settings", { public: true, drop_bots: false })
  expect(await shares()).toHaveLength(1)
  await owner.patch("/sites/1/settings", { public: false })
  expect(await shares()).toEqual([])
  expect((await other.api.get(`/api/share/s/${made!.slug}`)).status).toBe(404)
  expect((await auditOf(other)).filter((action) => action === "sites.settings.update")).toHaveLength(3)
})

test("a site has at most twenty views, and a deleted site shows none", async () => {
  await using other = await startInstance()
  const owner = await signedIn(other, { role: "owner" })
  let slug = ""
  for (let i = 0; i < 20; i++) slug = ((await owner.post("/sites/1/shares", { name: `${i}` })).body as Made).slug
  expect((await owner.post("/sites/1/shares", { name: "x" })).body).toMatchObject({ code: "limit_reached", limit: 20, resource: "shares" })
  await owner.remove("/sites/1")
  expect((await other.api.get(`/api/share/s/${slug}`)).status).toBe(404)
})
