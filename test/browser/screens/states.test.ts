import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { Locator, Page, Route } from "playwright-core"
import { sample } from "../../size.ts"
import { noBrowser } from "../browser.ts"
import { ADA, openAccess } from "../people/access-stand.ts"
import { fillSite } from "../report/dashboard-data.ts"
import { type DashboardStand, openDashboard, shown, type WatchedPage } from "../report/dashboard-stand.ts"
import { trackRequests } from "../requests.ts"

setDefaultTimeout(60_000)

let stand: DashboardStand
let cookie: string
beforeAll(async () => {
  if (noBrowser) return
  stand = await openDashboard()
  const { instance } = stand
  await fillSite(instance, { days: 3 })
  const { sites, goals, funnels } = instance.app.instance
  await goals.create(instance.site, { kind: "event", value: "signup" })
  const steps = [
    { type: "page" as const, value: "/" },
    { type: "event" as const, value: "signup" },
  ]
  await funnels.create(instance.site, { name: "Sign-up", steps })
  await sites.create(instance.site.organization_id, { name: "Empty", hosts: ["empty.example"] })
  cookie = await stand.signIn({ role: "owner", isInstanceAdmin: true })
}, 40_000)
afterAll(() => stand?.[Symbol.asyncDispose]())

interface Opened extends WatchedPage {
  answered(): Promise<void>
}

/** Opens a page as an owner, with the instance's time as the page's clock. */
async function open(path: string): Promise<Opened> {
  const watched = await stand.look({ cookie })
  const { page } = watched
  page.setDefaultTimeout(8_000)
  await page.clock.setFixedTime(stand.instance.clock.now())
  const answered = trackRequests(page)
  await page.goto(stand.origin + path)
  await answered()
  return { ...watched, answered }
}

const FAILED = {
  type: "about:blank",
  title: "Something went wrong",
  status: 500,
  code: "internal_error",
  detail: "The server failed. The log contains the cause.",
  request_id: "req-of-the-test",
}
const LATE = { ...FAILED, title: "The query took too long", status: 503, code: "query_timeout" }
type Failure = typeof FAILED

const answer = (route: Route, problem: Failure) =>
  route.fulfill({ status: problem.status, contentType: "application/problem+json", body: JSON.stringify(problem) })

interface Asked {
  id: string
  report: string
  dimension?: string
}
interface Results {
  results: Record<string, { status: number; data?: Record<string, unknown>; problem?: Failure }>
}

/** Changes the answers of some reports in the server's batches. Returns a function that stops it. */
async function changeReports(page: Page, change: (asked: Asked, was: Results["results"][string]) => Results["results"][string]) {
  const path = "**/stats/batch"
  await page.route(path, async (route) => {
    const { queries } = route.request().postDataJSON() as { queries: Asked[] }
    const response = await route.fetch()
    const { results } = (await response.json()) as Results
    const changed = Object.fromEntries(queries.map((asked) => [asked.id, change(asked, results[asked.id]!)]))
    await route.fulfill({ response, json: { results: changed } })
  })
  return () => page.unroute(path)
}

const cardOf = (page: Page, title: string) => page.locator(".card", { has: page.getByRole("heading", { name: title, exact: true }) })
const rowsOf = (page: Page, title: string): Promise<number> => cardOf(page, title).locator("tbody tr").count()

/** Returns the sentences and buttons of an alert. */
const textsOf = (alert: Locator): Promise<string[]> => alert.locator("p, button").allTextContents()

/** Cards by their query. */
const CARDS: readonly (readonly [title: string, report: string, dimension?: string])[] = [
  ["Sources", "breakdown", "source"],
  ["Pages", "breakdown", "page"],
  ["Locations", "breakdown", "country"],
  ["Devices", "breakdown", "browser"],
  ["Goals and events", "breakdown", "goal"],
  ["Busy hours", "busy-hours"],
]
const PERIODS = ["w", "n", "m", "y", "l", "f"]

test.skipIf(noBrowser)("a failed card shows the error and the request id, the others keep working, and a retry fixes it", async () => {
  await using opened = await open("/sites/1?period=today")
  const { page, answered } = opened
  for (const [index, [title, report, dimension]] of CARDS.entries()) {
    const end = await changeReports(page, (asked, was) =>
      asked.report === report && asked.dimension === dimension ? { status: 500, problem: FAILED } : was,
    )
    // Another period repeats all queries.
    await page.keyboard.press(PERIODS[index]!)
    const card = cardOf(page, title)
    await card.getByRole("alert").waitFor()
    expect(await textsOf(card.getByRole("alert"))).toEqual([
      "The server failed. The log contains the cause.",
      "Request req-of-the-test",
      "Try again",
    ])
    await answered()
    expect(await page.getByRole("alert").count()).toBe(1)
    for (const [other] of CARDS) if (other !== title) expect({ other, rows: await rowsOf(page, other) }).not.toEqual({ other, rows: 0 })
    await end()
    await card.getByRole("button", { name: "Try again" }).click()
    await card.getByRole("alert").waitFor({ state: "detached" })
    await answered()
    expect(await rowsOf(page, title)).toBeGreaterThan(0)
  }
  expect(opened.faults).toEqual([])
})

