import { afterAll, beforeAll, expect, test } from "bun:test"
import { startInstance, type TestInstance } from "../../../kit.ts"
import { auditOf, type Person, signedIn } from "../person.ts"

let instance: TestInstance
let editor: Person
let other: Person
let viewer: Person
beforeAll(async () => {
  instance = await startInstance()
  editor = await signedIn(instance, { role: "editor" })
  other = await signedIn(instance, { role: "editor" })
  viewer = await signedIn(instance, { role: "viewer" })
})
afterAll(() => instance[Symbol.asyncDispose]())

const idOf = ({ body }: { body: unknown }) => (body as { id: number }).id
const SITE = "/sites/1"
const ON_START = [{ dimension: "page", values: ["/"] }]

test.each([
  ["goals", { kind: "page", value: "/a" }, { name: "Renamed" }, "goal"],
  [
    "funnels",
    {
      name: "Buy",
      steps: [
        { type: "page", value: "/" },
        { type: "event", value: "buy" },
      ],
    },
    { name: "Renamed" },
    "funnel",
  ],
  ["segments", { name: "Start", scope: "site", filters: ON_START }, { name: "Renamed" }, "segment"],
  ["annotations", { at: "2026-11-01", text: "Launch" }, { text: "Relaunch" }, "annotation"],
])("creates, lists, reads, updates and deletes %s", async (path, input, change, thing) => {
  const made = await editor.post(`${SITE}/${path}`, input)
  expect(made).toMatchObject({ status: 201, body: { ...input, site_id: 1, version: 1 } })
  const id = idOf(made)
  expect(made.headers.get("location")).toBe(`/api/private/sites/1/${path}/${id}`)
  expect(made.headers.get("etag")).toBe('"1"')
  expect((await viewer.get(`${SITE}/${path}`)).body).toEqual({ data: [made.body], has_more: false, next_cursor: null } as never)
  expect((await viewer.get(`${SITE}/${path}/${id}`)).body).toEqual(made.body)
  const changed = await editor.patch(`${SITE}/${path}/${id}`, { ...change, version: 1 })
  expect(changed).toMatchObject({ status: 200, body: { ...change, version: 2 } })
  expect(await editor.patch(`${SITE}/${path}/${id}`, changed.body)).toMatchObject({ status: 200, body: { version: 2 } })
  expect(await editor.patch(`${SITE}/${path}/${id}`, { ...change, version: 1 })).toMatchObject({
    status: 409,
    body: { code: "version_conflict", current: changed.body },
  })
  expect(await editor.patch(`${SITE}/${path}/${id}`, change, { "if-match": '"1"' })).toMatchObject({ status: 412 })
  expect(await editor.patch(`${SITE}/${path}/${id}`, { version: "2" })).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: "/version" }] },
  })
  expect(await editor.patch(`${SITE}/${path}/99`, "{")).toMatchObject({ status: 404, body: { code: `${thing}_not_found` } })
  const { body: again } = await editor.post(`${SITE}/${path}`, { ...input, colour: 1 })
  expect(again).toMatchObject({ code: "validation_failed", errors: [{ pointer: "/colour", code: "unknown_field" }] })
  for (const refused of [
    viewer.post(`${SITE}/${path}`, input),
    viewer.patch(`${SITE}/${path}/${id}`, change),
    viewer.remove(`${SITE}/${path}/${id}`),
  ])
    expect(await refused).toMatchObject({ status: 403, body: { code: "forbidden", required_permission: `${path}:write` } })
  expect((await editor.remove(`${SITE}/${path}/${id}`)).status).toBe(204)
  expect(await viewer.get(`${SITE}/${path}/${id}`)).toMatchObject({ status: 404 })
  expect((await auditOf(instance)).slice(-3)).toEqual([`sites.${thing}.create`, `sites.${thing}.update`, `sites.${thing}.delete`])
})

test("a repeated creation is performed once", async () => {
  const headers = { "idempotency-key": "one" }
  const goal = { kind: "event", value: "once" }
  const first = await editor.post(`${SITE}/goals`, goal, headers)
  const second = await editor.post(`${SITE}/goals`, goal, headers)
  expect([second.status, second.body, second.headers.get("idempotency-replayed")]).toEqual([201, first.body, "true"])
  expect((await other.post(`${SITE}/goals`, goal, headers)).body).toMatchObject({ code: "goal_exists", existing_id: idOf(first) })
})

