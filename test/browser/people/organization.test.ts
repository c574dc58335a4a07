import { expect, setDefaultTimeout, test } from "bun:test"
import type { Page } from "playwright-core"
import { noBrowser } from "../browser.ts"
import { type AccessStand, ADA, openAccess, tabTo } from "./access-stand.ts"

setDefaultTimeout(60_000)

const HOUR_MS = 3_600_000
/** Ada's organization. The first one belongs to the test instance. */
const ORG = "/org/2"

/** Opens Ada's organization, which has one site, and records all URLs that the browser requests. */
async function openAda(stand: AccessStand): Promise<{ page: Page; urls: string[] }> {
  await stand.setUp()
  const { page } = await stand.someone()
  const urls: string[] = []
  page.on("request", (request) => void urls.push(request.url()))
  await stand.signIn(page)
  await page.waitForURL("**/sites")
  const made = await page.evaluate(async () => {
    const body = JSON.stringify({ name: "Gazette", hosts: ["gazette.example"], timezone: "Europe/Lisbon" })
    return (await fetch("/api/private/organizations/2/sites", { method: "POST", headers: { "content-type": "application/json" }, body }))
      .status
  })
  expect(made).toBe(201)
  return { page, urls }
}

/** Lists the sites that a key can access. */
async function sitesBy(stand: AccessStand, key: string): Promise<{ status: number; names?: string[] }> {
  const { status, body } = await stand.instance.api.get("/api/public/v1/sites", key)
  return status === 200 ? { status, names: (body as { data: { name: string }[] }).data.map(({ name }) => name) } : { status }
}

const shownSecret = (page: Page, label: string): Promise<string> => page.getByLabel(label, { exact: true }).inputValue()

test.skipIf(noBrowser)(
  "creates an API key by keyboard that works immediately and appears in no URL; after a rotation the old secret works for a day",
  async () => {
    await using stand = await openAccess()
    const { page, urls } = await openAda(stand)
    const { keyboard } = page
    await page.goto(`${ORG}/keys`)
    await page.getByText("No API keys yet").waitFor()
    await tabTo(page, "Create API key")
    await keyboard.press("Enter")
    await tabTo(page, "Name")
    await keyboard.type("Assistant of Ada")
    await page.getByText("This key has no access to any site. Choose at least one site.").waitFor()
    await tabTo(page, "Gazette")
    await keyboard.press("Space")
    await page.getByText("1 of 1 selected.").waitFor()
    await tabTo(page, "Create API key")
    await keyboard.press("Enter")

    await page.getByRole("heading", { name: "API key Assistant of Ada" }).waitFor()
    const first = await shownSecret(page, "API key")
    expect(first).toMatch(/^ff_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}$/)
    // The secret is selected, so one more key press copies it.
    expect(await page.evaluate(() => getSelection()?.toString())).toBe(first)
    expect(await page.locator("pre").allInnerTexts()).toEqual([
      `curl -H "Authorization: Bearer ${first}" \\\n  "${stand.origin}/api/public/v1/sites/2/stats/summary?period=7d"`,
      expect.stringContaining(`claude mcp add --transport http footfall ${stand.origin}/api/public/v1/mcp`),
    ])
    expect(await sitesBy(stand, first)).toEqual({ status: 200, names: ["Gazette"] })
    await tabTo(page, "I've saved the key")
    await keyboard.press("Enter")
    const row = page.getByRole("row", { name: /Assistant of Ada/ })
    expect(await row.textContent()).toContain("Read all statistics, including through MCP")
    expect(await row.textContent()).toContain("Gazette")

    await tabTo(page, "Actions for Assistant of Ada")
    await keyboard.press("Enter")
    await page.getByRole("menuitem", { name: "Rotate" }).press("Enter")
    await page.getByLabel("Old secret").waitFor()
    await tabTo(page, "Rotate key")
    await keyboard.press("Enter")
    await page.getByRole("heading", { name: "API key Assistant of Ada" }).waitFor()
    const second = await shownSecret(page, "API key")
    expect(second).not.toBe(first)
    expect([(await sitesBy(stand, first)).status, (await sitesBy(stand, second)).status]).toEqual([200, 200])
    stand.instance.clock.advance(25 * HOUR_MS)
    expect([(await sitesBy(stand, first)).status, (await sitesBy(stand, second)).status]).toEqual([401, 200])

    for (const secret of [first, second].map((key) => key.slice(12)))
      expect([...urls, page.url()].filter((url) => url.includes(secret))).toEqual([])
  },
)

