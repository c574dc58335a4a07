import { expect, setDefaultTimeout, test } from "bun:test"
import { TOTP } from "otpauth"
import type { Page } from "playwright-core"
import { openMailbox } from "../../mailbox.ts"
import { noBrowser } from "../browser.ts"
import { shown } from "../report/dashboard-stand.ts"
import { ADA, openAccess } from "./access-stand.ts"

setDefaultTimeout(60_000)

/** Adds an authenticator app to the signed-in user's account on the security page. */
async function addApp(page: Page, now: () => number): Promise<{ totp: TOTP; codes: string[] }> {
  await page.goto("/account/security")
  await page.getByRole("button", { name: "Add authenticator app" }).click()
  const secret = (await page.locator(".key-text").textContent())!.replaceAll(" ", "")
  // The QR code is an image that was loaded, not markup of the page.
  expect(await page.locator("img.qr").evaluate((image: HTMLImageElement) => image.complete && image.naturalWidth > 0)).toBe(true)
  const totp = new TOTP({ secret })
  await page.getByLabel("Code", { exact: true }).fill("000000")
  await page.getByRole("button", { name: "Add app" }).click()
  await shown(page, "The code is incorrect or was already used.")
  await page.getByLabel("Code", { exact: true }).fill(totp.generate({ timestamp: now() }))
  await page.getByRole("button", { name: "Add app" }).click()
  const codes = (await page.locator("pre.codes").textContent())!.split("\n")
  expect(codes).toHaveLength(10)
  const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download" }).click()])
  expect(await Bun.file(await saved.path()).text()).toContain(codes.join("\n"))
  await page.getByRole("button", { name: "I've saved them" }).click()
  return { totp, codes }
}

test.skipIf(noBrowser)("requires an app's code in addition to the password, and accepts each recovery code once instead", async () => {
  await using stand = await openAccess()
  const { clock } = stand.instance
  await stand.setUp()
  const { page } = await stand.someone()
  await stand.signIn(page)
  await page.waitForURL("**/sites")
  const { totp, codes } = await addApp(page, clock.now)
  await shown(page, "You have 10 left.")

  clock.advance(60_000)
  await stand.forgetSession(page)
  await stand.signIn(page)
  await page.waitForURL("**/signin/second-factor")
  expect(await page.getByLabel("Code", { exact: true }).getAttribute("autocomplete")).toBe("one-time-code")
  await page.locator("input:focus").waitFor()
  await page.keyboard.type(totp.generate({ timestamp: clock.now() }))
  await page.keyboard.press("Enter")
  await page.waitForURL("**/sites")

  for (const [code, words] of [
    [codes[0]!, "You have 9 left"],
    [codes[0]!, "The code is incorrect or was already used."],
  ] as const) {
    await stand.forgetSession(page)
    await stand.signIn(page)
    await page.getByRole("button", { name: "Use a recovery code" }).click()
    await page.getByLabel("Recovery code").fill(code)
    await page.keyboard.press("Enter")
    await shown(page, new RegExp(words))
  }
  // The ticket is only in memory, so a reload starts over.
  await page.reload()
  await page.waitForURL("**/signin")

  await page.getByLabel("Email").fill(ADA.email)
  await page.getByLabel("Password", { exact: true }).fill(ADA.password)
  await page.keyboard.press("Enter")
  await page.waitForURL("**/signin/second-factor")
  clock.advance(60_000)
  await page.getByLabel("Code", { exact: true }).fill(totp.generate({ timestamp: clock.now() }))
  await page.keyboard.press("Enter")
  await page.waitForURL("**/sites")
  clock.advance(11 * 60_000)
  await page.goto("/account/security")
  await page.getByRole("button", { name: "Generate new codes" }).click()
  await page.getByRole("dialog").getByRole("button", { name: "Generate new codes" }).click()
  await page.getByLabel("Code from your authenticator app").fill(totp.generate({ timestamp: clock.now() }))
  await page.keyboard.press("Enter")
  const fresh = await page.locator("pre.codes").textContent()
  expect(fresh?.split("\n")).toHaveLength(10)
  expect(fresh).not.toContain(codes[1]!)
})

