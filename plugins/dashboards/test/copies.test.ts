import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { raw, sql } from "#plugin"
import { refusal, SITE, type Stage, startStage, text, widget } from "./kit.ts"

let stage: Stage
let blog = 0
let closed = 0
const ids = { goal: 0, funnel: 0, segment: 0, cohort: 0, blogGoal: 0, blogSegment: 0 }
const at = (site: number) => `/api/private/sites/${site}`
beforeAll(async () => {
  stage = await startStage({ areas: ["cohorts"] })
  const { sites, organizations } = stage.instance.app.instance
  blog = (await sites.create(1, { name: "Blog", hosts: ["blog.example"] })).id
  closed = (await sites.create((await organizations.create({ name: "Others" })).id, { name: "Closed", hosts: ["closed.example"] })).id
  const made = async (path: string, body: object) => {
    const answer = await stage.post(path, body)
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
    return (answer.body as { id: number }).id
  }
  const goal = (name: string) => ({ kind: "event", value: name, name })
  const segment = (name: string) => ({ name, scope: "site", filters: [{ dimension: "device", values: ["Mobile"] }] })
  const steps = [
    { type: "page", value: "/" },
    { type: "event", value: "signup" },
  ]
  // The blog has other ids, and two segments of one name.
  await made(`${at(blog)}/goals`, goal("other"))
  ids.goal = await made("/goals", goal("signup"))
  ids.funnel = await made("/funnels", { name: "Sign-up", steps })
  ids.segment = await made("/segments", segment("Mobile"))
  ids.cohort = await made("/cohorts", { name: "Buyers", definition: { conditions: [{ type: "event", value: "buy" }] } })
  ids.blogGoal = await made(`${at(blog)}/goals`, goal("signup"))
  ids.blogSegment = await made(`${at(blog)}/segments`, segment("Mobile"))
  await made(`${at(blog)}/segments`, segment("Mobile"))
})
afterAll(() => stage[Symbol.asyncDispose]())

interface Whole {
  id: number
  visibility: string
  filters: { values: unknown[] }[]
  widgets: { config: Record<string, unknown>; available: boolean; type: string }[]
}

/** A dashboard that names one object of each kind, and shows another site. */
const naming = (more: object = {}) => ({
  ...{ name: "Growth", description: "Weekly", range: { period: "7d", compare: "previous_period" }, refresh_s: 60 },
  filters: [{ dimension: "segment", operator: "is_not", values: [ids.segment] }],
  widgets: [
    widget("metric", { metric: "visitors", goal_id: ids.goal, cohort_id: ids.cohort }),
    widget("goals", { goal_ids: [ids.goal] }, { y: 2, title: "Goals" }),
    widget("funnel", { funnel_id: ids.funnel }, { y: 4 }),
    widget("metric", { metric: "visits", goal_id: ids.blogGoal, sparkline: false }, { y: 6, source_site_id: blog }),
    text("## Notes\n- one", { y: 8 }),
  ],
  ...more,
})

describe("a copy on another site", () => {
  test("names the same things there, and says which are missing", async () => {
    const id = await stage.make(naming({ visibility: "site" }))
    const answer = await stage.post(`/dashboards/${id}/duplicate`, { name: "Copy", target_site_ids: [1, blog, 999, closed] })
    const { results } = answer.body as { results: { site_id: number; dashboard?: Whole; unmapped: object[]; error?: { code: string } }[] }
    expect(answer.status).toBe(201)
    expect(results.map(({ site_id, error }) => [site_id, error?.code])).toEqual([
      [1, undefined],
      [blog, undefined],
      [999, "site_not_found"],
      [closed, "site_not_found"],
    ])
    const [same, other] = results.map(({ dashboard }) => dashboard!)
    const original = (await stage.get(`/dashboards/${id}`)).body as Whole
    expect(same!.widgets.map(({ config }) => config)).toEqual(original.widgets.map(({ config }) => config))
    expect([same!.visibility, other!.visibility]).toEqual(["private", "private"])
    expect(results[0]!.unmapped).toEqual([])
    expect(results[1]!.unmapped).toEqual([
      { widget: 0, kind: "cohort", name: "Buyers" },
      { widget: 2, kind: "funnel", name: "Sign-up" },
    ])
    expect(other!.filters).toMatchObject([{ values: [ids.blogSegment] }])
    expect(other!.widgets.map(({ config }) => config)).toMatchObject([
      { goal_id: ids.blogGoal, cohort_id: { name: "Buyers" } },
      { goal_ids: [ids.blogGoal] },
      { funnel_id: { name: "Sign-up" } },
      { goal_id: ids.blogGoal },
      { markdown: "## Notes\n- one" },
    ])
    const data = await stage.post(`${at(blog)}/dashboards/${other!.id}/data`)
    expect(Object.values((data.body as { results: Record<string, object> }).results)).toMatchObject([
      { status: "error", error: { code: "broken_reference", detail: "This site has no cohort named Buyers." } },
      { status: "ok" },
      { status: "error", error: { code: "broken_reference" } },
      { status: "ok", data: { site_id: blog } },
      { status: "ok" },
    ])
  })

  test("answers 200 when no site got one", async () => {
    expect(await stage.post("/dashboards/0/duplicate", { target_site_ids: [999] })).toMatchObject({
      status: 200,
      body: { results: [{ site_id: 999, unmapped: [], error: { code: "site_not_found" } }] },
    })
  })

  test("needs access to the dashboards of the target", async () => {
    const guest = await stage.signIn({ role: "guest", siteRole: "viewer" })
    const { body } = await stage.post("/dashboards/0/duplicate", { target_site_ids: [1, blog] }, guest)
    expect(body).toMatchObject({
      results: [
        { site_id: 1, dashboard: { name: "Overview" } },
        { site_id: blog, error: { code: "site_not_found" } },
      ],
    })
  })
})