test("lists have pages and a total", async () => {
  for (let i = 0; i < 5; i++) await editor.post(`${SITE}/annotations`, { at: `2026-10-0${i + 1}`, text: `${i}` })
  const first = (await viewer.get(`${SITE}/annotations?limit=2&count=true`)).body as { next_cursor: string; data: object[]; total: number }
  expect(first).toMatchObject({ data: [{ text: "0" }, { text: "1" }], has_more: true, total: 5 })
  expect((await viewer.get(`${SITE}/annotations?limit=200&cursor=${first.next_cursor}`)).body).toMatchObject({
    data: [{ text: "2" }, {}, {}],
    has_more: false,
  })
  expect((await viewer.get(`${SITE}/annotations?from=2026-10-02&to=2026-10-03`)).body).toMatchObject({
    data: [{ text: "1" }, { text: "2" }],
  })
  expect(await viewer.get(`${SITE}/annotations?from=2026-10-02`)).toMatchObject({ status: 400, body: { code: "invalid_query" } })
  expect(await viewer.get(`${SITE}/goals?cursor=${first.next_cursor}`)).toMatchObject({ status: 400, body: { code: "invalid_cursor" } })
  expect(await viewer.get(`${SITE}/goals?limit=201`)).toMatchObject({ status: 400 })
})

test("a personal segment belongs to its owner and needs only access to the site", async () => {
  const made = await viewer.post(`${SITE}/segments`, { name: "Mine", filters: ON_START })
  expect(made).toMatchObject({ status: 201, body: { scope: "personal" } })
  const id = idOf(made)
  const stats = (person: Person, values: unknown[] = [id]) =>
    person.get(`${SITE}/stats/summary?filters=${encodeURIComponent(JSON.stringify([{ dimension: "segment", values }]))}`)
  expect((await stats(viewer)).status).toBe(200)
  expect((await stats(viewer, [`${id}`])).status).toBe(200)
  for (const person of [editor, other]) {
    expect(await person.get(`${SITE}/segments/${id}`)).toMatchObject({ status: 404, body: { code: "segment_not_found" } })
    expect(await person.remove(`${SITE}/segments/${id}`)).toMatchObject({ status: 404 })
    expect((await person.get(`${SITE}/segments`)).body).not.toMatchObject({ data: [{ id }] })
    expect(await stats(person)).toMatchObject({ status: 400, body: { errors: [{ pointer: "/filters/0/values", code: "invalid_choice" }] } })
  }
  const open = await instance.api.get(
    `/api/public/v1/sites/1/stats/summary?filters=${encodeURIComponent(JSON.stringify([{ dimension: "segment", values: [`${id}`] }]))}`,
    instance.key,
  )
  expect(open.body).toMatchObject({ errors: [{ code: "invalid_choice" }] })
  const body = { site_id: 1, metrics: ["visitors"], date_range: "7d", filters: [["is", "segment", [id]]] }
  expect((await instance.api.post("/api/public/v1/query", body, instance.key)).body).toMatchObject({ errors: [{ code: "invalid_choice" }] })
  expect(await viewer.patch(`${SITE}/segments/${id}`, { scope: "site" })).toMatchObject({
    status: 403,
    body: { required_permission: "segments:write" },
  })
  expect(await viewer.patch(`${SITE}/segments/${id}`, { name: "Still mine" })).toMatchObject({ status: 200, body: { name: "Still mine" } })
  expect((await viewer.remove(`${SITE}/segments/${id}`)).status).toBe(204)
})

