import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { refusal, type Stage, startStage, text, widget } from "./kit.ts"

let stage: Stage
beforeAll(async () => {
  stage = await startStage()
})
afterAll(() => stage[Symbol.asyncDispose]())

interface Listed {
  data: { id: number; name: string }[]
  default_dashboard_id: number
}
const idsFor = async (as = stage.owner) => ((await stage.get("/dashboards", as)).body as Listed).data.map(({ id }) => id)

describe("Overview", () => {
  test("is the only dashboard of a new member, and opens first", async () => {
    const member = await stage.signIn({ role: "viewer" })
    const { status, body } = await stage.get("/dashboards?visibility=site&q=over", member)
    expect({ status, body }).toMatchObject({
      status: 200,
      body: {
        data: [{ id: 0, name: "Overview", visibility: "site", owner: null, widget_count: 12, can_edit: false, shared: false, version: 1 }],
        default_dashboard_id: 0,
        has_more: false,
        next_cursor: null,
      },
    })
  })

  test.each([
    [
      "replaced",
      "PUT",
      "/dashboards/0",
      { name: "Mine", description: "", visibility: "site", range: { period: "7d" }, filters: [], refresh_s: 0, widgets: [], version: 1 },
    ],
    ["changed", "PATCH", "/dashboards/0", { name: "Mine" }],
    ["deleted", "DELETE", "/dashboards/0", undefined],
  ])("can't be %s", async (_, method, path, body) => {
    expect(refusal(await stage.send(method, path, body))).toEqual({ status: 409, code: "read_only_dashboard", errors: [] })
  })

  test("can be read, duplicated and queried for data", async () => {
    const { body } = await stage.get("/dashboards/0", stage.viewer)
    expect(body).toMatchObject({ id: 0, range: { period: "28d" }, filters: [], widgets: { length: 12 } })
    const copy = await stage.post("/dashboards/0/duplicate", { name: "My overview" }, stage.viewer)
    expect(copy).toMatchObject({
      status: 201,
      body: { results: [{ site_id: 1, unmapped: [], dashboard: { name: "My overview", visibility: "private", widget_count: 12 } }] },
    })
    const { body: data } = await stage.post("/dashboards/0/data", {}, stage.viewer)
    expect(Object.values((data as { results: Record<string, { status: string }> }).results).map(({ status }) => status)).toEqual(
      new Array(12).fill("ok"),
    )
  })
})

