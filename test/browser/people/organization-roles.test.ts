import { expect, setDefaultTimeout, test } from "bun:test"

import type { SignInAs } from "../../kit.ts"
import { noBrowser } from "../browser.ts"
import { openDashboard } from "../report/dashboard-stand.ts"

setDefaultTimeout(60_000)

const SECTIONS = ["members", "invitations", "membership", "keys", "mcp", "usage", "settings", "providers", "domains", "audit", "danger"]
const TOPICS = ["begin", "events", "visitors", "filters", "keyboard", "exporting", "api", "mcp"]
const PATHS = [...SECTIONS.map((section) => `/org/1/${section}`), ...TOPICS.map((topic) => `/help/${topic}`)]

test.skipIf(noBrowser)("on phones every section fits and logs nothing", async () => {
  await using stand = await openDashboard()
  await using watched = await stand.look({ width: 375, cookie: await stand.signIn() })
  const { page } = watched
  const tooWide: string[] = []
  for (const path of PATHS) {
    await watched.open(path)
    expect(await page.locator("h1").count()).toBe(1)
    for (const width of [375, 320]) {
      await page.setViewportSize({ width, height: 812 })
      if ((await page.evaluate(() => document.documentElement.scrollWidth)) > width) tooWide.push(`${path} at ${width}`)
    }
  }
  expect({ tooWide, faults: watched.faults, refusals: watched.refusals }).toEqual({ tooWide: [], faults: [], refusals: [] })
})

test.skipIf(noBrowser)("shows each role only what it may see, and a deep link names the missing permission", async () => {
  await using stand = await openDashboard()
  await stand.signIn()
  const railOf = async (as: SignInAs, closed: readonly string[]) => {
    await using watched = await stand.look({ cookie: await stand.signIn(as) })
    const { page, open } = watched
    await open("/org")
    const rail = page.getByRole("navigation", { name: "Organization" }).first()
    const labels = await rail.getByRole("link").allTextContents()
    const first = new URL(page.url()).pathname
    for (const section of closed) {
      await open(`/org/1/${section}`)
      await page.getByRole("heading", { name: "You don't have access to this page" }).waitFor()
    }
    expect({ faults: watched.faults, refusals: watched.refusals }).toEqual({ faults: [], refusals: [] })
    return { first, labels }
  }
  const closed = ["members", "invitations", "keys", "settings", "providers", "domains", "audit", "danger"]
  expect(await railOf({ role: "viewer" }, closed)).toEqual({ first: "/org/1/membership", labels: ["Your role", "MCP", "Usage"] })
  expect(await railOf({ role: "guest", siteRole: "viewer" }, [...closed, "usage"])).toEqual({
    first: "/org/1/membership",
    labels: ["Your role", "MCP"],
  })
  expect((await railOf({ role: "admin" }, ["danger"])).labels).toEqual([
    "Members",
    "Invitations",
    "Your role",
    "API keys",
    "MCP",
    "Usage",
    "Settings",
    "Identity providers",
    "Email domains",
    "Audit log",
  ])
})

test.skipIf(noBrowser)("an admin can manage everyone except owners", async () => {
  await using stand = await openDashboard()
  await stand.signIn()
  await stand.signIn({ role: "viewer" })
  await using watched = await stand.look({ cookie: await stand.signIn({ role: "admin" }) })
  await watched.open("/org/1/members")
  const buttonsOf = async (role: string) =>
    watched.page
      .getByRole("row")
      .filter({ has: watched.page.getByText(role, { exact: true }) })
      .getByRole("button")
      .allTextContents()
  expect([await buttonsOf("Owner"), await buttonsOf("Viewer")]).toEqual([[], ["Edit", "Remove"]])
  expect(await watched.page.getByRole("button", { name: "Transfer ownership" }).count()).toBe(0)
  await watched.page.getByRole("button", { name: "Edit", exact: false }).first().click()
  const role = watched.page.getByRole("dialog").getByLabel("Role", { exact: true })
  await role.waitFor()
  const roles = await role.locator("option").allTextContents()
  expect(roles.map((text) => text.split(":")[0])).toEqual(["Admin", "Editor", "Viewer", "Guest"])
  expect({ faults: watched.faults, refusals: watched.refusals }).toEqual({ faults: [], refusals: [] })
})
