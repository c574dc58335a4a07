import type { Browser, BrowserContext, Page, Request } from "playwright-core"
import { LISTENING } from "../../../src/http/server.ts"
import { type SignInAs, type StartOptions, startInstance, type TestInstance } from "../../kit.ts"

export interface Looking {
  width?: number
  theme?: "light" | "dark"
  /** The cookie of a session; nobody is signed in without it. */
  cookie?: string
  touch?: boolean
}

/** A page of the dashboard, and all that went wrong in it. */
export interface Watched extends AsyncDisposable {
  page: Page
  context: BrowserContext
  /** Console messages, page errors, reports of the content policy, failed requests and those that left the origin. */
  faults: string[]
  /** Answers of the server that were refusals, with their addresses. */
  refusals: string[]
  /** Opens a path and waits until nothing is asked any more. */
  open(path: string): Promise<void>
}

export interface DashboardStand extends AsyncDisposable {
  instance: TestInstance
  origin: string
  look(looking?: Looking): Promise<Watched>
  signIn(as?: SignInAs): Promise<string>
}

/** The real instance on a socket, for pages in a real browser. */
export async function openDashboard(browser: Browser, options: StartOptions = {}): Promise<DashboardStand> {
  const instance = await startInstance(options)
  const server = Bun.serve({
    ...LISTENING,
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, server) => instance.app.fetch(request, server),
  })
  const origin = `http://localhost:${server.port}`

  async function look({ width = 1280, theme = "light", cookie, touch = width < 768 }: Looking = {}): Promise<Watched> {
    const context = await browser.newContext({
      viewport: { width, height: width < 768 ? 812 : 900 },
      colorScheme: theme,
      timezoneId: "Europe/Berlin",
      locale: "en-GB",
      hasTouch: touch,
    })
    if (cookie) await context.addCookies([cookieFor(cookie, origin)])
    const page = await context.newPage()
    watchRequests(page)
    const faults: string[] = []
    const refusals: string[] = []
    page.on("console", (message) => {
      if (["error", "warning"].includes(message.type())) faults.push(`console: ${message.text()}`)
    })
    page.on("pageerror", (error) => faults.push(`page: ${error.stack}`))
    page.on("requestfailed", (request) => {
      // Overtaken questions are cut off on purpose.
      if (request.failure()?.errorText !== "net::ERR_ABORTED") faults.push(`request: ${request.url()} ${request.failure()?.errorText}`)
    })
    page.on("request", (request) => {
      const url = new URL(request.url())
      if (url.origin !== origin && !["data:", "blob:"].includes(url.protocol)) faults.push(`outside: ${request.url()}`)
    })
    page.on("response", (response) => {
      if (response.status() >= 400) refusals.push(`${response.status()} ${new URL(response.url()).pathname}`)
    })
    return {
      page,
      context,
      faults,
      refusals,
      async open(path) {
        await page.goto(origin + path)
        await settled(page)
      },
      [Symbol.asyncDispose]: () => context.close(),
    }
  }

  return {
    instance,
    origin,
    look,
    signIn: (as = { role: "owner" }) => instance.signIn(as),
    async [Symbol.asyncDispose]() {
      await server.stop(true)
      await instance[Symbol.asyncDispose]()
    },
  }
}

/** What a page has asked for and not yet got. */
const open = new WeakMap<Page, Set<Request>>()

/** Before the page asks for anything: `settled` needs it. */
export function watchRequests(page: Page): void {
  const requests = new Set<Request>()
  open.set(page, requests)
  page.on("request", (request) => {
    // A line that stays open is answered as long as it lives.
    if (request.resourceType() !== "eventsource") requests.add(request)
  })
  page.on("requestfinished", (request) => requests.delete(request))
  page.on("requestfailed", (request) => requests.delete(request))
}

/** From an answer to the question that follows from it; playwright itself would wait half a second each time. */
const QUIET_MS = 120

/** Nothing is loading, and nothing is about to: no open request, no busy part, no skeleton. */
export async function settled(page: Page): Promise<void> {
  const requests = open.get(page)
  if (!requests) throw new Error("The requests of this page were not watched")
  const isQuiet = async () => {
    for (const since = performance.now(); performance.now() - since < QUIET_MS; await Bun.sleep(10)) if (requests.size > 0) return false
    return true
  }
  while (!(await isQuiet())) await Bun.sleep(10)
  // A click is drawn a frame later; until then the old page looks finished.
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))
  await page.waitForFunction(() => !document.querySelector(".skeleton, .progress-line, [aria-busy=true]"))
  if (requests.size > 0) await settled(page)
}

function cookieFor(cookie: string, origin: string) {
  const [name = "", ...value] = cookie.split("=")
  return { name, value: value.join("="), url: origin }
}
