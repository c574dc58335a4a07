import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test"
import type { Browser } from "playwright-core"
import { noBrowser, openBrowser } from "./browser.ts"
import { fillSite } from "./dashboard-data.ts"
import { type DashboardStand, openDashboard } from "./dashboard-stand.ts"
import { ask, openAs, shown } from "./site-stand.ts"

setDefaultTimeout(40_000)
let browser: Browser
beforeAll(async () => {
  if (!noBrowser) browser = await openBrowser()
}, 30_000)
afterAll(async () => {
  await browser?.close()
})

/** Runs the jobs to their end; time goes on until segments that were replaced may go. */
async function finish({ instance: { clock, app } }: DashboardStand): Promise<void> {
  const going = setInterval(() => clock.advance(5_000), 20)
  await app.instance.jobs.drain()
  clearInterval(going)
}

test.skipIf(noBrowser)("settings are saved by section, asked for when one leaves, and never over somebody else's change", async () => {
  await using stand = await openDashboard(browser)
  await using looking = await openAs(stand, "/sites/1/settings")
  const { page } = looking
  const section = page.getByRole("region", { name: "Name and hosts" })
  await section.getByLabel("Name", { exact: true }).fill("Corner shop")
  await section.getByRole("button", { name: "Save" }).click()
  await shown(page, "Name and hosts: saved")
  expect((await ask(page, "/api/private/sites/1")).body.name).toBe("Corner shop")

  await section.getByLabel("Name", { exact: true }).fill("Half typed")
  await page.getByRole("link", { name: "Tracking" }).click()
  await page.getByRole("heading", { name: "Leave without saving?" }).waitFor()
  await page.getByRole("button", { name: "Stay" }).click()
  expect(await section.getByLabel("Name", { exact: true }).inputValue()).toBe("Half typed")
  await page.getByRole("link", { name: "Tracking" }).click()
  await page.getByRole("button", { name: "Leave without saving" }).click()
  await page.waitForURL("**/settings/tracking")
  await page.goBack()
  await page.waitForURL("**/settings")
  expect(await section.getByLabel("Name", { exact: true }).inputValue()).toBe("Corner shop")

  // Another section that was saved meanwhile is no conflict; the same field is.
  await ask(page, "/api/private/sites/1/settings", "PATCH", { min_group: 7 })
  await section.getByLabel("Name", { exact: true }).fill("Mine")
  await section.getByRole("button", { name: "Save" }).click()
  await page.waitForFunction(() => fetch("/api/private/sites/1").then(async (answer) => (await answer.json()).name === "Mine"))
  await section.getByRole("button", { name: "Undo changes" }).waitFor({ state: "detached" })
  await ask(page, "/api/private/sites/1", "PATCH", { name: "Theirs" })
  await section.getByLabel("Name", { exact: true }).fill("Mine again")
  await section.getByRole("button", { name: "Save" }).click()
  const dialog = page.getByRole("dialog", { name: "Somebody else has changed this" })
  await dialog.waitFor()
  expect(await dialog.getByRole("row").last().textContent()).toBe("NameMine againTheirs")
  expect((await ask(page, "/api/private/sites/1")).body.name).toBe("Theirs")
  await dialog.getByRole("button", { name: "Keep theirs" }).click()
  await dialog.waitFor({ state: "detached" })
  expect(await section.getByLabel("Name", { exact: true }).inputValue()).toBe("Theirs")
  await ask(page, "/api/private/sites/1", "PATCH", { name: "Theirs once more" })
  await section.getByLabel("Name", { exact: true }).fill("Mine at last")
  await section.getByRole("button", { name: "Save" }).click()
  await dialog.getByRole("button", { name: "Save mine" }).click()
  await dialog.waitFor({ state: "detached" })
  expect((await ask(page, "/api/private/sites/1")).body).toMatchObject({ name: "Mine at last" })
  expect((await ask(page, "/api/private/sites/1/settings")).body.min_group).toBe(7)
})

