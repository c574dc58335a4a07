/** Realtime, events, campaigns, goals, funnels and journeys in a real browser, by keyboard where reasonable. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { Locator, Page } from "playwright-core"
import { noBrowser } from "../browser.ts"
import { fillSite, HOSTILE } from "./dashboard-data.ts"
import { type DashboardStand, openDashboard, settled, type WatchedPage } from "./dashboard-stand.ts"

setDefaultTimeout(60_000)

let stand: DashboardStand
let owner: WatchedPage
let cookie: string

beforeAll(async () => {
  if (noBrowser) return
  // The instance uses the browser's time, so that collected events are current for both.
  stand = await openDashboard({ now: new Date(Date.now() - 9 * 86_400_000).toISOString() })
  await fillSite(stand.instance, { hostile: true })
  stand.instance.app.collector.flush()
  cookie = await stand.signIn({ role: "owner" })
  owner = await stand.look({ cookie })
})
afterAll(() => stand?.[Symbol.asyncDispose]())

// biome-ignore lint/suspicious/noExplicitAny: the tests check the answers themselves
async function ask(path: string, body?: object): Promise<any> {
  const response = await fetch(`${stand.origin}/api/private/sites/1${path}`, {
    method: body ? "POST" : "GET",
    headers: { cookie, origin: stand.origin, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  })
  return response.json()
}

/** Presses Tab until the element with this role and name has the focus. */
const tabTo = (page: Page, name: string | RegExp, role: Parameters<Page["getByRole"]>[0]): Promise<void> =>
  tabOnto(page, page.getByRole(role, { name, exact: typeof name === "string" }).first())

async function tabOnto(page: Page, wanted: Locator): Promise<void> {
  await wanted.waitFor()
  for (let presses = 0; presses < 120; presses++) {
    if (await wanted.evaluate((element) => element === document.activeElement)) return
    await page.keyboard.press("Tab")
  }
  throw new Error(`The Tab key does not reach ${wanted}`)
}

const rowOf = async (page: Page, name: string): Promise<string[]> =>
  (await page.getByRole("row").filter({ hasText: name }).first().getByRole("cell").allInnerTexts()).map((text) => text.trim())

const expectClean = ({ faults }: WatchedPage) => expect(faults.splice(0)).toEqual([])

test.skipIf(noBrowser)("tests and creates a goal by keyboard, and shows the API's numbers", async () => {
  const { page, open } = owner
  await open("/sites/1/goals?period=28d")
  expect(await page.getByText("No goals yet").count()).toBe(1)
  await tabTo(page, "Add goal", "button")
  await page.keyboard.press("Enter")
  await tabTo(page, "Event name", "combobox")
  await page.keyboard.type("order")
  await tabTo(page, "Test goal", "button")
  await page.keyboard.press("Enter")
  const trial = await ask("/goals/test", { kind: "event", value: "order" })
  expect(trial.conversions_7d).toBeGreaterThan(5)
  await page.getByText(`Would have matched ${trial.conversions_7d} events from ${trial.visitors_7d} visitors in the last 7 days.`).waitFor()
  await tabTo(page, "Name", "textbox")
  await page.keyboard.type("Bought")
  await page.keyboard.press("Enter")
  await page.getByRole("link", { name: "Bought" }).waitFor()
  await settled(page)
  const { goals } = await ask("/stats/goals?period=28d")
  const { visitors, conversions, conversion_rate } = goals[0]
  const [unique, total, rate, revenue] = await rowOf(page, "Bought")
  expect([unique, total]).toEqual([String(visitors), String(conversions)])
  expect(Math.abs(Number.parseFloat(rate!) - conversion_rate)).toBeLessThan(0.51)
  expect(revenue).toContain("€")
  expectClean(owner)
})

test.skipIf(noBrowser)("a goal links to the dashboard filtered by it", async () => {
  const { page, open } = owner
  await open("/sites/1/goals?period=28d")
  await page.getByRole("link", { name: "Bought" }).click()
  await page.waitForURL("**/sites/1?period=28d&f=goal:is:Bought")
  expectClean(owner)
})

