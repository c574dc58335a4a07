import { afterAll, beforeAll, expect, test } from "bun:test"
import type { Page } from "playwright-core"
import { type DashboardStand, noBrowser, openDashboard, overflow, settled, violations } from "#plugin/test/browser"
import dashboards from "../dashboards.ts"
import { SITE, widget } from "./kit.ts"

// A member shares a dashboard through the dialog, and a stranger opens the link in another browser.

let stand: DashboardStand
let cookie: string
let board: number

beforeAll(async () => {
  if (noBrowser) return
  stand = await openDashboard({ plugins: [dashboards] })
  cookie = await stand.signIn({ role: "owner" })
  const { api } = stand.instance
  await api.send("PATCH", `${SITE}/settings`, { min_group: 1 }, undefined, { cookie })
  for (let visitor = 0; visitor < 7; visitor++)
    for (const path of ["/", ...(visitor < 3 ? ["/pricing"] : [])])
      await stand.instance.collect({ n: "pageview", u: `https://shop.example${path}` }, { address: `203.0.113.${visitor}` })
  const widgets = [
    widget("metric", { metric: "visitors" }, { w: 3 }),
    widget("metric", { metric: "pageviews" }, { x: 3, w: 3 }),
    widget("text", { markdown: "# Weekly figures\n\nWritten for **our partners**." }, { x: 6, w: 6 }),
    widget("timeseries", { metrics: ["visitors", "pageviews"], chart: "bars" }, { y: 2, w: 8, h: 4 }),
    widget("breakdown", { dimension: "page", metrics: ["visitors", "pageviews"] }, { x: 8, y: 2, w: 4, h: 4 }),
    widget("map", {}, { y: 6, w: 6, h: 4 }),
    widget("realtime", {}, { x: 6, y: 6, w: 6, h: 4 }),
  ]
  const body = { name: "Partners", visibility: "site", range: { period: "7d" }, widgets }
  board = ((await api.post(`${SITE}/dashboards`, body, undefined, { cookie })).body as { id: number }).id
}, 60_000)
afterAll(() => stand?.[Symbol.asyncDispose]())

const figure = (page: Page, title: string) => page.getByRole("region", { name: title, exact: true }).locator(".figure-value")
const shot = async (page: Page, name: string): Promise<void> => {
  if (process.env.FOOTFALL_SHOTS) await page.screenshot({ path: `${process.env.FOOTFALL_SHOTS}/${name}.png`, fullPage: true })
}
/** Creates a share through the API and returns its path. */
async function share(fields: object): Promise<string> {
  const answer = await stand.instance.api.post(`${SITE}/dashboards/${board}/shares`, { name: "Link", ...fields }, undefined, { cookie })
  return `/share/d/${(answer.body as { slug: string }).slug}`
}

test.skipIf(noBrowser)(
  "a member shares a dashboard with a password, and a stranger unlocks it and sees the same figures",
  async () => {
    await using member = await stand.look({ cookie })
    const { page } = member
    await member.open(`/sites/1/dashboards/${board}`)
    await page.getByRole("button", { name: "Actions for Partners" }).click()
    await page.getByRole("menuitem", { name: "Share" }).click()
    await settled(page)
    await page.getByRole("button", { name: "New public link" }).click()
    await page.getByLabel("Name").fill("For our partners")
    await page.getByLabel("Require a password").check()
    await page.getByLabel("Password", { exact: true }).fill("correct horse")
    await page.getByLabel("Pages that can embed this view").fill("https://www.example.com")
    await page.getByRole("button", { name: "Create public link" }).click()
    // Embedding excludes a password. The form stays with its input, and the error is at the field.
    expect(await page.locator(".field-error").textContent()).toBe("A share with a password cannot be embedded in other pages.")
    await shot(page, "form")
    expect(await violations(page)).toEqual([])
    await page.getByLabel("Pages that can embed this view").fill("")
    await page.getByRole("button", { name: "Create public link" }).click()
    await page.getByRole("heading", { name: "For our partners" }).waitFor()
    await settled(page)
    await shot(page, "dialog")
    expect(await violations(page)).toEqual([])
    const url = (await page.locator(".share-address").textContent()) ?? ""
    expect(member.refusals).toEqual([`422 ${SITE}/dashboards/${board}/shares`])

    await using stranger = await stand.look()
    const path = new URL(url).pathname
    await stranger.open(path)
    await shot(stranger.page, "locked")
    expect(await violations(stranger.page)).toEqual([])
    await stranger.page.getByLabel("Password").fill("wrong horse")
    await stranger.page.getByRole("button", { name: "Open shared view" }).click()
    await stranger.page.getByRole("alert").waitFor()
    await stranger.page.getByLabel("Password").fill("correct horse")
    await stranger.page.getByRole("button", { name: "Open shared view" }).click()
    await stranger.page.getByRole("heading", { name: "Partners", level: 1 }).waitFor()
    await settled(stranger.page)
    expect(await figure(stranger.page, "Visitors").textContent()).toBe("7")
    expect(await figure(stranger.page, "Views").textContent()).toBe("10")
    expect(stranger.refusals).toEqual([`401 /api${path}/unlock`])
  },
  60_000,
)

