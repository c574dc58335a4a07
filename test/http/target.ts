import { join } from "node:path"
import { createServer, LISTENING } from "../../src/http/server.ts"
import { createCollector } from "../../src/ingest/collect.ts"
import { openInstance } from "../../src/services/instance.ts"
import { openEventReader } from "../../src/store/events/reader.ts"
import { fixedClock, temporaryFolder } from "../kit.ts"

const quiet = { debug() {}, info() {}, warn() {}, error: (m: string, f: unknown) => console.error(m, f) }

export type Target = Awaited<ReturnType<typeof openTarget>>

/** A server over real stores with one site, a second one, and keys of every kind the tests ask with. */
export async function openTarget(settings: { api_rate_limit?: number } = {}) {
  const folder = temporaryFolder()
  const still = fixedClock("2026-11-21T12:00:00Z")
  const clock = { ...still, monotonic: () => performance.now() }
  const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes))
  const instance = await openInstance({
    dataDir: folder.path,
    version: "0.1.0",
    clock,
    log: quiet,
    random,
    secretKey: undefined,
    remoteCatalog: undefined,
    defaults: { timezone: "UTC", retention_days: null, revenue_currency: "USD" } as never,
    maxSites: 10,
    keep: { daily: 1, weekly: 0 },
    backupWorkerUrl: "",
    backUpBeforeMigrating: false,
  })
  const collector = createCollector({
    directory: instance.sites.directory,
    store: instance.events,
    salts: instance.salts,
    identityKeys: instance.identityKeys,
    clock,
    random,
    trustedProxies: ["127.0.0.0/8"],
    limits: { visitorPerMinute: 0, sitePerSecond: 0, instancePerSecond: 0 } as never,
    onError: (error) => console.error(error),
  })
  const org = await instance.organizations.create({ name: "Org" })
  const site = await instance.sites.create(org.id, { name: "Shop", hosts: ["shop.example"] })
  const second = await instance.sites.create(org.id, { name: "Other", hosts: ["other.example"] })
  const make = async (scopes: string[], site_ids: number[] | null = null) =>
    (await instance.keys.create(org.id, { name: scopes.join(), scopes, site_ids })).secret
  const keys = {
    stats: await make(["stats:read"]),
    events: await make(["events:write"]),
    all: await make(["stats:read", "events:write"]),
    elsewhere: await make(["stats:read", "events:write"], [second.id]),
  }
  const unknownKey = `ff_AAAAAAAA_${"A".repeat(49)}`
  const server = createServer({
    baseUrl: "",
    serverName: "footfall",
    hsts: true,
    collectPath: "/x/collect",
    log: quiet,
    now: clock.now,
    apiRateLimit: settings.api_rate_limit ?? 600,
    health: instance.health,
    collector,
    keys: instance.keys,
    sites: instance.sites,
  })
  const listening = Bun.serve({ ...LISTENING, port: 0, hostname: "127.0.0.1", fetch: (request, bun) => server.fetch(request, bun) })
  const reader = openEventReader(join(folder.path, "events.db"), { cacheBytes: 1 << 20 })
  const target = {
    url: `http://127.0.0.1:${listening.port}`,
    port: listening.port!,
    baseUrl: "",
    site,
    keys,
    unknownKey,
    clock,
    health: instance.health,
    browser: {
      "content-type": "text/plain",
      "user-agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
    },
    async pageviews() {
      return reader.snapshot(site.id).parts.reduce((sum, part) => sum + part.visit("pageviews").reduce((a, b) => a + b, 0), 0)
    },
    async close() {
      listening.stop(true)
      collector.stop()
      reader.close()
      await instance.close()
      folder[Symbol.dispose]()
    },
    [Symbol.asyncDispose]: () => target.close(),
  }
  return target
}

export const eventOf = (path: string) => ({ name: "pageview", url: `https://shop.example${path}` })
