import { expect, setDefaultTimeout, test } from "bun:test"
import { join } from "node:path"
import type { BrowserContext, Page } from "playwright-core"
import { footfall, PROGRAM, type Prepared, prepareSite, serveFootfall } from "../../scripts/instance.ts"
import { openEventReader } from "../../src/store/events/reader.ts"
import { noBrowser, openVisitor } from "../browser/browser.ts"
import { startInstance, type TestInstance, temporaryFolder } from "../kit.ts"
import { longTest } from "../size.ts"
import { dump } from "../store/events/dump.ts"

/** The identity modes from a real browser with the real tracker to the stored visits. */

setDefaultTimeout(40_000)

/** A host whose pages browsers treat as secure, as those of any site with HTTPS: others get no stored id. */
const HOST = "shop.localhost"
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE
const [ROTATING, DEVICE, USER] = [0, 1, 2]

/** Sends a request of the page's host to Footfall. */
type Forward = (request: Request, path: string) => Promise<Response>

/** Serves the pages of a site, whose script and events go to Footfall. */
function servePages(site: string, forward: Forward, script: string) {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname } = new URL(request.url)
      if (pathname === "/js/script.js" || pathname === "/api/event") return forward(request, pathname)
      const html = `<!doctype html><title>${pathname}</title><script defer src="/js/script.js" data-site="${site}" ${script}></script>`
      return new Response(html, { headers: { "content-type": "text/html" } })
    },
  })
  return {
    port: server.port!,
    stop: () => server.stop(true),
  }
}

interface Person {
  page: Page
  context: BrowserContext
  /** Opens a page of the site and waits for its pageview. */
  open(path?: string): Promise<void>
  /** Sends an event and waits for its answer. */
  event(name: string): Promise<void>
  identify(id: string): Promise<void>
  consent(state: "granted" | "denied"): Promise<void>
  leave(): Promise<void>
}

async function openPerson(origin: string, headers?: Record<string, string>): Promise<Person> {
  const context = await openVisitor()
  if (headers) await context.setExtraHTTPHeaders(headers)
  const page = await context.newPage()
  return {
    page,
    context,
    async open(path = "/") {
      const answered = page.waitForResponse((response) => response.url().endsWith("/api/event") && response.status() === 202)
      await page.goto(origin + path)
      await answered
    },
    event: (name) => page.evaluate((name) => new Promise<void>((done) => window.footfall?.(name, { callback: () => done() })), name),
    identify: (id) => page.evaluate((id) => window.footfall?.identify(id), id),
    consent: (state) => page.evaluate((state) => window.footfall?.consent(state), state),
    leave: () => context.close(),
  }
}

interface World extends AsyncDisposable {
  instance: TestInstance
  person(headers?: Record<string, string>): Promise<Person>
  /** The next answers to events, instead of Footfall's. */
  refusals: number[]
  /** Visits as visitor, kind and number of events. */
  visits(): [visitor: number, kind: number, events: number][]
  configure(settings: Record<string, unknown>): Promise<void>
}

async function openWorld(settings: Record<string, unknown>, now = "2026-11-21T12:00:00Z"): Promise<World> {
  const instance = await startInstance({ now })
  const { sites } = instance.app.instance
  const configure = async (changes: Record<string, unknown>) => void (await sites.configure(1, changes))
  await sites.update(1, { hosts: [HOST] })
  await configure({ ...settings, drop_bots: false })
  const refusals: number[] = []
  const pages = servePages(
    instance.site.tracking_id,
    async (request, path) => {
      const refusal = path === "/api/event" ? refusals.shift() : undefined
      if (refusal !== undefined) return new Response(null, { status: refusal })
      const body = request.method === "POST" ? { body: await request.text() } : {}
      return instance.fetch(new Request(`http://localhost${path}`, { method: request.method, headers: request.headers, ...body }))
    },
    'data-consent="180"',
  )
  return {
    instance,
    refusals,
    configure,
    person: (headers) => openPerson(`http://${HOST}:${pages.port}`, headers),
    visits: () => visitsIn(instance.dataDir),
    async [Symbol.asyncDispose]() {
      await pages.stop()
      await instance[Symbol.asyncDispose]()
    },
  }
}

function visitsIn(dataDir: string): [number, number, number][] {
  const reader = openEventReader(join(dataDir, "events.db"), { cacheBytes: 1 << 20 })
  try {
    return dump(reader.snapshot(1)).map(({ visitor, kind, events }) => [visitor, kind, events])
  } finally {
    reader.close()
  }
}

test.skipIf(noBrowser)("identify in the middle of a visit gives the whole visit to the user, who is known on the next day", async () => {
  await using world = await openWorld({ identity_mode: "identified" })
  const ann = await world.person()
  await ann.open()
  expect(world.visits()).toEqual([[0, ROTATING!, 1]])
  await ann.identify("ann")
  await ann.event("Signup")
  await ann.open("/welcome")
  const user = world.visits()[0]![0]
  expect(world.visits()).toEqual([[user, USER!, 3]])
  await ann.leave()

  world.instance.clock.advance(DAY)
  const again = await world.person()
  await again.open()
  await again.identify("ann")
  await again.event("Login")
  expect(world.visits()[1]).toEqual([user, USER!, 2])
  await again.leave()
})

