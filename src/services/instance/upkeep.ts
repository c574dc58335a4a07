import { statSync } from "node:fs"
import type { Clock } from "../../domain/clock.ts"
import { COLLECT } from "../../domain/limits.ts"
import type { Log } from "../../domain/log.ts"
import type { Site, SiteDirectory } from "../../domain/site.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { MANY_PAGES, SOME_PAGES } from "../../store/events/checkpoint.ts"
import type { EventStore } from "../../store/events/events.ts"
import { StoreFault } from "../../store/events/fault.ts"
import { raw } from "../../store/sql.ts"
import { type BackupTasksOptions, backupTasks } from "../backup/tasks.ts"
import { inBackupThread } from "../backup/thread.ts"
import type { Changes } from "../changes/changes.ts"
import type { DataHooks } from "../erasure/data-hooks.ts"
import type { Erasure } from "../erasure/erasure.ts"
import { retainSite } from "../erasure/retention.ts"
import { cutoffDay as cutoffDayOf, retentionDays } from "../erasure/retention-cutoffs.ts"
import type { VisibleImports } from "../imports/visible-imports.ts"
import type { Jobs } from "../jobs/jobs.ts"
import type { Outbox } from "../jobs/outbox.ts"
import type { Schedules } from "../jobs/schedules.ts"
import { placesIn } from "../runtime/data-folder.ts"
import { ExitFault } from "../runtime/exit.ts"
import { canWrite, diskSpace, isLow } from "../runtime/files.ts"
import type { Health } from "../runtime/health.ts"
import type { CatalogLease } from "../runtime/remote-catalog.ts"
import type { StoreStates } from "../runtime/store-states.ts"
import type { Exclusive, Task } from "../runtime/tasks.ts"
import type { StoredSales } from "../sales/sales.ts"
import type { InstanceSettings } from "../settings/settings.ts"
import type { ShippedEvents } from "../shipping/clickhouse.ts"
import type { ClaimedHost } from "../shipping/extent-of-nodes.ts"
import type { ShippingState } from "../shipping/shipping.ts"
import type { SaltStore } from "../sites/site-keys.ts"
import type { Sites } from "../sites/sites.ts"
import type { StoredTallies } from "../tallies/tallies.ts"
import { firstStoredMinute } from "./ingestion.ts"
import type { MaintenanceMode } from "./maintenance.ts"

type UpkeptEvents = Pick<ShippedEvents, "shipping" | "hidden" | "tallies" | "findSpans" | "findHosts" | "followRemovals">

export interface UpkeepOptions extends BackupTasksOptions {
  clock: Clock
  log: Log
  catalog: Catalog
  events: EventStore
  tallies: Pick<StoredTallies, "forgetOld">
  imports: Pick<VisibleImports, "retain">
  /** Returns all sites except deleted ones. */
  allSites(): Promise<readonly Site[]>
  sites: Pick<Sites, "directory">
  salts: Pick<SaltStore, "destroy" | "lost">
  states: StoreStates
  lease: CatalogLease | undefined
  changes: Changes | undefined
  shipped: UpkeptEvents | undefined
  /** The row tables of plugins on a server. */
  rowServer: Catalog | undefined
  storedSales: Pick<StoredSales, "send">
  exclusive: Exclusive
  settings: Pick<InstanceSettings, "get">
  /** Hooks of areas, which store data derived from visits. */
  hooks: Pick<DataHooks, "onRetention">
  backupWorkerUrl: string
}

const MINUTE = 60
const DAY_MS = 86_400_000
/** A longer write-ahead log is truncated after it was moved into the file; a shorter one keeps its size. */
const LONG_WAL = 64 << 20
/** The same for the catalog, whose log is moved only then and every ten minutes, because that waits for the disk. */
const LONG_CATALOG_WAL = 1 << 20

/** Returns the recurring tasks of an instance. Each task may run late or twice without harm. */
export function upkeepTasks(options: UpkeepOptions): Task[] {
  const tasks: Task[] = [
    { name: "checkpoint", every: 1, run: () => checkpoint(options) },
    ...(options.catalog.remote ? [] : [{ name: "checkpoint-catalog", every: 10 * MINUTE, run: () => options.catalog.checkpoint() }]),
    { name: "renew-lease", every: 5, run: () => endsWith(options, () => options.lease?.renew()) },
    { name: "watch-lease", every: 1, run: () => endsWith(options, () => options.lease?.watch()) },
    { name: "follow-changes", every: 1, run: async () => options.changes?.poll() },
    { name: "probe-disk", every: 2, run: async () => options.states.probe(() => canWrite(options.dataDir, 1 << 20)) },
    { name: "watch-disk", every: 30, run: () => watchDisk(options) },
    { name: "seal", every: MINUTE, run: () => options.events.seal(options.clock.now()) },
    { name: "merge", every: 10 * MINUTE, run: () => merge(options) },
    { name: "return-free-pages", every: MINUTE, run: () => options.events.returnFreePages() },
    { name: "destroy-salts", every: MINUTE, run: () => destroySalts(options) },
    ...(options.changes ? [{ name: "forget-lost-periods", every: 10 * MINUTE, run: () => forgetLostPeriods(options) }] : []),
    ...(options.shipped ? shippingTasks(options, options.shipped) : []),
    ...(options.rowServer ? [{ name: "send-sales", every: 5, run: () => options.storedSales.send() }] : []),
    { name: "forget-user-ids", every: MINUTE, run: () => forgetUserIds(options) },
    { name: "retain", every: MINUTE, run: (signal) => retain(options, signal) },
    ...backupTasks(options),
    { name: "forget-days", every: 10 * MINUTE, run: () => forgetDays(options) },
    { name: "check-integrity", every: 10 * MINUTE, run: () => checkWeekly(options) },
  ]
  return tasks.map(({ run, ...task }) => ({ ...task, run: (signal) => run(signal).catch((error) => reportFault(error, options)) }))
}