test("a segment of the site has the same effect as its filters", async () => {
  for (const [i, page] of ["/", "/a", "/b"].entries())
    await instance.collect({ n: "pageview", u: `https://shop.example${page}` }, { address: `203.0.113.${i}` })
  const id = idOf(
    await editor.post(`${SITE}/segments`, { name: "Start or a", scope: "site", filters: [{ dimension: "page", values: ["/", "/a"] }] }),
  )
  const filtered = (operator: string) =>
    `period=7d&filters=${encodeURIComponent(JSON.stringify([{ dimension: "segment", operator, values: [id] }]))}`
  expect((await viewer.get(`${SITE}/stats/summary?${filtered("is")}`)).body).toMatchObject({ metrics: { visitors: 2 } })
  expect((await viewer.get(`${SITE}/stats/summary?${filtered("is_not")}`)).body).toMatchObject({ metrics: { visitors: 1 } })
  expect((await instance.api.get(`/api/public/v1/sites/1/stats/summary?${filtered("is")}`, instance.key)).body).toMatchObject({
    metrics: { visitors: 2 },
  })
  const query = { site_id: 1, metrics: ["visitors"], date_range: "7d", filters: [["is", "segment", [id]]] }
  expect((await instance.api.post("/api/public/v1/query", query, instance.key)).body).toMatchObject({ results: [{ metrics: [2] }] })
  const mcp = {
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "get_summary", arguments: { site_id: 1, period: "7d", filters: [{ dimension: "segment", values: [`${id}`] }] } },
  }
  expect((await instance.api.post("/api/public/v1/mcp", mcp, instance.key)).body).toMatchObject({
    result: { structuredContent: { metrics: { visitors: 2 } } },
  })
  // A page condition also works inside a segment.
  expect((await viewer.get(`${SITE}/stats/summary?metrics=time_on_page&${filtered("is")}`)).status).toBe(200)
  await editor.patch(`${SITE}/segments/${id}`, { filters: ON_START })
  expect((await viewer.get(`${SITE}/stats/summary?${filtered("is")}`)).body).toMatchObject({ metrics: { visitors: 1 } })
  expect(await editor.patch(`${SITE}/segments/${id}`, { scope: "personal" })).toMatchObject({ body: { scope: "personal" } })
  expect(await viewer.get(`${SITE}/stats/summary?${filtered("is")}`)).toMatchObject({ status: 400 })
})

test("a segment with alternatives has the same effect as its filters, in every form of a report", async () => {
  const visits = [
    ["/either", "203.0.113.21", "mail"],
    ["/either", "203.0.113.22", "ads"],
    ["/other", "203.0.113.23", "mail"],
    ["/other", "203.0.113.24", "ads"],
  ] as const
  for (const [page, address, source] of visits)
    await instance.collect({ n: "pageview", u: `https://shop.example${page}?utm_source=${source}&utm_medium=alternatives` }, { address })
  const only = { dimension: "utm_medium", values: ["alternatives"] }
  const either = [
    only,
    {
      any: [
        { dimension: "page", values: ["/either"] },
        { dimension: "source", operator: "is", values: ["mail"] },
      ],
    },
  ]
  const made = await editor.post(`${SITE}/segments`, { name: "Either", scope: "site", filters: either })
  expect(made).toMatchObject({ status: 201, body: { filters: either } })
  const id = idOf(made)
  expect((await viewer.get(`${SITE}/segments/${id}`)).body).toMatchObject({ filters: either })
  const summary = (filters: unknown[]) => `stats/summary?period=7d&filters=${encodeURIComponent(JSON.stringify(filters))}`
  const named = (operator: string) => [only, { dimension: "segment", operator, values: [id] }]
  for (const [filters, visitors] of [
    [either, 3],
    [named("is"), 3],
    [named("is_not"), 1],
  ] as const) {
    expect((await viewer.get(`${SITE}/${summary([...filters])}`)).body).toMatchObject({ metrics: { visitors } })
    if (filters !== either)
      expect((await instance.api.get(`/api/public/v1/sites/1/${summary([...filters])}`, instance.key)).body).toMatchObject({
        metrics: { visitors },
      })
  }
  const query = { site_id: 1, metrics: ["visitors"], date_range: "7d", filters: [["is", "segment", [id]]] }
  expect((await instance.api.post("/api/public/v1/query", query, instance.key)).body).toMatchObject({ results: [{ metrics: [3] }] })
  expect((await editor.remove(`${SITE}/segments/${id}`)).status).toBe(204)
})

test.each([
  [{ filters: ON_START }, ["/name required"]],
  [{ name: "x".repeat(101), filters: ON_START }, ["/name too_long"]],
  [{ name: "x", filters: [] }, ["/filters too_few"]],
  [{ name: "x", filters: "page" }, ["/filters invalid_type"]],
  [{ name: "x", filters: [{ dimension: "segment", values: [1] }] }, ["/filters/0/dimension unsupported_combination"]],
  [{ name: "x", scope: "everybody", filters: [{ dimension: "page" }] }, ["/scope invalid_choice", "/filters/0/values required"]],
  [{ name: "x", filters: Array(11).fill(ON_START[0]) }, ["/filters too_many"]],
  [{ name: "x", filters: [{ any: Array(11).fill(ON_START[0]) }] }, ["/filters too_many"]],
  [{ name: "x", filters: [{ any: [] }] }, ["/filters/0/any too_few"]],
  [{ name: "x", filters: [{ any: [{ dimension: "page" }] }] }, ["/filters/0/any/0/values required"]],
  [
    { name: "x", filters: [{ any: [{ any: ON_START }] }] },
    ["/filters/0/any/0 unknown_field", "/filters/0/any/0/dimension required", "/filters/0/any/0/values required"],
  ],
  [
    { name: "x", filters: [{ any: [ON_START[0], { dimension: "cohort", values: [1] }] }] },
    ["/filters/0/any/1/dimension unsupported_combination"],
  ],
])("rejects the segment %#", async (body, faults) => {
  const answer = await editor.post(`${SITE}/segments`, body)
  const { errors } = answer.body as { errors: { pointer: string; code: string }[] }
  expect([answer.status, errors.map(({ pointer, code }) => `${pointer} ${code}`)]).toEqual([422, faults])
})