describe("a repeated request with the same key", () => {
  const send = (id: number, key: string, targets = [1, blog]) =>
    stage.send("POST", `/dashboards/${id}/duplicate`, { name: key, target_site_ids: targets }, undefined, { "idempotency-key": key })
  const copiesOf = async (name: string): Promise<number> => {
    const lists = [await stage.get("/dashboards?limit=200"), await stage.get(`${at(blog)}/dashboards?limit=200`)]
    return lists.flatMap(({ body }) => (body as { data: { name: string }[] }).data).filter((board) => board.name === name).length
  }

  test("copies the dashboard once", async () => {
    const id = await stage.make({ name: "Original" })
    const [one, two] = [await send(id, "twice"), await send(id, "twice")]
    expect([one.status, two.status, two.headers.get("idempotency-replayed")]).toEqual([201, 201, "true"])
    expect(two.body).toEqual(one.body)
    expect(await copiesOf("twice")).toBe(2)
  })

  test("finds no copies of a request that failed at its end", async () => {
    const id = await stage.make({ name: "Original" })
    const { catalog } = stage.instance.app.instance
    const failing = raw("create trigger no_answers before insert on idempotent_answers begin select raise(abort, 'full'); end")
    await catalog.run(sql`${failing}`)
    expect((await send(id, "failing")).status).toBe(500)
    await catalog.run(sql`drop trigger no_answers`)
    expect(await copiesOf("failing")).toBe(0)
    expect((await send(id, "failing")).status).toBe(201)
    expect(await copiesOf("failing")).toBe(2)
  })
})

