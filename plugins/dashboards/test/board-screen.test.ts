import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { Page } from "playwright-core"
import { programPlugins } from "#plugin/test"
import { noBrowser, openDashboard, overflow, settled, violations } from "#plugin/test/browser"
import dashboards from "../dashboards.ts"
import type { BoardResponse } from "../responses.ts"
import { SITE, widget } from "./kit.ts"

// What members do on the page of a dashboard and in its dialogs.

setDefaultTimeout(60_000)

let stand: Awaited<ReturnType<typeof openDashboard>>
let cookie: string
let blog: number
beforeAll(async () => {
  if (noBrowser) return
  stand = await openDashboard({ plugins: [dashboards] })
  cookie = await stand.signIn({ role: "owner" })
  blog = (await stand.instance.app.instance.sites.create(1, { name: "Blog", hosts: ["blog.example"] })).id
  const events = ["/", "/pricing", "/pricing", "/docs"].map((path) => ({ name: "pageview", url: `https://example.com${path}` }))
  expect((await stand.instance.api.post("/api/public/v1/sites/1/events", { events }, stand.instance.eventsKey)).status).toBe(202)
}, 60_000)
afterAll(() => stand?.[Symbol.asyncDispose]())

const api = async <Body>(method: string, path: string, body?: object): Promise<Body> =>
  (await stand.instance.api.send(method, path.startsWith("/api") ? path : SITE + path, body, undefined, { cookie })).body as Body
const make = async (fields: object) => (await api<{ id: number }>("POST", "/dashboards", { visibility: "site", ...fields })).id
const boardOf = (id: number | string) => api<BoardResponse>("GET", `/dashboards/${id}`)
const idIn = (page: Page) => Number(/dashboards\/(\d+)/.exec(page.url())?.[1])
const dataRequests = (page: Page): string[] => {
  const sent: string[] = []
  page.on("request", (request) => void (request.url().endsWith("/data") && sent.push(request.url())))
  return sent
}

const PAGES = widget("breakdown", { dimension: "page", metrics: ["pageviews"] }, { w: 6, h: 4, title: "Pages" })
const VIEWS = widget("metric", { metric: "pageviews" }, { x: 6, w: 3, title: "Views" })
const NOTE = widget("text", { markdown: "## Heading\n\n#### Deep\n\n- one\n- two" }, { x: 6, y: 2, w: 6, h: 3 })

test.skipIf(noBrowser)("print shows the title, the period and whole widgets, without navigation and buttons", async () => {
  const id = await make({ name: "Printed", widgets: [PAGES, VIEWS, NOTE] })
  await using looked = await stand.look({ cookie, theme: "dark" })
  const { page } = looked
  await looked.open(`/sites/1/dashboards/${id}`)
  await page.emulateMedia({ media: "print", colorScheme: "dark" })
  expect(await page.getByRole("heading", { name: "Printed" }).isVisible()).toBe(true)
  for (const hidden of [".rail", ".top-bar", ".tile-menu >> nth=0", "text=Edit"])
    expect([hidden, await page.locator(hidden).isVisible()]).toEqual([hidden, false])
  expect(await page.locator(".tile").count()).toBe(3)
  // Nothing is cut off at the edge of a widget.
  const cut = await page
    .locator(".tile-body")
    .evaluateAll((bodies) => bodies.filter((body) => getComputedStyle(body).overflowY !== "visible").length)
  expect(cut).toBe(0)
  // Ink on paper, in the dark theme too.
  const [red, green, blue] = (await page.locator("h1").evaluate((title) => getComputedStyle(title).color)).match(/\d+/g)!.map(Number)
  expect(Math.max(red!, green!, blue!)).toBeLessThan(80)
  expect(looked.faults).toEqual([])
})