test.skipIf(noBrowser)("a visitor is known by a stored id from consent until it is withdrawn", async () => {
  await using world = await openWorld({ identity_mode: "persistent", persistent_days: 2 })
  const ann = await world.person()
  const cookie = async () => (await ann.context.cookies()).find(({ name }) => name === "footfall_id")?.value
  await ann.open()
  expect([await cookie(), world.visits()]).toEqual([undefined, [[0, ROTATING!, 1]]])

  await ann.consent("granted")
  await ann.event("Agreed")
  const device = world.visits()[0]![0]
  expect(world.visits()).toEqual([[device, DEVICE!, 2]])
  expect(await cookie()).toMatch(/^[0-9a-f]{32}$/)

  world.instance.clock.advance(DAY)
  await ann.open("/tomorrow")
  expect(world.visits()[1]).toEqual([device, DEVICE!, 1])

  // The id is two days old. The browser still sends it, because its own clock has not moved.
  world.instance.clock.advance(DAY)
  await ann.open("/expired")
  expect(await cookie()).toMatch(/^[0-9a-f]{32}$/)
  const [expired, kind] = world.visits()[2]!
  expect(kind).toBe(ROTATING!)
  expect(expired).not.toBe(device)

  await ann.consent("denied")
  expect(await cookie()).toBeUndefined()
  world.instance.clock.advance(DAY)
  await ann.open("/denied")
  expect(world.visits()[3]![1]).toBe(ROTATING!)
  await ann.leave()
})

const longBrowserTest = noBrowser ? test.skip : longTest

longBrowserTest("a browser that sends GPC is never identified, and not counted where the site respects it", async () => {
  for (const identity_mode of ["identified", "persistent"] as const) {
    await using world = await openWorld({ identity_mode, consent_default: "granted" })
    const ann = await world.person({ "sec-gpc": "1" })
    await ann.open()
    await ann.consent("granted")
    await ann.identify("ann")
    await ann.event("Signup")
    expect(world.visits()).toEqual([[0, ROTATING!, 2]])
    await world.configure({ respect_gpc: true })
    await ann.event("Purchase")
    expect(world.visits()).toEqual([[0, ROTATING!, 2]])
    await ann.leave()
  }
})

longBrowserTest("a visit over the end of a salt stays one visit, and the destroyed salt knows its visitor no more", async () => {
  // Ten minutes before midnight in Berlin.
  await using world = await openWorld({ identity_mode: "daily" }, "2026-11-21T22:50:00Z")
  const { app, clock } = world.instance
  const ann = await world.person()
  await ann.open()
  clock.advance(20 * MINUTE)
  await ann.event("After midnight")
  expect(world.visits()).toEqual([[0, ROTATING!, 2]])
  // The salt of the 21st is destroyed while the visit is open.
  for (let step = 0; step < 46; step++) {
    clock.advance(29 * MINUTE)
    await ann.event("Still here")
  }
  clock.advance(29 * MINUTE)
  await app.instance.salts.destroy(clock.now(), (siteId, period) => app.instance.events.forgetVisitors(siteId, period))
  await ann.event("Still here")
  expect(world.visits()).toEqual([[0, ROTATING!, 49]])
  clock.advance(2 * DAY)
  await app.instance.salts.destroy(clock.now(), (siteId, period) => app.instance.events.forgetVisitors(siteId, period))
  await ann.open("/later")
  expect(world.visits()[1]).toEqual([1, ROTATING!, 1])
  await ann.leave()
})

longBrowserTest("a change of the mode links no old data", async () => {
  await using world = await openWorld({ identity_mode: "daily" })
  const ann = await world.person()
  await ann.open()
  await ann.identify("ann")
  await ann.event("Ignored")
  expect(world.visits()).toEqual([[0, ROTATING!, 2]])

  // User ids count from the change on, in the open visit too.
  await world.configure({ identity_mode: "identified" })
  await ann.event("Identified")
  const first = world.visits()[0]![0]
  expect(world.visits()).toEqual([[first, USER!, 3]])

  // Leaving the mode replaces the key, so the same id is another person afterwards.
  await world.configure({ identity_mode: "daily" })
  await world.configure({ identity_mode: "identified" })
  world.instance.clock.advance(DAY)
  await ann.open("/tomorrow")
  await ann.identify("ann")
  await ann.event("Back")
  const [second, kind] = world.visits()[1]!
  expect(kind).toBe(USER!)
  expect(second).not.toBe(first)
  await ann.leave()
})

longBrowserTest("events that arrive late keep their place and their user", async () => {
  await using world = await openWorld({ identity_mode: "identified" })
  const ann = await world.person()
  await ann.open()
  await ann.identify("ann")
  // The tracker sends each of them again.
  world.refusals.push(503, 503)
  await Promise.all([ann.event("First"), ann.event("Second")])
  expect(world.visits().map(([, kind, events]) => [kind, events])).toEqual([[USER!, 3]])
  await ann.leave()
})

longBrowserTest("a killed server splits no visit and loses no identification", async () => {
  using folder = temporaryFolder()
  const site: Prepared = await prepareSite(PROGRAM, folder.path)
  await footfall(PROGRAM, folder.path, "site", "set", String(site.siteId), "--identity-mode", "identified")
  let server = await serveFootfall({ dataDir: folder.path })
  const forward: Forward = async (request, path) => {
    const body = request.method === "POST" ? { body: await request.text() } : {}
    request.headers.delete("host")
    return fetch(server.address + path, { decompress: false, method: request.method, headers: request.headers, ...body }).catch(
      () => new Response(null, { status: 503 }),
    )
  }
  const pages = servePages(site.trackingId, forward, "")
  const ann = await openPerson(`http://shop.example.com:${pages.port}`)
  await ann.open()
  for (const round of [1, 2, 3]) {
    await ann.identify("ann")
    await ann.event(`Before ${round}`)
    await server.kill("SIGKILL")
    const arriving = ann.event(`During ${round}`)
    server = await serveFootfall({ dataDir: folder.path })
    await arriving
  }
  await ann.leave()
  await server.kill("SIGTERM")
  await pages.stop()
  expect(visitsIn(folder.path).map(([, kind, events]) => [kind, events])).toEqual([[USER!, 7]])
})
