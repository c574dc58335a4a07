import { ENGAGEMENT, VITALS } from "../../domain/dimension.ts"
import type { Range, Signal, SignalsQuery, SignalsResult } from "../../domain/query.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import { compileGoals } from "../filter/goals.ts"
import { bitset, countBits } from "../parts/visitor-bits.ts"

/** Time after an event during which its visitor counts as current. */
const CURRENT_MS = 300_000

/**
 * Computes a few numbers about the latest traffic of a site in one pass over the newest parts, for alerts. Imported visits do not count:
 * an import is not traffic.
 */
export function signals(snapshot: Snapshot, { now, signals: wanted }: SignalsQuery, check: () => void): SignalsResult {
  const parts = snapshot.parts.filter(({ importId, events }) => importId === 0 && events > 0)
  const lastAt = parts.reduce<number | undefined>((last, { maxAt }) => Math.max(last ?? maxAt, maxAt), undefined)
  const values = wanted.map((signal) => {
    check()
    return signalValue(snapshot, parts, signal, now)
  })
  return { values, ...(lastAt !== undefined && { lastAt }) }
}

function signalValue(snapshot: Snapshot, all: readonly Part[], signal: Signal, now: number): number {
  const range = signal.of === "current" ? { from: now - CURRENT_MS + 1, to: now + 1 } : signal.range
  const parts = all.filter(({ minAt, maxAt }) => maxAt >= range.from && minAt < range.to)
  switch (signal.of) {
    case "current":
      return distinctVisitors(parts, range, snapshot.visitorLimit, () => true)
    case "visitors":
      return distinctVisitors(parts, range, snapshot.visitorLimit, isCounted)
    case "events": {
      const name = snapshot.dictionary("name").find(signal.name)
      return name === undefined ? 0 : countEvents(parts, range, (each) => each === name)
    }
    case "conversions":
      return countConversions(snapshot, parts, signal.goal, range)
    case "mean_visitors":
      return meanVisitors(parts, range, signal.windowMs)
    case "empty_windows":
      return emptyWindows(parts, range, signal.windowMs)
  }
}

/** Engagement and vitals are no activity of their own (metrics.md 5.1). */
const isCounted = (name: number): boolean => name !== ENGAGEMENT && name !== VITALS

/** Calls `visit` for each event of a range. */
function eachEvent(part: Part, { from, to }: Range, visit: (row: number, at: number, visitRow: number) => void): void {
  const [starts, visits, offset] = [part.starts(), part.event("visit"), part.event("offset")]
  for (let row = 0; row < part.events; row++) {
    const at = starts[visits[row]!]! + offset[row]!
    if (at >= from && at < to) visit(row, at, visits[row]!)
  }
}

function distinctVisitors(parts: readonly Part[], range: Range, limit: number, counts: (name: number) => boolean): number {
  if (parts.length === 0) return 0
  const seen = bitset(limit)
  for (const part of parts) {
    const [name, visitor] = [part.event("name"), part.visit("visitor")]
    eachEvent(part, range, (row, _, visit) => {
      const one = visitor[visit]!
      if (counts(name[row]!)) seen[one >>> 5]! |= 1 << (one & 31)
    })
  }
  return countBits(seen)
}

function countEvents(parts: readonly Part[], range: Range, counts: (name: number) => boolean): number {
  let count = 0
  for (const part of parts) {
    const name = part.event("name")
    eachEvent(part, range, (row) => {
      if (counts(name[row]!)) count++
    })
  }
  return count
}

function countConversions(
  snapshot: Snapshot,
  parts: readonly Part[],
  goal: Parameters<typeof compileGoals>[1][number],
  range: Range,
): number {
  const goals = compileGoals(snapshot, [goal])
  let total = 0
  for (const part of parts) {
    const { rows, count } = goals.completions(part)
    const [starts, visit, offset] = [part.starts(), part.event("visit"), part.event("offset")]
    for (let i = 0; i < count; i++) {
      const at = starts[visit[rows[i]!]!]! + offset[rows[i]!]!
      if (at >= range.from && at < range.to) total++
    }
  }
  return total
}

/** Returns the mean number of visitors in windows of a length. */
function meanVisitors(parts: readonly Part[], range: Range, windowMs: number): number {
  const windows = Math.max(1, Math.ceil((range.to - range.from) / windowMs))
  const seen = new Set<number>()
  for (const part of parts) {
    const visitor = part.visit("visitor")
    eachEvent(part, range, (_, at, visit) => void seen.add(visitor[visit]! * windows + Math.floor((at - range.from) / windowMs)))
  }
  return seen.size / windows
}

/** Returns the number of windows of a length without any event. */
function emptyWindows(parts: readonly Part[], range: Range, windowMs: number): number {
  const windows = Math.max(1, Math.floor((range.to - range.from) / windowMs))
  const filled = new Set<number>()
  for (const part of parts) {
    if (filled.size === windows) break
    eachEvent(part, range, (_, at) => void filled.add(Math.min(windows - 1, Math.floor((at - range.from) / windowMs))))
  }
  return windows - filled.size
}