test.skipIf(noBrowser)(
  "full screen asks again after the dashboard's time, waits for a running answer, and pauses in a hidden tab",
  async () => {
    const id = await make({ name: "Wall", refresh_s: 30, widgets: [VIEWS] })
    await using looked = await stand.look({ cookie })
    const { page } = looked
    const sent = dataRequests(page)
    await page.clock.install()
    await looked.open(`/sites/1/dashboards/${id}`)
    await page.getByRole("button", { name: "Actions for Wall" }).click()
    await page.getByRole("menuitem", { name: "Full screen" }).click()
    await page.getByRole("button", { name: "Exit full screen" }).waitFor()
    expect(await page.evaluate(() => document.fullscreenElement?.className)).toBe("board-area")
    const pass = async (seconds: number) => {
      const before = sent.length
      await page.clock.fastForward(seconds * 1_000)
      await settled(page)
      return sent.length - before
    }
    expect([await pass(29), await pass(2)]).toEqual([0, 1])

    // A slow answer is waited for.
    let answer = () => {}
    const answered = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route("**/data", async (route) => {
      await answered
      await route.continue()
    })
    const before = sent.length
    await page.clock.fastForward(30_000)
    await page.clock.fastForward(30_000)
    await page.waitForTimeout(100)
    expect(sent.length - before).toBe(1)
    answer()
    await page.unrouteAll({ behavior: "wait" })
    await settled(page)

    const hide = (hidden: boolean) =>
      page.evaluate((value) => {
        Object.defineProperty(document, "hidden", { configurable: true, get: () => value })
        document.dispatchEvent(new Event("visibilitychange"))
      }, hidden)
    await hide(true)
    expect(await pass(300)).toBe(0)
    const asked = sent.length
    await hide(false)
    await settled(page)
    expect(sent.length - asked).toBe(1)
    await page.getByRole("button", { name: "Exit full screen" }).click()
    await page.getByRole("button", { name: "Exit full screen" }).waitFor({ state: "detached" })
  },
)

test.skipIf(noBrowser)("the menu of a widget downloads the figures that it shows", async () => {
  const id = await make({ name: "Figures", widgets: [PAGES] })
  const one = (await boardOf(id)).widgets[0]!.id
  await using looked = await stand.look({ cookie })
  const { page } = looked
  await looked.open(`/sites/1/dashboards/${id}?f=page:is:/pricing`)
  await page.getByRole("button", { name: "Actions for Pages" }).focus()
  await page.keyboard.press("Enter")
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: "Download CSV" }).click()])
  const lines = (await Bun.file((await download.path())!).text()).split("\r\n")
  expect(download.suggestedFilename()).toBe(`dashboard-${id}-widget-${one}.csv`)
  expect(lines[1]).toStartWith('"/pricing",2')
  expect(lines).toHaveLength(3)
})

test.skipIf(noBrowser)("a dashboard is exported, and its import names what the site lacks", async () => {
  const goal = await api<{ id: number }>("POST", "/goals", { name: "Docs", kind: "page", value: "/docs" })
  const id = await make({ name: "Carried", widgets: [widget("metric", { metric: "conversions", goal_id: goal.id }), NOTE] })
  await using looked = await stand.look({ cookie })
  const { page } = looked
  await looked.open(`/sites/1/dashboards/${id}`)
  await page.getByRole("button", { name: "Actions for Carried" }).click()
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("menuitem", { name: "Export JSON" }).click()])
  await looked.open(`/sites/${blog}/dashboards/all`)
  await page.getByRole("button", { name: "Import", exact: true }).click()
  const dialog = page.getByRole("dialog", { name: "Import dashboard" })
  expect(await violations(page)).toEqual([])
  await dialog.getByRole("button", { name: "Import dashboard" }).click()
  expect(await dialog.locator(".field-error").textContent()).toContain("required")
  await dialog.getByLabel("File").setInputFiles({ name: "notes.json", mimeType: "application/json", buffer: Buffer.from("no JSON") })
  await dialog.getByRole("button", { name: "Import dashboard" }).click()
  await dialog.getByText("This file is not JSON").waitFor()
  await dialog.getByLabel("File").setInputFiles((await download.path())!)
  await dialog.getByRole("button", { name: "Import dashboard" }).click()
  const done = page.getByRole("dialog", { name: "Dashboard imported" })
  await done.getByText("The goal Docs").waitFor()
  await done.getByRole("button", { name: "Open dashboard" }).click()
  await page.getByRole("heading", { name: "Carried", level: 1 }).waitFor()
  expect(page.url()).toContain(`/sites/${blog}/dashboards/`)
  await page.getByText("This site has no goal named Docs.").or(page.getByText("This goal was deleted.")).waitFor()
})

