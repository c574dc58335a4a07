import { statSync } from "node:fs"
import type { Clock } from "../../domain/clock.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import {
  type CatalogTableUsage,
  deleteStorageDays,
  listCatalogUsage,
  listFirstStorageDays,
  putStorageDay,
  type StorageDay,
} from "../../store/catalog/instance-lists.ts"
import type { SegmentUsage, TableUsage } from "../../store/events/tables/usage.ts"
import { inBackupThread } from "../backup/thread.ts"
import type { JobSlots } from "../jobs/schedules.ts"
import { placesIn } from "../runtime/data-folder.ts"
import { diskSpace } from "../runtime/files.ts"
import type { Task } from "../runtime/tasks.ts"

/** Size of a store and of its tables. */
interface StoreReport<Table> {
  bytes: number
  wal_bytes: number
  /** Null until the size was measured on two days. */
  bytes_per_day: number | null
  tables: Table[]
}

export interface StorageReport {
  /** Null when the catalog is on a server. */
  catalog: StoreReport<CatalogTableUsage> | null
  events: StoreReport<TableUsage>
  sites: (SegmentUsage & { bytes_per_day: number | null })[]
  disk: { free_bytes: number; total_bytes: number; days_to_full: number | null }
}

/** Reports the size and growth of the stores, and when the disk will be full. */
export interface ConsoleStorage {
  report(): Promise<StorageReport>
  /** Measures columnar segments in a worker thread. */
  segments(): Promise<SegmentUsage[]>
  /** Records the sizes of the stores once a day. */
  task: Task
}

interface StorageOptions {
  dataDir: string
  catalog: Catalog
  clock: Pick<Clock, "now">
  slots: JobSlots
  backupWorkerUrl: string
}

const DAY_MS = 86_400_000
/** Largest catalog whose bytes are counted by table, because that reads the whole file on the event loop. */
const SMALL_CATALOG = 32 << 20
const GROWTH_DAYS = 30
const RETAINED_DAYS = 400
const ALL = "file"

export function createStorage({ dataDir, catalog, clock, slots, backupWorkerUrl }: StorageOptions): ConsoleStorage {
  const places = placesIn(dataDir)
  const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10)
  const measure = () => inBackupThread<"measure">(backupWorkerUrl, { do: "measure", path: places.events })

  async function recordSizes(): Promise<void> {
    const { segments, tables } = await measure()
    const day = dayOf(clock.now())
    const whole: StorageDay[] = catalog.remote
      ? []
      : [{ day, site_id: 0, store: "catalog", kind: ALL, rows: 0, bytes: sizeOf(places.catalog) }]
    const rows = tables.reduce((sum, table) => sum + table.rows, 0)
    whole.push({ day, site_id: 0, store: "events", kind: ALL, rows, bytes: sizeOf(places.events) })
    const bySite = segments.map(
      // Segments of imported totals have rows without events.
      ({ site_id, kind, visits, events, bytes }): StorageDay => ({ day, site_id, store: "events", kind, rows: events || visits, bytes }),
    )
    await catalog.transaction(async (statements) => {
      for (const row of [...whole, ...bySite]) await putStorageDay(statements, row)
      await deleteStorageDays(statements, dayOf(clock.now() - RETAINED_DAYS * DAY_MS))
    })
  }

  return {
    task: { name: "measure-storage", every: 600, run: () => slots.once({ name: "measure-storage", due: dayOf(clock.now()) }, recordSizes) },
    segments: async () => (await measure()).segments,
    async report() {
      const { tables, segments } = await measure()
      const since = await listFirstStorageDays(catalog, dayOf(clock.now() - GROWTH_DAYS * DAY_MS))
      const growth = (site_id: number, store: string, kind: string, bytes: number): number | null => {
        const first = since.find((row) => row.site_id === site_id && row.store === store && row.kind === kind)
        const days = first ? Math.round((Date.parse(dayOf(clock.now())) - Date.parse(first.day)) / DAY_MS) : 0
        return first && days > 0 ? Math.round((bytes - first.bytes) / days) : null
      }
      const fileOf = <Table>(store: "catalog" | "events", found: Table[]): StoreReport<Table> => ({
        bytes: sizeOf(places[store]),
        wal_bytes: sizeOf(`${places[store]}-wal`),
        bytes_per_day: growth(0, store, ALL, sizeOf(places[store])),
        tables: found,
      })
      const events = fileOf("events", tables)
      const withBytes = sizeOf(places.catalog) <= SMALL_CATALOG
      const ofCatalog = catalog.remote ? null : fileOf("catalog", await listCatalogUsage(catalog, { withBytes }))
      const { freeBytes, totalBytes } = diskSpace(dataDir)
      const perDay = (events.bytes_per_day ?? 0) + (ofCatalog?.bytes_per_day ?? 0)
      return {
        catalog: ofCatalog,
        events,
        sites: segments.map((each) => ({ ...each, bytes_per_day: growth(each.site_id, "events", each.kind, each.bytes) })),
        disk: { free_bytes: freeBytes, total_bytes: totalBytes, days_to_full: perDay > 0 ? Math.floor(freeBytes / perDay) : null },
      }
    },
  }
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0