test.skipIf(noBrowser)("shields are made, count what they stop, rest, and go with a way back", async () => {
  await using stand = await openDashboard(browser)
  await using looking = await openAs(stand, "/sites/1/settings/shields")
  const { page } = looking
  await page.getByRole("button", { name: "Add a shield" }).click()
  const dialog = page.getByRole("dialog")
  await dialog.getByLabel("Address or range").fill("nonsense")
  await dialog.getByRole("button", { name: "Add the shield" }).click()
  await dialog.locator(".field-error").waitFor()
  await dialog.getByLabel("Address or range").fill("203.0.113.0/24")
  await dialog.getByRole("button", { name: "Add the shield" }).click()
  await dialog.waitFor({ state: "detached" })
  await page.getByRole("button", { name: "Add a shield" }).click()
  await dialog.getByLabel("Kind").selectOption("rule")
  await dialog.getByLabel("Name").fill("Noise")
  await dialog.getByLabel("How").selectOption("starts_with")
  await dialog.getByLabel("Values").fill("/noise")
  await dialog.getByRole("button", { name: "Add the shield" }).click()
  await dialog.waitFor({ state: "detached" })

  const blocked = { address: "203.0.113.9" }
  for (let visit = 0; visit < 3; visit++) await stand.instance.collect({ n: "pageview", u: "https://shop.example/" }, blocked)
  await stand.instance.collect({ n: "pageview", u: "https://shop.example/noise/1" })
  await stand.instance.collect({ n: "pageview", u: "https://shop.example/" })
  await page.reload()
  const hits = async () =>
    Object.fromEntries(
      await page
        .getByRole("table", { name: "All shields" })
        .locator("tbody tr")
        .evaluateAll((rows) => rows.map((row) => [row.querySelector("th div")?.textContent, row.querySelectorAll("td")[1]?.textContent])),
    )
  await page.getByRole("table", { name: "All shields" }).waitFor()
  expect(await hits()).toEqual({ "203.0.113.0/24": "3", Noise: "1" })
  await shown(page, "Page starts with /noise")
  const drops = page.getByRole("table", { name: "Dropped events by reason and day" })
  await drops.waitFor()
  expect(await drops.locator("tbody tr").evaluateAll((rows) => rows.map((row) => row.querySelector("td")?.textContent))).toEqual(["3", "1"])
  expect(await page.getByRole("table", { name: "Dropped events, one by one" }).locator("tbody tr").count()).toBe(4)

  await page.getByRole("button", { name: "Disable Noise" }).click()
  await page.getByRole("button", { name: "Enable Noise" }).waitFor()
  await page.getByRole("button", { name: "Delete 203.0.113.0/24" }).click()
  await page.getByRole("button", { name: "Undo" }).click()
  await page.getByRole("button", { name: "Delete 203.0.113.0/24" }).waitFor()
  const { body } = await ask(page, "/api/private/sites/1/shields")
  expect(body.data.map(({ value, enabled }: { value: string; enabled: boolean }) => [value, enabled]).sort()).toEqual([
    ["203.0.113.0/24", true],
    ["Noise", false],
  ])
  // Changed elsewhere while it is open here: both versions, and mine on demand.
  await page.getByRole("button", { name: "Change Noise" }).click()
  const noise = body.data.find(({ value }: { value: string }) => value === "Noise").id
  await ask(page, `/api/private/sites/1/shields/${noise}`, "PATCH", { note: "Theirs" })
  await dialog.getByLabel("Note").fill("Mine")
  await dialog.getByRole("button", { name: "Save", exact: true }).click()
  const both = page.getByRole("dialog", { name: "Somebody else has changed this" })
  expect(await both.getByRole("row").last().textContent()).toBe("NoteMineTheirs")
  await both.getByRole("button", { name: "Save mine" }).click()
  await both.waitFor({ state: "detached" })
  await shown(page, "Mine")

  await page.getByRole("button", { name: "Exclude my address" }).click()
  await page.getByRole("button", { name: "Delete 127.0.0.1" }).waitFor()
})

test.skipIf(noBrowser)("a shorter retention says in numbers what it deletes, before it is saved", async () => {
  await using stand = await openDashboard(browser, { now: "2026-11-12T12:00:00Z" })
  await fillSite(stand.instance)
  await using looking = await openAs(stand, "/sites/1/settings/privacy")
  const { page } = looking
  await page.getByLabel("For a number of days").check()
  await page.getByLabel("Days", { exact: true }).fill("3")
  const { body } = await ask(page, "/api/private/sites/1/retention-preview?days=3")
  expect(body.events).toBeGreaterThan(0)
  await shown(page, new RegExp(`^Deletes ${body.events} events of ${body.visits} visits on`))
  await page.getByRole("button", { name: `Save and delete ${body.events} events` }).click()
  await shown(page, "How long events are kept: saved")
  expect((await ask(page, "/api/private/sites/1/settings")).body.retention_days).toBe(3)
  await page.getByLabel("For a week").check()
  await shown(page, /^What is recorded stays as it was counted/)
})

