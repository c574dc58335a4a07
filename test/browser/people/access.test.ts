import { expect, setDefaultTimeout, test } from "bun:test"
import type { Page } from "playwright-core"
import { sql } from "../../../src/store/sql.ts"
import { identityProvider, type Person as Known } from "../../http/private/sign-in/identity-provider.ts"
import { openMailbox } from "../../mailbox.ts"
import { noBrowser } from "../browser.ts"
import { shown } from "../report/dashboard-stand.ts"
import { ADA, openAccess, tabTo } from "./access-stand.ts"

setDefaultTimeout(60_000)

/** Waits until the page's heading has the focus, where a screen reader continues. */
const headingIsFocused = (page: Page, title: string) =>
  page.waitForFunction((wanted) => document.activeElement?.localName === "h1" && document.activeElement.textContent === wanted, title)

test.skipIf(noBrowser)("sets up an empty instance by keyboard, up to the page of its first site", async () => {
  await using stand = await openAccess()
  const { page } = await stand.someone()
  const { keyboard } = page
  const enter = async (text: string) => {
    await keyboard.type(text)
    await keyboard.press("Enter")
  }
  await page.goto("/sites")
  await page.waitForURL("**/setup")
  const token = stand.setUpToken()
  await page.getByLabel("Setup token").waitFor()
  await enter("wrong")
  await shown(page, /That token isn't valid/)
  await tabTo(page, "Setup token")
  await keyboard.press("Control+A")
  await enter(token)

  await page.getByLabel("Your name").waitFor()
  await keyboard.type(ADA.name)
  await tabTo(page, "Email")
  await keyboard.type(ADA.email)
  await tabTo(page, "Password")
  await keyboard.type("short")
  await shown(page, "Use at least 12 characters.")
  await tabTo(page, "Organization")
  await enter(ADA.organization)
  await shown(page, "must have at least 12 characters")
  await tabTo(page, "Password")
  await keyboard.press("Control+A")
  await keyboard.type(ADA.password)
  await shown(page, "Strong.")
  await keyboard.press("Enter")

  await page.getByLabel("Domain").waitFor()
  expect(await page.getByLabel("Time zone").inputValue()).toBe("Europe/Lisbon")
  await keyboard.type("Blog")
  await tabTo(page, "Domain")
  await enter("https://blog.example/about")
  await page.waitForURL("**/sites/2")
  const made = await page.evaluate(async () => (await fetch("/api/private/sites/2")).json())
  expect(made).toMatchObject({ name: "Blog", hosts: ["blog.example"], timezone: "Europe/Lisbon", revenue_currency: "GBP" })
  await headingIsFocused(page, "Blog")

  await page.goto("/setup")
  await page.getByRole("heading", { name: "Footfall is already set up" }).waitFor()
})

test.skipIf(noBrowser)("signing in explains errors, waits for the rate limit and continues to the requested page", async () => {
  await using stand = await openAccess({ signin_per_minute: "3" })
  await stand.setUp()
  const { page } = await stand.someone()
  await page.goto("/account/profile")
  await page.waitForURL("**/signin?next=%2Faccount%2Fprofile")
  await page.getByLabel("Email").fill(ADA.email)
  const password = page.getByLabel("Password", { exact: true })
  const button = page.getByRole("button", { name: "Sign in", exact: true })
  for (let tries = 0; tries < 3; tries++) {
    await password.fill(`wrong ${tries}`)
    await button.click()
    await shown(page, "The email address or the password is incorrect.")
  }
  await password.fill(ADA.password)
  await button.click()
  await shown(page, /^Try again in \d+ s\.$/)
  expect(await button.isDisabled()).toBe(true)
  const first = await page.locator("[role=alert] [aria-hidden]").textContent()
  await page.waitForTimeout(1_500)
  expect(await page.locator("[role=alert] [aria-hidden]").textContent()).not.toBe(first)
  stand.instance.clock.advance(60_000)
  await page.reload()
  await page.getByLabel("Email").fill(ADA.email)
  await password.fill(ADA.password)
  await page.keyboard.press("Enter")
  await page.waitForURL("**/account/profile")
  await headingIsFocused(page, "Account: profile")
})

test.skipIf(noBrowser)("signing in never redirects to another origin", async () => {
  await using stand = await openAccess()
  await stand.setUp()
  const { page } = await stand.someone()
  await stand.signIn(page)
  await page.waitForURL("**/sites")
  for (const next of ["//evil.example/x", "/\\evil.example", "https://evil.example/", "javascript:alert(1)"]) {
    await page.goto(`/signin?next=${encodeURIComponent(next)}`)
    await page.waitForURL(`${stand.origin}/sites`)
  }
})

test.skipIf(noBrowser)("resets a forgotten password by email, with the same message for every address", async () => {
  await using mailbox = await openMailbox()
  await using stand = await openAccess(mailbox.settings)
  await stand.setUp()
  const { page } = await stand.someone()
  for (const email of ["nobody@example.org", ADA.email]) {
    await page.goto("/forgot")
    await page.getByLabel("Email").fill(email)
    await page.keyboard.press("Enter")
    await shown(page, /If an account with this address exists, we've sent it an email/)
  }
  const { background, mail } = stand.instance.app.instance.accounts
  await background.settled()
  await mail.deliver()
  expect(mailbox.emails.map(({ to }) => to)).toEqual([ADA.email])
  const link = /https?:\/\/\S+/.exec(mailbox.emails[0]!.text)![0]
  const other = "another fine long password"
  await page.goto(link)
  await page.getByLabel("New password", { exact: true }).fill(other)
  await page.keyboard.press("Enter")
  await shown(page, "Your password was changed. Sign in with the new one.")
  await stand.signIn(page, other)
  await page.waitForURL("**/sites")
  await page.goto(link)
  await page.getByLabel("New password", { exact: true }).fill("yet another fine password")
  await page.keyboard.press("Enter")
  await page.getByRole("heading", { name: "This link is no longer valid" }).waitFor()
})

test.skipIf(noBrowser)("without a mail server, shows the command for the operator to copy", async () => {
  await using stand = await openAccess()
  await stand.setUp()
  const { page } = await stand.someone()
  await page.goto("/forgot")
  await page.getByLabel("Email").fill("ada@example.org; rm -rf /")
  expect(await page.locator("pre").textContent()).toBe("footfall user passwd 'ada@example.org; rm -rf /'")
})

test.skipIf(noBrowser)("an invitation creates an account, or adds an existing user", async () => {
  await using stand = await openAccess()
  await stand.setUp()
  const { page } = await stand.someone()
  await stand.signIn(page)
  await page.waitForURL("**/sites")
  const invite = async (email: string): Promise<string> => {
    const made = await page.request.post("/api/private/organizations/2/members/invite", {
      data: { email, role: "viewer" },
      headers: { origin: stand.origin },
    })
    return (await made.json()).link
  }
  const link = await invite("bob@example.org")
  const { page: bob } = await stand.someone()
  await bob.goto(link)
  await bob.getByRole("heading", { name: "Join Engines" }).waitFor()
  await shown(bob, "viewer")
  await bob.getByLabel("Your name").fill("Bob")
  await bob.getByLabel("Password", { exact: true }).fill(ADA.password)
  await bob.keyboard.press("Enter")
  await bob.waitForURL("**/sites")
  await bob.goto(link)
  await bob.getByRole("heading", { name: "This invitation is no longer valid" }).waitFor()

  // An invitation for another address is reported before anything is sent.
  await page.goto(await invite("eve@example.org"))
  await shown(page, "You're signed in as ada@example.org, but this invitation is for eve@example.org.")
})

test.skipIf(noBrowser)("an identity provider signs in users who linked their account, and its rejections are explained", async () => {
  let now = Date.parse("2026-11-21T12:00:00Z")
  const provider = identityProvider({ now: () => now })
  await using _ = provider
  await using stand = await openAccess({
    oidc_issuer: provider.issuer,
    oidc_client_id: provider.clientId,
    oidc_client_secret: provider.clientSecret,
    oidc_name: "Example",
  })
  await stand.setUp()
  const { page, context } = await stand.someone()
  // Skips the provider's own page: it redirects back immediately.
  let known: Known = { sub: "ada-1", email: ADA.email, email_verified: false }
  await context.route("**/api/private/auth/oidc/*/start*", async (route) => {
    const start = await route.fetch({ maxRedirects: 0 })
    const back = provider.signIn(start.headers().location!, known, { claims: { auth_time: now / 1_000 } })
    await route.fulfill({ response: start, headers: { ...start.headers(), location: back.href } })
  })
  const byProvider = async () => {
    await page.goto("/signin?next=/account/sessions")
    await page.getByRole("link", { name: "Sign in with Example" }).click()
  }
  await byProvider()
  await shown(page, /hasn't verified your email address/)
  known = { ...known, email_verified: true }
  await byProvider()
  await page.getByRole("heading", { name: "Link your account" }).waitFor()
  // The ticket does not remain in the history.
  expect(new URL(page.url()).hash).toBe("")
  await page.getByLabel("Password of your Footfall account").fill(ADA.password)
  await page.keyboard.press("Enter")
  await page.waitForURL("**/sites")
  await stand.forgetSession(page)
  await byProvider()
  await page.waitForURL("**/account/sessions")
  await shown(page, "with identity provider")

  // The identity is confirmed at the provider in a separate window, and this page continues automatically.
  now += 11 * 60_000
  stand.instance.clock.advance(11 * 60_000)
  await page.goto("/account/security")
  await page.getByRole("button", { name: "Add authenticator app" }).click()
  const [there] = await Promise.all([context.waitForEvent("page"), page.getByRole("link", { name: "Continue with Example" }).click()])
  await there.getByRole("heading", { name: "Identity confirmed" }).waitFor()
  await page.getByRole("dialog", { name: "Add authenticator app" }).waitFor()

  // A change of the organization's policy also ends earlier sessions.
  await stand.forgetSession(page)
  await stand.signIn(page)
  await page.waitForURL("**/sites")
  await stand.instance.app.instance.catalog.run(
    sql`update organizations set policy_json = '{"sso_only":true}' where name = ${ADA.organization}`,
  )
  await page.reload()
  const dialog = page.getByRole("dialog", { name: "Sign in with your identity provider" })
  const [away] = await Promise.all([context.waitForEvent("page"), dialog.getByRole("link", { name: "Continue with Example" }).click()])
  await away.getByRole("heading", { name: "Identity confirmed" }).waitFor()
  await dialog.waitFor({ state: "detached" })
  await page.getByRole("link", { name: "Add site" }).first().waitFor()
})

test.skipIf(noBrowser)("returns to the sign-in page with an explanation if the identity provider is unavailable", async () => {
  const provider = identityProvider({ now: Date.now })
  await using stand = await openAccess({ oidc_issuer: provider.issuer, oidc_client_id: provider.clientId, oidc_name: "Example" })
  await stand.setUp()
  await provider[Symbol.asyncDispose]()
  const { page } = await stand.someone()
  await page.goto("/signin")
  await page.getByRole("link", { name: "Sign in with Example" }).click()
  await page.getByRole("alert").getByText("The identity provider can't be reached.").waitFor()
  expect(new URL(page.url()).pathname).toBe("/signin")
})

test.skipIf(noBrowser)("over plain HTTP from another machine, warns and does not accept secrets", async () => {
  await using stand = await openAccess({}, "stats.example")
  const { page } = await stand.someone()
  await page.goto("/setup")
  await shown(page, /This page was loaded over plain HTTP/)
  await page.getByLabel("Setup token").fill(stand.setUpToken())
  await page.keyboard.press("Enter")
  await shown(page, "Sign in over HTTPS. Over plain HTTP, others could read your data.")
})