describe("a dashboard", () => {
  test("has the given fields and defaults for the others", async () => {
    const answer = await stage.post("/dashboards", { name: " Weekly ", widgets: [text("# Hi\nthere", { title: "Note" })] })
    const { id, widgets } = answer.body as { id: number; widgets: { id: number }[] }
    expect(answer.status).toBe(201)
    expect([answer.headers.get("location"), answer.headers.get("etag")]).toEqual([`/api/private/sites/1/dashboards/${id}`, '"1"'])
    const { body } = await stage.get(`/dashboards/${id}`)
    expect(body).toEqual(answer.body)
    expect(body).toMatchObject({
      ...{ id, name: "Weekly", description: "", visibility: "private", range: { period: "28d" }, filters: [], refresh_s: 0, version: 1 },
      ...{ is_site_default: false, is_my_default: false, widget_count: 1, can_edit: true, shared: false },
      created_at: "2026-11-21T12:00:00Z",
    })
    expect(widgets).toEqual([
      {
        id: widgets[0]!.id,
        type: "text",
        title: "Note",
        x: 0,
        y: 0,
        w: 4,
        h: 2,
        source_site_id: null,
        config: { markdown: "# Hi\nthere" },
        available: true,
      } as { id: number },
    ])
  })

  test("can be sent back as it was read, and keeps the ids of its widgets", async () => {
    const id = await stage.make({ name: "Round trip", widgets: [text("a"), text("b", { y: 2 })] })
    const { body } = (await stage.get(`/dashboards/${id}`)) as { body: { widgets: { id: number }[] } }
    const same = await stage.send("PUT", `/dashboards/${id}`, body)
    expect(same).toMatchObject({ status: 200, body: { version: 1 } })
    const [first, second] = body.widgets
    const changed = await stage.send("PUT", `/dashboards/${id}`, { ...body, widgets: [{ ...second, x: 6 }, text("c")] })
    const { widgets, version } = changed.body as { widgets: { id: number; x: number }[]; version: number }
    expect({ status: changed.status, version, kept: widgets.find(({ id }) => id === second!.id)?.x }).toEqual({
      status: 200,
      version: 2,
      kept: 6,
    })
    expect(widgets.map(({ id }) => id)).not.toContain(first!.id)
  })

  test.each(["marketing", "content", "product"])("begins with the widgets of the template %s", async (template) => {
    const id = await stage.make({ name: template, template })
    const { results } = (await stage.post(`/dashboards/${id}/data`)).body as { results: Record<string, { status: string }> }
    const states = Object.values(results).map(({ status }) => status)
    expect(states.length).toBeGreaterThan(7)
    expect(states).toEqual(states.map(() => "ok"))
  })

  test("begins as a copy of another dashboard", async () => {
    const source = await stage.make({
      name: "Source",
      range: { period: "7d", compare: "previous_year" },
      refresh_s: 60,
      widgets: [text("copied")],
    })
    const { body } = await stage.post("/dashboards", { name: "Copy", template: source })
    expect(body).toMatchObject({
      range: { period: "7d", compare: "previous_year" },
      refresh_s: 60,
      widgets: [{ config: { markdown: "copied" } }],
    })
  })

  test("is gone after a deletion and back after a restore within 30 days", async () => {
    const id = await stage.make({ name: "Old", widgets: [text("kept")] })
    expect((await stage.send("DELETE", `/dashboards/${id}`)).status).toBe(204)
    expect(refusal(await stage.get(`/dashboards/${id}`))).toMatchObject({ status: 404, code: "dashboard_not_found" })
    expect(await idsFor()).not.toContain(id)
    expect(await stage.post(`/dashboards/${id}/restore`)).toMatchObject({
      status: 200,
      body: { widgets: [{ config: { markdown: "kept" } }] },
    })
    expect(refusal(await stage.post(`/dashboards/${id}/restore`))).toMatchObject({ status: 404, code: "dashboard_not_found" })
  })

  test("is shown in the user's own order, then by position, after Overview", async () => {
    const member = await stage.signIn({ role: "viewer" })
    const [a, b, c] = [
      await stage.make({ name: "A" }, member),
      await stage.make({ name: "B" }, member),
      await stage.make({ name: "C" }, member),
    ]
    const mine = async () => (await idsFor(member)).filter((id) => [0, a, b, c].includes(id))
    expect(await mine()).toEqual([0, a, b, c])
    expect((await stage.send("PUT", "/dashboards/order", { ids: [c, a] }, member)).status).toBe(204)
    expect(await mine()).toEqual([0, c, a, b])
    expect(refusal(await stage.send("PUT", "/dashboards/order", { ids: [a, 999] }, member))).toEqual({
      status: 422,
      code: "validation_failed",
      errors: ["/ids/1 invalid_choice"],
    })
  })

  test("opens first if it is the user's default, otherwise if it is that of the site", async () => {
    const member = await stage.signIn({ role: "editor" })
    const first = async () => ((await stage.get("/dashboards", member)).body as Listed).default_dashboard_id
    const shared = await stage.make({ name: "For all", visibility: "site" })
    const own = await stage.make({ name: "Own" }, member)
    const put = (body: object, as = member) => stage.send("PUT", "/dashboards/default", body, as)
    expect((await put({ dashboard_id: shared, scope: "site" })).status).toBe(204)
    expect(await first()).toBe(shared)
    expect((await put({ dashboard_id: own, scope: "me" })).status).toBe(204)
    expect(await first()).toBe(own)
    expect(refusal(await put({ dashboard_id: own, scope: "site" }))).toMatchObject({ status: 422, code: "not_shared" })
    expect(refusal(await put({ dashboard_id: shared, scope: "site" }, stage.viewer))).toMatchObject({ status: 403, code: "forbidden" })
    expect(refusal(await put({ dashboard_id: own, scope: "me" }, stage.viewer))).toMatchObject({ status: 404, code: "dashboard_not_found" })
    await stage.send("DELETE", `/dashboards/${own}`, undefined, member)
    expect(await first()).toBe(shared)
    await stage.send("PATCH", `/dashboards/${shared}`, { visibility: "private" })
    expect(await first()).toBe(0)
    expect((await put({ dashboard_id: null, scope: "site" })).status).toBe(204)
  })
})

