import { expect, setDefaultTimeout, test } from "bun:test"

import { noBrowser, settled, shown } from "#plugin/test/browser"
import { openConsole } from "./console-pages.ts"

setDefaultTimeout(60_000)

test.skipIf(noBrowser)("keeps the filters of a list in the URL, and announces its order", async () => {
  await using stand = await openConsole()
  await stand.signIn({ role: "viewer" })
  await using looked = await stand.look({ cookie: stand.cookie })
  await looked.open("/admin/users?role=viewer")
  const { page } = looked
  const table = page.getByRole("region", { name: "Users" })
  expect(await table.getByRole("row").count()).toBe(2)
  await page.getByLabel("Role").selectOption("")
  await page.waitForURL("**/admin/users")
  await table.getByRole("row").nth(2).waitFor()
  expect(await table.getByRole("columnheader", { name: "Email" }).getAttribute("aria-sort")).toBe("ascending")
  await table.getByRole("button", { name: "Created" }).click()
  await page.waitForURL("**/admin/users?sort=created_at")
  expect(await table.getByRole("columnheader", { name: "Created" }).getAttribute("aria-sort")).toBe("descending")
  expect(looked.faults).toEqual([])
})

test.skipIf(noBrowser)("filters API keys by state, and keeps the state in the URL", async () => {
  await using stand = await openConsole()
  await stand.instance.api.send("POST", "/api/private/admin/api-keys/2/revoke", undefined, undefined, { cookie: stand.cookie })
  await using looked = await stand.look({ cookie: stand.cookie })
  const { page } = looked
  await looked.open("/admin/keys")
  const state = page.getByLabel("State")
  expect(await state.locator("option").allTextContents()).toEqual(["Any", "Active", "Expired", "Revoked"])
  await state.selectOption("revoked")
  await page.waitForURL("**/admin/keys?state=revoked")
  await settled(page)
  expect(await page.locator("tbody tr").count()).toBe(1)
  await state.selectOption("expired")
  await shown(page, "No API keys match these filters.")
  await looked.open("/admin/keys?state=active")
  expect([await state.inputValue(), await page.locator("tbody tr").count()]).toEqual(["active", 3])
  expect(looked.faults).toEqual([])
})

test.skipIf(noBrowser)("searches API keys, invitations and sessions, and keeps the search in the URL", async () => {
  await using stand = await openConsole()
  const { instance, memberships } = stand.instance.app
  const [shop] = await instance.organizations.list()
  for (const email of ["zoe@mill.example", "nils@example.org"])
    await memberships.invitations.create(shop!, { email, role: "editor" }, "instance")
  const { data } = await stand.ask<{ data: { last4: string }[] }>("api-keys")
  await using looked = await stand.look({ cookie: stand.cookie })
  const { page } = looked
  for (const [path, field, part, name, none] of [
    ["invitations", "Email or organization", "MILL", "zoe@mill.example", "No invitations match this search."],
    ["keys", "Name, organization, owner or key", data[0]!.last4, data[0]!.last4, "No API keys match these filters."],
    ["sessions", "User, device, location or network", "chrome", "Chrome on Windows", "No sessions match this search."],
  ] as const) {
    await looked.open(`/admin/${path}`)
    await page.getByLabel(field).fill(part)
    await page.waitForURL(`**/admin/${path}?q=${part}`)
    await settled(page)
    const texts = await page.locator("tbody tr").allTextContents()
    expect(texts).toHaveLength(1)
    expect(texts[0]).toContain(name)
    await page.getByLabel(field).fill("nobody of this name")
    await shown(page, none)
  }
  expect(looked.faults).toEqual([])
})