test.skipIf(noBrowser)("warns about a key with more permissions than its purpose needs, and rejects it after its revocation", async () => {
  await using stand = await openAccess()
  const { page } = await openAda(stand)
  await page.goto(`${ORG}/keys`)
  await page.getByRole("button", { name: "Create API key" }).click()
  await page.getByLabel("Server events").check()
  await page.getByLabel("Name").fill("Shop server")
  await page.getByLabel("All sites, including future ones").check()
  await page.getByText("send events from a server").first().click()
  await page.getByLabel("Edit sites; create and delete them if the key covers all sites").check()
  await page
    .getByText(
      "Server events doesn't need all of this. The key could also: edit sites; create and delete them if the key covers all sites; access all sites, including future ones.",
    )
    .waitFor()
  await page.getByRole("dialog").getByRole("button", { name: "Create API key" }).click()
  await page.getByRole("heading", { name: "API key Shop server" }).waitFor()
  const key = await shownSecret(page, "API key")
  await page.getByRole("button", { name: "I've saved the key" }).click()
  expect(await sitesBy(stand, key)).toEqual({ status: 200, names: ["Gazette"] })
  await page.getByRole("button", { name: "Actions for Shop server" }).click()
  await page.getByRole("menuitem", { name: "Revoke" }).click()
  await page.getByRole("button", { name: "Revoke key" }).click()
  await page.getByText("No API keys yet").waitFor()
  expect(await sitesBy(stand, key)).toEqual({ status: 401 })
})

test.skipIf(noBrowser)(
  "Test connection uses the real MCP protocol and lists the seven tools, or explains the rejection of a wrong key",
  async () => {
    await using stand = await openAccess()
    const { page, urls } = await openAda(stand)
    await page.goto(`${ORG}/mcp`)
    await page.getByLabel("Whole key").fill("ff_wrong")
    await page.getByRole("button", { name: "Test connection" }).click()
    await page.getByRole("alert").getByText(/key/).first().waitFor()

    await page.getByRole("button", { name: "Create API key" }).click()
    await page.getByLabel("Name").fill("Claude")
    await page.getByLabel("Gazette").check()
    await page.getByRole("dialog").getByRole("button", { name: "Create API key" }).click()
    await page.getByRole("button", { name: "I've saved the key" }).click()
    await page.getByText("Access: Gazette. The configuration below contains the whole key.").waitFor()
    const key = await page.getByLabel("Whole key").inputValue()
    await page.getByRole("button", { name: "Test connection" }).click()
    await page.getByText(/\(protocol 2025-06-18\): 7 tools, 1 site\./).waitFor()
    const tools = await page.getByRole("region", { name: "Tools" }).locator("tbody th").allInnerTexts()
    expect(tools).toEqual(["list_sites", "get_summary", "get_timeseries", "get_breakdown", "get_realtime", "list_goals", "run_funnel"])
    await page.getByRole("tab", { name: "Claude Code" }).click()
    expect(await page.locator("pre").textContent()).toBe(
      `claude mcp add --transport http footfall ${stand.origin}/api/public/v1/mcp \\\n  --header "Authorization: Bearer ${key}"`,
    )
    expect(urls.filter((url) => url.includes(key))).toEqual([])
  },
)

test.skipIf(noBrowser)("invites a member by link, makes them an editor after confirming the identity, and audits every step", async () => {
  await using stand = await openAccess()
  const { page } = await openAda(stand)
  await page.goto(`${ORG}/members`)
  const ada = page.getByRole("row", { name: /Ada Byron/ })
  await ada.getByText("The last owner can't give up the role. Make another member an owner first.").waitFor()
  expect(await ada.getByRole("button", { name: "Edit Ada Byron" }).isDisabled()).toBe(true)
  expect(await ada.getByRole("link", { name: "Leave" }).count()).toBe(0)
  await page.goto(`${ORG}/membership`)
  await page.getByText("The last owner can't leave the organization.").waitFor()
  expect(await page.getByRole("button", { name: "Leave Engines" }).isDisabled()).toBe(true)

  await page.goto(`${ORG}/invitations`)
  await page.getByLabel("Email").fill("vera@example.org")
  await page.getByRole("button", { name: "Send invitation", exact: true }).click()
  await page.getByRole("heading", { name: "Share the invitation link" }).waitFor()
  const link = await shownSecret(page, "Invitation link")
  await page.getByRole("button", { name: "I've copied the link" }).click()
  await page.getByRole("row", { name: /vera@example.org/ }).waitFor()
  const accepted = await fetch(`${stand.origin}/api/private/invitations/${link.split("/").at(-1)}/accept`, {
    method: "POST",
    headers: { "content-type": "application/json", origin: stand.origin },
    body: JSON.stringify({ name: "Vera Rubin", password: "a long password of stars" }),
  })
  expect(accepted.status).toBe(200)

  stand.instance.clock.advance(HOUR_MS / 4)
  await page.goto(`${ORG}/members`)
  await page.getByRole("button", { name: "Edit Vera Rubin" }).click()
  const dialog = page.getByRole("dialog", { name: "Vera Rubin" })
  await dialog.getByLabel("Role", { exact: true }).selectOption("editor")
  await dialog.getByLabel("Exception", { exact: true }).selectOption({ label: "Can't view revenue" })
  await dialog.getByRole("button", { name: "Add exception" }).click()
  await dialog.getByRole("button", { name: "Save" }).click()
  const proof = page.getByRole("dialog", { name: "Confirm it's you" })
  await proof.getByLabel("Password").fill(ADA.password)
  await proof.getByRole("button", { name: "Confirm", exact: true }).click()
  await page.getByText("Vera Rubin now has the Editor role").first().waitFor()
  const vera = page.getByRole("row", { name: /Vera Rubin/ })
  await vera.getByText("can't view revenue").waitFor()
  const stored = await page.evaluate(async () => (await fetch("/api/private/organizations/2/members?q=vera")).json())
  expect(stored.data[0]).toMatchObject({ role: "editor", grants: [], denies: ["revenue:read"] })

  await page.goto(`${ORG}/audit`)
  const changed = page.getByRole("row", { name: /Member changed/ })
  await changed.getByText("viewer → editor").waitFor()
  expect(await changed.textContent()).toContain("ada@example.org")
  expect(await changed.textContent()).toContain("vera@example.org")
  await page.getByLabel("Action", { exact: true }).selectOption({ label: "Invitations" })
  await page.getByRole("button", { name: "Apply filters" }).click()
  await changed.waitFor({ state: "detached" })
  // A locator that matches two elements would throw.
  await page.getByRole("row", { name: /Invitation created/ }).waitFor()
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "NDJSON" }).click()])
  const lines = (await Bun.file(await file.path()).text()).trim().split("\n")
  expect(lines.map((line) => JSON.parse(line).action).toSorted()).toEqual(["accounts.invitation.accept", "accounts.invitation.create"])
})