test.skipIf(noBrowser)("figures and chart fail independently, and both can be retried", async () => {
  await using opened = await open("/sites/1?period=today")
  const { page, answered } = opened
  const instrument = page.locator(".instrument")
  for (const [report, key, there, gone] of [
    ["summary", "w", ".chart-canvas", ".figure"],
    ["timeseries", "n", ".figure", ".chart-canvas"],
  ] as const) {
    const end = await changeReports(page, (asked, was) => (asked.report === report ? { status: 500, problem: FAILED } : was))
    await page.keyboard.press(key)
    await instrument.getByRole("alert").waitFor()
    await answered()
    expect([(await instrument.locator(there).count()) > 0, await instrument.locator(gone).count()]).toEqual([true, 0])
    expect(await rowsOf(page, "Pages")).toBeGreaterThan(0)
    await end()
    await instrument.getByRole("button", { name: "Try again" }).click()
    await instrument.locator(gone).first().waitFor()
  }
  expect(opened.faults).toEqual([])
})

test.skipIf(noBrowser)("a report that takes too long suggests a faster one after an automatic retry", async () => {
  await using opened = await open("/sites/1?period=today")
  const { page, answered } = opened
  let times = 0
  const end = await changeReports(page, (asked, was) => {
    if (asked.dimension !== "source") return was
    times += 1
    return { status: 503, problem: LATE }
  })
  await page.keyboard.press("w")
  const alert = cardOf(page, "Sources").getByRole("alert")
  await alert.waitFor({ timeout: 20_000 })
  expect(await textsOf(alert)).toEqual([
    "The report took too long. Choose a shorter period or fewer filters.",
    "Request req-of-the-test",
    "Try again",
  ])
  expect(times).toBe(3)
  expect(await rowsOf(page, "Pages")).toBeGreaterThan(0)
  await end()
  await alert.getByRole("button", { name: "Try again" }).click()
  await answered()
  expect(await rowsOf(page, "Sources")).toBeGreaterThan(0)
})

/** One screen per area. */
const SCREENS = [
  "/sites",
  "/sites/1/details/page?period=28d",
  "/sites/1/realtime",
  "/sites/1/events?period=28d",
  "/sites/1/campaigns?period=28d",
  "/sites/1/visits?period=28d",
  "/sites/1/web-vitals?period=28d",
  "/sites/1/goals?period=28d",
  "/sites/1/funnels?period=28d",
  "/sites/1/funnels/1?period=28d",
  "/sites/1/journeys?period=28d",
  "/sites/1/settings/general",
  "/sites/1/settings/shields",
  "/sites/1/settings/access",
  "/org/1/members",
  "/org/1/keys",
  "/org/1/usage",
  "/org/1/audit",
  "/account/sessions",
  "/admin",
  "/admin/jobs",
  "/admin/users",
]

/** Presses the button of every alert, including those behind a dialog. */
const tryAllAgain = (page: Page): Promise<void> =>
  page.$$eval("[role=alert] button", (all) => {
    for (const button of all) (button as HTMLElement).click()
  })

const KINDS: readonly (readonly [name: string, words: string, fail: (route: Route) => Promise<void>])[] = [
  ["fails", "The server failed. The log contains the cause.", (route) => answer(route, FAILED)],
  ["cannot be reached", "Can't reach the server. Check your connection and try again.", (route) => route.abort("connectionrefused")],
]

test.skipIf(noBrowser).each(KINDS)("a screen explains that the server %s, and can be retried", async (_, words, fail) => {
  await using opened = await open("/account/profile")
  const { page, answered } = opened
  const told: Record<string, unknown> = {}
  const wanted: Record<string, unknown> = {}
  const isAsked = (url: URL) => url.pathname.startsWith("/api/private/") && !/\/(me|state)$/.test(url.pathname)
  for (const path of sample(SCREENS)) {
    await page.route(isAsked, fail)
    await page.goto(stand.origin + path)
    const alert = page.getByRole("alert").first()
    await alert.waitFor().catch(() => {})
    const said = await textsOf(alert)
    await page.unroute(isAsked, fail)
    // Successful parts may appear above failed ones.
    for (let round = 0; round < 2; round++) {
      await tryAllAgain(page)
      await answered()
    }
    told[path] = { said: [said[0], said.at(-1)], left: await page.getByRole("alert").allTextContents() }
    wanted[path] = { said: [words, "Try again"], left: [] }
  }
  expect(told).toEqual(wanted)
})