test.skipIf(noBrowser)("changes a rule, warns about one without matches and restores a deleted goal", async () => {
  const { page, open } = owner
  await open("/sites/1/goals?period=28d")
  await page.getByRole("button", { name: "Edit Bought" }).click()
  await page.getByLabel("Event name").fill("never sent")
  await page.getByRole("button", { name: "Save changes" }).click()
  await page.getByText("Event is never sent").waitFor()
  await page.getByText("No match so far.").waitFor()
  expect(await ask("/goals")).toMatchObject({ data: [{ name: "Bought", kind: "event", match: "exact", value: "never sent", version: 2 }] })
  await page.getByRole("button", { name: "Delete Bought" }).click()
  await page.getByText("No goals yet").waitFor()
  await page.getByRole("button", { name: "Undo" }).click()
  await page.getByRole("link", { name: "Bought" }).waitFor()
  expect(await ask("/goals")).toMatchObject({ data: [{ name: "Bought", value: "never sent" }] })
  expectClean(owner)
})

test.skipIf(noBrowser)("rejects an impossible page path at its field", async () => {
  const { page, open } = owner
  await open("/sites/1/goals?period=28d")
  await page.getByRole("button", { name: "Add goal" }).click()
  await page.getByRole("radio", { name: "Page", exact: true }).check()
  await page.getByLabel("Page path").fill("pricing")
  await page.getByRole("dialog").getByRole("button", { name: "Add goal" }).click()
  const summary = page.locator("dialog [role=alert]")
  await summary.waitFor()
  expect(await summary.evaluate((element) => element === document.activeElement)).toBe(true)
  expect(await page.getByLabel("Page path").getAttribute("aria-invalid")).toBe("true")
  // The browser logs the rejection itself.
  expect(owner.faults.splice(0)).toEqual([expect.stringContaining("422")])
})

test.skipIf(noBrowser)("turns a suggestion into a goal with one click, and shows hostile names as text", async () => {
  const { page, open } = owner
  await open("/sites/1/goals?period=28d")
  const [{ id }] = (await ask("/goals")).data
  await fetch(`${stand.origin}/api/private/sites/1/goals/${id}`, { method: "DELETE", headers: { cookie, origin: stand.origin } })
  await page.reload()
  await page.getByRole("button", { name: "Add signup as a goal" }).click()
  await page.getByRole("link", { name: "signup" }).waitFor()
  expect((await ask("/goals")).data).toMatchObject([{ kind: "event", value: "signup" }])
  expectClean(owner)
})

test.skipIf(noBrowser)("edits a funnel with live counts, moves steps by arrow keys and saves it through the API", async () => {
  const { page, open } = owner
  await open("/sites/1/funnels?period=28d")
  await page.getByRole("button", { name: "Add funnel" }).first().click()
  const save = page.getByRole("dialog").getByRole("button", { name: "Add funnel" })
  expect(await save.isDisabled()).toBe(true)
  expect(await page.getByText("Fill in at least two steps.").count()).toBe(1)
  await page.getByLabel("Name", { exact: true }).fill("To the docs")
  await page.getByLabel("Page of step 1").fill("/docs/install")
  await page.getByLabel("Page of step 2").fill("/pricing")
  const steps = (values: readonly string[]) => values.map((value) => ({ type: "page", match: "exact", value }))
  const counts = () => page.locator(".step-count strong").allInnerTexts()
  const shows = async (values: readonly string[]) => {
    const { steps: expected } = await ask("/stats/funnel", { period: "28d", steps: steps(values) })
    const wanted = expected.map(({ visitors }: { visitors: number }) => String(visitors))
    await page.waitForFunction(
      (texts) => [...document.querySelectorAll(".step-count strong")].map((element) => element.textContent).join() === texts,
      wanted.join(),
    )
    expect(await counts()).toEqual(wanted)
    return wanted
  }
  const before = await shows(["/docs/install", "/pricing"])
  await page.getByRole("button", { name: /^Position of step 2/ }).focus()
  await page.keyboard.press("ArrowUp")
  expect(await page.evaluate(() => document.activeElement?.getAttribute("aria-label"))).toStartWith("Position of step 1")
  expect(await page.getByLabel("Page of step 1").inputValue()).toBe("/pricing")
  const after = await shows(["/pricing", "/docs/install"])
  expect(after).not.toEqual(before)
  await save.click()
  await page.waitForURL(/\/funnels\/1\?/)
  await settled(page)
  expect((await ask("/funnels")).data).toMatchObject([
    { name: "To the docs", steps: steps(["/pricing", "/docs/install"]), order: "sequential" },
  ])
  const found = await ask("/stats/funnel", { period: "28d", funnel_id: 1 })
  expect(await page.locator(".funnel-result").textContent()).toContain(`${found.entered} entered, ${found.completed} completed`)
  await page.getByRole("button", { name: "Show as table" }).click()
  const [first, second] = found.steps
  expect((await rowOf(page, "1. /pricing"))[0]).toBe(String(first.visitors))
  const row = await rowOf(page, "2. /docs/install")
  expect([row[0], row[3]]).toEqual([String(second.visitors), String(second.dropoff)])
  await page.getByLabel("Break down by").selectOption("country")
  await page.getByRole("columnheader", { name: "Country" }).waitFor()
  await settled(page)
  const { breakdown } = await ask("/stats/funnel", { period: "28d", funnel_id: 1, breakdown: "country" })
  const [top] = breakdown.rows
  expect((await rowOf(page, top.label ?? top.value))[0]).toBe(String(top.entered))
  expectClean(owner)
})

