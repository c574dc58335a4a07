import type { PulseQuery, PulseResult } from "../domain/query.ts"
import type { Snapshot } from "../store/events/part.ts"

/** How long a visitor counts as current. */
const CURRENT_MS = 300_000

/**
 * Whether a site is alive: its current visitors (metrics.md 5.2) and its last event of any name. The same number as realtime
 * has, for the price of looking at the youngest parts alone: a list of sites asks it of every one.
 */
export function pulse({ parts, visitorLimit }: Snapshot, { now }: PulseQuery, check: () => void): PulseResult {
  const current = new Uint8Array(visitorLimit)
  let lastAt: number | undefined
  for (const part of parts) {
    if (part.events === 0) continue
    lastAt = Math.max(lastAt ?? part.maxAt, part.maxAt)
    if (part.maxAt <= now - CURRENT_MS) continue
    check()
    const columns = { visit: part.event("visit"), offset: part.event("offset"), starts: part.starts(), visitor: part.visit("visitor") }
    markCurrent(columns, part.events, { from: now - CURRENT_MS, to: now }, current)
  }
  return { visitors: current.reduce((sum, each) => sum + each, 0), ...(lastAt !== undefined && { lastAt }) }
}

/** Later than `from`, and no later than `to`. */
function markCurrent(
  { visit, offset, starts, visitor }: { visit: Uint32Array; offset: Uint32Array; starts: Float64Array; visitor: Uint32Array },
  length: number,
  { from, to }: { from: number; to: number },
  current: Uint8Array,
): void {
  for (let row = 0; row < length; row++) {
    const at = starts[visit[row]!]! + offset[row]!
    if (at > from && at <= to) current[visitor[visit[row]!]!] = 1
  }
}
