import { expect, setDefaultTimeout, test } from "bun:test"
import type { Page } from "playwright-core"
import { noBrowser, settled, shown, tabTo } from "#plugin/test/browser"
import { CHECK_TEXTS } from "../ui/system/health-texts.ts"
import { openConsole } from "./console-pages.ts"

setDefaultTimeout(60_000)

const figureOf = (page: Page, label: string) => page.locator(".figure", { hasText: label }).locator(".figure-value").first().textContent()

test.skipIf(noBrowser)("the overview shows the API's numbers", async () => {
  await using stand = await openConsole()
  const { instance } = stand
  for (const address of ["203.0.113.4", "203.0.113.5", "203.0.113.6"])
    await instance.collect({ site: instance.site.tracking_id, name: "pageview", url: "https://shop.example/a" }, { address })
  await instance.collect(
    { site: instance.site.tracking_id, name: "pageview", url: "https://shop.example/a" },
    { address: "203.0.113.7", headers: { "user-agent": "Googlebot/2.1 (+http://www.google.com/bot.html)" } },
  )
  const { totals } = await stand.ask<{ totals: { accepted: number; dropped: Record<string, number> } }>("ingestion")
  expect(totals).toMatchObject({ accepted: 3, dropped: { bot: 1 } })

  await using looked = await stand.look({ cookie: stand.cookie })
  await looked.open("/admin")
  const { page } = looked
  expect(await page.locator("figcaption").textContent()).toBe(" 3 accepted  1 rejected; at most 4 per minute")
  expect(await figureOf(page, "Rejected, last hour")).toBe("1")
  expect(await figureOf(page, "Failed jobs")).toBe("0")
  expect(await figureOf(page, "Last verified backup")).toBe("none")
  const { checks } = await stand.ask<{ checks: { detail: string; fix: string }[] }>("system/health")
  expect(await page.locator(".health-list > li").count()).toBe(checks.length)
  for (const { fix } of checks.filter((check) => check.fix !== ""))
    await shown(page, fix.replace("footfall backup create", `$& --data-dir ${stand.instance.dataDir}`))
  await page.getByRole("link", { name: "Ingestion", exact: true }).click()
  await settled(page)
  const rows = await page.getByRole("region", { name: "Events by result" }).getByRole("row").allTextContents()
  expect(rows).toEqual(["ResultEvents", "Accepted3", "Bots1", "Refused: storage full0", "Refused: queue full0"])
  expect(looked.faults).toEqual([])
})

test.skipIf(noBrowser)("a failing check explains what it means, what is safe and what the operator can do", async () => {
  await using stand = await openConsole()
  const { instance } = stand
  await instance.collect({ site: instance.site.tracking_id, name: "pageview", url: "https://shop.example/a" })
  instance.clock.advance(51 * 3_600_000)
  instance.app.instance.health.enter("clock_jump", "61 minutes back")
  const { checks } = await stand.ask<{ checks: { name: string; status: string }[] }>("system/health")
  expect(checks.filter(({ name }) => !(name in CHECK_TEXTS))).toEqual([])
  const wrong = checks.filter(({ status }) => status !== "ok").map(({ name }) => name)
  expect(wrong).toContain("ingest_lag")
  expect(wrong).toContain("clock_skew")

  await using looked = await stand.look({ cookie: await stand.signIn({ role: "owner", isInstanceAdmin: true }) })
  await looked.open("/admin")
  const { page } = looked
  const line = (title: string) => page.locator(".health-list > li", { has: page.getByText(title, { exact: true }) })
  const sealing = line("Sealing")
  expect(await sealing.textContent()).toMatch(
    /The oldest unsealed event arrived 2 days ago.*No data is lost and all figures are right.*restart Footfall/,
  )
  expect(await line("System clock").textContent()).toMatch(
    /The clock jumped 61 minutes back.*on the wrong day.*Synchronize the clock with NTP.*timedatectl/,
  )
  const odd = wrong.length
  await shown(page, `${odd} checks need attention, ${checks.length - odd} passed.`)
  // Passed checks are summed up in one line.
  expect(await line("Time zone data").locator(".remedy").count()).toBe(0)
  await sealing.getByRole("link", { name: "Open the log" }).click()
  await page.waitForURL("**/admin/logs")
  expect(looked.faults).toEqual([])
})

