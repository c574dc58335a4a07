import type { DropReason } from "../domain/event.ts"
import type { DropSample, Writer } from "../store/events/writer.ts"

/** A dropped event: what is counted of it, and what its site's owner may see. Site 0 is the instance. */
export interface DropNote {
  siteId: number
  day: string
  reason: DropReason
  entry?: string
  sample?: DropSample
}

interface Count {
  note: DropNote
  count: number
}

/** Entries told apart for one site, day and reason before they are stored; the store tells as many apart in a day. */
const ENTRIES = 100
const OTHER = "(other)"
const SAMPLES = 100

/** Gathers drops between two commits, so that a flood of them costs a few rows and little memory. */
export function createDropTally() {
  const counts = new Map<string, Count>()
  const entries = new Map<string, number>()
  const samples = new Map<number, DropSample[]>()

  /** The entry itself while there is room for another one. */
  function roomFor(key: string, entry: string): string {
    if (counts.has(`${key} ${entry}`)) return entry
    const used = entries.get(key) ?? 0
    if (used >= ENTRIES) return OTHER
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

    /** Forgets everything. */
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
