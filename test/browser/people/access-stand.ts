import { expect } from "bun:test"
import type { BrowserContext, Page } from "playwright-core"
import { LISTENING } from "../../../src/http/server.ts"
import { serveOthers, startInstance, type TestInstance } from "../../kit.ts"
import { openContext } from "../browser.ts"

export const ADA = { name: "Ada Byron", email: "ada@example.org", password: "correct horse battery staple", organization: "Engines" }

/** A real instance on a socket, whose dashboard is used in a real browser. */
export interface AccessStand extends AsyncDisposable {
  instance: TestInstance
  origin: string
  /** Opens a page with separate cookies. The test fails if the page logs an error or violates the content security policy. */
  someone(options?: { colorScheme?: "light" | "dark"; width?: number }): Promise<{ page: Page; context: BrowserContext }>
  /** Creates and returns the setup token that the server would print. */
  setUpToken(): string
  /** Creates Ada as the first administrator, without a browser. */
  setUp(): Promise<void>
  signIn(page: Page, password?: string): Promise<void>
  /** Leaves the page, whose pending requests could set a cookie again, and removes the cookies. */
  forgetSession(page: Page): Promise<void>
}

/** Expected console messages: intended rejections, whose text each test checks on the page, and headers that require HTTPS. */
const EXPECTED = ["Failed to load resource", "The Cross-Origin-Opener-Policy header has been ignored"]

/** Opens the instance. The browser treats `host` as another machine unless it is a local name. */
export async function openAccess(settings: Record<string, string> = {}, host = "localhost"): Promise<AccessStand> {
  let instance: TestInstance | undefined
  const server = Bun.serve({
    ...LISTENING,
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, own) => instance!.app.fetch(request, own),
  })
  const origin = `http://${host}:${server.port}`
  instance = await startInstance({ settings: { base_url: origin, ...settings } })
  const contexts: BrowserContext[] = []
  const faults: string[] = []
  const begin = () => instance.app.instance.accounts.setup.token.begin(() => {}).token

  return {
    instance,
    origin,
    async someone({ colorScheme = "light", width = 1000 } = {}) {
      const context = await openContext({
        baseURL: origin,
        viewport: { width, height: 800 },
        colorScheme,
        timezoneId: "Europe/Lisbon",
        locale: "en-GB",
      })
      contexts.push(context)
      const page = await context.newPage()
      page.setDefaultTimeout(20_000)
      page.on("pageerror", (error) => void faults.push(String(error.stack)))
      page.on("console", (message) => {
        if (message.type() === "error" && !EXPECTED.some((words) => message.text().startsWith(words))) faults.push(message.text())
      })
      return { page, context }
    },
    setUpToken: begin,
    async setUp() {
      await serveOthers(instance)
      const answer = await fetch(`${origin}/api/private/setup`, {
        method: "POST",
        headers: { "content-type": "application/json", origin },
        body: JSON.stringify({ token: begin(), ...ADA }),
      })
      expect(answer.status).toBe(201)
    },
    async signIn(page, password = ADA.password) {
      await page.goto("/signin")
      await page.getByLabel("Email").fill(ADA.email)
      await page.getByLabel("Password", { exact: true }).fill(password)
      await page.getByRole("button", { name: "Sign in", exact: true }).click()
    },
    async forgetSession(page) {
      // In a blank page, scripts that a test adds would lack what only secure pages have.
      await page.goto("/health")
      await page.context().clearCookies({ name: "sid" })
    },
    async [Symbol.asyncDispose]() {
      for (const context of contexts) await context.close()
      await server.stop(true)
      await instance[Symbol.asyncDispose]()
      expect(faults).toEqual([])
    },
  }
}

/** Presses Tab until the element with this name has the focus. */
export async function tabTo(page: Page, name: string): Promise<void> {
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press("Tab")
    const here = await page.evaluate(() => {
      const element = document.activeElement as HTMLInputElement | null
      return [element?.getAttribute("aria-label"), element?.labels?.[0]?.textContent, element?.textContent].find((text) => text)
    })
    if (here === name) return
  }
  throw new Error(`The Tab key does not reach ${name}`)
}
