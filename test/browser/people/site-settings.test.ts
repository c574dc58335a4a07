import { expect, setDefaultTimeout, test } from "bun:test"

import { noBrowser } from "../browser.ts"
import { fillSite } from "../report/dashboard-data.ts"
import { type DashboardStand, openDashboard, shown } from "../report/dashboard-stand.ts"
import { ask, openAs } from "./site-stand.ts"

setDefaultTimeout(40_000)

/** Runs all jobs and advances the clock until replaced segments may be deleted. */
async function finish({ instance: { clock, app } }: DashboardStand): Promise<void> {
  const going = setInterval(() => clock.advance(5_000), 20)
  await app.instance.jobs.drain()
  clearInterval(going)
}

test.skipIf(noBrowser)("saves settings by section, warns about unsaved changes and never overwrites another user's change", async () => {
  await using stand = await openDashboard()
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

  // A change to another section is not a conflict, but one to the same field is.
  await ask(page, "/api/private/sites/1/settings", "PATCH", { min_group: 7 })
  await section.getByLabel("Name", { exact: true }).fill("Mine")
  await section.getByRole("button", { name: "Save" }).click()
  await page.waitForFunction(() => fetch("/api/private/sites/1").then(async (answer) => (await answer.json()).name === "Mine"))
  await section.getByRole("button", { name: "Discard changes" }).waitFor({ state: "detached" })
  await ask(page, "/api/private/sites/1", "PATCH", { name: "Theirs" })
  await section.getByLabel("Name", { exact: true }).fill("Mine again")
  await section.getByRole("button", { name: "Save" }).click()
  const dialog = page.getByRole("dialog", { name: "Someone else changed this while you were editing" })
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

test.skipIf(noBrowser)("creates shields that count what they block, disables them and deletes them with undo", async () => {
  await using stand = await openDashboard()
  await using looking = await openAs(stand, "/sites/1/settings/shields")
  const { page } = looking
  await page.getByRole("button", { name: "Add shield" }).click()
  const dialog = page.getByRole("dialog")
  await dialog.getByLabel("IP address or range").fill("nonsense")
  await dialog.getByRole("button", { name: "Add shield" }).click()
  await dialog.locator(".field-error").waitFor()
  await dialog.getByLabel("IP address or range").fill("203.0.113.0/24")
  await dialog.getByRole("button", { name: "Add shield" }).click()
  await dialog.waitFor({ state: "detached" })
  await page.getByRole("button", { name: "Add shield" }).click()
  await dialog.getByLabel("Type", { exact: true }).selectOption("rule")
  await dialog.getByLabel("Name").fill("Noise")
  await dialog.getByLabel("Condition", { exact: true }).selectOption("starts_with")
  await dialog.getByLabel("Value").fill("/noise")
  await dialog.getByRole("button", { name: "Add shield" }).click()
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
  await page.getByRole("table", { name: "Dropped events, newest first" }).waitFor()
  expect(await page.getByRole("table", { name: "Dropped events, newest first" }).locator("tbody tr").count()).toBe(4)

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
  // Changed elsewhere while it is open here: shows both versions and saves mine on request.
  await page.getByRole("button", { name: "Edit Noise" }).click()
  const noise = body.data.find(({ value }: { value: string }) => value === "Noise").id
  await ask(page, `/api/private/sites/1/shields/${noise}`, "PATCH", { note: "Theirs" })
  await dialog.getByLabel("Note").fill("Mine")
  await dialog.getByRole("button", { name: "Save changes" }).click()
  const both = page.getByRole("dialog", { name: "Someone else changed this while you were editing" })
  expect(await both.getByRole("row").last().textContent()).toBe("NoteMineTheirs")
  await both.getByRole("button", { name: "Save mine" }).click()
  await both.waitFor({ state: "detached" })
  await shown(page, "Mine")

  await page.getByRole("button", { name: "Exclude my IP address" }).click()
  await page.getByRole("button", { name: "Delete 127.0.0.1" }).waitFor()
})

test.skipIf(noBrowser)("a shorter retention shows what it deletes before it is saved", async () => {
  await using stand = await openDashboard({ now: "2026-11-12T12:00:00Z" })
  await fillSite(stand.instance)
  await using looking = await openAs(stand, "/sites/1/settings/privacy")
  const { page } = looking
  await page.getByLabel("Delete events after a number of days").check()
  await page.getByLabel("Days", { exact: true }).fill("3")
  const { body } = await ask(page, "/api/private/sites/1/retention-preview?days=3")
  expect(body.events).toBeGreaterThan(0)
  await shown(page, new RegExp(`^${body.events} events from ${body.visits} visits before`))
  await page.getByRole("button", { name: `Save and delete ${body.events} events` }).click()
  await shown(page, "Data retention: saved")
  expect((await ask(page, "/api/private/sites/1/settings")).body.retention_days).toBe(3)
  await page.getByLabel("For one week").check()
  await shown(page, /^Recorded data isn't recounted/)
})

test.skipIf(noBrowser)(
  "counts data before erasing it, and deletes a site after its host is entered, with a way to restore it",
  async () => {
    await using stand = await openDashboard({ now: "2026-11-12T12:00:00Z" })
    await fillSite(stand.instance)
    await using looking = await openAs(stand, "/sites/1/settings/danger")
    const { page } = looking
    await page.getByRole("button", { name: "Add condition" }).click()
    await page.getByLabel("Filter by", { exact: true }).selectOption("country")
    await page.getByLabel("Value").fill("DE")
    await page.getByRole("button", { name: "Preview deletion" }).click()
    const filters = [{ dimension: "country", operator: "is", values: ["DE"] }]
    const { body } = await ask(page, "/api/private/sites/1/erase/preview", "POST", { filters, period: "all" })
    await shown(page, new RegExp(`^${body.visits} visits with ${body.events} events`))
    const erase = page.getByRole("button", { name: `Delete ${body.events} events` })
    expect(await erase.isDisabled()).toBe(true)
    await page.getByLabel("Type delete to confirm").fill("delete")
    await erase.click()
    await shown(page, /^(Waiting to start|In progress)/)
    await finish(stand)
    await shown(page, "The data was deleted.")
    const after = await ask(page, "/api/private/sites/1/erase/preview", "POST", { filters, period: "all" })
    expect(after.body).toMatchObject({ visits: 0, events: 0 })

    await page.getByRole("button", { name: "Delete site" }).click()
    const sure = page.getByRole("dialog").getByRole("button", { name: "Delete site" })
    expect(await sure.isDisabled()).toBe(true)
    await page.getByLabel("Type shop.example to confirm").fill("shop.example")
    await sure.click()
    await page.waitForURL("**/sites")
    await shown(page, "Shop deleted")
    expect((await ask(page, "/api/private/sites/1")).status).toBe(404)
    await page.getByRole("button", { name: "Undo" }).click()
    await page.getByRole("link", { name: "Shop", exact: true }).waitFor()
  },
)

test.skipIf(noBrowser)("grants and removes a site-specific role, and a public site has a view as long as the switch is on", async () => {
  await using stand = await openDashboard()
  await using looking = await openAs(stand, "/sites/1/settings/access")
  const { page } = looking
  await shown(page, "All members are owners or admins, who already have access to every site.")
  await using guest = await stand.look({ cookie: await stand.signIn({ role: "guest" }) })
  await page.reload()
  await page.getByLabel("Role on this site").selectOption("editor")
  await page.getByRole("button", { name: "Assign role" }).click()
  await page.getByRole("cell", { name: "Editor" }).waitFor()
  await guest.page.goto(`${stand.origin}/sites`)
  await guest.page.getByRole("link", { name: "Shop", exact: true }).waitFor()
  expect(await guest.page.getByRole("link", { name: "Add site" }).count()).toBe(0)
  // An editor can open only the sharing settings, if the organization allows it.
  await guest.page.goto(`${stand.origin}/sites/1/settings/general`)
  await guest.page.getByRole("heading", { name: "You don't have access to this page" }).waitFor()
  await page.getByRole("button", { name: /^Remove the role of/ }).click()
  await page.getByRole("button", { name: "Remove role", exact: true }).click()
  await shown(page, "No one has a site-specific role.")
  await guest.page.goto(`${stand.origin}/sites`)
  await shown(guest.page, "No sites yet")

  await page.getByRole("link", { name: "Sharing" }).click()
  await page.getByLabel("Make this site public").check()
  await page.getByRole("region", { name: "Public site" }).getByRole("button", { name: "Save" }).click()
  await shown(page, "created by Public site")
  const { body } = await ask(page, "/api/private/sites/1/shares")
  await guest.page.goto(`${stand.origin}/share/s/${body.data[0].slug}`)
  await guest.page.getByRole("heading", { name: body.data[0].name, exact: true }).waitFor()
  await page.getByLabel("Make this site public").uncheck()
  await page.getByRole("region", { name: "Public site" }).getByRole("button", { name: "Save" }).click()
  await shown(page, "No shared views yet.")
  expect(looking.faults).toEqual([])
})

test.skipIf(noBrowser)("exports the whole site, and resets it after its name is entered", async () => {
  await using stand = await openDashboard({ now: "2026-11-12T12:00:00Z" })
  await fillSite(stand.instance)
  await using looking = await openAs(stand, "/sites/1/settings/danger")
  const { page } = looking
  await page.getByRole("button", { name: "Create export" }).click()
  await shown(page, /^(Waiting to start|In progress)/)
  await finish(stand)
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Download export" }).click()])
  const bytes = await Bun.file(await file.path()).bytes()
  expect(new TextDecoder().decode(bytes.slice(0, 2))).toBe("PK")

  await page.getByRole("button", { name: "Reset statistics" }).click()
  await page.getByLabel("Type Shop to confirm").fill("Shop")
  await page.getByRole("dialog").getByRole("button", { name: "Delete all events" }).click()
  await page.getByRole("dialog").waitFor({ state: "detached" })
  await finish(stand)
  await shown(page, "All events and imports were deleted.")
  const { body } = await ask(page, "/api/private/sites/1/stats/summary?period=all")
  expect(body.metrics).toMatchObject({ visitors: 0, pageviews: 0 })
  expect(looking.faults).toEqual([])
})
