import type { BrowserContext, Page, Request } from "playwright-core"
import type { Role } from "../../../src/domain/organization.ts"
import { LISTENING } from "../../../src/http/server.ts"
import { type Answer, type SignInAs, type StartOptions, startInstance, type TestInstance } from "../../kit.ts"
import { openContext } from "../browser.ts"

export interface PageOptions {
  width?: number
  theme?: "light" | "dark"
  /** Cookie of a session. Without it no user is signed in. */
  cookie?: string
  touch?: boolean
}

/** A page of the dashboard and all its faults. */
export interface WatchedPage extends AsyncDisposable {
  page: Page
  context: BrowserContext
  /** Console messages, page errors, content security policy reports, failed requests and requests to other origins. */
  faults: string[]
  /** Error responses of the server with their URLs. */
  refusals: string[]
  /** Opens a path and waits until no request is pending. */
  open(path: string): Promise<void>
}

export interface DashboardStand extends AsyncDisposable {
  instance: TestInstance
  origin: string
  look(looking?: PageOptions): Promise<WatchedPage>
  signIn(as?: SignInAs): Promise<string>
}

/** Height of a window, in pixels like its width. */
export const heightFor = (width: number): number => (width < 768 ? 812 : 900)

/** The clock of an instance stands still, so that its rate limit never refills. */
const SETTINGS = { private_rate: "100000" }

/** Starts a real instance on a socket for pages in a real browser. */
export async function openDashboard(options: StartOptions = {}): Promise<DashboardStand> {
  const instance = await startInstance({ ...options, settings: { ...SETTINGS, ...options.settings } })
  const server = Bun.serve({
    ...LISTENING,
    port: 0,
    hostname: "127.0.0.1",
    fetch: (request, server) => instance.app.fetch(request, server),
  })
  const origin = `http://localhost:${server.port}`
  const contexts: BrowserContext[] = []

  async function look({ width = 1280, theme = "light", cookie, touch = width < 768 }: PageOptions = {}): Promise<WatchedPage> {
    const context = await openContext({
      viewport: { width, height: heightFor(width) },
      colorScheme: theme,
      timezoneId: "Europe/Berlin",
      locale: "en-GB",
      hasTouch: touch,
    })
    contexts.push(context)
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
      // Outdated queries are cancelled on purpose.
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
      for (const context of contexts) await context.close()
      await server.stop(true)
      await instance[Symbol.asyncDispose]()
    },
  }
}

/** A page of a user who is signed in to an instance of its own. */
export interface SignedInPage extends WatchedPage {
  stand: DashboardStand
  instance: TestInstance
  cookie: string
  /** Sends a request for site 1 as the user. */
  ask(method: string, path: string, body?: unknown): Promise<Answer>
}

type SignedInOptions = StartOptions & Omit<PageOptions, "cookie"> & { role?: Role }

/** Starts an instance whose jobs and consumers have run once, and opens a page as one of its users. */
export async function openSignedIn({ role = "owner", ...options }: SignedInOptions = {}): Promise<SignedInPage> {
  const stand = await openDashboard(options)
  const cookie = await stand.signIn({ role })
  await stand.instance.runJobs()
  const looked = await stand.look({ ...options, cookie })
  return {
    ...looked,
    ...{ stand, instance: stand.instance, cookie },
    ask: (method, path, body) => stand.instance.api.send(method, `/api/private/sites/1${path}`, body, undefined, { cookie }),
    async [Symbol.asyncDispose]() {
      await looked[Symbol.asyncDispose]()
      await stand[Symbol.asyncDispose]()
    },
  }
}

/** Waits until a text is on the page, up to a number of milliseconds. */
export const shown = (page: Page, text: string | RegExp, timeout = 30_000): Promise<void> =>
  page.getByText(text).first().waitFor({ timeout })

/** Waits until no dialog is open. */
export const dialogClosed = (page: Page): Promise<void> => page.getByRole("dialog").waitFor({ state: "detached" })

/** Pending requests of each page. */
const open = new WeakMap<Page, Set<Request>>()

/** Tracks the requests of a page for `settled`. Call it before the first request. */
export function watchRequests(page: Page): void {
  const requests = new Set<Request>()
  open.set(page, requests)
  page.on("request", (request) => {
    // An event stream never finishes.
    if (request.resourceType() !== "eventsource") requests.add(request)
  })
  page.on("requestfinished", (request) => requests.delete(request))
  page.on("requestfailed", (request) => requests.delete(request))
}

/** Time between an answer and the query that follows from it. Playwright's own wait takes half a second each time. */
const QUIET_MS = 120

/** Waits until nothing is loading or about to load: no pending request, no busy element, no skeleton. */
export async function settled(page: Page): Promise<void> {
  const requests = open.get(page)
  if (!requests) throw new Error("The requests of this page were not watched")
  const isQuiet = async () => {
    for (const since = performance.now(); performance.now() - since < QUIET_MS; await Bun.sleep(10)) if (requests.size > 0) return false
    return true
  }
  while (!(await isQuiet())) await Bun.sleep(10)
  // A click is drawn one frame later; until then the old page looks finished.
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))))
  await page.waitForFunction(() => !document.querySelector(".skeleton, .progress-line, [aria-busy=true]"))
  if (requests.size > 0) await settled(page)
}

function cookieFor(cookie: string, origin: string) {
  const [name = "", ...value] = cookie.split("=")
  return { name, value: value.join("="), url: origin }
}