test.skipIf(noBrowser).each([
  ["a current browser", false],
  ["a browser without JSON in its API", true],
])("in %s, adds and renames a passkey, signs in and confirms an identity with it, and removes it", async (_, isOld) => {
  await using stand = await openAccess()
  await stand.setUp()
  const { page, context } = await stand.someone()
  if (isOld) await context.addInitScript(forgetJson)
  const devtools = await context.newCDPSession(page)
  await devtools.send("WebAuthn.enable")
  await devtools.send("WebAuthn.addVirtualAuthenticator", {
    options: {
      protocol: "ctap2",
      transport: "internal",
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  await stand.signIn(page)
  await page.waitForURL("**/sites")
  await page.goto("/account/security")
  await page.getByRole("button", { name: "Add passkey" }).click()
  await page.getByLabel("Name", { exact: true }).fill("Key ring")
  await page.keyboard.press("Enter")
  await page.getByRole("rowheader", { name: "Key ring" }).waitFor()
  await page.getByRole("button", { name: "Rename Key ring" }).click()
  await page.getByLabel("Name", { exact: true }).fill("Phone")
  await page.keyboard.press("Enter")
  await page.getByRole("rowheader", { name: "Phone" }).waitFor()

  await stand.forgetSession(page)
  await page.goto("/signin")
  await page.getByRole("button", { name: "Use a passkey" }).click()
  await page.waitForURL("**/sites")

  stand.instance.clock.advance(11 * 60_000)
  await page.goto("/account/security")
  await page.getByRole("button", { name: "Remove Phone" }).click()
  await page.getByRole("button", { name: "Remove passkey" }).click()
  await page.getByRole("heading", { name: "Confirm it's you" }).waitFor()
  await page.getByRole("button", { name: "Confirm with a passkey" }).click()
  await page.getByRole("rowheader", { name: "Phone" }).waitFor({ state: "detached" })
})

/** Removes, in the page, the JSON methods that browsers before 2025 lack. */
function forgetJson(): void {
  for (const name of ["parseRequestOptionsFromJSON", "parseCreationOptionsFromJSON"]) Reflect.deleteProperty(PublicKeyCredential, name)
  Reflect.deleteProperty(PublicKeyCredential.prototype, "toJSON")
}

test.skipIf(noBrowser)("an expired session is renewed in place, including the second factor, without losing input", async () => {
  await using stand = await openAccess()
  const { clock } = stand.instance
  await stand.setUp()
  const { page, context } = await stand.someone()
  await stand.signIn(page)
  await page.waitForURL("**/sites")
  const { totp } = await addApp(page, clock.now)
  // The first request without a session is then the one that saves.
  await page.goto("/account/profile", { waitUntil: "networkidle" })
  await page.getByLabel("Name", { exact: true }).fill("Ada Lovelace")
  clock.advance(60_000)
  await context.clearCookies()
  await page.getByRole("button", { name: "Save" }).click()
  const dialog = page.getByRole("dialog", { name: "Sign in again" })
  await dialog.getByLabel("Password", { exact: true }).fill(ADA.password)
  await page.keyboard.press("Enter")
  await dialog.getByLabel("Code", { exact: true }).fill(totp.generate({ timestamp: clock.now() }))
  await page.keyboard.press("Enter")
  await shown(page, "Saved")
  const me = await page.evaluate(async () => (await fetch("/api/private/me")).json())
  expect(me.user.name).toBe("Ada Lovelace")
})

test.skipIf(noBrowser)("applies a theme immediately, and from then on at the first paint", async () => {
  await using stand = await openAccess()
  await stand.setUp()
  const { page } = await stand.someone({ colorScheme: "light" })
  await stand.signIn(page)
  await page.waitForURL("**/sites")
  await page.goto("/account/preferences")
  const foundation = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor)
  expect(await foundation()).toBe("rgb(247, 246, 243)")
  const saved = page.waitForResponse((answer) => answer.request().method() === "PATCH")
  await page.getByLabel("Dark", { exact: true }).check()
  expect(await foundation()).toBe("rgb(19, 20, 18)")
  expect((await saved).status()).toBe(200)
  const text = await (await page.goto("/account/preferences"))!.text()
  expect(text).toContain('<html lang="en" data-theme="dark">')
  // The browser remembers it for pages without a signed-in user.
  await stand.forgetSession(page)
  expect(await (await page.goto("/signin"))!.text()).toContain('data-theme="dark"')
  expect(await foundation()).toBe("rgb(19, 20, 18)")
})

test.skipIf(noBrowser)("only the account pages open until a required two-step verification is set up", async () => {
  await using stand = await openAccess()
  await stand.setUp()
  const { page } = await stand.someone()
  await stand.signIn(page)
  await page.waitForURL("**/sites")
  const answer = await page.request.patch("/api/private/organizations/2", {
    data: { policy: { require_mfa: true } },
    headers: { origin: stand.origin },
  })
  expect(answer.status()).toBe(200)
  await page.goto("/sites")
  await page.waitForURL("**/account/security")
  await shown(page, /requires two-step verification/)
  await addApp(page, stand.instance.clock.now)
  await page.waitForURL("**/sites")
})

test.skipIf(noBrowser)("lists sessions with their places, and ends all others", async () => {
  await using stand = await openAccess()
  await stand.setUp()
  const { page } = await stand.someone()
  const { page: other } = await stand.someone()
  await stand.signIn(other)
  await other.waitForURL("**/sites")
  await stand.signIn(page)
  await page.waitForURL("**/sites")
  await page.goto("/account/sessions")
  await shown(page, "this device")
  // Including the session of the set-up.
  expect(await page.getByRole("row").count()).toBe(4)
  await page.getByRole("button", { name: "End other sessions" }).first().click()
  await page.getByRole("dialog").getByRole("button", { name: "End other sessions" }).click()
  await shown(page, "All other sessions ended")
  await page.getByRole("row").nth(2).waitFor({ state: "detached" })
  expect(await page.getByRole("row").count()).toBe(2)
  await other.goto("/sites")
  await other.waitForURL("**/signin?next=%2Fsites")
})

test.skipIf(noBrowser)("impersonation is shown on every page and can be stopped", async () => {
  await using stand = await openAccess()
  await stand.setUp()
  const { page } = await stand.someone()
  await stand.signIn(page)
  await page.waitForURL("**/sites")
  await stand.instance.signIn({ role: "viewer" })
  const headers = { origin: stand.origin }
  const asked = await page.request.post("/api/private/admin/users/2/impersonate", { data: { reason: "Ticket 7" }, headers })
  expect(asked.status()).toBe(200)
  await page.goto("/sites")
  const bar = page.getByRole("region", { name: "Impersonation" })
  await bar.getByText(/ada@example.org is impersonating user-/).waitFor()
  await bar.getByRole("button", { name: "Stop impersonating" }).click()
  await bar.waitFor({ state: "detached" })
  const me = await page.evaluate(async () => (await fetch("/api/private/me")).json())
  expect(me.user.email).toBe(ADA.email)
})

test.skipIf(noBrowser)("confirms a new address by email, and the old address can revert the change", async () => {
  await using mailbox = await openMailbox()
  await using stand = await openAccess(mailbox.settings)
  await stand.setUp()
  const { page } = await stand.someone()
  await stand.signIn(page)
  await page.waitForURL("**/sites")
  await page.goto("/account/profile")
  await page.getByLabel("New email").fill("countess@example.org")
  await page.keyboard.press("Enter")
  await shown(page, "We've sent a confirmation link to countess@example.org.")
  const { background, mail } = stand.instance.app.instance.accounts
  await background.settled()
  await mail.deliver()
  const linkTo = (to: string) => /https?:\/\/\S+/.exec(mailbox.emails.find((email) => email.to === to)!.text)![0]
  await page.goto(linkTo("countess@example.org"))
  await page.getByRole("button", { name: "Confirm email address" }).click()
  await page.getByRole("heading", { name: "Email address confirmed" }).waitFor()
  await page.goto("/account/profile")
  await shown(page, "countess@example.org")
  await page.goto(linkTo(ADA.email))
  await page.getByRole("button", { name: "Undo change" }).click()
  await page.getByRole("heading", { name: "Email change undone" }).waitFor()
  await stand.signIn(page)
  await page.waitForURL("**/sites")
})

test.skipIf(noBrowser)("changes the password with only the current one, also in an old session", async () => {
  await using stand = await openAccess()
  await stand.setUp()
  const { page } = await stand.someone()
  await stand.signIn(page)
  await page.waitForURL("**/sites")
  stand.instance.clock.advance(11 * 60_000)
  await page.goto("/account/security")
  const change = async (present: string) => {
    await page.getByLabel("Current password").fill(present)
    await page.getByLabel("New password", { exact: true }).fill("another fine long password")
    await page.keyboard.press("Enter")
  }
  await change("not this one")
  await shown(page, "The current password is incorrect.")
  await change(ADA.password)
  await shown(page, /Password changed/)
  await stand.forgetSession(page)
  await stand.signIn(page, "another fine long password")
  await page.waitForURL("**/sites")
})

test.skipIf(noBrowser)("a page of an older build reports missing files and keeps the input", async () => {
  await using stand = await openAccess()
  await stand.setUp()
  const { page, context } = await stand.someone()
  await stand.signIn(page)
  await page.waitForURL("**/sites")
  await page.goto("/account/profile", { waitUntil: "networkidle" })
  await page.getByLabel("Name", { exact: true }).fill("Ada Lovelace")
  await page.route("**/assets/*.js", (route) => route.abort())
  await context.clearCookies()
  await page.getByRole("button", { name: "Save" }).click()
  await shown(page, "A new version of Footfall is available. Copy anything you've typed, then reload the page.")
  expect(await page.getByLabel("Name", { exact: true }).inputValue()).toBe("Ada Lovelace")
  await page.getByRole("banner").getByRole("link", { name: "All sites" }).click()
  await page.getByRole("heading", { name: "Reload this page" }).waitFor()
  await page.unroute("**/assets/*.js")
  await page.getByRole("button", { name: "Reload" }).click()
  await page.waitForURL("**/signin?next=%2Fsites")
})
