import { expect, setDefaultTimeout, test } from "bun:test"
import type { Page } from "playwright-core"
import { google, type SearchConsole, searchConsole } from "#plugin/test"
import { dialogClosed, noBrowser, openDashboard, overflow, settled, shown, tabTo, violations } from "#plugin/test/browser"
import integrations from "../../integrations.ts"
import type { SearchReport } from "../../search/responses.ts"

setDefaultTimeout(60_000)

const SITE = "/api/private/sites/1"

interface Looking {
  width?: number
  theme?: "light" | "dark"
  role?: "owner" | "editor" | "viewer"
  hasClient?: boolean
}

/** Opens a browser on an instance that uses the fakes. */
async function openDesk({ role = "owner", hasClient = true, ...looking }: Looking = {}) {
  const clock = { now: () => Date.parse("2026-11-21T12:00:00Z") }
  const fake = await google({ now: () => clock.now() })
  const console_ = searchConsole(fake)
  const { google_client_id, google_client_secret, ...urls } = fake.settings
  const client = hasClient ? { google_client_id: google_client_id!, google_client_secret: google_client_secret! } : {}
  const stand = await openDashboard({ plugins: [integrations], settings: { ...urls, ...client } })
  const { instance, origin } = stand
  clock.now = instance.clock.now
  const owner = await stand.signIn({ role: "owner" })
  const looked = await stand.look({ cookie: role === "owner" ? owner : await stand.signIn({ role }), ...looking })
  // The test visits Google's page itself, because Google sends browsers back to the base URL, at which nothing listens here.
  await looked.context.route(`${fake.origin}/**`, (route) => route.fulfill({ body: "Google's page" }))
  await instance.runJobs()
  const ask = (method: string, path: string, body?: unknown) => instance.api.send(method, SITE + path, body, undefined, { cookie: owner })
  return {
    ...{ ...looked, instance, origin },
    console: console_,
    google: fake,
    ask,
    /** Connects a service account and maps the property without the browser. */
    async map() {
      await ask("POST", "/integrations/search-console/connect", { service_account: fake.serviceAccount() })
      const { data } = (await ask("GET", "/integrations/search-console/properties")).body as { data: { integration_id: number }[] }
      const [{ integration_id }] = data as [{ integration_id: number }]
      await ask("PUT", "/integrations/search-console/mapping", { integration_id, property: "sc-domain:shop.example" })
    },
    async sync() {
      await instance.runJobs()
      await instance.runJobs()
    },
    report: async (query: string) => (await ask("GET", `/search-console/report?period=28d${query}`)).body as SearchReport,
    async [Symbol.asyncDispose]() {
      await looked[Symbol.asyncDispose]()
      await stand[Symbol.asyncDispose]()
      await fake[Symbol.asyncDispose]()
    },
  }
}

/** Searches of four days, one of which is too rare to be named, and two of which may still change. */
function fill(of: SearchConsole): void {
  of.firstIncomplete = "2026-11-19"
  of.records = ["2026-11-16", "2026-11-17", "2026-11-19", "2026-11-20"].flatMap((day, index) => [
    { day, query: "buy shoes", page: "https://shop.example/pricing", clicks: 10 + index, impressions: 100, position: 2 },
    {
      day,
      query: "shoes, red: 50% ~off",
      page: "https://shop.example/",
      country: "fra",
      device: "MOBILE",
      clicks: 0,
      impressions: 40,
      position: 8,
    },
    { day, clicks: 1, impressions: 10, position: 30, isWithheld: true },
  ])
}

const figureOf = (page: Page, label: string) =>
  page.locator(".strip .figure", { has: page.getByText(label, { exact: true }) }).locator(".figure-value")