/** Records the fault of a task and rethrows it. A failed fsync ends the process even if it occurs in a task and not in the event buffer. */
function reportFault(error: unknown, { states }: UpkeepOptions): never {
  if (error instanceof StoreFault && (error.kind === "fsync" || error.kind === "io")) states.hinder(error.kind, true)
  if (error instanceof StoreFault && error.kind === "damaged") states.damaged(error.message)
  throw error
}

/** Reads every page of both stores, after a crash and once a week in full. Damage starts the state `storage_damaged`. */
export async function checkStores(
  { dataDir, catalog, states, backupWorkerUrl }: UpkeepOptions,
  { full }: { full: boolean },
): Promise<void> {
  const examined = await inBackupThread<"examine">(backupWorkerUrl, { do: "examine", path: placesIn(dataDir).events, full })
  const ofCatalog = catalog.remote ? [] : await catalog.all<object>(raw("pragma quick_check(1)"))
  const faults = [...examined.faults, ...ofCatalog.map((row) => String(Object.values(row)[0])).filter((line) => line !== "ok")]
  if (faults.length > 0) states.damaged(faults.join("; "))
}

async function checkpoint({ dataDir, catalog, events }: UpkeepOptions): Promise<void> {
  const { all, left } = events.logPages()
  const logBytes = (store: string) => statSync(`${store}-wal`, { throwIfNoEntry: false })?.size ?? 0
  const places = placesIn(dataDir)
  if (logBytes(places.events) > LONG_WAL) await events.emptyLog()
  else if (all > MANY_PAGES && left > 0) await events.moveLog("all")
  else if (left > SOME_PAGES) await events.moveLog("most")
  if (!catalog.remote && logBytes(places.catalog) > LONG_CATALOG_WAL) await catalog.checkpoint()
}

/** Runs work on the lease, and ends the process when the lease is lost, because another node may then write to the catalog. */
async function endsWith({ states }: UpkeepOptions, work: () => Promise<void> | void | undefined): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (error instanceof ExitFault) states.end(error)
    else throw error
  }
}

async function merge({ events, clock }: UpkeepOptions): Promise<void> {
  await events.merge(clock.now())
  await events.dropRetired(clock.now())
}

async function destroySalts({ salts, events, clock }: UpkeepOptions): Promise<void> {
  await salts.destroy(clock.now(), (siteId, period) => events.forgetVisitors(siteId, period))
}

/** Destroys the visitors of periods whose salts another node has destroyed, also while this node was stopped. */
export async function forgetLostPeriods({ salts, events }: Pick<UpkeepOptions, "salts" | "events">): Promise<void> {
  for (const { siteId, period } of await salts.lost(events.visitorPeriods())) await events.forgetVisitors(siteId, period)
}

/** Deletes the user ids of sites that no longer store them. Those of a deleted site stay until it is purged. */
async function forgetUserIds({ events, sites }: UpkeepOptions): Promise<void> {
  const stores = (siteId: number) => sites.directory.byId(siteId)?.settings.store_user_ids ?? true
  if ((await events.forgetUserIds(stores)) > 0) await events.emptyLog()
}

/** Removes visits beyond the retention of each site, once in the site's night. */
async function retain(options: UpkeepOptions, signal: AbortSignal): Promise<void> {
  const { allSites, slots, clock, exclusive, hooks, log } = options
  for (const site of await allSites()) {
    const days = retentionDays(site, options.settings)
    if (days === null || signal.aborted) continue
    const today = cutoffDayOf(site, 0, clock.now())
    const cutoffDay = today.subtract({ days })
    await slots.once({ name: "retain-visits", due: today.toString(), siteId: site.id, onDisk: true }, () =>
      exclusive.run(async () => {
        const { visits, imported_totals } = await retainSite(options, site, cutoffDay.toString())
        log.info("retention ran", {
          site_id: site.id,
          visits_removed: visits,
          totals_removed: imported_totals,
          ...(await hooks.onRetention(site.id, cutoffDay.toString())),
        })
      }),
    )
  }
}

