import type { Server } from "bun"
import type { BrowserContext, Page } from "playwright-core"
import { trackerHandlers } from "../../src/http/tracker.ts"
import { openVisitor } from "../browser/browser.ts"

/** An event as the tracker sent it, with short keys, and how it was sent. */
export interface Sent {
  body: Record<string, unknown>
  /** Host of the page, from the `Origin` header. */
  host: string
  method: string
  type: string | null
  /** True if sent with `sendBeacon`, false if sent with `fetch`. */
  beacon: boolean
}

/** The next response of the collect address. Default status: 202. */
export interface NextAnswer {
  status: number
  headers?: Record<string, string>
}

export interface VisitOptions {
  /** Host of the page. Default: a new one for each visit. */
  host?: string
  path?: string
  /** Attributes of the script element. `data-site="test"` is added if none of them names a site. */
  attributes?: string
  script?: string
  body?: string
  head?: string
  /** Runs in the page before any other script. */
  before?: () => void
  /** Stops the clock; time advances only through `page.clock`. */
  frozen?: boolean
  automated?: boolean
}

export interface Visit extends AsyncDisposable {
  page: Page
  context: BrowserContext
  host: string
  origin: string
  /** Events sent by this page's tracker, in order of arrival. */
  sent: Sent[]
  /** Waits until this many events have arrived and returns their payloads. */
  events(count: number): Promise<Record<string, unknown>[]>
  /** Returns the names of all events once every pending request has arrived. */
  names(): Promise<unknown[]>
}

export interface Stand extends AsyncDisposable {
  port: number
  statsPort: number
  /** Requests that the server received, except those for scripts. */
  sent: Sent[]
  answers: NextAnswer[]
  visit(options?: VisitOptions): Promise<Visit>
}

/** Serves pages of any host on one port and the server's origin on another: the tracker scripts as the product serves them, and a collect address that records events. */
export function openStand(): Stand {
  const pages = new Map<string, string>()
  const sent: Sent[] = []
  const answers: NextAnswer[] = []
  const waiting = new Set<() => void>()
  const site = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => documentOf(request, pages) })
  const scripts = trackerHandlers({
    baseUrl: "",
    collectPath: undefined,
    scriptPath: undefined,
    headers: { "access-control-allow-origin": "*" },
  })
  const stats = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request, server) {
      const handler = scripts(new URL(request.url).pathname)
      if (handler) return handler(request, { requestIP: () => server.requestIP(request) })
      sent.push(await sentBy(request))
      for (const look of waiting) look()
      const { status, headers } = answers.shift() ?? { status: 202 }
      return new Response("ok", { status, headers: { ...OPEN, ...headers } })
    },
  })
  let visits = 0
  let shared: Promise<Page> | undefined

  async function visit(options: VisitOptions = {}): Promise<Visit> {
    const host = options.host ?? `visit${++visits}.example`
    const page = isPlain(options) ? await sharedPage() : await ownPage(options)
    pages.set(host, documentFor(options, stats))
    const first = sent.length
    const own = () => sent.slice(first).filter((event) => event.host === host)
    const origin = `http://${host}:${site.port}`
    await page.goto(origin + (options.path ?? "/"))
    return {
      page,
      context: page.context(),
      host,
      origin,
      get sent() {
        return own()
      },
      events: async (count) => {
        await until(
          () => own().length >= count,
          `${count} events`,
          () => own().map(({ body }) => body.n),
        )
        return own().map(({ body }) => body)
      },
      async names() {
        // Views of single-page navigation are sent after 100 ms.
        await Bun.sleep(150)
        await page.evaluate(() => window.footfall?.("last"))
        await until(
          () => own().some(({ body }) => body.n === "last"),
          "the last event",
          () => own().map(({ body }) => body.n),
        )
        return own().flatMap(({ body }) => (body.n === "last" ? [] : [body.n]))
      },
      async [Symbol.asyncDispose]() {
        if (!isPlain(options)) await page.context().close()
      },
    }
  }

  function sharedPage(): Promise<Page> {
    shared ??= ownPage({})
    return shared
  }

  function until(holds: () => boolean, wanted: string, found: () => unknown): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = () => {
        waiting.delete(look)
        clearTimeout(timer)
      }
      const look = () => {
        if (!holds()) return
        end()
        resolve()
      }
      const timer = setTimeout(() => {
        end()
        reject(new Error(`Waited for ${wanted}, got ${JSON.stringify(found())}`))
      }, 5_000)
      waiting.add(look)
      look()
    })
  }

  return {
    port: site.port!,
    statsPort: stats.port!,
    sent,
    answers,
    visit,
    async [Symbol.asyncDispose]() {
      await site.stop(true)
      await stats.stop(true)
    },
  }
}

/** Opening a page is the expensive part of a visit. Each host is an origin of its own, so ordinary visits share a page. */
const isPlain = ({ before, frozen, automated }: VisitOptions): boolean => !before && !frozen && !automated

async function ownPage(options: VisitOptions): Promise<Page> {
  const page = await (await openVisitor(options)).newPage()
  if (options.before) await page.addInitScript(options.before)
  await page.addInitScript(markBeacons)
  if (options.frozen) {
    await page.clock.install({ time: 1_000_000 })
    await page.clock.pauseAt(1_060_000)
  }
  return page
}

/** Marks beacons in the URL, because they are otherwise indistinguishable from other requests. */
function markBeacons(): void {
  const { sendBeacon } = Navigator.prototype
  Navigator.prototype.sendBeacon = function (url, body) {
    return sendBeacon.call(this, `${url}?beacon`, body)
  }
}

const OPEN = { "access-control-allow-origin": "*", "access-control-expose-headers": "retry-after" }

async function sentBy(request: Request): Promise<Sent> {
  const text = await request.text()
  return {
    body: text === "" ? {} : JSON.parse(text),
    host: new URL(request.headers.get("origin") ?? "http://nobody").hostname,
    method: request.method,
    type: request.headers.get("content-type"),
    beacon: new URL(request.url).searchParams.has("beacon"),
  }
}

function documentOf(request: Request, pages: ReadonlyMap<string, string>): Response {
  const { hostname, pathname } = new URL(request.url)
  if (pathname === "/favicon.ico") return new Response(null, { status: 204 })
  return new Response(pages.get(hostname) ?? "<!doctype html><title>Elsewhere</title>", { headers: { "content-type": "text/html" } })
}

function documentFor({ attributes = "", script = "/js/script.js", head = "", body = "" }: VisitOptions, stats: Server<undefined>): string {
  const named = /data-(site|domain|website-id|goatcounter)|pa-/.test(attributes + script) ? attributes : `data-site="test" ${attributes}`
  const element = `<script defer src="http://stats.example:${stats.port}${script}" ${named}></script>`
  return `<!doctype html><title>First</title>${head}${element}<body>${body}</body>`
}
