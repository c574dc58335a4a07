import { describe, expect, test } from "bun:test"
import { openStage, PIXELS } from "./stage.ts"

const DAY_MS = 86_400_000

test("creates a pixel with default values and returns it", async () => {
  await using stage = await openStage()
  const made = await stage.send("POST", "", { name: " News ", kind: "rss" })
  expect(made).toMatchObject({ status: 201 })
  expect(made.headers.get("location")).toBe(`${PIXELS}/1`)
  expect(made.headers.get("etag")).toBe('"1"')
  const pixel = {
    id: 1,
    name: "News",
    kind: "rss",
    slug: expect.stringMatching(/^[2-9a-km-zA-HJ-NP-Z]{10}$/),
    url: expect.stringMatching(/^http:\/\/localhost:8080\/p\/[2-9a-zA-Z]{10}\.gif$/),
    allowed_params: [],
    recipient_mode: "none",
    badge_public: false,
    archived: false,
    archived_at: null,
    opens_total: 0,
    opens_direct: 0,
    last_open_at: null,
    created_by: 1,
    version: 1,
    created_at: "2026-11-21T12:00:00Z",
    updated_at: "2026-11-21T12:00:00Z",
  }
  expect(made.body).toEqual(pixel)
  expect(await stage.get("/1")).toMatchObject({ status: 200, body: made.body })
  const recent = { days: 30, opens_direct: 0, opens_proxied: 0, opens_prefetched: 0, bots: 0 }
  expect((await stage.get("")).body).toEqual({ data: [{ ...pixel, recent }], has_more: false, next_cursor: null })
})

test.each([
  ["without a name", { name: undefined }, "validation_failed", "/name", "required"],
  ["with an empty name", { name: "  " }, "validation_failed", "/name", "too_short"],
  ["with a long name", { name: "x".repeat(101) }, "validation_failed", "/name", "too_long"],
  ["with a control character in its name", { name: "a\u0000b" }, "validation_failed", "/name", "invalid_characters"],
  ["of an unknown kind", { kind: "fax" }, "validation_failed", "/kind", "invalid_choice"],
  ["with an unknown field", { colour: 1 }, "validation_failed", "/colour", "unknown_field"],
  ["with six parameters", { allowed_params: ["a", "b", "c", "d", "e", "f"] }, "validation_failed", "/allowed_params", "too_many"],
  ["with a duplicate parameter", { allowed_params: ["a", "a"] }, "validation_failed", "/allowed_params", "not_unique"],
  ["with an invalid parameter", { allowed_params: ["a b"] }, "validation_failed", "/allowed_params/0", expect.any(String)],
  ["with a long parameter", { allowed_params: ["x".repeat(41)] }, "validation_failed", "/allowed_params/0", expect.any(String)],
  ["that stores the recipient parameter unhashed", { allowed_params: ["r"] }, "validation_failed", "/allowed_params/0", "invalid_choice"],
  ["with an unknown mode", { recipient_mode: "plain" }, "validation_failed", "/recipient_mode", "invalid_choice"],
  ["with a string for a boolean", { badge_public: "true" }, "validation_failed", "/badge_public", "invalid_type"],
  ["with an empty slug", { slug: "" }, "invalid_slug", undefined, undefined],
  ["with a slash in its slug", { slug: "a/b" }, "invalid_slug", undefined, undefined],
  ["with a dot in its slug", { slug: "a.gif" }, "invalid_slug", undefined, undefined],
  ["with non-Latin letters in its slug", { slug: "новости" }, "invalid_slug", undefined, undefined],
  ["with a long slug", { slug: "x".repeat(65) }, "invalid_slug", undefined, undefined],
  ["with a reserved slug", { slug: "Admin" }, "slug_reserved", undefined, undefined],
])("rejects a pixel %s", async (_, fields, code, pointer, fault) => {
  await using stage = await openStage()
  const answer = await stage.send("POST", "", { name: "News", kind: "email", ...fields })
  expect(answer).toMatchObject({ status: 422, body: { code, ...(pointer && { errors: [{ pointer, code: fault }] }) } })
  const { id } = await stage.make()
  const patch = await stage.send("PATCH", `/${id}`, fields)
  if (fault !== "required") expect(patch).toMatchObject({ status: 422, body: { code } })
  expect((await stage.get(`/${id}`)).body).toMatchObject({ version: 1 })
})

