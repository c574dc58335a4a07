import type { IngestOutcome } from "../domain/event.ts"
import type { IngestMinute } from "../store/events/ingest-minutes.ts"

/** Counts, by minute, what became of events that arrived, and how long commits took. In memory: a crash takes a minute along. */
export interface IngestCounts {
  add(siteId: number, outcome: IngestOutcome): void
  /** A commit of events, in milliseconds. */
  took(ms: number): void
  /** What is not stored yet; forgotten by `stored`. */
  waiting(): IngestMinute[]
  /** These rows are on disk. */
  stored(rows: readonly IngestMinute[]): void
  /** Of the last 1,000 commits, in milliseconds; undefined without one. */
  commits(): { p50_ms: number; p99_ms: number } | undefined
}

const COMMITS = 1_000
const MINUTE_MS = 60_000
/** While nothing can be stored, so many rows are held; later ones are lost. */
const ROWS = 10_000

export function createIngestCounts({ now }: { now(): number }): IngestCounts {
  const rows = new Map<string, IngestMinute>()
  const times = new Float64Array(COMMITS)
  let commits = 0
  /** Most events are counted where the one before was: no text has to be made to find the row. */
  let latest: IngestMinute | undefined
  return {
    add(site_id, outcome) {
      const minute = Math.floor(now() / MINUTE_MS)
      if (latest?.site_id === site_id && latest.outcome === outcome && latest.minute === minute) {
        latest.count++
        return
      }
      const key = `${minute} ${site_id} ${outcome}`
      const row = rows.get(key)
      latest = row ?? { minute, site_id, outcome, count: 0 }
      latest.count++
      if (!row && rows.size < ROWS) rows.set(key, latest)
    },
    took(ms) {
      times[commits++ % COMMITS] = ms
    },
    waiting: () => [...rows.values()].map((row) => ({ ...row })),
    stored(done) {
      latest = undefined
      for (const { minute, site_id, outcome, count } of done) {
        const key = `${minute} ${site_id} ${outcome}`
        const row = rows.get(key)
        if (row && row.count > count) row.count -= count
        else rows.delete(key)
      }
    },
    commits() {
      const sorted = times.slice(0, Math.min(commits, COMMITS)).sort()
      const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!
      return sorted.length === 0 ? undefined : { p50_ms: at(0.5), p99_ms: at(0.99) }
    },
  }
}
