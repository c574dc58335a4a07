import { afterAll, beforeAll, expect, test } from "bun:test"
import { type Stage, startStage, text, widget } from "./kit.ts"

// A share shows at each request what is true at that moment.

let stage: Stage
beforeAll(async () => {
  stage = await startStage({ areas: ["links"] })
  await stage.send("PATCH", "/settings", { min_group: 1 })
  for (const [visitor, path] of ["/", "/thanks"].entries())
    await stage.instance.collect({ n: "pageview", u: `https://shop.example${path}` }, { address: `203.0.113.${visitor}` })
})
afterAll(() => stage[Symbol.asyncDispose]())

interface Result {
  status: string
  data?: { metrics?: object }
  error?: object
}

async function resultsOf(slug: string, as: Stage = stage): Promise<Result[]> {
  const { status, body } = await as.instance.api.post(`/api/share/d/${slug}/data`, {})
  expect(status).toBe(200)
  return Object.values((body as { results: Record<string, Result> }).results)
}

async function slugOf(board: number, as = stage.owner, on = stage): Promise<string> {
  const answer = await on.post(`/dashboards/${board}/shares`, { name: "For Ann" }, as)
  expect(answer.status).toBe(201)
  return (answer.body as { slug: string }).slug
}

test("a widget whose goal was deleted fails without naming it, and works once another goal was chosen", async () => {
  const goal = async (value: string) => ((await stage.post("/goals", { kind: "page", value, name: value })).body as { id: number }).id
  const [old, replacement] = [await goal("/gone"), await goal("/thanks")]
  const config = { metric: "visitors" }
  const widgets = [widget("metric", { ...config, goal_id: old }), text("Hello", { x: 4 })]
  const id = await stage.make({ name: "Board", range: { period: "today" }, widgets })
  const slug = await slugOf(id)
  expect(await resultsOf(slug)).toMatchObject([{ status: "ok", data: { metrics: { visitors: 0 } } }, { status: "ok" }])
  await stage.send("DELETE", `/goals/${old}`)
  expect(await resultsOf(slug)).toMatchObject([
    { status: "error", error: { code: "broken_reference", detail: "Something that this widget shows was deleted." } },
    { status: "ok" },
  ])
  const board = (await stage.get(`/dashboards/${id}`)).body as { widgets: object[] }
  const [broken, other] = board.widgets
  const repaired = { ...board, widgets: [{ ...broken, config: { ...config, goal_id: replacement } }, other] }
  expect((await stage.send("PUT", `/dashboards/${id}`, repaired)).status).toBe(200)
  expect(await resultsOf(slug)).toMatchObject([{ status: "ok", data: { metrics: { visitors: 1 } } }, { status: "ok" }])
})

test("a widget is unavailable while its plugin is off", async () => {
  const slug = await slugOf(await stage.make({ name: "Board", widgets: [widget("links_top"), text("Hello", { x: 4 })] }))
  const { plugins } = stage.instance.app.instance
  const statuses = async () => (await resultsOf(slug)).map(({ status }) => status)
  expect(await statuses()).toEqual(["ok", "ok"])
  await plugins.turn("links", false, null)
  expect(await statuses()).toEqual(["unavailable", "ok"])
  await plugins.turn("links", true, null)
  expect(await statuses()).toEqual(["ok", "ok"])
})

test("a share goes on in the name of the person who transferred the site, and ends with a deleted private dashboard", async () => {
  await using own = await startStage()
  const team = await own.make({ name: "Team", visibility: "site", widgets: [widget("metric", { metric: "visitors" })] }, own.editor)
  const plans = await own.make({ name: "Plans", widgets: [text()] }, own.editor)
  const [kept, ended] = [await slugOf(team, own.editor, own), await slugOf(plans, own.editor, own)]
  const second = ((await own.post("/api/private/organizations", { name: "Second" })).body as { id: number }).id
  expect((await own.post("/transfer", { organization_id: second })).status).toBe(200)
  expect(await resultsOf(kept, own)).toMatchObject([{ status: "ok" }])
  expect((await own.instance.api.get(`/api/share/d/${ended}`)).status).toBe(404)
  // The policy is that of the new organization.
  expect((await own.send("PATCH", `/api/private/organizations/${second}`, { policy: { public_links: "off" } })).status).toBe(200)
  expect((await own.instance.api.get(`/api/share/d/${kept}`)).status).toBe(404)
})