describe("a change", () => {
  test("applies to the next request, and keeps the version if nothing changes", async () => {
    await using stage = await openStage()
    const { id } = await stage.make({ slug: "spring" })
    expect((await stage.send("PATCH", `/${id}`, { slug: "summer", name: "Summer" })).headers.get("etag")).toBe('"2"')
    await stage.ask("/p/spring.gif")
    await stage.ask("/p/summer.gif")
    await stage.folded()
    expect((await stage.get(`/${id}`)).body).toMatchObject({ opens_total: 1, name: "Summer" })
    const whole = (await stage.get(`/${id}`)).body as object
    expect(await stage.send("PATCH", `/${id}`, whole)).toMatchObject({ status: 200, body: { version: 2 } })
  })

  test.each([
    ["an outdated version", { name: "X", version: 1 }, {}, 409, "version_conflict"],
    ["an outdated ETag", { name: "X" }, { "if-match": '"1"' }, 412, "precondition_failed"],
    ["the current version", { name: "X", version: 2 }, {}, 200, undefined],
    ["the current ETag", { name: "X" }, { "if-match": '"2"' }, 200, undefined],
  ])("with %s", async (_, patch, headers, status, code) => {
    await using stage = await openStage()
    const { id } = await stage.make()
    await stage.send("PATCH", `/${id}`, { name: "Second" })
    const answer = await stage.send("PATCH", `/${id}`, patch, headers)
    expect(answer).toMatchObject({ status, body: code ? { code } : { version: 3 } })
    if (code === "version_conflict") expect(answer.body).toMatchObject({ current: { id, name: "Second", version: 2 } })
    if (code) expect((await stage.get(`/${id}`)).body).toMatchObject({ name: "Second", version: 2 })
  })

  test("that archives a pixel stops counting, and unarchiving continues", async () => {
    await using stage = await openStage()
    const { id, slug } = await stage.make()
    expect((await stage.send("PATCH", `/${id}`, { archived: true })).body).toMatchObject({ archived_at: "2026-11-21T12:00:00Z" })
    await stage.ask(`/p/${slug}.gif`)
    expect((await stage.send("PATCH", `/${id}`, { archived: false })).body).toMatchObject({ archived_at: null })
    await stage.ask(`/p/${slug}.gif`)
    await stage.folded()
    expect((await stage.get(`/${id}`)).body).toMatchObject({ opens_total: 1 })
  })
})

describe("a deleted pixel", () => {
  test("is found nowhere and can be restored for 30 days", async () => {
    await using stage = await openStage()
    const { id } = await stage.make({ slug: "spring" })
    expect(await stage.send("DELETE", `/${id}`, undefined, { "if-match": '"7"' })).toMatchObject({ status: 412 })
    expect(await stage.send("DELETE", `/${id}`)).toMatchObject({ status: 204 })
    const missing = { status: 404, body: { code: "pixel_not_found" } }
    for (const path of ["", "/stats", "/timeseries", "/breakdown", "/snippet"])
      expect(await stage.get(`/${id}${path}`)).toMatchObject(missing)
    expect(await stage.send("PATCH", `/${id}`, { name: "X" })).toMatchObject(missing)
    expect(await stage.send("DELETE", `/${id}`)).toMatchObject(missing)
    expect((await stage.get("")).body).toMatchObject({ data: [] })
    expect(await stage.send("POST", `/${id}/restore`)).toMatchObject({ status: 200, body: { id, slug: "spring", version: 3 } })
    expect(await stage.send("POST", `/${id}/restore`)).toMatchObject(missing)
  })

  test("is purged after that with an audit entry", async () => {
    await using stage = await openStage()
    const { id } = await stage.make()
    const kept = await stage.make()
    await stage.send("DELETE", `/${id}`)
    stage.clock.advance(31 * DAY_MS)
    await stage.app.instance.jobs.enqueue({ kind: "pixels.remove-deleted" })
    await stage.runJobs()
    const owner = { cookie: await stage.signIn({ role: "owner" }) }
    expect(await stage.api.post(`${PIXELS}/${id}/restore`, undefined, undefined, owner)).toMatchObject({ status: 404 })
    expect(await stage.api.get(`${PIXELS}/${kept.id}`, undefined, owner)).toMatchObject({ status: 200 })
    const { data } = (await stage.api.get("/api/private/organizations/1/audit?limit=5", undefined, owner)).body as { data: object[] }
    expect(data).toContainEqual(expect.objectContaining({ action: "pixels.pixel.purge", target_id: String(id), site_id: 1 }))
  })

  test("leaves no row when its site is deleted, and no organization can take its slug", async () => {
    await using stage = await openStage()
    const other = await stage.app.instance.sites.create(stage.site.organization_id, { name: "Other", hosts: ["other.example"] })
    await stage.make({ slug: "spring" })
    expect(await stage.app.hooks.onSiteDelete(1)).toEqual({ pixels_pixels: 1 })
    expect(await stage.app.hooks.onSiteDelete(1)).toEqual({ pixels_pixels: 0 })
    expect((await stage.get("")).body).toMatchObject({ data: [] })
    const wanted = { name: "N", kind: "page", slug: "spring", force: true }
    const path = `/api/private/sites/${other.id}/pixels`
    expect(await stage.api.post(path, wanted, undefined, stage.as)).toMatchObject({ status: 409, body: { code: "slug_recently_used" } })
  })
})

test("creates one pixel for repeated requests with the same key", async () => {
  await using stage = await openStage()
  const body = { name: "News", kind: "email" }
  const key = { "idempotency-key": "one" }
  const first = await stage.send("POST", "", body, key)
  const second = await stage.send("POST", "", body, key)
  expect(second).toMatchObject({ status: 201, body: first.body })
  expect(second.headers.get("idempotency-replayed")).toBe("true")
  expect(await stage.send("POST", "", { ...body, name: "Other" }, key)).toMatchObject({
    status: 422,
    body: { code: "idempotency_key_reused" },
  })
  expect((await stage.get("?count=true")).body).toMatchObject({ total: 1 })
})