test.skipIf(noBrowser)("moves steps by dragging", async () => {
  const { page, open } = owner
  await open("/sites/1/funnels/1?period=28d")
  await page.getByRole("button", { name: "Edit funnel" }).click()
  await page.getByRole("button", { name: /^Position of step 2/ }).dragTo(page.getByRole("button", { name: /^Position of step 1/ }))
  expect(await page.getByLabel("Page of step 1").inputValue()).toBe("/docs/install")
  await page.getByRole("button", { name: "Save changes" }).click()
  await page.getByText("1. /docs/install").waitFor()
  expect((await ask("/funnels")).data[0].steps.map(({ value }: { value: string }) => value)).toEqual(["/docs/install", "/pricing"])
  expectClean(owner)
})

test.skipIf(noBrowser)("explores journeys by arrow keys, pins pages and converts the path to a funnel", async () => {
  const { page, open } = owner
  await open("/sites/1/journeys?period=28d")
  const journeys = await ask("/stats/journeys", { period: "28d", start: { page: "/" } })
  const named = () => page.evaluate(() => document.activeElement?.textContent)
  const [next] = journeys.columns[1]
  await tabOnto(page, page.locator("[data-node='0-0']"))
  expect(await named()).toBe(`/, ${journeys.sample_visits} visits, 100%, Start`)
  // Right of the start is the middle of the column; from there up to its top.
  await page.keyboard.press("ArrowRight")
  await page.keyboard.press("Home")
  expect(await named()).toStartWith(`${next.page}, ${next.visits} visits`)
  await page.keyboard.press("ArrowDown")
  expect(await named()).toStartWith(journeys.columns[1][1].kind === "exit" ? "Left the site" : `${journeys.columns[1][1].page}, `)
  await page.keyboard.press("ArrowUp")
  await page.keyboard.press("Enter")
  await tabTo(page, "Show only visits through here", "button")
  await page.keyboard.press("Enter")
  await page.getByRole("group", { name: "Pinned path" }).waitFor()
  await settled(page)
  const narrowed = await ask("/stats/journeys", { period: "28d", start: { page: "/" }, pins: [{ column: 1, page: next.page }] })
  const shown = await page
    .locator("[data-node^='2-']")
    .evaluateAll((nodes) => nodes.map((node) => node.querySelector("strong")?.textContent))
  expect(shown).toEqual(narrowed.columns[2].map(({ visits }: { visits: number }) => String(visits)))
  await page.getByRole("button", { name: "Show as table" }).click()
  // The first row is what most visits did after the start, including leaving.
  const total = Math.max(
    ...narrowed.edges.flatMap(({ column, visits }: { column: number; visits: number }) => (column === 0 ? [visits] : [])),
    ...narrowed.dropped[0],
  )
  expect((await page.getByRole("row").nth(1).getByRole("cell").allInnerTexts()).at(-1)).toBe(String(total))
  await page.getByRole("button", { name: "Create funnel from path" }).click()
  expect(await page.getByLabel("Page of step 1").inputValue()).toBe("/")
  expect(await page.getByLabel("Page of step 2").inputValue()).toBe(next.page)
  expectClean(owner)
})