test.skipIf(noBrowser)("connects an account on Google's page, maps the suggested property and reports its searches", async () => {
  await using desk = await openDesk()
  const { page, open } = desk
  fill(desk.console)
  desk.console.properties = [
    { siteUrl: "https://other.example/", permissionLevel: "siteOwner" },
    { siteUrl: "https://shop.example/", permissionLevel: "siteUnverifiedUser" },
    { siteUrl: "sc-domain:shop.example", permissionLevel: "siteOwner" },
  ]
  await open("/sites/1/search-queries?period=28d")
  await shown(page, "No search engine is connected.")
  await page.getByRole("link", { name: "Connect a search engine" }).click()
  await tabTo(page, "Connect Google Search Console")
  await page.keyboard.press("Enter")
  const asked = page.waitForRequest((request) => request.url().startsWith(desk.google.origin))
  await page.getByRole("button", { name: "Continue with Google" }).click()
  await shown(page, "Google's page")
  const back = await desk.google.consent((await asked).url())
  await page.goto(desk.origin + back.pathname + back.search)
  await shown(page, "The account is connected.")
  expect(new URL(page.url()).pathname).toBe("/sites/1/integrations")
  await page.getByRole("button", { name: "Map property" }).click()
  expect(await page.getByLabel("https://shop.example/").isDisabled()).toBe(true)
  expect(await page.getByLabel(/sc-domain:shop.example/).isChecked()).toBe(true)
  await page.getByRole("dialog").getByRole("button", { name: "Map property" }).click()
  await dialogClosed(page)
  await desk.sync()

  await open("/sites/1/search-queries?period=28d")
  const report = await desk.report("")
  expect(report.totals).toMatchObject({ clicks: 50, impressions: 600 })
  expect(await figureOf(page, "Clicks").textContent()).toBe("50")
  expect(await figureOf(page, "Impressions").textContent()).toBe("600")
  expect(await figureOf(page, "Position").textContent()).toBe(report.totals.position!.toFixed(1))
  expect(report.withheld).toEqual({ clicks: 4, impressions: 40 })
  expect(await page.getByRole("row", { name: /Withheld/ }).textContent()).toContain("440")
  await shown(page, /Pacific Time \(America\/Los_Angeles\)/)
  const bars = page.locator(".search-bars span")
  const { range, data_until } = report
  const days = (Date.parse(data_until!) - Date.parse(range.from)) / 86_400_000 + 1
  expect(await bars.count()).toBe(days)
  expect(await page.locator(".search-bars [data-fresh]").count()).toBe(
    (Date.parse(data_until!) - Date.parse("2026-11-19")) / 86_400_000 + 1,
  )
  await page.getByRole("img", { name: /Clicks by day/ }).focus()
  await page.keyboard.press("End")
  await page.keyboard.press("ArrowLeft")
  await shown(page, /14 clicks Fri,? 20 Nov 2026 \(may still change\)/)
  await page.getByRole("button", { name: "Show as table" }).click()
  expect(await page.getByRole("region", { name: "Searches over time, as a table" }).locator("tbody tr").count()).toBe(days)

  const csv = (await page.getByRole("link", { name: "CSV" }).getAttribute("href"))!
  const lines = (await (await page.context().request.get(desk.origin + csv)).text()).trim().split("\r\n")
  expect(lines).toHaveLength(1 + report.rows.length)
  expect(lines[1]).toContain("buy shoes")

  // A query with a comma stays one filter, and shows its pages.
  await page.getByRole("button", { name: "shoes, red: 50% ~off" }).click()
  await page.getByRole("tab", { name: "Pages", selected: true }).waitFor()
  await settled(page)
  await shown(page, "Query is shoes, red: 50% ~off")
  expect(await figureOf(page, "Impressions").textContent()).toBe("160")
  await page.reload()
  await settled(page)
  expect(await figureOf(page, "Impressions").textContent()).toBe("160")
  await page.getByRole("button", { name: "Remove the filter Query" }).click()
  await page.getByRole("tab", { name: "Countries" }).click()
  await page.getByRole("row", { name: /France/ }).waitFor()
  await page.getByRole("tab", { name: "Devices" }).click()
  await page.getByRole("row", { name: /Mobile/ }).waitFor()
  const outside = (fault: string) => /^outside: |409/.test(fault)
  expect(desk.faults.filter((fault) => !outside(fault))).toEqual([])
})

