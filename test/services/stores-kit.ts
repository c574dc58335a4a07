import type { NewEvent } from "../../src/domain/event.ts"
import type { Log } from "../../src/domain/log.ts"
import { TRAITS, type VisitTraits } from "../../src/domain/visit.ts"
import { type Instance, type InstanceOptions, openInstance } from "../../src/services/instance/instance.ts"
import { fixedClock, WORKERS } from "../kit.ts"

export const NOW = "2026-11-21T12:00:00Z"
export const backupWorkerUrl = WORKERS.backup
export const quiet: Log = { debug() {}, info() {}, warn() {}, error() {} }

export const optionsFor = (dataDir: string, more: Partial<InstanceOptions> = {}): InstanceOptions => ({
  dataDir,
  version: "1.0.0",
  clock: fixedClock(NOW),
  log: quiet,
  random: (bytes) => crypto.getRandomValues(new Uint8Array(bytes)),
  secretKey: undefined,
  remoteCatalog: undefined,
  defaults: { timezone: "UTC", retention_days: null, revenue_currency: "EUR" },
  maxSites: 10,
  plugins: [],
  providers: [],
  outbound: { enabled: false, allowHttp: false, ports: [443], privateRanges: [] },
  accounts: {
    hashes: { workerUrl: WORKERS.hash, niceness: 0, atOnce: 4 },
    signIn: { perMinute: 20, failuresPerHour: 50, failuresBeforeDelay: 10, delaySeconds: 10, maxDelaySeconds: 900 },
    smtp: undefined,
    oidc: undefined,
  },
  publicUrl: () => "http://localhost:8080",
  keep: { daily: 7, weekly: 4 },
  backups: { time: "03:00", setBy: undefined },
  backupWorkerUrl,
  backUpBeforeMigrating: true,
  ...more,
})

/** Opens an instance without the web server: stores, services and one site with the id 1. */
export async function openWithSite(dataDir: string, more: Partial<InstanceOptions> = {}): Promise<Instance & AsyncDisposable> {
  const instance = await openInstance(optionsFor(dataDir, more))
  if ((await instance.organizations.list()).length === 0) await instance.organizations.create({ name: "Shop" })
  if ((await instance.allSites()).length === 0) await instance.sites.create(1, { name: "Shop", hosts: ["shop.example"] })
  let isOpen = true
  const close = async () => {
    if (isOpen) await instance.close()
    isOpen = false
  }
  return { ...instance, close, [Symbol.asyncDispose]: close }
}

const traits = Object.fromEntries(TRAITS.map((name) => [name, ""])) as Record<keyof VisitTraits, string>

/** Stores one pageview of a new visitor. */
export function recordView(instance: Pick<Instance, "events">, visitor: number, at: number, page = "/"): void {
  const event: NewEvent = { at, name: "pageview", page, hostname: "shop.example", title: "", interactive: true, props: [] }
  const day = new Date(at).toISOString().slice(0, 10)
  instance.events.write(at, (writer) => {
    const ordinal = writer.visitor(1, day, { high: visitor, low: 1 })
    const visit = writer.openVisit(1, { rotating: ordinal, visitor: ordinal, visitorKind: "rotating", traits }, day)
    writer.add(1, visit, event, day)
  })
}