test.skipIf(noBrowser)("reports too few visits", async () => {
  const { page, open } = owner
  await open("/sites/1/journeys?period=today")
  const { sample_visits, sparse } = await ask("/stats/journeys", { period: "today", start: { page: "/" } })
  expect(sparse).toBe(true)
  expect(
    await page
      .getByText(`Only ${sample_visits} ${sample_visits === 1 ? "visit" : "visits"} in this period. Choose a longer period.`)
      .count(),
  ).toBe(1)
  expectClean(owner)
})

test.skipIf(noBrowser)("realtime shows new events, pauses and filters its list", async () => {
  const { page, open } = owner
  const collect = (path: string, address: string) =>
    stand.instance.collect({ n: "pageview", d: "shop.example", u: `https://shop.example${path}`, tz: "Europe/Berlin" }, { address })
  await open("/sites/1/realtime")
  await page.locator("main .now-figure").waitFor()
  expect(await page.locator("main button").first().textContent()).toBe("Pause")
  await collect("/just-now", "192.0.2.77")
  await page.getByRole("cell", { name: "/just-now" }).waitFor({ timeout: 5_000 })
  const now = await ask("/stats/realtime")
  expect(await page.locator(".now-figure").textContent()).toBe(String(now.visitors))
  await page.getByRole("button", { name: "Show as table" }).click()
  const [minute] = await page
    .getByRole("table", { name: "Visitors and views per minute" })
    .getByRole("row")
    .nth(1)
    .getByRole("cell")
    .allInnerTexts()
  expect(minute).toBe(String(now.minutes.at(-1).visitors))
  await page.getByRole("button", { name: "Pause" }).click()
  stand.instance.clock.advance(1_000)
  // Several, because only some of the pages with equally many visitors are listed.
  for (const address of ["192.0.2.77", "192.0.2.78", "192.0.2.79"]) await collect("/while-paused", address)
  await Bun.sleep(3_000)
  expect(await page.getByRole("cell", { name: "/while-paused" }).count()).toBe(0)
  await page.getByRole("button", { name: "Resume" }).click()
  await page.getByRole("cell", { name: "/while-paused" }).first().waitFor({ timeout: 5_000 })
  await page.getByRole("link", { name: "/while-paused", exact: true }).click()
  await page.getByRole("cell", { name: "/just-now" }).waitFor({ state: "detached" })
  expect(await page.getByRole("cell", { name: "/while-paused" }).count()).toBe(3)
  expectClean(owner)
})

test.skipIf(noBrowser)("reports a lost connection and the time of the next attempt", async () => {
  await using other = await stand.look({ cookie })
  await other.page.route("**/live", (route) => route.abort("connectionrefused"))
  await other.page.goto(`${stand.origin}/sites/1/realtime`)
  await other.page.getByText("Live connection lost.").waitFor()
  // Each delay is twice the previous one. During a long one, the user can retry sooner.
  await other.page.getByText(/Retrying in ([4-9]|\d\d) s/).waitFor()
  await other.page.unroute("**/live")
  await other.page.getByRole("button", { name: "Retry now" }).click()
  await other.page.getByText("Live connection lost.").waitFor({ state: "detached" })
  expect(other.faults.filter((fault) => !/\/live|ERR_CONNECTION_REFUSED/.test(fault))).toEqual([])
})

test.skipIf(noBrowser)("campaigns: the matrix shows the API's numbers, and the URL builder updates with every key", async () => {
  const { page, open } = owner
  await open("/sites/1/campaigns?period=28d")
  const { rows } = await ask("/stats/campaigns?period=28d")
  expect(rows[0]).toMatchObject({ source: "newsletter", medium: "email", campaign: "autumn" })
  expect((await rowOf(page, "newsletter")).slice(0, 4)).toEqual(["email", "autumn", String(rows[0].visitors), String(rows[0].conversions)])
  const card = page.locator(".card", { hasText: "Source, medium and campaign" })
  const [file] = await Promise.all([page.waitForEvent("download"), card.getByRole("button", { name: "CSV" }).click()])
  expect(file.suggestedFilename()).toBe("campaigns.csv")
  const lines = (await Bun.file(await file.path()).text()).trimEnd().split("\r\n")
  expect(lines.length).toBe(1 + rows.length)
  const { visitors, conversions, conversion_rate } = rows[0]
  expect(lines.slice(0, 2)).toEqual([
    "source,medium,campaign,visitors,conversions,conversion_rate",
    `newsletter,email,autumn,${visitors},${conversions},${conversion_rate}`,
  ])
  await page.getByRole("row").filter({ hasText: "autumn" }).first().getByRole("link", { name: "newsletter" }).click()
  await page.waitForURL(/f=utm_source:is:newsletter&f=utm_medium:is:email&f=utm_campaign:is:autumn/)
  const made = page.getByLabel("Tagged URL")
  await page.getByLabel("Page URL", { exact: true }).fill("https://shop.example/sale?a=1")
  expect(await page.getByRole("button", { name: "Copy URL" }).count()).toBe(0)
  const builder = page.locator(".link-builder")
  await builder.getByLabel("Source").fill("mail")
  await builder.getByLabel("Campaign").fill("spring & summer")
  expect(await made.textContent()).toBe("https://shop.example/sale?a=1&utm_source=mail&utm_campaign=spring+%26+summer")
  expect(await page.getByRole("button", { name: "Copy URL" }).count()).toBe(1)
  expectClean(owner)
})