test.skipIf(noBrowser)("a dashboard is copied to two sites, and the dialog says what one of them lacks", async () => {
  const goal = await api<{ id: number }>("POST", "/goals", { name: "Prices", kind: "page", value: "/pricing" })
  const id = await make({ name: "Original", widgets: [widget("metric", { metric: "conversions", goal_id: goal.id })] })
  await using looked = await stand.look({ cookie, width: 375, theme: "dark" })
  const { page } = looked
  await looked.open(`/sites/1/dashboards/${id}`)
  await page.getByRole("button", { name: "Actions for Original" }).click()
  await page.getByRole("menuitem", { name: "Duplicate" }).click()
  const dialog = page.getByRole("dialog", { name: "Duplicate Original" })
  await dialog.getByLabel("Blog").check()
  expect({ found: await violations(page), beside: await overflow(page) }).toEqual({ found: [], beside: 0 })
  await dialog.getByRole("button", { name: "Create 2 copies" }).click()
  const copies = page.getByRole("dialog", { name: "Copies" })
  await copies.getByText("Not found on this site: goal Prices").waitFor()
  expect(await copies.getByRole("link", { name: "Open copy" }).count()).toBe(2)
  await copies.getByRole("link", { name: "Open copy" }).last().click()
  await page.getByRole("heading", { name: "Original copy", level: 1 }).waitFor()
})

test.skipIf(noBrowser).each([
  [1280, "light"],
  [375, "dark"],
] as const)(
  "%i px, %s: a widget is chosen in the catalogue, shows its figures while it is configured, and is saved",
  async (width, theme) => {
    const id = await make({ name: "Growing", widgets: [NOTE] })
    await using looked = await stand.look({ cookie, width, theme })
    const { page } = looked
    await looked.open(`/sites/1/dashboards/${id}/edit`)
    expect({ found: await violations(page), beside: await overflow(page) }).toEqual({ found: [], beside: 0 })
    await page.getByRole("button", { name: "Add widget" }).click()
    expect(await violations(page)).toEqual([])
    await page.getByRole("button", { name: /^List/ }).click()
    const drawer = page.getByRole("dialog", { name: "Configure list" })
    const preview = drawer.getByRole("region", { name: "Preview" })
    await preview.getByText("/pricing").waitFor()
    expect(await violations(page)).toEqual([])
    await drawer.getByLabel("Dimension").selectOption("property")
    await preview.getByText("property The property key is required.").or(preview.getByText("property is required")).waitFor()
    await drawer.getByLabel("Dimension").selectOption("entry_page")
    await drawer.getByLabel("Title").fill("Where visits begin")
    await preview.getByText("/", { exact: true }).waitFor()
    await drawer.getByRole("button", { name: "Apply" }).click()
    // Figures before anything is saved.
    await page.getByRole("region", { name: "Where visits begin" }).getByText("/", { exact: true }).waitFor()
    expect((await boardOf(id)).widgets).toHaveLength(1)
    await page.getByRole("button", { name: "Save changes" }).click()
    await page.getByRole("region", { name: "Where visits begin" }).getByText("/", { exact: true }).waitFor()
    expect((await boardOf(id)).widgets[1]).toMatchObject({
      type: "breakdown",
      title: "Where visits begin",
      config: { dimension: "entry_page" },
    })
    expect(looked.faults.filter((fault) => !fault.includes("422"))).toEqual([])
  },
)

