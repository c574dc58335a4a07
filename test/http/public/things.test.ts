import { afterAll, beforeAll, expect, test } from "bun:test"
import { startInstance, type TestInstance } from "../../kit.ts"

let instance: TestInstance
beforeAll(async () => {
  instance = await startInstance({ settings: { base_url: "https://stats.example.org", api_rate_limit: "0" } })
})
afterAll(() => instance[Symbol.asyncDispose]())

const V1 = "/api/public/v1"
const SITE = `${V1}/sites/1`
const FUNNEL = {
  name: "Signup",
  steps: [
    { type: "page", value: "/pricing" },
    { type: "event", value: "signup" },
  ],
}

test.each([
  ["/api/public/v1/sites/1", { confirm: true }],
  ["/api/public/v1/sites/1/goals/1", { zz: 1 }],
])("rejects deleting %s with a non-empty body", async (path, body) => {
  await using instance = await startInstance()
  const goal = { kind: "event", value: "signup" }
  expect((await instance.api.post("/api/public/v1/sites/1/goals", goal, instance.key)).status).toBe(201)
  const [field] = Object.keys(body)
  expect(await instance.api.send("DELETE", path, body, instance.key)).toMatchObject({
    status: 422,
    body: { code: "validation_failed", errors: [{ pointer: `/${field}`, code: "unknown_field" }] },
  })
  expect((await instance.api.get(path, instance.key)).status).toBe(200)
  expect((await instance.api.send("DELETE", path, {}, instance.key)).status).toBe(204)
})

test("creates, reads, updates and deletes a site", async () => {
  const { api, key } = instance
  const made = await api.post(`${V1}/sites`, { name: "Blog", hosts: ["Blog.Example.", "münchen.de", "blog.example"] }, key)
  const id = (made.body as { id: number }).id
  expect(made).toMatchObject({
    status: 201,
    body: {
      id,
      name: "Blog",
      hosts: ["blog.example", "xn--mnchen-3ya.de"],
      timezone: "UTC",
      retention_days: null,
      revenue_currency: "USD",
      created_at: "2026-11-21T12:00:00Z",
      updated_at: "2026-11-21T12:00:00Z",
    },
  })
  const { tracking_id, snippet } = made.body as Record<string, string>
  expect(snippet).toBe(`<script defer src="https://stats.example.org/js/script.js" data-site="${tracking_id}"></script>`)
  expect(made.headers.get("location")).toBe(`${V1}/sites/${id}`)
  expect(made.headers.get("etag")).toBe('"1"')
  expect(await api.get(made.headers.get("location")!, key)).toMatchObject({ status: 200, body: made.body as object })

  // The response of GET can be sent back unchanged.
  const same = await api.send("PATCH", `${V1}/sites/${id}`, made.body, key)
  expect(same).toMatchObject({ status: 200, body: made.body as object })
  expect(same.headers.get("etag")).toBe('"1"')
  const changed = await api.send("PATCH", `${V1}/sites/${id}`, { timezone: "europe/berlin", retention_days: 30 }, key)
  expect(changed).toMatchObject({ status: 200, body: { timezone: "Europe/Berlin", retention_days: 30, name: "Blog" } })
  expect(changed.headers.get("etag")).toBe('"2"')
  expect((await api.send("PATCH", `${V1}/sites/${id}`, { retention_days: null }, key)).body).toMatchObject({ retention_days: null })

  const gone = await api.send("DELETE", `${V1}/sites/${id}`, undefined, key)
  expect(gone).toMatchObject({ status: 204, body: "" })
  for (const path of ["", "/goals", "/funnels", "/annotations", "/stats/summary"])
    expect(await api.get(`${V1}/sites/${id}${path}`, key)).toMatchObject({ status: 404, body: { code: "site_not_found" } })
})

test.each([
  ["localhost", " data-local"],
  ["127.0.0.1", " data-local"],
  ["shop.local", " data-local"],
  ["*.shop.test", " data-local"],
  ["192.168.1.20", " data-local"],
  ["testing.example", ""],
  ["localhost.example", ""],
])("the snippet of a site with host %s has the attribute %p", async (host, attribute) => {
  const { api, key } = instance
  const { body } = await api.post(`${V1}/sites`, { name: "Local", hosts: ["shop.example", host] }, key)
  const { id, tracking_id, snippet } = body as { id: number; tracking_id: string; snippet: string }
  expect(snippet).toBe(`<script defer src="https://stats.example.org/js/script.js" data-site="${tracking_id}"${attribute}></script>`)
  await api.send("DELETE", `${V1}/sites/${id}`, undefined, key)
})