test.skipIf(noBrowser)("renames the organization, changes its policy, and deletes it only after its name is entered", async () => {
  await using stand = await openAccess()
  const { page } = await openAda(stand)
  await page.goto(`${ORG}/settings`)
  const name = page.getByRole("region", { name: "Name" })
  await name.getByLabel("Name", { exact: true }).last().fill("Difference Engines")
  await name.getByRole("button", { name: "Save" }).click()
  await page.getByText("Name: saved").first().waitFor()
  const keys = page.getByRole("region", { name: "API keys" })
  await keys.getByLabel("Maximum validity (days)").fill("90")
  await keys.getByRole("button", { name: "Save" }).click()
  await page.getByText("API keys: saved").first().waitFor()
  const shown = await page.evaluate(async () => (await fetch("/api/private/organizations/2")).json())
  expect(shown).toMatchObject({ name: "Difference Engines", policy: { key_max_days: 90, require_mfa: false } })

  await page.goto(`${ORG}/danger`)
  await page.getByRole("button", { name: "Delete Difference Engines" }).click()
  const act = page.getByRole("button", { name: "Delete organization and 1 site" })
  expect(await act.isDisabled()).toBe(true)
  await page.getByLabel("Type Difference Engines to confirm").fill("Difference Engines")
  await act.click()
  await page.waitForURL("**/sites")
  expect(await page.evaluate(async () => (await fetch("/api/private/organizations/2")).status)).toBe(404)
})

test.skipIf(noBrowser)(
  "adds an identity provider with the values to enter there, and a domain with the record that proves it",
  async () => {
    await using stand = await openAccess()
    const { page } = await openAda(stand)
    await page.goto(`${ORG}/providers`)
    await page.getByRole("button", { name: "Add provider" }).click()
    await page.getByLabel("Name").fill("Company login")
    await page.getByLabel("Issuer").fill("https://login.example.org?x=1")
    await page.getByLabel("Client ID").fill("footfall")
    await page.getByLabel("Client secret").fill("not to be told")
    await page.getByRole("button", { name: "Add group" }).click()
    await page.getByLabel("Group", { exact: true }).fill("staff")
    await page.getByLabel("Enabled", { exact: true }).uncheck()
    await page.getByRole("dialog").getByRole("button", { name: "Add provider" }).click()
    await page.getByText("must be a public URL without query and f").first().waitFor()
    await page.getByLabel("Issuer").fill("https://login.example.org")
    await page.getByRole("dialog").getByRole("button", { name: "Add provider" }).click()
    await page.getByRole("heading", { name: "Company login" }).waitFor()
    const [provider] = (await page.evaluate(async () => (await fetch("/api/private/organizations/2/providers")).json())).data
    expect(provider).toMatchObject({ enabled: false, role_map: { staff: { role: "viewer" } }, client_secret: { set: true } })
    await page.getByText(provider.redirect_uri, { exact: true }).waitFor()
    expect(await page.content()).not.toContain("not to be told")

    await page.goto(`${ORG}/domains`)
    await page.getByLabel("Domain", { exact: true }).fill("Example.org")
    await page.getByRole("button", { name: "Add domain" }).click()
    await page.getByRole("heading", { name: "example.org" }).waitFor()
    const [domain] = (await page.evaluate(async () => (await fetch("/api/private/organizations/2/domains")).json())).data
    await page.getByText(domain.record.value, { exact: true }).waitFor()
    expect(domain.record.value).toStartWith("footfall-verify=")
  },
)

test.skipIf(noBrowser)("on a phone, sentences in the members table keep a readable width", async () => {
  await using stand = await openAccess()
  const { page } = await openAda(stand)
  await page.setViewportSize({ width: 375, height: 812 })
  await page.goto(`${ORG}/members`)
  const note = page.getByText("The last owner can't give up the role.")
  const { width } = (await note.boundingBox())!
  expect(width).toBeGreaterThanOrEqual(120)
  // Wide content scrolls within the table, not with the page.
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(375)
})
