import { expect, setDefaultTimeout, test } from "bun:test"

import { nameServer } from "../../services/oidc/name-server.ts"
import { noBrowser } from "../browser.ts"
import { type DashboardStand, openDashboard, shown } from "../report/dashboard-stand.ts"
import { openAs } from "./site-stand.ts"

setDefaultTimeout(40_000)

/** Creates another organization with a later site that lists the host of site 1. */
async function addRival({ instance }: DashboardStand): Promise<void> {
  const { organizations, sites } = instance.app.instance
  const { id } = await organizations.create({ name: "Mill" })
  await sites.create(id, { name: "Rival", hosts: ["shop.example"] })
}

test.skipIf(noBrowser)("shows a disputed host in the site's settings, where a DNS record proves its ownership", async () => {
  const records: Record<string, string[][]> = {}
  using names = await nameServer(records)
  await using stand = await openDashboard({ nameServers: [names.address] })
  await using looking = await openAs(stand, "/sites/1/settings")
  const { page } = looking
  await page.getByRole("heading", { name: "Tracking ID and snippet" }).waitFor()
  expect(await page.getByRole("heading", { name: "Disputed hosts" }).count()).toBe(0)

  await addRival(stand)
  await page.reload()
  const section = page.getByRole("region", { name: "Disputed hosts" })
  await section.getByRole("heading", { name: "shop.example No owner" }).waitFor()
  await section.getByRole("button", { name: "Verify shop.example" }).click()
  const record = section.getByText(/^footfall-verify=[0-9a-f]{40}$/)
  await record.waitFor()
  await section.getByRole("button", { name: "Check record" }).click()
  await shown(page, "The TXT record was not found in the DNS of this domain")
  records["shop.example"] = [[(await record.textContent())!]]
  await section.getByRole("button", { name: "Check record" }).click()
  await section.getByRole("heading", { name: "shop.example Yours" }).waitFor()
  await section.getByText("Your organization verified this host with a DNS record.").waitFor()

  await section.getByRole("button", { name: "Delete verification" }).click()
  await page.getByRole("dialog").getByRole("button", { name: "Delete verification" }).click()
  await section.getByRole("heading", { name: "shop.example No owner" }).waitFor()
})

test.skipIf(noBrowser)("an instance administrator assigns a disputed host and restores the automatic rule", async () => {
  await using stand = await openDashboard()
  await using looking = await openAs(stand, "/admin/host-disputes")
  const { page } = looking
  await shown(page, "No host is claimed by more than one organization.")
  await addRival(stand)
  await page.reload()
  const row = page.getByRole("row", { name: /shop\.example/ })
  await row.getByText("No owner").waitFor()
  await row.getByRole("button", { name: "Choose owner of shop.example" }).click()
  const dialog = page.getByRole("dialog", { name: "Owner of shop.example" })
  expect(await dialog.getByLabel("Owner").locator("option").allTextContents()).toEqual([
    "Automatic (proof or first listing)",
    "Shop",
    "Mill",
  ])
  await dialog.getByLabel("Owner").selectOption("Mill")
  await dialog.getByRole("button", { name: "Save owner" }).click()
  await row.getByText("decided by an admin").waitFor()

  await row.getByRole("button", { name: "Choose owner of shop.example" }).click()
  await dialog.getByLabel("Owner").selectOption("Automatic (proof or first listing)")
  await dialog.getByRole("button", { name: "Save owner" }).click()
  await row.getByText("No owner").waitFor()
})
