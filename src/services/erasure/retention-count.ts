import { instantText } from "../../domain/moment.ts"
import type { Clickhouse } from "../../store/clickhouse/client.ts"
import { bytesPerEvent, countOldVisits } from "../../store/clickhouse/contents.ts"
import type { OldVisits, SiteLimit } from "../../store/events/upkeep/old-visits.ts"
import { inBackupThread } from "../backup/thread.ts"
import { placesIn } from "../runtime/data-folder.ts"
import type { DataHooks, OverdueRows } from "./data-hooks.ts"
import { type Cutoff, midnightOf, type SiteCutoff } from "./retention-cutoffs.ts"

export interface RetentionPreview {
  /** Time of the preview. Sent with the run, it gives the same cutoffs. */
  at: string
  /** First local day that is kept. Null if it differs between sites. */
  cutoff: string | null
  /** Visits by site, including hidden imports; records of areas and imported totals if there are any. */
  by: { site_id: number; kind: OldVisits["kind"]; cutoff: string; rows: number; events: number; days: number }[]
  /** Data that areas derived from the visits to be removed. */
  plugins: OverdueRows[]
  /** Approximate size, because columns are compressed together. */
  bytes: number
}

interface CountTerms {
  dataDir: string
  backupWorkerUrl: string
  hooks: DataHooks
  /** What has the events. Undefined when they are only in the data folder. */
  shipped: { clickhouse: Clickhouse } | undefined
  /** Returns bytes and events of columnar segments by site. */
  segments(): Promise<readonly SegmentSize[]>
}

interface SegmentSize {
  site_id: number
  bytes: number
  events: number
}

/** Counts the data that would be removed. */
export async function countOld(terms: CountTerms, at: number, cutoffs: readonly SiteCutoff[]): Promise<RetentionPreview> {
  const wanted = cutoffs.map(({ site, day }) => ({ id: site.id, before: midnightOf(site, day), day }))
  const path = placesIn(terms.dataDir).events
  const ofStore = await inBackupThread<"count-old">(terms.backupWorkerUrl, { do: "count-old", path, sites: wanted })
  const clickhouse = terms.shipped?.clickhouse
  const found = clickhouse ? await withOldVisitsOf(clickhouse, wanted, ofStore) : ofStore
  const sizes = clickhouse ? [] : await terms.segments()
  const mean = clickhouse && (await bytesPerEvent(clickhouse))
  const sizeOf = (siteId: number) => mean ?? meanSize(sizes, siteId)
  const by = cutoffs.flatMap(({ site_id, day }, i) =>
    found[i]!.filter(({ kind, visits }) => kind === "visits" || visits > 0).map(({ kind, visits, events, days }) => ({
      site_id,
      kind,
      cutoff: day,
      rows: visits,
      events,
      days,
    })),
  )
  const ofTotals = found.flat().reduce((sum, { bytes }) => sum + bytes, 0)
  const bytes = by.reduce((sum, { site_id, events }) => sum + events * sizeOf(site_id), ofTotals)
  const days = new Set(cutoffs.map(({ day }) => day))
  const cutoff = days.size === 1 ? [...days][0]! : null
  return { at: instantText(at), cutoff, by, plugins: await overdue(terms.hooks, cutoffs), bytes: Math.round(bytes) }
}

/** Sums the overdue rows of all these sites by area. */
async function overdue(hooks: DataHooks, cutoffs: readonly Cutoff[]): Promise<OverdueRows[]> {
  const sums = new Map<string, number>()
  for (const { site_id, day } of cutoffs)
    for (const { id, rows } of await hooks.overdue(site_id, day)) sums.set(id, (sums.get(id) ?? 0) + rows)
  return [...sums].map(([id, rows]) => ({ id, rows }))
}

/** Replaces the visits and records of the node's store, which are only the last ones. Imported totals are complete there. */
async function withOldVisitsOf(
  clickhouse: Clickhouse,
  sites: readonly SiteLimit[],
  ofStore: readonly OldVisits[][],
): Promise<OldVisits[][]> {
  const visits = await countOldVisits(clickhouse, sites)
  const nothing = { kind: "visits", visits: 0, events: 0, days: 0, bytes: 0 } as const
  return ofStore.map((found, at) => [
    ...(visits[at]!.some(({ kind }) => kind === "visits") ? [] : [nothing]),
    ...visits[at]!,
    ...found.filter(({ kind }) => kind === "imported_totals"),
  ])
}

function meanSize(sizes: readonly SegmentSize[], siteId: number): number {
  const own = sizes.filter(({ site_id, events }) => site_id === siteId && events > 0)
  const events = own.reduce((sum, size) => sum + size.events, 0)
  return events === 0 ? 0 : own.reduce((sum, size) => sum + size.bytes, 0) / events
}
