import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import { noBrowser, openDashboard, settled, shown } from "#plugin/test/browser"
import dashboards from "../dashboards.ts"
import type { BoardResponse, DataResponse } from "../responses.ts"
import { SITE, widget } from "./kit.ts"

setDefaultTimeout(60_000)

let stand: Awaited<ReturnType<typeof openDashboard>>
let cookie: string
beforeAll(async () => {
  if (noBrowser) return
  stand = await openDashboard({ plugins: [dashboards] })
  cookie = await stand.signIn({ role: "owner" })
  const events = ["/", "/pricing", "/pricing", "/docs"].map((path) => ({ name: "pageview", url: `https://example.com${path}` }))
  const sent = await stand.instance.api.post("/api/public/v1/sites/1/events", { events }, stand.instance.eventsKey)
  expect(sent.status).toBe(202)
}, 60_000)
afterAll(() => stand?.[Symbol.asyncDispose]())

const api = async <Body>(method: string, path: string, body?: object): Promise<Body> =>
  (await stand.instance.api.send(method, SITE + path, body, undefined, { cookie })).body as Body
const make = async (widgets: object[], name = "Board") =>
  (await api<{ id: number }>("POST", "/dashboards", { name, visibility: "site", widgets })).id
const boardOf = (id: number) => api<BoardResponse>("GET", `/dashboards/${id}`)
const placesOf = ({ widgets }: BoardResponse) => widgets.map(({ x, y, w, h }) => [x, y, w, h])
const TWO = [
  widget("metric", { metric: "pageviews" }, { w: 3 }),
  widget("breakdown", { dimension: "page", metrics: ["pageviews"] }, { x: 4, h: 4 }),
]

test.skipIf(noBrowser)("a board is created from a template and drawn, each metric as the API answers it", async () => {
  await using looked = await stand.look({ cookie })
  const { page } = looked
  await looked.open("/sites/1/dashboards")
  await page.getByRole("button", { name: "New dashboard" }).click()
  await page
    .getByRole("dialog")
    .getByRole("button", { name: /^Content/ })
    .click()
  await page.getByRole("button", { name: "Create dashboard" }).click()
  await page.getByRole("heading", { name: "Content", level: 1 }).waitFor()
  await settled(page)
  const id = Number(/dashboards\/(\d+)/.exec(page.url())?.[1])
  const { results } = await api<DataResponse>("POST", `/dashboards/${id}/data`, {})
  const board = await boardOf(id)
  const metrics = board.widgets.filter(({ type }) => type === "metric")
  expect(metrics).toHaveLength(4)
  for (const { id: one, title, config } of metrics.filter((each) => each.config.metric !== "engaged_time")) {
    const result = results[one]
    const { metrics: figures } = (result?.status === "ok" ? result.data : {}) as { metrics: Record<string, number> }
    const tile = page.getByRole("region", { name: title, exact: true })
    expect(await tile.locator(".figure-value").textContent()).toBe(String(figures[String(config.metric)]))
  }
  expect(looked.faults).toEqual([])
})

test.skipIf(noBrowser)("a widget is moved, resized and saved by the keyboard alone, and the move is undone", async () => {
  const id = await make(TWO)
  await using looked = await stand.look({ cookie })
  const { page } = looked
  await looked.open(`/sites/1/dashboards/${id}/edit`)
  const handle = page.getByRole("button", { name: "Move Views" })
  await handle.focus()
  for (const key of ["ArrowRight", "ArrowDown", "Shift+ArrowDown"]) await page.keyboard.press(key)
  await shown(page, "Views: column 2, row 2, 3 wide, 3 high")
  await page.getByRole("button", { name: "Undo" }).press("Enter")
  await handle.focus()
  await page.keyboard.press("ArrowDown")
  await page.getByRole("button", { name: "Save changes" }).press("Enter")
  await page.waitForURL(/dashboards\/\d+(\?|$)/)
  expect(placesOf(await boardOf(id))).toEqual([
    [0, 1, 3, 2],
    [4, 0, 4, 4],
  ])
  expect(looked.faults).toEqual([])
})

test.skipIf(noBrowser)("a widget is dragged by the mouse, and makes room for itself", async () => {
  const id = await make(TWO)
  await using looked = await stand.look({ cookie })
  const { page } = looked
  await looked.open(`/sites/1/dashboards/${id}/edit`)
  const head = (await page.getByRole("heading", { name: "Views", exact: true }).boundingBox())!
  const target = (await page.getByRole("heading", { name: "Page", exact: true }).boundingBox())!
  await page.mouse.move(head.x + 5, head.y + 5)
  await page.mouse.down()
  await page.mouse.move(target.x + 5, target.y + 5, { steps: 8 })
  await page.waitForTimeout(100)
  await page.mouse.up()
  await page.getByRole("button", { name: "Save changes" }).click()
  await page.waitForURL(/dashboards\/\d+(\?|$)/)
  expect(placesOf(await boardOf(id))).toEqual([
    [4, 0, 3, 2],
    [4, 2, 4, 4],
  ])
})

test.skipIf(noBrowser)("someone who saves second sees both versions and keeps theirs as a copy", async () => {
  const id = await make(TWO, "Shared")
  await using looked = await stand.look({ cookie })
  const { page } = looked
  await looked.open(`/sites/1/dashboards/${id}/edit`)
  await page.getByRole("button", { name: "Move Views" }).focus()
  await page.keyboard.press("ArrowDown")
  const { version } = await boardOf(id)
  await api("PATCH", `/dashboards/${id}`, { name: "Theirs", version })
  await page.getByRole("button", { name: "Save changes" }).click()
  await page.getByRole("dialog", { name: "Someone else changed this while you were editing" }).waitFor()
  await page.getByRole("button", { name: "Keep mine as a copy" }).click()
  await page.getByRole("heading", { name: "Shared (my copy)", level: 1 }).waitFor()
  expect((await boardOf(id)).name).toBe("Theirs")
  const copy = await boardOf(Number(/dashboards\/(\d+)/.exec(page.url())?.[1]))
  expect([copy.visibility, placesOf(copy)[0]]).toEqual(["private", [0, 1, 3, 2]])
})

test.skipIf(noBrowser)("a deleted goal fails alone, and its widget leads to a replacement", async () => {
  const goal = await api<{ id: number }>("POST", "/goals", { name: "Docs", kind: "page", value: "/docs" })
  const id = await make([widget("metric", { metric: "conversions", goal_id: goal.id }), widget("metric", { metric: "visits" }, { x: 4 })])
  await api("DELETE", `/goals/${goal.id}`)
  await using looked = await stand.look({ cookie })
  const { page } = looked
  await looked.open(`/sites/1/dashboards/${id}`)
  await shown(page, "This goal was deleted.")
  expect(await page.getByRole("region", { name: "Visits" }).locator(".figure-value").count()).toBe(1)
  await page.getByRole("link", { name: "Replace goal" }).click()
  await page.getByRole("dialog", { name: "Configure metric" }).waitFor()
  await shown(page, "The goal was deleted.")
})