test.skipIf(noBrowser)("what is erased is counted first; a site goes by its host's name, and comes back", async () => {
  await using stand = await openDashboard(browser, { now: "2026-11-12T12:00:00Z" })
  await fillSite(stand.instance)
  await using looking = await openAs(stand, "/sites/1/settings/danger")
  const { page } = looking
  await page.getByRole("button", { name: "Add a condition" }).click()
  await page.getByLabel("What", { exact: true }).selectOption("country")
  await page.getByLabel("Values").fill("DE")
  await page.getByRole("button", { name: "Count what would go" }).click()
  const filters = [{ dimension: "country", operator: "is", values: ["DE"] }]
  const { body } = await ask(page, "/api/private/sites/1/erase/preview", "POST", { filters, period: "all" })
  await shown(page, new RegExp(`^${body.visits} visits with ${body.events} events`))
  const erase = page.getByRole("button", { name: `Erase ${body.events} events` })
  expect(await erase.isDisabled()).toBe(true)
  await page.getByLabel("Type erase to go on").fill("erase")
  await erase.click()
  await shown(page, /^(Waiting to begin|Under way)/)
  await finish(stand)
  await shown(page, "It is erased.")
  const after = await ask(page, "/api/private/sites/1/erase/preview", "POST", { filters, period: "all" })
  expect(after.body).toMatchObject({ visits: 0, events: 0 })

  await page.getByRole("button", { name: "Delete the site" }).click()
  const sure = page.getByRole("dialog").getByRole("button", { name: "Delete the site" })
  expect(await sure.isDisabled()).toBe(true)
  await page.getByLabel("Type shop.example to go on").fill("shop.example")
  await sure.click()
  await page.waitForURL("**/sites")
  await shown(page, "Shop is deleted")
  expect((await ask(page, "/api/private/sites/1")).status).toBe(404)
  await page.getByRole("button", { name: "Undo" }).click()
  await page.getByRole("link", { name: "Shop", exact: true }).waitFor()
})

test.skipIf(noBrowser)(
  "a member gets a role on the site and loses it, and a public site has a view that goes with the switch",
  async () => {
    await using stand = await openDashboard(browser)
    await using looking = await openAs(stand, "/sites/1/settings/access")
    const { page } = looking
    await shown(page, "Everybody in the organization is an owner or an admin, who reach every site.")
    await using guest = await stand.look({ cookie: await stand.signIn({ role: "guest" }) })
    await page.reload()
    await page.getByLabel("Role on this site").selectOption("editor")
    await page.getByRole("button", { name: "Give the role" }).click()
    await page.getByRole("cell", { name: "Editor" }).waitFor()
    await guest.page.goto(`${stand.origin}/sites`)
    await guest.page.getByRole("link", { name: "Shop", exact: true }).waitFor()
    expect(await guest.page.getByRole("link", { name: "Add a site" }).count()).toBe(0)
    // An editor reaches no settings but that of sharing, which editors have where the organization allows it.
    await guest.page.goto(`${stand.origin}/sites/1/settings/general`)
    await guest.page.getByRole("heading", { name: "This is not open to you" }).waitFor()
    await page.getByRole("button", { name: /^Take away the role of/ }).click()
    await page.getByRole("button", { name: "Take the role away", exact: true }).click()
    await shown(page, "Nobody has a role of their own on this site.")
    await guest.page.goto(`${stand.origin}/sites`)
    await shown(guest.page, "No site is open to you yet")

    await page.getByRole("link", { name: "Sharing" }).click()
    await page.getByLabel("Everybody may see this site").check()
    await page.getByRole("region", { name: "Public site" }).getByRole("button", { name: "Save" }).click()
    await shown(page, "made by the switch for a public site")
    const { body } = await ask(page, "/api/private/sites/1/shares")
    await guest.page.goto(`${stand.origin}/share/s/${body.data[0].slug}`)
    await guest.page.getByRole("heading", { name: body.data[0].name, exact: true }).waitFor()
    await page.getByLabel("Everybody may see this site").uncheck()
    await page.getByRole("region", { name: "Public site" }).getByRole("button", { name: "Save" }).click()
    await shown(page, "Nothing of this site is shared.")
    expect(looking.faults).toEqual([])
  },
)

test.skipIf(noBrowser)("the whole site is packed to take along, and reset by its name", async () => {
  await using stand = await openDashboard(browser, { now: "2026-11-12T12:00:00Z" })
  await fillSite(stand.instance)
  await using looking = await openAs(stand, "/sites/1/settings/danger")
  const { page } = looking
  await page.getByRole("button", { name: "Make the archive" }).click()
  await shown(page, /^(Waiting to begin|Under way)/)
  await finish(stand)
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Download the archive" }).click()])
  const bytes = await Bun.file(await file.path()).bytes()
  expect(new TextDecoder().decode(bytes.slice(0, 2))).toBe("PK")

  await page.getByRole("button", { name: "Reset all figures" }).click()
  await page.getByLabel("Type Shop to go on").fill("Shop")
  await page.getByRole("dialog").getByRole("button", { name: "Remove all events" }).click()
  await page.getByRole("dialog").waitFor({ state: "detached" })
  await finish(stand)
  await shown(page, "All figures are gone.")
  const { body } = await ask(page, "/api/private/sites/1/stats/summary?period=all")
  expect(body.metrics).toMatchObject({ visitors: 0, pageviews: 0 })
  expect(looking.faults).toEqual([])
})