test.skipIf(noBrowser)("the settings of a dashboard are changed in their drawer", async () => {
  const id = await make({ name: "Before", widgets: [NOTE] })
  await using looked = await stand.look({ cookie })
  const { page } = looked
  await looked.open(`/sites/1/dashboards/${id}/edit`)
  await page.getByRole("button", { name: "Settings", exact: true }).click()
  const drawer = page.getByRole("dialog")
  expect(await violations(page)).toEqual([])
  await drawer.getByLabel("Name").fill("After")
  await drawer.getByRole("button", { name: "Apply" }).click()
  await page.getByRole("button", { name: "Save changes" }).click()
  await page.getByRole("heading", { name: "After", level: 1 }).waitFor()
  expect((await boardOf(id)).name).toBe("After")
})

test.skipIf(noBrowser)("two windows edit one dashboard: the second to save sees both versions and replaces the other", async () => {
  const id = await make({ name: "Both", widgets: [PAGES, VIEWS] })
  const editor = await stand.signIn({ role: "editor" })
  await using first = await stand.look({ cookie })
  await using second = await stand.look({ cookie: editor })
  for (const window of [first, second]) await window.open(`/sites/1/dashboards/${id}/edit`)
  const move = async (page: Page, title: string, key: string) => {
    await page.getByRole("button", { name: `Move ${title}` }).focus()
    await page.keyboard.press(key)
    await page.getByRole("button", { name: "Save changes" }).click()
  }
  await move(first.page, "Views", "ArrowRight")
  await first.page.waitForURL(/dashboards\/\d+(\?|$)/)
  await move(second.page, "Pages", "ArrowDown")
  const dialog = second.page.getByRole("dialog", { name: "Someone else changed this while you were editing" })
  await dialog.getByRole("region", { name: "Theirs" }).getByText("Views · differs").waitFor()
  await dialog.getByRole("region", { name: "Yours" }).getByText("Pages · differs").waitFor()
  expect(await violations(second.page)).toEqual([])
  await dialog.getByRole("button", { name: "Replace theirs with mine" }).click()
  await second.page.waitForURL(/dashboards\/\d+(\?|$)/)
  expect(idIn(second.page)).toBe(id)
  expect((await boardOf(id)).widgets.map(({ x, y }) => [x, y])).toEqual([
    [0, 1],
    [6, 0],
  ])
})

test.skipIf(noBrowser)("the form of a retention widget sets what starts a cohort and what counts as a return", async () => {
  await using other = await openDashboard({ plugins: [dashboards, ...programPlugins.filter(({ id }) => id === "cohorts")] })
  const owner = { cookie: await other.signIn({ role: "owner" }) }
  const made = await other.instance.api.post(`${SITE}/dashboards`, { name: "Loyalty" }, undefined, owner)
  const { id } = made.body as { id: number }
  await using looked = await other.look(owner)
  const { page } = looked
  await looked.open(`/sites/1/dashboards/${id}/edit?add`)
  await page.getByRole("button", { name: /^Retention/ }).click()
  const drawer = page.getByRole("dialog", { name: "Configure retention" })
  const start = drawer.getByRole("group", { name: "Started with" })
  await start.getByLabel("Kind").selectOption("event")
  await start.getByLabel("Event name").fill("Signup")
  const back = drawer.getByRole("group", { name: "Came back with" })
  await back.getByLabel("Kind").selectOption("page")
  await back.getByLabel("Page").fill("/pricing")
  await back.getByLabel("At least this many times").fill("2")
  await settled(page)
  expect(await violations(page)).toEqual([])
  await drawer.getByRole("button", { name: "Apply" }).click()
  await page.getByRole("button", { name: "Save changes" }).click()
  await page.waitForURL(/dashboards\/\d+(\?|$)/)
  const { body } = await other.instance.api.get(`${SITE}/dashboards/${id}`, undefined, owner)
  expect((body as BoardResponse).widgets[0]).toMatchObject({
    type: "retention",
    config: { start: { type: "event", value: "Signup" }, return: { type: "page", value: "/pricing", count: 2 } },
  })
})