describe("visibility", () => {
  test("a private dashboard exists for its owner only, whatever the roles of others", async () => {
    const id = await stage.make({ name: "Secret plans", widgets: [text()] }, stage.viewer)
    const missing = await stage.get("/dashboards/999999")
    for (const as of [stage.owner, stage.editor]) {
      expect(await idsFor(as)).not.toContain(id)
      for (const [method, path, body] of [
        ["GET", ""],
        ["PATCH", "", { name: "Mine" }],
        ["DELETE", ""],
        ["POST", "/data", {}],
        ["POST", "/duplicate", {}],
        ["GET", "/export"],
        ["GET", "/widgets/1.csv"],
      ] as const)
        expect(refusal(await stage.send(method, `/dashboards/${id}${path}`, body, as))).toEqual(refusal(missing))
    }
    expect(refusal(await stage.post("/dashboards", { name: "Copy", template: id }))).toEqual(refusal(missing))
    await stage.send("DELETE", `/dashboards/${id}`, undefined, stage.viewer)
    expect(refusal(await stage.post(`/dashboards/${id}/restore`))).toEqual(refusal(missing))
    expect((await stage.post(`/dashboards/${id}/restore`, {}, stage.viewer)).status).toBe(200)
  })

  test("the audit log does not name private dashboards", async () => {
    await stage.make({ name: "Nobody must read this" }, stage.viewer)
    const { body } = await stage.get("/api/private/organizations/1/audit")
    expect(JSON.stringify(body)).toContain("dashboards.dashboard.create")
    expect(JSON.stringify(body)).not.toContain("Nobody must read this")
  })

  test.each([
    ["a viewer creates one for the site", "viewer", "POST", "", { name: "Team", visibility: "site" }, 403],
    ["a viewer changes one of the site", "viewer", "PATCH", "/site", { name: "Mine" }, 403],
    ["a viewer deletes one of the site", "viewer", "DELETE", "/site", undefined, 403],
    ["a viewer shows a private one to the site", "viewer", "PATCH", "/own", { visibility: "site" }, 403],
    ["an editor makes one of someone else private", "editor", "PATCH", "/site", { visibility: "private" }, 403],
    ["an editor changes one of someone else", "editor", "PATCH", "/site", { name: "Ours" }, 200],
    ["a viewer changes a private one", "viewer", "PATCH", "/own", { name: "Mine" }, 200],
  ] as const)("answers as the roles say when %s", async (_, role, method, which, body, status) => {
    const as = stage[role]
    const id =
      which === "/site"
        ? await stage.make({ name: "Team", visibility: "site" })
        : which === "/own"
          ? await stage.make({ name: "Own" }, as)
          : ""
    const answer = await stage.send(method, `/dashboards${id === "" ? "" : `/${id}`}`, body, as)
    expect(answer.status).toBe(status)
    if (status === 403) expect(answer.body).toMatchObject({ code: "forbidden", required_permission: "dashboards:write" })
  })

  test("an admin makes a dashboard of the site private, and it stays its owner's", async () => {
    const admin = await stage.signIn({ role: "admin" })
    const id = await stage.make({ name: "Team", visibility: "site" }, stage.editor)
    expect((await stage.send("PATCH", `/dashboards/${id}`, { visibility: "private" }, admin)).status).toBe(200)
    expect((await stage.get(`/dashboards/${id}`, admin)).status).toBe(404)
    expect((await stage.get(`/dashboards/${id}`, stage.editor)).body).toMatchObject({ visibility: "private", version: 2 })
  })
})

