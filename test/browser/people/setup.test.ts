import { expect, setDefaultTimeout, test } from "bun:test"
import type { Page } from "playwright-core"
import { browserCurrency } from "../../../src/ui/parts/form/locale-fields.tsx"
import { noBrowser, openContext } from "../browser.ts"
import { ADA, openAccess } from "./access-stand.ts"

setDefaultTimeout(60_000)

/** Opens a page with a locale and time zone, and records all its errors and warnings. */
async function openUser(origin: string, locale: string, timezoneId: string): Promise<{ page: Page; faults: string[] }> {
  const context = await openContext({ baseURL: origin, locale, timezoneId })
  const page = await context.newPage()
  page.setDefaultTimeout(10_000)
  const faults: string[] = []
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(message.text())
  })
  page.on("pageerror", (error) => faults.push(String(error.stack)))
  page.on("response", (answer) => {
    if (answer.status() >= 400) faults.push(`${answer.status()} ${answer.url()}`)
  })
  return { page, faults }
}

const submit = async (page: Page, fields: Record<string, string>): Promise<void> => {
  for (const [label, text] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(text)
  await page.keyboard.press("Enter")
}

const toAdmin = async (page: Page, token: string): Promise<void> => {
  await page.goto("/setup")
  await submit(page, { "Setup token": token })
  await page.getByRole("heading", { name: "Create your account" }).waitFor()
}

const WHO = { "Your name": ADA.name, Email: ADA.email, Password: ADA.password, Organization: ADA.organization }

test.skipIf(noBrowser)("no step of the set-up logs an error to the console, even for invalid input", async () => {
  await using stand = await openAccess()
  const { page, faults } = await openUser(stand.origin, "da-DK", "Europe/Copenhagen")
  await toAdmin(page, stand.setUpToken())
  await submit(page, { ...WHO, Password: "too short" })
  await page.getByText("Check the highlighted fields.").waitFor()
  await submit(page, { Password: ADA.password })
  await page.getByLabel("Domain").waitFor()

  // The browser's values are suggestions that can be changed.
  expect(await page.getByLabel("Time zone").inputValue()).toBe("Europe/Copenhagen")
  expect(await page.getByLabel("Currency").inputValue()).toBe("DKK")
  await page.getByLabel("Currency").selectOption("NOK")
  await submit(page, { Name: "Blog", Domain: "https://blog.example/about" })
  await page.getByRole("heading", { name: "Installation check" }).waitFor()
  await page.getByText("Waiting for the first event.").waitFor()
  expect(await page.evaluate(async () => (await fetch("/api/private/sites/2")).json())).toMatchObject({ revenue_currency: "NOK" })

  await page.goto("/sites/new")
  expect(await page.getByLabel("Currency").inputValue()).toBe("DKK")
  expect(faults).toEqual([])
  await page.context().close()
})

test.skipIf(noBrowser)("a reload keeps the input except token and password until the set-up is complete", async () => {
  await using stand = await openAccess()
  const { page, faults } = await openUser(stand.origin, "en-GB", "Europe/London")
  const token = stand.setUpToken()
  const kept = () => page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie, history.state]))
  const valuesOf = (labels: readonly string[]) => Promise.all(labels.map((label) => page.getByLabel(label, { exact: true }).inputValue()))
  const reload = async () => {
    await page.reload()
    await page.getByText("The page was reloaded.").waitFor()
    expect(await page.getByLabel("Setup token").inputValue()).toBe("")
    const onDevice = await kept()
    expect(onDevice).toContain(ADA.email)
    expect([token, ADA.password].filter((secret) => onDevice.includes(secret))).toEqual([])
    await submit(page, { "Setup token": token })
    await page.getByRole("heading", { name: "Create your account" }).waitFor()
    expect(await valuesOf(["Your name", "Email", "Password", "Organization"])).toEqual([ADA.name, ADA.email, "", ADA.organization])
    await page.waitForFunction(() => document.activeElement?.getAttribute("type") === "password")
  }
  await toAdmin(page, token)
  for (const [label, text] of Object.entries(WHO)) await page.getByLabel(label, { exact: true }).fill(text)
  await reload()
  await submit(page, { Password: ADA.password })
  await page.getByLabel("Name", { exact: true }).fill("Blog")
  await page.getByLabel("Domain").fill("blog.example")
  await page.getByLabel("Currency").selectOption("NOK")
  await reload()
  await submit(page, { Password: ADA.password })
  await page.getByRole("heading", { name: "Add your first site" }).waitFor()
  expect(await valuesOf(["Name", "Domain", "Time zone", "Currency"])).toEqual(["Blog", "blog.example", "Europe/London", "NOK"])

  await page.getByRole("button", { name: "Skip for now" }).click()
  await page.getByRole("heading", { name: "All sites", level: 1 }).waitFor()
  await page.waitForFunction(() => document.activeElement?.textContent === "All sites")
  const left = await kept()
  expect([ADA.name, ADA.email, ADA.organization, "blog.example"].filter((text) => left.includes(text))).toEqual([])
  expect(faults).toEqual([])
  await page.context().close()
})

test.skipIf(noBrowser)("discards the input if someone else completed the set-up first", async () => {
  await using stand = await openAccess()
  const { page } = await openUser(stand.origin, "en-GB", "Europe/London")
  await toAdmin(page, stand.setUpToken())
  await page.getByLabel("Email", { exact: true }).fill("late@example.org")
  await stand.setUp()
  await page.reload()
  await page.getByRole("heading", { name: "Footfall is already set up" }).waitFor()
  expect(await page.evaluate(() => Object.values({ ...sessionStorage }).join())).not.toContain("late@example.org")
  await page.context().close()
})

test.skipIf(noBrowser).each([
  ["an unknown region", {}, "en", "USD"],
  ["an unknown region with a configured default", { default_currency: "SEK" }, "en", "SEK"],
  ["the configured default, regardless of the region", { default_currency: "SEK" }, "de-DE", "SEK"],
])("the first site gets the currency of %s: %p, %s", async (_, settings, locale, expected) => {
  await using stand = await openAccess(settings)
  const { page } = await openUser(stand.origin, locale, "Europe/Berlin")
  await toAdmin(page, stand.setUpToken())
  await submit(page, WHO)
  expect(await page.getByLabel("Currency").inputValue()).toBe(expected)
  await page.context().close()
})

test.each([
  [["de-AT", "en-US"], "EUR"],
  [["en", "pt-BR"], "BRL"],
  [["gsw-CH"], "CHF"],
  [["zh-Hant-TW"], "TWD"],
  [["en"], undefined],
  [["en-001"], undefined],
  [["not a language"], undefined],
  [[], undefined],
])("the languages %p suggest the currency %p", (languages, currency) => {
  expect(browserCurrency(languages)).toBe(currency as never)
})