test("a personal note is visible only to its owner", async () => {
  const note = { at: "2026-09-01T10:00:00Z", text: "To myself", scope: "personal" }
  const made = await viewer.post(`${SITE}/annotations`, note)
  expect(made).toMatchObject({ status: 201, body: { ...note, day: "2026-09-01" } })
  const days = "?from=2026-09-01&to=2026-09-01"
  expect((await viewer.get(`${SITE}/annotations${days}`)).body).toMatchObject({ data: [{ text: "To myself" }] })
  expect((await editor.get(`${SITE}/annotations${days}`)).body).toMatchObject({ data: [] })
  expect((await instance.api.get(`/api/public/v1/sites/1/annotations${days}`, instance.key)).body).toMatchObject({ data: [] })
  expect((await instance.api.get(`/api/public/v1/sites/1/annotations/${idOf(made)}`, instance.key)).body).toMatchObject({
    code: "annotation_not_found",
  })
  expect(await editor.patch(`${SITE}/annotations/${idOf(made)}`, {})).toMatchObject({ status: 404 })
  expect(await viewer.patch(`${SITE}/annotations/${idOf(made)}`, { scope: "site" })).toMatchObject({ status: 403 })
  expect(await viewer.post(`${SITE}/annotations`, { scope: "all", at: "x" })).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: "/scope" }, { pointer: "/at" }, { pointer: "/text" }] },
  })
  expect((await viewer.remove(`${SITE}/annotations/${idOf(made)}`)).status).toBe(204)
})

test("notes of API keys are visible to users, and an update without a change keeps their version", async () => {
  const made = await instance.api.post("/api/public/v1/sites/1/annotations", { at: "2026-08-01", text: "Deploy" }, instance.key)
  const id = idOf(made)
  expect((await viewer.get(`${SITE}/annotations/${id}`)).body).toMatchObject({ text: "Deploy", scope: "site", owner: null })
  expect(await instance.api.send("PATCH", `/api/public/v1/sites/1/annotations/${id}`, { text: "Deploy" }, instance.key)).toMatchObject({
    status: 200,
  })
  expect((await viewer.get(`${SITE}/annotations/${id}`)).body).toMatchObject({ version: 1 })
})

test("tests a goal before it is created, and suggests goals for observed events", async () => {
  await instance.collect({ n: "Signup", u: "https://shop.example/x" }, { address: "203.0.113.1" })
  instance.clock.advance(60_000)
  await instance.collect({ n: "Signup", u: "https://shop.example/x" }, { address: "203.0.113.1" })
  await instance.collect({ n: "Download", u: "https://shop.example/x" }, { address: "203.0.113.2" })
  expect((await viewer.post(`${SITE}/goals/test`, { kind: "event", value: "Sign", match: "prefix" })).body).toEqual({
    conversions_7d: 2,
    visitors_7d: 1,
    last_match_at: new Date(instance.clock.now()).toISOString().replace(".000", ""),
  })
  expect((await viewer.post(`${SITE}/goals/test`, { kind: "event", value: "never" })).body).toEqual({
    conversions_7d: 0,
    visitors_7d: 0,
    last_match_at: null,
  })
  expect(await viewer.post(`${SITE}/goals/test`, { kind: "page", value: "no-slash" })).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: "/value" }] },
  })
  const suggestions = async () => ((await viewer.get(`${SITE}/goals/suggestions`)).body as { data: object[] }).data
  expect(await suggestions()).toEqual([
    { kind: "event", match: "exact", value: "Download", name: "Download", events_30d: 1, visitors_30d: 1 },
    { kind: "event", match: "exact", value: "Signup", name: "Signup", events_30d: 2, visitors_30d: 1 },
  ])
  await editor.post(`${SITE}/goals`, { kind: "event", value: "Signup" })
  expect(await suggestions()).toMatchObject([{ value: "Download" }])
})
