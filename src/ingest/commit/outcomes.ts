import type { DropReason, IngestOutcome } from "../../domain/event.ts"
import type { IngestMinute } from "../../store/events/tables/tallies.ts"
import type { DropSample, Writer } from "../../store/events/writer.ts"
import type { Candidate } from "../draft.ts"

/** Why the store dropped an event, or undefined when it was stored. */
export type StoreResult = DropReason | undefined

/** Reports outcomes of events to the counts per minute and to live views of a site. Called for every event. */
export class Outcomes {
  readonly #counts: IngestCounts | undefined
  readonly #watch: IngestWatch | undefined

  constructor(counts: IngestCounts | undefined, watch: IngestWatch | undefined) {
    this.#counts = counts
    this.#watch = watch
  }

  drop(note: DropNote): void {
    this.#counts?.add(note.siteId, note.reason)
    this.#watch?.dropped(note)
  }

  /** Counts the events of one request. Results are in the order of the events. */
  count(candidates: readonly Candidate[], outcomes: readonly StoreResult[]): void {
    for (let at = 0; at < outcomes.length; at++) this.#counts?.add(candidates[at]!.siteId, outcomes[at] ?? "accepted")
  }

  /** Reports the stored events of one request to live views of their sites. */
  show(candidates: readonly Candidate[], outcomes: readonly StoreResult[]): void {
    for (let at = 0; at < candidates.length; at++) {
      const candidate = candidates[at]!
      if (outcomes[at] === undefined && this.#watch?.isWatched(candidate.siteId)) this.#watch.stored(candidate)
    }
  }

  /** Counts events that were refused because the queue was full or the store failed. */
  refuse(candidates: readonly Candidate[], by: "queue" | "storage"): void {
    for (const { siteId } of candidates) this.#counts?.add(siteId, by === "queue" ? "refused_queue" : "refused_storage")
  }

  /** Records the duration of a commit in milliseconds. */
  took(ms: number): void {
    this.#counts?.took(ms)
  }
}

/** Live views of incoming events. Called for every event, so it must return quickly when no live view is open. */
export interface IngestWatch {
  /** Returns whether a live view of the site is open. */
  isWatched(siteId: number): boolean
  /** Called once the event is on disk. */
  stored(candidate: Candidate): void
  /** Called for drops of all sites and of unknown ones, because the page can belong to a site that has an open live view. */
  dropped(note: DropNote): void
}

/** Counts outcomes of events per minute, and durations of commits. Kept in memory, so a crash loses up to a minute of counts. */
export interface IngestCounts {
  add(siteId: number, outcome: IngestOutcome): void
  /** Records the duration of a commit in milliseconds. */
  took(ms: number): void
  /** Returns the counts that are not stored yet. */
  waiting(): IngestMinute[]
  /** Removes rows that are on disk from the waiting counts. */
  stored(rows: readonly IngestMinute[]): void
  /** Returns the durations of the last 1,000 commits, or undefined without any. */
  commits(): { p50_ms: number; p99_ms: number } | undefined
}

const COMMITS = 1_000
const MINUTE_MS = 60_000
/** Maximum number of rows that wait while nothing can be stored. Further ones are lost. */
const MAX_ROWS = 10_000

export function createIngestCounts({ now }: { now(): number }): IngestCounts {
  const rows = new Map<string, IngestMinute>()
  const times = new Float64Array(COMMITS)
  let commits = 0
  /** The row of the previous event. Most events belong to the same row, which is then found without building a key. */
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
      if (!row && rows.size < MAX_ROWS) rows.set(key, latest)
    },
    took(ms) {
      times[commits++ % COMMITS] = ms
    },
    waiting: () => [...rows.values()].map((row) => ({ ...row })),
    stored(storedRows) {
      latest = undefined
      for (const { minute, site_id, outcome, count } of storedRows) {
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

/** A dropped event as it is counted and shown to the owner of the site. Site 0 stands for the instance. */
export interface DropNote {
  siteId: number
  day: string
  reason: DropReason
  entry?: string
  sample?: DropSample
  /** Host of the page of an event without a site, for live views of the site that lists the host. Not stored. */
  hostname?: string
}

interface Count {
  note: DropNote
  count: number
}

/** Maximum number of entries per site, day and reason between two commits, and per day in the store. Further ones count as `(other)`. */
const MAX_ENTRIES = 100
const OTHER = "(other)"
const SAMPLES = 100

/** Collects drops between two commits, so that a flood of them costs few rows and little memory. */
export function createDropTally() {
  const counts = new Map<string, Count>()
  const entries = new Map<string, number>()
  const samples = new Map<number, DropSample[]>()

  /** Returns the entry, or `(other)` when there are already too many. */
  function roomFor(key: string, entry: string): string {
    if (counts.has(`${key} ${entry}`)) return entry
    const used = entries.get(key) ?? 0
    if (used >= MAX_ENTRIES) return OTHER
    entries.set(key, used + 1)
    return entry
  }

  return {
    get isEmpty(): boolean {
      return counts.size === 0
    },

    add(note: DropNote): void {
      const key = `${note.siteId} ${note.day} ${note.reason}`
      const entry = note.entry && roomFor(key, note.entry)
      const known = counts.get(`${key} ${entry ?? ""}`)
      if (known) known.count++
      else counts.set(`${key} ${entry ?? ""}`, { note: { ...note, ...(entry !== undefined && { entry }) }, count: 1 })
      if (note.sample) keepLatest(samples, note.siteId, note.sample)
    },

    /** Writes everything; `clear` follows once it is durable. */
    writeTo(writer: Writer): void {
      for (const { note, count } of counts.values()) writer.drop(note.siteId, note.day, note.reason, note.entry, count)
      for (const [siteId, kept] of samples) for (const sample of kept) writer.sample(siteId, sample)
    },

    /** Removes all collected drops. */
    clear(): void {
      counts.clear()
      entries.clear()
      samples.clear()
    },
  }
}

function keepLatest(samples: Map<number, DropSample[]>, siteId: number, sample: DropSample): void {
  const kept = samples.get(siteId) ?? []
  if (kept.length >= SAMPLES) kept.shift()
  kept.push(sample)
  samples.set(siteId, kept)
}