test.skipIf(noBrowser)("says why data is missing, and offers what repairs it", async () => {
  await using desk = await openDesk()
  const { page, open } = desk
  fill(desk.console)
  await desk.map()
  desk.console.scenario = "500"
  await desk.sync()
  await open("/sites/1/integrations")
  const mapping = page.getByRole("listitem").filter({ hasText: "sc-domain:shop.example" })
  expect(await mapping.textContent()).toContain("Retrying")
  desk.console.scenario = "ok"
  desk.instance.clock.advance(11 * 60_000)
  await mapping.getByRole("button", { name: "Try again" }).click()
  await shown(page, "Search data is being fetched")
  await desk.sync()
  await open("/sites/1/integrations")
  expect(await mapping.textContent()).toContain("Connected")

  await mapping.getByRole("link").click()
  await page.getByRole("button", { name: "Test connection" }).click()
  await shown(page, "The account has access to the property.")
  desk.console.properties = []
  await page.getByRole("button", { name: "Test connection" }).click()
  await shown(page, "The test failed")
  await page.getByRole("button", { name: "Delete" }).click()
  await page.getByLabel("Also delete the search data that was fetched").check()
  const name = (await page.getByRole("heading", { level: 1 }).textContent())!
  await page.getByLabel(`Type ${name} to confirm`).fill(name)
  await page.getByRole("button", { name: "Delete integration" }).click()
  await page.getByRole("button", { name: "Map property" }).waitFor()
  await desk.sync()
  await open("/sites/1/search-queries?period=28d")
  await shown(page, "No search engine is connected.")
})

test.skipIf(noBrowser)("without a client at Google, takes the key of a service account and names the settings", async () => {
  await using desk = await openDesk({ hasClient: false })
  const { page, open } = desk
  await open("/sites/1/integrations")
  await page.getByRole("button", { name: "Connect Google Search Console" }).click()
  await shown(page, /FOOTFALL_GOOGLE_CLIENT_ID/)
  expect(await page.getByRole("button", { name: "Continue with Google" }).count()).toBe(0)
  await page.getByLabel("JSON key").fill("not JSON")
  await page.getByRole("button", { name: "Connect service account" }).click()
  await shown(page, /is not JSON/i)
  await page.getByLabel("JSON key").fill(JSON.stringify(desk.google.serviceAccount("robot@project.example")))
  await page.getByRole("button", { name: "Connect service account" }).click()
  await dialogClosed(page)
  await page.getByRole("listitem").filter({ hasText: "robot@project.example" }).waitFor()
  expect(desk.faults).toEqual([])
})

test.skipIf(noBrowser).each([
  [1280, "light"],
  [375, "dark"],
] as const)("%i px, %s: searches and their dialogs have no accessibility violation and no overflow", async (width, theme) => {
  await using desk = await openDesk({ width, theme })
  const { page, open } = desk
  const check = async (what: string) => {
    const shot = process.env.SHOTS
    if (shot) await page.screenshot({ path: `${shot}/${what.replaceAll(/\W+/g, "-")}-${width}.png`, fullPage: !what.includes("dialog") })
    expect({ what, found: await violations(page), beside: await overflow(page) }).toEqual({ what, found: [], beside: 0 })
  }
  await open("/sites/1/search-queries?period=28d")
  await check("no searches")
  await open("/sites/1/integrations")
  await page.getByRole("button", { name: "Connect Google Search Console" }).click()
  await page.getByText("Service account", { exact: true }).click()
  await check("google dialog")
  await open("/sites/1/integrations")
  await page.getByRole("button", { name: "Connect Bing" }).click()
  await page.getByLabel("API key").waitFor()
  await check("bing dialog")
  fill(desk.console)
  await desk.map()
  await desk.sync()
  await open("/sites/1/integrations")
  await check("search cards")
  await open("/sites/1/integrations/connections/2")
  await check("mapping")
  await page.getByRole("button", { name: "Change property" }).click()
  await page.getByLabel(/sc-domain:shop.example/).waitFor()
  await check("map dialog")
  for (const group of ["query", "page", "date"]) {
    await open(`/sites/1/search-queries?period=28d&cards=group:${group}`)
    await check(`searches by ${group}`)
  }
})