test("a site reports its first event, and its ETag changes with it", async () => {
  const { api, key, collect, site, clock } = instance
  const before = await api.get(SITE, key)
  expect(before.body).not.toHaveProperty("first_event_at")
  clock.advance(1_000)
  expect((await collect({ n: "pageview", u: "https://shop.example/", d: site.tracking_id })).status).toBe(202)
  const after = await api.get(SITE, key, { "if-none-match": before.headers.get("etag")! })
  expect(after).toMatchObject({ status: 200, body: { first_event_at: "2026-11-21T12:00:01Z" } })
  expect((await api.get(SITE, key, { "if-none-match": after.headers.get("etag")! })).status).toBe(304)
  // Only the version determines whether an update is accepted.
  expect((await api.send("PATCH", SITE, {}, key, { "if-match": before.headers.get("etag")! })).status).toBe(200)
})

test.each([
  ["goals", { kind: "event", value: "signup" }, { name: "Signed up" }, { kind: "event", match: "exact", value: "signup", name: "signup" }],
  ["funnels", FUNNEL, { window_hours: 24 }, { name: "Signup", order: "sequential", window_hours: null }],
  [
    "annotations",
    { at: "2026-11-20", text: "Launch" },
    { at: "2026-11-20T23:30:00Z" },
    { at: "2026-11-20", day: "2026-11-20", text: "Launch" },
  ],
])("creates, lists, reads, updates and deletes %s", async (kind, body, patch, shown) => {
  const { api, key } = instance
  const made = await api.post(`${SITE}/${kind}`, body, key)
  const { id } = made.body as { id: number }
  expect(made).toMatchObject({ status: 201, body: { id: expect.any(Number), site_id: 1, ...shown } })
  expect(made.headers.get("location")).toBe(`${SITE}/${kind}/${id}`)
  const path = `${SITE}/${kind}/${id}`
  expect(await api.get(path, key)).toMatchObject({ status: 200, body: made.body as object })
  expect(await api.get(`${SITE}/${kind}`, key)).toMatchObject({ status: 200, body: { data: [made.body], has_more: false } })

  expect(await api.send("PATCH", path, {}, key, { "if-match": '"7"' })).toMatchObject({
    status: 412,
    body: { code: "precondition_failed" },
  })
  const changed = await api.send("PATCH", path, patch, key, { "if-match": '"7", "1"', "content-type": "application/merge-patch+json" })
  expect(changed).toMatchObject({ status: 200, body: patch })
  expect(changed.headers.get("etag")).toBe('"2"')
  const stale = await api.send("DELETE", path, undefined, key, { "if-match": '"1"' })
  expect(stale.status).toBe(412)
  expect(stale.headers.get("etag")).toBe('"2"')
  expect((await api.send("DELETE", path, undefined, key, { "if-match": "*" })).status).toBe(204)
  for (const method of ["GET", "PATCH", "DELETE"])
    expect(await api.send(method, path, method === "PATCH" ? {} : undefined, key)).toMatchObject({
      status: 404,
      body: { code: `${kind.slice(0, -1)}_not_found` },
    })
  for (const odd of ["0", "01", "-1", "1e3", "abc", "%31x", "99999999999999999999"])
    expect(await api.get(`${SITE}/${kind}/${odd}`, key)).toMatchObject({ status: 404, body: { code: `${kind.slice(0, -1)}_not_found` } })
})

test("an annotation's instant belongs to a day in the site's time zone", async () => {
  const { api, key } = instance
  const made = await api.post(`${SITE}/annotations`, { at: "2026-10-31T23:30:00+00:00", text: "Late" }, key)
  expect(made.body).toMatchObject({ at: "2026-10-31T23:30:00Z", day: "2026-11-01" })
  for (const [query, count] of [
    ["from=2026-11-01&to=2026-11-01", 1],
    ["from=2026-10-01&to=2026-10-31", 0],
  ] as const)
    expect((await api.get(`${SITE}/annotations?${query}`, key)).body).toMatchObject({ data: { length: count } })
  for (const [query, pointer, code] of [
    ["from=2026-11-01", "/to", "invalid_range"],
    ["from=2026-11-02&to=2026-11-01", "/from", "invalid_range"],
    ["from=2026-02-30&to=2026-11-01", "/from", "invalid_date"],
    ["search=x", "/search", "unknown_field"],
  ])
    expect((await api.get(`${SITE}/annotations?${query}`, key)).body).toMatchObject({ code: "invalid_query", errors: [{ pointer, code }] })
  for (const at of ["2026-02-30", "2026-02-30T00:00:00Z", "yesterday", "2026-11-01T10:00:00", "2026-1-1"])
    expect((await api.post(`${SITE}/annotations`, { at, text: "x" }, key)).body).toMatchObject({
      errors: [{ pointer: "/at", code: "invalid_date" }],
    })
})