test.skipIf(noBrowser)("campaigns: a card's file contains the card's rows and no visits without the tag", async () => {
  const { page, open } = owner
  await open("/sites/1/campaigns?period=28d")
  const card = page.getByRole("region", { name: "Campaigns", exact: true })
  await card.getByRole("table").waitFor()
  const shown = await card.getByRole("rowheader").count()
  const [file] = await Promise.all([page.waitForEvent("download"), card.getByRole("link", { name: "CSV" }).click()])
  const [, ...lines] = (await Bun.file(await file.path()).text()).trimEnd().split("\r\n")
  expect(lines[0]).toStartWith('"autumn",')
  expect(lines.filter((line) => line.startsWith('"(none)"'))).toEqual([])
  expect(lines.length).toBe(shown)
  expectClean(owner)
})

test.skipIf(noBrowser)("filters by an event's row, lists its properties and turns it into a goal", async () => {
  const { page, open } = owner
  await open("/sites/1/events?period=28d")
  const { rows } = await ask("/stats/events?period=28d")
  const [{ events }] = rows
  expect((await rowOf(page, rows[0].value))[0]).toBe(String(events))
  await page.getByRole("button", { name: "Actions for order" }).click()
  await page.getByRole("menuitem", { name: "Create goal" }).click()
  expect(await page.getByLabel("Event name").inputValue()).toBe("order")
  await page.getByRole("button", { name: "Add goal" }).click()
  await page.getByText("Goal order saved").waitFor()
  await page.getByLabel("Event", { exact: true }).selectOption("signup")
  await page.getByRole("region", { name: "Property plan" }).getByRole("link", { name: "free" }).click()
  await page.waitForURL(/f=property:plan:is:free/)
  expectClean(owner)
})

test.skipIf(noBrowser)("shows visitors' input as text on all of these pages", async () => {
  const { page, open } = owner
  for (const path of [
    "events?period=28d",
    "campaigns?period=28d",
    "journeys?period=28d&cards=steps:6,events:yes",
    "goals",
    "funnels",
    "realtime",
  ]) {
    await open(`/sites/1/${path}`)
    expect(await page.evaluate(() => "__hit" in window)).toBe(false)
  }
  await open("/sites/1/events?period=28d")
  expect(await page.getByRole("link", { name: HOSTILE[0]! }).count()).toBeGreaterThan(0)
  expectClean(owner)
})

test.skipIf(noBrowser)("a viewer sees no button that changes something", async () => {
  await using viewer = await stand.look({ cookie: await stand.signIn({ role: "viewer" }) })
  const { page, open, faults } = viewer
  await open("/sites/1/goals?period=28d")
  await page.getByRole("link", { name: "signup" }).waitFor()
  expect(await page.getByRole("button", { name: /goal|Edit|Delete/ }).count()).toBe(0)
  await open("/sites/1/funnels/1?period=28d")
  await page.getByText("1. /docs/install").waitFor()
  expect(await page.getByRole("button", { name: /Add funnel|Edit|Delete/ }).count()).toBe(0)
  await open("/sites/1/events?period=28d")
  await page.getByRole("button", { name: "Actions for order" }).click()
  expect(await page.getByRole("menuitem", { name: "Create goal" }).count()).toBe(0)
  expect(faults).toEqual([])
})