describe("two people who save at once", () => {
  test("the second one gets both versions, and nothing of the first is lost", async () => {
    const id = await stage.make({ name: "Team", visibility: "site", widgets: [text("one")] })
    const { body: read } = await stage.get(`/dashboards/${id}`)
    const first = await stage.send("PUT", `/dashboards/${id}`, { ...(read as object), name: "By the first" })
    expect(first).toMatchObject({ status: 200, body: { version: 2 } })
    const second = await stage.send("PUT", `/dashboards/${id}`, { ...(read as object), widgets: [] }, stage.editor)
    expect(second).toMatchObject({
      status: 409,
      body: { code: "version_conflict", current: { name: "By the first", version: 2, widgets: [{ config: { markdown: "one" } }] } },
    })
    const stale = await stage.send("PATCH", `/dashboards/${id}`, { name: "x" }, stage.editor, { "if-match": '"1"' })
    expect(refusal(stale)).toMatchObject({ status: 412, code: "precondition_failed" })
    expect((await stage.get(`/dashboards/${id}`)).body).toMatchObject({ name: "By the first", version: 2, widget_count: 1 })
  })

  test("of ten parallel saves of one version exactly one wins", async () => {
    const id = await stage.make({ name: "Race", visibility: "site" })
    const { body: read } = await stage.get(`/dashboards/${id}`)
    const saves = Array.from({ length: 10 }, (_, i) =>
      stage.send("PUT", `/dashboards/${id}`, { ...(read as object), name: `Name ${i}`, widgets: [text(`Text ${i}`)] }),
    )
    const states = (await Promise.all(saves)).map(({ status }) => status)
    expect(states.sort()).toEqual([200, ...new Array(9).fill(409)])
    const { body } = (await stage.get(`/dashboards/${id}`)) as { body: { name: string; widgets: { config: { markdown: string } }[] } }
    expect(body.widgets.map(({ config }) => config.markdown)).toEqual([`Text ${body.name.at(-1)}`])
  })

  test("a repeated request with the same key creates one dashboard", async () => {
    const send = () => stage.send("POST", "/dashboards", { name: "Once" }, stage.editor, { "idempotency-key": "boards-once" })
    const [one, two] = [await send(), await send()]
    expect([one.status, two.status, (one.body as { id: number }).id === (two.body as { id: number }).id]).toEqual([201, 201, true])
  })
})

test("a site has at most 50 dashboards", async () => {
  await using own = await startStage()
  for (let i = 0; i < 50; i++) await own.make({ name: `Board ${i}` })
  expect((await own.post("/dashboards", { name: "One more" })).body).toMatchObject({
    code: "limit_reached",
    limit: 50,
    resource: "dashboards",
  })
  expect((await own.post("/dashboards/0/duplicate")).body).toMatchObject({ results: [{ site_id: 1, error: { code: "limit_reached" } }] })
  await own.send("DELETE", "/dashboards/1")
  await own.make({ name: "In its place" })
  expect((await own.post("/dashboards/1/restore")).body).toMatchObject({ code: "limit_reached" })
})

test("the catalogue lists the types of the site", async () => {
  const { status, body } = await stage.get("/api/private/dashboard-widgets?site=1", stage.viewer)
  expect(status).toBe(200)
  const types = (body as { data: { type: string; available: boolean; shareable: boolean; plugin: string }[] }).data
  expect(types.map(({ type }) => type)).toEqual([
    ...["metric", "timeseries", "breakdown", "map", "comparison", "web_vitals"],
    ...["goals", "funnel", "realtime", "annotations", "text"],
  ])
  expect(types.every(({ available, shareable, plugin }) => available && shareable && plugin === "dashboards")).toBe(true)
  expect(refusal(await stage.get("/api/private/dashboard-widgets?site=9"))).toMatchObject({ status: 404, code: "site_not_found" })
})

test("a dashboard of another site is not found", async () => {
  const { instance, owner } = stage
  const { organization_id } = instance.site
  const { id } = await instance.app.instance.sites.create(organization_id, { name: "Blog", hosts: ["blog.example"] })
  const board = await stage.make({ name: "Of the shop", visibility: "site", widgets: [widget("metric", { metric: "visitors" })] })
  expect(refusal(await stage.send("GET", `/api/private/sites/${id}/dashboards/${board}`, undefined, owner))).toMatchObject({
    status: 404,
    code: "dashboard_not_found",
  })
})