test.skipIf(noBrowser)("creates, disables and enables a user by keyboard", async () => {
  await using stand = await openConsole()
  await using looked = await stand.look({ cookie: stand.cookie })
  await looked.open("/admin/users")
  const { page } = looked
  const { keyboard } = page
  await tabTo(page, "New user")
  await keyboard.press("Enter")
  await page.getByRole("dialog").waitFor()
  await keyboard.type("nils@example.com")
  await tabTo(page, "Name")
  await keyboard.type("Nils")
  await tabTo(page, "Organization")
  // A letter selects one of the available items.
  await page.getByRole("dialog").locator("option", { hasText: "Shop" }).waitFor({ state: "attached" })
  await keyboard.type("Shop")
  await tabTo(page, "Role in the organization")
  await keyboard.type("Editor")
  await tabTo(page, "Create user")
  await keyboard.press("Enter")
  // Without a mail server, the link is shown once.
  await page.getByLabel("Link").waitFor()
  expect(await page.getByLabel("Link").inputValue()).toMatch(/\/reset\/\S{20,}$/)
  await tabTo(page, "Done")
  await keyboard.press("Enter")
  await page.getByRole("heading", { name: "Nils", level: 1 }).waitFor()

  const nils = async () => (await stand.ask<{ data: { email: string; status: string; organizations: object[] }[] }>("users?q=nils")).data[0]
  expect(await nils()).toMatchObject({ email: "nils@example.com", status: "active", organizations: [{ name: "Shop", role: "editor" }] })
  await tabTo(page, "Disable")
  await keyboard.press("Enter")
  await shown(page, "Disable nils@example.com")
  await tabTo(page, "Disable user")
  await keyboard.press("Enter")
  await page.getByRole("button", { name: "Enable" }).waitFor()
  expect((await nils())?.status).toBe("disabled")
  await tabTo(page, "Enable")
  await keyboard.press("Enter")
  await page.getByRole("button", { name: "Disable" }).waitFor()
  expect((await nils())?.status).toBe("active")
  expect(looked.faults).toEqual([])
})

test.skipIf(noBrowser)("creates and verifies a backup on the page", async () => {
  await using stand = await openConsole()
  await using looked = await stand.look({ cookie: stand.cookie })
  await looked.open("/admin/backups")
  const { page } = looked
  await shown(page, "No backups yet.")
  await page.getByRole("button", { name: "Create backup" }).click()
  await page.getByLabel("Label (optional)").fill("Before the move")
  await page.getByRole("dialog").getByRole("button", { name: "Create backup" }).click()
  await shown(page, "Queued")
  await stand.instance.runJobs()
  await shown(page, "Before the move")
  await shown(page, "verified")
  const { data } = await stand.ask<{ data: { id: string; label: string; state: string }[] }>("backups")
  expect(data).toMatchObject([{ label: "Before the move", state: "verified" }])

  await page.getByRole("button", { name: `Verify ${data[0]!.id}` }).click()
  await page.getByRole("link", { name: "core.verify-backup" }).waitFor()
  await stand.instance.runJobs()
  await page.getByRole("status").getByText("Done").waitFor()
  await page.getByRole("button", { name: `More actions for ${data[0]!.id}` }).click()
  await page.getByRole("menuitem", { name: "Restore" }).click()
  await shown(page, `footfall backup restore ${data[0]!.id} --data-dir ${stand.instance.dataDir}`)
  expect(await page.getByRole("button", { name: "Restore and restart" }).isDisabled()).toBe(true)
  await page.getByLabel(`Type ${data[0]!.id} to confirm`).fill(data[0]!.id)
  expect(await page.getByRole("button", { name: "Restore and restart" }).isDisabled()).toBe(false)
  expect(looked.faults).toEqual([])
})

