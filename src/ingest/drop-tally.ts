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
/** Counts that one commit takes along: after an hour with a full disk there may be millions. */
const AT_ONCE = 5_000

/** Gathers drops between two commits, so that a flood of them costs a few rows and little memory. */
export function createDropTally() {
  const counts = new Map<string, Count>()
  /** What the running commit has written of each. */
  const written = new Map<string, number>()
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

    /** Writes as much as one commit takes; `settle` follows once it is durable. */
    writeTo(writer: Writer): void {
      written.clear()
      let room = AT_ONCE
      for (const [key, { note, count }] of counts) {
        const times = Math.min(count, room)
        for (let time = 0; time < times; time++) writer.drop(note.siteId, note.day, note.reason, note.entry)
        room -= times
        written.set(key, times)
      }
      for (const [siteId, kept] of samples) for (const sample of kept) writer.sample(siteId, sample)
    },

    /** Forgets what was written. */
    settle(): void {
      for (const [key, times] of written) {
        const left = counts.get(key)
        if (left && left.count > times) left.count -= times
        else counts.delete(key)
      }
      entries.clear()
      samples.clear()
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