test.skipIf(noBrowser)("each screen of a site without data explains what to do next", async () => {
  await using opened = await open("/sites/2/events?period=28d")
  const { page, answered } = opened
  /** Waits for a text, if it depends on a request that follows the first ones. */
  const textOf = async (path: string, shown?: string) => {
    await page.goto(stand.origin + path)
    await answered()
    if (shown) await page.getByText(shown).waitFor()
    return page.locator("main").textContent()
  }
  const found = {
    dashboard: await textOf("/sites/2"),
    realtime: await textOf("/sites/2/realtime", "No visitors yet"),
    events: await textOf("/sites/2/events?period=28d"),
    campaigns: await textOf("/sites/2/campaigns?period=28d"),
    visits: await textOf("/sites/2/visits?period=28d"),
    vitals: await textOf("/sites/2/web-vitals?period=28d"),
    goals: await textOf("/sites/2/goals?period=28d"),
    funnels: await textOf("/sites/2/funnels?period=28d"),
    journeys: await textOf("/sites/2/journeys?period=28d"),
  }
  expect(found.dashboard).toContain("Add this snippet to your site")
  expect(found.realtime).toContain("No visitors yet")
  // Said once per page, with one action.
  expect(found.realtime).not.toContain("No events")
  expect(found.events).toContain("Send your first event")
  expect(found.events).not.toContain("No data was recorded")
  expect(found.campaigns).toContain("Create a tagged link below")
  expect(found.campaigns).not.toContain("Show 91 days")
  expect(found.visits).toContain("No data was recorded in this period.")
  expect(found.vitals).toContain("No page loads were measured in this period. Add data-vitals to the snippet")
  expect(found.goals).toContain("No goals yet.")
  expect(found.goals).toContain("Add goal")
  expect(found.funnels).toContain("No funnels yet.")
  expect(found.funnels).toContain("Add funnel")
  expect(found.journeys).toMatch(/period|days/)
  await page.goto(`${stand.origin}/sites/2/funnels?period=28d`)
  await page.getByRole("button", { name: "Add funnel" }).first().click()
  await page.getByRole("dialog", { name: "Add funnel" }).waitFor()
  await using viewer = await stand.look({ cookie: await stand.signIn({ role: "viewer" }) })
  await viewer.page.goto(`${stand.origin}/sites/2/funnels?period=28d`)
  await shown(viewer.page, "No funnels yet.")
  expect(await viewer.page.getByRole("button", { name: /funnel/ }).count()).toBe(0)
  expect([...opened.faults, ...viewer.faults]).toEqual([])
})

test.skipIf(noBrowser)("a page without matches for the filters says so once and offers to clear them", async () => {
  await using opened = await open("/sites/1?period=28d&f=page:is:/nowhere")
  const { page, answered } = opened
  const said = page.locator(".card", { hasText: "No visits match the filters in this period." })
  expect(await said.count()).toBe(1)
  expect(await page.locator(".card").count()).toBe(1)
  await said.getByRole("button", { name: "Clear filters" }).click()
  await page.waitForURL("**/sites/1?period=28d")
  await answered()
  expect(await rowsOf(page, "Pages")).toBeGreaterThan(0)
  await page.getByRole("button", { name: "Undo" }).click()
  await page.waitForURL("**f=page:is:/nowhere")
  expect(opened.faults).toEqual([])
})

test.skipIf(noBrowser)("a session that expires during an open dialog is renewed in place, and the dialog's input is saved", async () => {
  await using access = await openAccess()
  await access.setUp()
  const { page, context } = await access.someone({ width: 1280 })
  await access.signIn(page)
  await page.waitForURL("**/sites")
  const site = await page.evaluate(async () => {
    const body = JSON.stringify({ name: "Engine", hosts: ["engine.example"] })
    const { organizations } = await (await fetch("/api/private/me")).json()
    const headers = { "content-type": "application/json" }
    return (await fetch(`/api/private/organizations/${organizations[0].id}/sites`, { method: "POST", headers, body })).json()
  })
  await page.goto(`/sites/${site.id}/goals`)
  await page.getByRole("button", { name: "Add goal" }).first().click()
  const dialog = page.getByRole("dialog", { name: "Add goal" })
  await dialog.getByLabel("Event name", { exact: true }).fill("signup")
  await dialog.getByLabel("Name", { exact: true }).fill("Signed up")
  // The first request without a session is then the one that saves.
  await page.waitForLoadState("networkidle")
  await context.clearCookies()
  await dialog.getByRole("button", { name: "Add goal" }).click()
  const again = page.getByRole("dialog", { name: "Sign in again" })
  await again.getByLabel("Password", { exact: true }).fill(ADA.password)
  await page.keyboard.press("Enter")
  await again.waitFor({ state: "detached" })
  await dialog.waitFor({ state: "detached" })
  await shown(page, "Goal Signed up saved")
})