test.skipIf(noBrowser)("changes a setting and audits each field", async () => {
  await using stand = await openConsole({ settings: { session_absolute_days: "20" } })
  await using looked = await stand.look({ cookie: stand.cookie })
  await looked.open("/admin/settings/security")
  const { page } = looked
  // A setting that is set elsewhere names its source and has no control.
  await shown(page, "FOOTFALL_SESSION_ABSOLUTE_DAYS")
  expect(await page.getByLabel("Session absolute days").count()).toBe(0)
  await page.getByLabel("Session idle days").fill("5")
  await page.getByRole("link", { name: "Audit" }).click()
  await shown(page, "Leave without saving?")
  await page.getByRole("button", { name: "Stay" }).click()
  await page.getByRole("button", { name: "Save changes" }).click()
  await shown(page, "Source: changed here.")
  const { data } = await stand.ask<{ data: { key: string; value: unknown; source: string }[] }>("settings")
  expect(data.find(({ key }) => key === "session_idle_days")).toMatchObject({ value: 5, source: "db" })

  await page.getByRole("button", { name: "Session idle days: reset to default" }).waitFor()

  await page.getByRole("link", { name: "Audit" }).click()
  await page.getByLabel("Action (links.* for a whole area)").fill("admin.setting.*")
  await page.waitForURL("**/admin/audit?action=admin.setting.*")
  await page.getByRole("button", { name: "1 field" }).click()
  const change = page.getByRole("dialog").getByRole("region", { name: "Changes" }).getByRole("row")
  await change.nth(1).waitFor()
  expect(await change.nth(1).getByRole("cell").allTextContents()).toEqual(["7", "5"])
  await page.keyboard.press("Escape")
  await page.getByRole("button", { name: "Verify log" }).click()
  await shown(page, /^Audit log verified: \d+ entries are unchanged$/)
  const file = page.waitForEvent("download")
  await page.getByRole("link", { name: "CSV" }).click()
  const text = await Bun.file(await (await file).path()).text()
  expect(text.split("\r\n")[0]).toStartWith("id,at,actor_kind,")
  expect(text).toContain('"admin.setting.update"')

  await looked.open("/admin/settings/security")
  await page.getByRole("button", { name: "Session idle days: reset to default" }).click()
  await page.getByRole("button", { name: "Save changes" }).click()
  await page.getByText("Settings saved", { exact: true }).waitFor()
  const after = await stand.ask<{ data: { key: string; value: unknown; source: string }[] }>("settings")
  expect(after.data.find(({ key }) => key === "session_idle_days")).toMatchObject({ value: 7, source: "default" })
  expect(looked.faults).toEqual([])
})

test.skipIf(noBrowser)("shows maintenance on every page to users who can end it", async () => {
  await using stand = await openConsole()
  await using looked = await stand.look({ cookie: stand.cookie })
  await looked.open("/admin/maintenance")
  const { page } = looked
  await page.getByLabel("Message to users").fill("Back at noon")
  await page.getByRole("button", { name: "Start maintenance" }).click()
  await page.locator(".state-bar").getByText("Back at noon").waitFor()
  await looked.open("/sites")
  await page.locator(".state-bar").getByText("Maintenance is on").waitFor()
  await page.getByRole("link", { name: "Turn off maintenance" }).click()
  await page.getByRole("button", { name: "End maintenance" }).click()
  await page.locator(".state-bar").waitFor({ state: "detached" })
  expect(looked.faults).toEqual([])
})

test.skipIf(noBrowser)("the console is available only to instance administrators and while it is enabled", async () => {
  await using stand = await openConsole()
  const owner = await stand.signIn({ role: "owner" })
  await using other = await stand.look({ cookie: owner })
  await other.open("/admin/users")
  await shown(other.page, "You don't have access to this page")
  await shown(other.page, /An instance admin can grant it/)
  await other.page.getByRole("button", { name: /account of/i }).click()
  expect(await other.page.getByRole("menuitem", { name: "Admin console" }).count()).toBe(0)
  expect(other.refusals).toEqual([])

  await using chief = await stand.look({ cookie: stand.cookie })
  await chief.open("/sites")
  await chief.page.getByRole("button", { name: /account of/i }).click()
  await chief.page.getByRole("menuitem", { name: "Admin console" }).click()
  await chief.page.getByRole("heading", { name: "Overview", level: 1 }).waitFor()
  await chief.open("/admin/nothing-of-this-name")
  expect(chief.refusals.at(-1)).toBe("404 /admin/nothing-of-this-name")

  await stand.instance.app.instance.plugins.turn("admin", false, null)
  await chief.page.goto(`${stand.origin}/admin/users`)
  expect(chief.refusals.at(-1)).toBe("404 /admin/users")
  await chief.open("/sites")
  await chief.page.getByRole("button", { name: /account of/i }).click()
  expect(await chief.page.getByRole("menuitem", { name: "Admin console" }).count()).toBe(0)
})