describe("an exported document", () => {
  const exported = async (id: number, base = SITE) => (await stage.get(`${base}/dashboards/${id}/export`)).body as Record<string, unknown>

  test("names everything and contains no ids", async () => {
    expect(await exported(await stage.make(naming()))).toEqual({
      ...{ format: "footfall-dashboard", version: 1, name: "Growth", description: "Weekly", refresh_s: 60 },
      range: { period: "7d", compare: "previous_period" },
      filters: [{ dimension: "segment", operator: "is_not", values: [{ name: "Mobile" }] }],
      widgets: [
        {
          type: "metric",
          title: "",
          x: 0,
          y: 0,
          w: 4,
          h: 2,
          config: { metric: "visitors", goal_id: { name: "signup" }, cohort_id: { name: "Buyers" } },
        },
        { type: "goals", title: "Goals", x: 0, y: 2, w: 4, h: 2, config: { goal_ids: [{ name: "signup" }] } },
        { type: "funnel", title: "", x: 0, y: 4, w: 4, h: 2, config: { funnel_id: { name: "Sign-up" } } },
        {
          ...{ type: "metric", title: "", x: 0, y: 6, w: 4, h: 2, source_site: { name: "Blog" } },
          config: { metric: "visits", goal_id: { name: "signup" }, sparkline: false },
        },
        { type: "text", title: "", x: 0, y: 8, w: 4, h: 2, config: { markdown: "## Notes\n- one" } },
      ],
    })
  })

  test("is the same after an import on another instance, with unknown types and names kept", async () => {
    await using other = await startStage()
    const document = { ...(await exported(await stage.make(naming()))) }
    document.widgets = [
      ...(document.widgets as object[]),
      { ...{ type: "retention", title: "", x: 6, y: 0, w: 6, h: 4 }, config: { start: { type: "goal", goal_id: { name: "signup" } } } },
    ]
    const answer = await other.post("/dashboards/import", document)
    const { dashboard, mapping } = answer.body as { dashboard: Whole; mapping: object[] }
    expect(answer.status).toBe(201)
    expect(answer.headers.get("location")).toBe(`/api/private/sites/1/dashboards/${dashboard.id}`)
    expect(dashboard).toMatchObject({ visibility: "private", owner: { id: expect.any(Number) } })
    expect(dashboard.widgets.at(-1)).toMatchObject({ type: "retention", available: false })
    expect(mapping).toEqual([
      { widget: null, reference: { kind: "segment", name: "Mobile" }, found: false },
      { widget: 0, reference: { kind: "goal", name: "signup" }, found: false },
      { widget: 0, reference: { kind: "cohort", name: "Buyers" }, found: false },
      { widget: 1, reference: { kind: "goal", name: "signup" }, found: false },
      { widget: 2, reference: { kind: "funnel", name: "Sign-up" }, found: false },
      { widget: 3, reference: { kind: "site", name: "Blog" }, found: false },
      { widget: 3, reference: { kind: "goal", name: "signup" }, found: false },
      { widget: 5, reference: { kind: "goal", name: "signup" }, found: false },
    ])
    const again = await other.get(`/dashboards/${dashboard.id}/export`)
    expect(again.body).toEqual(document)
    expect(await other.post(`/dashboards/${dashboard.id}/data`)).toMatchObject({ status: 200 })
  })

  test("is the same after an import on the same site, where everything is found", async () => {
    const document = await exported(await stage.make(naming()))
    const { dashboard, mapping } = (await stage.post("/dashboards/import", document)).body as {
      dashboard: Whole
      mapping: { found: boolean }[]
    }
    expect(mapping.map(({ found }) => found)).toEqual(new Array(7).fill(true))
    expect(dashboard.widgets[0]!.config).toMatchObject({ goal_id: ids.goal, cohort_id: ids.cohort })
    expect(await exported(dashboard.id)).toEqual(document)
  })

  test("does not name a site that its reader can't see", async () => {
    const id = await stage.make(
      naming({
        visibility: "site",
        filters: [],
        widgets: [widget("metric", { metric: "visits", goal_id: ids.blogGoal }, { source_site_id: blog })],
      }),
    )
    const guest = await stage.signIn({ role: "guest", siteRole: "viewer" })
    const { body } = await stage.get(`/dashboards/${id}/export`, guest)
    expect(body).toMatchObject({ widgets: [{ source_site: { name: "" }, config: { goal_id: { name: "" } } }] })
    // A site of another organization and one that does not exist are the same to an import.
    const mapped = async (name: string) =>
      (
        await stage.post("/dashboards/import", {
          format: "footfall-dashboard",
          version: 1,
          name: "a",
          widgets: [{ ...text(), source_site: { name } }],
        })
      ).body
    expect(await mapped("Closed")).toMatchObject({ mapping: [{ widget: 0, reference: { kind: "site", name: "Closed" }, found: false }] })
    expect(await mapped("Nowhere")).toMatchObject({ mapping: [{ widget: 0, reference: { kind: "site", name: "Nowhere" }, found: false }] })
  })

  const document = { format: "footfall-dashboard", version: 1, name: "a" }
  test.each<[string, object, string, string[]]>([
    ["no document", {}, "validation_failed", ["/format required", "/version required", "/name required"]],
    ["a later version", { ...document, version: 2 }, "validation_failed", ["/version invalid_choice"]],
    ["a visibility", { ...document, visibility: "site" }, "validation_failed", ["/visibility unknown_field"]],
    [
      "ids",
      { ...document, widgets: [widget("goals", { goal_ids: [1] })] },
      "validation_failed",
      ["/widgets/0/config/goal_ids/0 invalid_type"],
    ],
    [
      "ids in filters",
      { ...document, filters: [{ dimension: "segment", values: [1] }] },
      "validation_failed",
      ["/filters/0/values/0 invalid_type"],
    ],
    [
      "a site without a name",
      { ...document, widgets: [{ ...text(), source_site: 5 }] },
      "validation_failed",
      ["/widgets/0/source_site invalid_type"],
    ],
    [
      "overlapping widgets",
      { ...document, widgets: [text(), text()] },
      "layout_overlap",
      ["/widgets/0 layout_overlap", "/widgets/1 layout_overlap"],
    ],
    [
      "a wrong configuration",
      { ...document, widgets: [widget("metric", { metric: "x" })] },
      "invalid_widget_config",
      ["/widgets/0/config/metric invalid_choice"],
    ],
    [
      "31 widgets",
      { ...document, widgets: Array.from({ length: 31 }, (_, i) => text("a", { y: i * 2 })) },
      "validation_failed",
      ["/widgets too_many"],
    ],
  ])("is refused with %s", async (_, body, code, errors) => {
    expect(refusal(await stage.post("/dashboards/import", body))).toEqual({ status: 422, code, errors })
  })
})