/** Removes counts of drops that are older than the days for which they are shown. */
async function forgetDays({ clock, tallies, slots }: UpkeepOptions): Promise<void> {
  const day = (at: number) => new Date(at).toISOString().slice(0, 10)
  // One day more, because the days of sites begin at different times.
  const before = { day: day(clock.now() - (COLLECT.dropDays + 1) * DAY_MS), minute: firstStoredMinute(clock.now()) }
  await slots.once({ name: "forget-days", due: day(clock.now()), onDisk: true }, () => tallies.forgetOld(before))
}

async function checkWeekly(options: UpkeepOptions): Promise<void> {
  const week = Math.floor(options.clock.now() / (7 * DAY_MS))
  await options.slots.once({ name: "check-integrity", due: `week ${week}`, onDisk: true }, () => checkStores(options, { full: true }))
}

async function watchDisk({ dataDir, health, alarms }: UpkeepOptions): Promise<void> {
  const { freeBytes: free_bytes, totalBytes: total_bytes } = diskSpace(dataDir)
  const wasLow = health.has("storage_low")
  if (isLow({ freeBytes: free_bytes, totalBytes: total_bytes })) {
    health.enter("storage_low")
    if (!wasLow) await alarms.raise("storage_low", { free_bytes, total_bytes })
  } else {
    health.leave("storage_low")
    await alarms.end("storage_low")
  }
}

/** Names of the tasks that the start does not wait for the time of. */
export const FIND_SPANS = "find-data-spans"
export const FIND_HOSTS = "find-disputed-hosts"

/** Lists the hosts that several organizations claim, with each site that does. */
const disputedHosts = (directory: SiteDirectory): ClaimedHost[] =>
  directory.disputes().flatMap(({ host, claims }) => claims.map(({ site }) => ({ siteId: site.id, host })))

const shippingTasks = (
  { health, exclusive, allSites, sites }: UpkeepOptions,
  { shipping, hidden, tallies, followRemovals, findSpans, findHosts }: UpkeptEvents,
): Task[] => [
  { name: "watch-shipping", every: 1, run: async () => watchShipping(health, shipping.state) },
  { name: "drop-shipped-visits", every: 10 * MINUTE, run: shipping.dropShipped },
  { name: "send-tallies", every: 5, run: tallies.send },
  { name: "follow-removals", every: 1, run: () => exclusive.run(followRemovals) },
  { name: "delete-hidden-visits", every: 60 * MINUTE, isShared: true, run: hidden.delete },
  { name: FIND_HOSTS, every: 10 * MINUTE, run: () => findHosts(disputedHosts(sites.directory)) },
  { name: FIND_SPANS, every: MINUTE, run: async () => findSpans((await allSites()).map(({ id }) => id)) },
]

function watchShipping(health: Health, state: ShippingState): void {
  const set = (code: "spooling" | "spool_full", isOn: boolean) => (isOn ? health.enter(code) : health.leave(code))
  set("spooling", state === "spooling")
  set("spool_full", state === "full")
}

interface CoreJobsOptions {
  jobs: Jobs
  schedules: Schedules
  outbox: Outbox
  sites: Pick<Sites, "purge">
  erasure: Erasure
  clock: Pick<Clock, "now">
  log: Log
}

/** Defines the scheduled jobs of the core. Work that recurs every few seconds is upkeep instead. */
export function defineCoreJobs({ jobs, schedules, outbox, sites, erasure, clock, log }: CoreJobsOptions): void {
  jobs.define("core.purge-sites", {
    interrupted: "resume",
    attempts: 3,
    run: async () => {
      const purged = await sites.purge(clock.now(), (siteId) => erasure.site(siteId))
      for (const site_id of purged) log.info("a deleted site was purged", { site_id })
    },
  })
  schedules.declare("core.purge-sites", { cron: "20 2 * * *" })

  jobs.define("core.forget-old", {
    interrupted: "resume",
    attempts: 3,
    run: async () => {
      await jobs.forgetOld()
      await outbox.forgetOld()
    },
  })
  schedules.declare("core.forget-old", { cron: "40 2 * * *" })
}

/** Returns the tasks that start due jobs and deliver product events. */
export const jobTasks = ({
  schedules,
  jobs,
  outbox,
  maintenance,
}: Pick<CoreJobsOptions, "schedules" | "jobs" | "outbox"> & { maintenance: Pick<MaintenanceMode, "current"> }): Task[] => [
  {
    name: "jobs",
    every: 1,
    run: async () => {
      // No jobs start during maintenance. Those that become due run afterwards.
      if (maintenance.current().enabled) return
      await schedules.tick()
      await jobs.tick()
    },
  },
  // Each commit triggers delivery. This retries failed deliveries, and serves areas that were enabled meanwhile.
  { name: "product-events", every: 5, run: () => outbox.deliver() },
]
