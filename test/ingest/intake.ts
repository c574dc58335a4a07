import { join } from "node:path"
import { DEFAULT_SETTINGS, type Site, type SiteSettings } from "../../src/domain/site.ts"
import { type Collector, type CollectorOptions, createCollector } from "../../src/ingest/collect/collect.ts"
import { createSiteDirectory, type KeptDirectory } from "../../src/services/sites/directory.ts"
import { type EventStore, openEventStore } from "../../src/store/events/events.ts"
import { openEventReader } from "../../src/store/events/reader.ts"
import { fixedClock, temporaryFolder } from "../kit.ts"
import { type DumpedVisit, dump } from "../store/events/dump.ts"

/** An ordinary desktop browser. */
export const BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:120.0) Gecko/20100101 Firefox/120.0"
export const TRACKING_ID = "11111111-1111-4111-8111-111111111111"
/** In the middle of a UTC day. */
export const NOON = "2026-11-21T12:00:00Z"

type SiteChanges = Partial<Omit<Site, "settings">> & { settings?: Partial<SiteSettings> }

export const siteOf = ({ settings, ...more }: SiteChanges): Site => ({
  id: 1,
  organization_id: 1,
  name: "Example",
  hosts: ["example.com"],
  hosts_listed_at: {},
  timezone: "UTC",
  retention_days: null,
  revenue_currency: "EUR",
  tracking_id: TRACKING_ID,
  identity_history: [],
  created_at: 0,
  updated_at: 0,
  version: 1,
  ...more,
  settings: { ...DEFAULT_SETTINGS, ...settings },
})

interface Sent {
  headers?: Record<string, string>
  peer?: string
  url?: string
}

/** Ingestion over a real event store in a temporary folder, with the clock at noon. */
export interface Intake extends Disposable {
  clock: ReturnType<typeof fixedClock>
  directory: KeptDirectory
  store: EventStore
  collector: Collector
  /** Sends a payload like the tracker. Default fields: a pageview of example.com. */
  send(body?: Record<string, unknown> | string, sent?: Sent): Promise<{ status: number; headers: Record<string, string>; body: string }>
  visits(siteId?: number): DumpedVisit[]
  /** Drop counts of the day, as `reason entry`. */
  drops(siteId?: number): Record<string, number>
}

export function startIntake(site: SiteChanges = {}, options: Partial<CollectorOptions> = {}): Intake {
  const folder = temporaryFolder()
  const clock = fixedClock(NOON)
  const path = join(folder.path, "events.db")
  const store = openEventStore(path, { now: clock.now() })
  const directory = createSiteDirectory(store)
  directory.put(siteOf(site))
  const salts = new Map<string, Uint8Array>()
  const made = (name: string) => salts.get(name) ?? salts.set(name, crypto.getRandomValues(new Uint8Array(32))).get(name)!
  const collector = createCollector({
    directory,
    store,
    salts: { get: (siteId, { name }) => made(`${siteId} ${name}`) },
    identityKeys: { identityKey: async (siteId) => made(`${siteId}`) },
    clock,
    random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
    trustedProxies: ["127.0.0.0/8"],
    limits: { visitorEventsPerMinute: 600, siteEventsPerSecond: 1_000, siteBurst: 10_000, instanceEventsPerSecond: 20_000 },
    ...options,
  })
  const view = { n: "pageview", u: "https://example.com/", d: TRACKING_ID }
  return {
    clock,
    directory,
    store,
    collector,
    send: (body = {}, { headers = {}, peer = "9.9.9.9", url = "http://stats.example/api/event" } = {}) =>
      collector.collect({
        method: "POST",
        url,
        headers: new Headers({ "user-agent": BROWSER, ...headers }),
        body: new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify({ ...view, ...body })),
        peer,
      }),
    visits(siteId = 1) {
      const reader = openEventReader(path, { cacheBytes: 1 << 20 })
      try {
        return dump(reader.snapshot(siteId))
      } finally {
        reader.close()
      }
    },
    drops(siteId = 1) {
      collector.flush()
      const rows = store.drops(siteId, "2026-01-01", "2026-12-31")
      return Object.fromEntries(rows.map(({ reason, entry, count }) => [`${reason} ${entry}`.trim(), count]))
    },
    [Symbol.dispose]() {
      collector.stop()
      store.close()
      folder[Symbol.dispose]()
    },
  }
}