test.skipIf(noBrowser).each([
  [1280, "light"],
  [1280, "dark"],
  [375, "light"],
  [375, "dark"],
] as const)(
  "%i px, %s: a shared dashboard, its embedded form and one widget are accessible and fit",
  async (width, theme) => {
    const path = await share({ theme, allow_export: true })
    await using stranger = await stand.look({ width, theme })
    const { page } = stranger
    const [{ id }] = ((await stand.instance.api.get(`/api${path}`)).body as { widgets: [{ id: number }] }).widgets
    for (const [name, address] of [
      ["board", path],
      ["embedded", `${path}?embed=1`],
      ["widget", `${path}/widgets/${id}?embed=1`],
    ] as const) {
      await stranger.open(address)
      await shot(page, `${name}-${width}-${theme}`)
      const found = { name, found: await violations(page), beside: await overflow(page) }
      expect(found).toEqual({ name, found: [], beside: 0 })
      expect(await figure(page, "Visitors").textContent()).toBe("7")
      expect(await page.locator(".top-bar").count()).toBe(name === "board" ? 1 : 0)
      // Nothing empty stands above an embedded page.
      const first = page.locator(name === "embedded" && width < 768 ? ".range-tools.narrow-only" : ".tile").first()
      if (name !== "board" && width < 768) expect((await first.boundingBox())!.y).toBeLessThanOrEqual(24)
      expect(await page.locator("html").getAttribute("data-theme")).toBe(theme)
    }
    expect(await page.locator(".tile").count()).toBe(1)
    expect({ faults: stranger.faults, refusals: stranger.refusals }).toEqual({ faults: [], refusals: [] })
  },
  60_000,
)

test.skipIf(noBrowser)(
  "viewers filter by a row of a list and change the period, and the URL keeps the embedded form",
  async () => {
    await using stranger = await stand.look()
    const { page } = stranger
    await stranger.open(`${await share({})}?embed=1`)
    await page.getByRole("link", { name: "/pricing" }).click()
    await settled(page)
    expect(await figure(page, "Visitors").textContent()).toBe("3")
    expect(new URL(page.url()).searchParams.get("embed")).toBe("1")
    await page.getByRole("button", { name: /^Period/ }).click()
    await page.getByRole("menuitemradio", { name: "Yesterday" }).click()
    await settled(page)
    expect(await figure(page, "Visitors").textContent()).toBe("0")
    expect(new URL(page.url()).searchParams.get("embed")).toBe("1")
    expect({ faults: stranger.faults, refusals: stranger.refusals }).toEqual({ faults: [], refusals: [] })
  },
  60_000,
)

test.skipIf(noBrowser)(
  "a share with fixed period and filters offers neither, and ignores them in the URL",
  async () => {
    const locked = [{ dimension: "page", values: ["/pricing"] }]
    await using stranger = await stand.look()
    const { page } = stranger
    await stranger.open(`${await share({ allow_range: false, allow_filters: false, locked_filters: locked })}?period=yesterday&f=page:is:/`)
    expect(await figure(page, "Visitors").textContent()).toBe("3")
    expect(await page.locator(".fixed-range").textContent()).toContain("Filtered")
    expect(await page.getByRole("button", { name: /^(Period|Filter)/ }).count()).toBe(0)
    expect(await page.getByRole("link", { name: "/pricing" }).count()).toBe(0)
    expect({ faults: stranger.faults, refusals: stranger.refusals }).toEqual({ faults: [], refusals: [] })
  },
  60_000,
)

test.skipIf(noBrowser)(
  "unknown shares, widgets and pages below a share look the same",
  async () => {
    const path = await share({})
    await using stranger = await stand.look()
    for (const address of ["/share/d/no-such-share-at-all-00", `${path}/widgets/999999`]) {
      await stranger.open(address)
      expect(await stranger.page.locator("main").textContent()).toContain("This shared view doesn't exist or was removed.")
    }
  },
  60_000,
)