test("pages through a list without gaps or duplicates while it changes", async () => {
  const { api, key } = instance
  const ids: number[] = []
  for (let i = 0; i < 7; i++) {
    const { body } = await api.post(`${SITE}/goals`, { kind: "event", value: `paged ${i}` }, key)
    ids.push((body as { id: number }).id)
  }
  const seen: number[] = []
  let cursor: string | undefined
  do {
    const query = cursor === undefined ? "limit=3" : `limit=3&cursor=${cursor}`
    const page = (await api.get(`${SITE}/goals?${query}`, key)).body as { data: { id: number }[]; has_more: boolean; next_cursor?: string }
    expect(page.has_more).toBe(page.next_cursor !== undefined)
    seen.push(...page.data.map(({ id }) => id))
    // The last item of the page is deleted; the cursor remains valid.
    if (seen.length === 3) await api.send("DELETE", `${SITE}/goals/${seen[2]}`, undefined, key)
    cursor = page.next_cursor
  } while (cursor !== undefined)
  expect(seen).toEqual(ids)

  const first = (await api.get(`${SITE}/goals?limit=1`, key)).body as { next_cursor: string }
  for (const foreign of [
    `${SITE}/funnels?cursor=${first.next_cursor}`,
    `${V1}/sites?cursor=${first.next_cursor}`,
    `${SITE}/goals?cursor=x`,
    `${SITE}/goals?cursor=`,
  ])
    expect(await api.get(foreign, key)).toMatchObject({ status: 400, body: { code: "invalid_cursor" } })
  for (const limit of ["0", "101", "1.5", "-1", "1e1", "", "x"])
    expect(await api.get(`${SITE}/goals?limit=${limit}`, key)).toMatchObject({
      status: 400,
      body: { code: "invalid_query", errors: [{ pointer: "/limit" }] },
    })
})

test("a limited key lists only its own sites", async () => {
  const { api, makeKey, key } = instance
  const other = ((await api.post(`${V1}/sites`, { name: "Other shop", hosts: ["other.example"] }, key)).body as { id: number }).id
  const listed = async (token: string, query = "") => {
    const { body } = await api.get(`${V1}/sites${query}`, token)
    return (body as { data: { id: number }[] }).data.map(({ id }) => id)
  }
  expect(await listed(key)).toEqual([1, other])
  expect(await listed(key, "?search=OTHER")).toEqual([other])
  expect(await listed(key, "?search=shop.EX")).toEqual([1])
  expect(await listed(await makeKey(["stats:read"], [other]))).toEqual([other])
  expect(await listed(await makeKey(["sites:read"], []))).toEqual([])
})

test("describes the key in use without its secret", async () => {
  const { api, makeKey, clock } = instance
  const limited = await makeKey(["goals:write", "stats:read"], [1])
  const { body } = await api.get(`${V1}/key`, limited)
  expect(body).toMatchObject({
    name: "2 scopes",
    prefix: limited.slice(0, 11),
    organization: { id: 1, name: "Shop" },
    scopes: ["goals:write", "stats:read"],
    unrestricted: false,
    site_ids: [1],
    created_at: new Date(clock.now()).toISOString().replace(".000", ""),
  })
  expect(JSON.stringify(body)).not.toContain(limited.slice(12))
  expect((await api.get(`${V1}/key`, instance.key)).body).toMatchObject({ unrestricted: true })
  expect((await api.get(`${V1}/key`, instance.key)).body).not.toHaveProperty("site_ids")
})

test("the report of a saved funnel equals that of its steps", async () => {
  const { api, key, collect, site } = instance
  await collect({ n: "pageview", u: "https://shop.example/pricing", d: site.tracking_id })
  await collect({ n: "signup", u: "https://shop.example/pricing", d: site.tracking_id })
  const { id } = (await api.post(`${SITE}/funnels`, FUNNEL, key)).body as { id: number }
  const { body } = await api.get(`${SITE}/funnels/${id}/report?period=today`, key)
  expect(body).toMatchObject({ funnel_id: id, name: "Signup", entered: 1, completed: 1, steps: [{ step: 1 }, { step: 2 }] })
  for (const name of ["steps", "funnel_id", "order", "window_hours"])
    expect((await api.get(`${SITE}/funnels/${id}/report?${name}=1`, key)).body).toMatchObject({
      errors: [{ pointer: `/${name}`, code: "unknown_field" }],
    })
  expect(await api.get(`${SITE}/funnels/999/report?period=never`, key)).toMatchObject({ status: 404, body: { code: "funnel_not_found" } })
})
