import { NO_SCROLL, type Part } from "../store/events/part.ts"
import type { ValueMask } from "./value-mask.ts"

interface ScrollReports {
  row: Uint32Array
  scroll: Uint32Array
}

/** Engagement reports of a part in the order visit, time, sequence, whatever the order of its rows. */
export function scrollReports(part: Part): ScrollReports {
  const { row, scroll } = part.engagement()
  const order = part.order()
  if (order === null) return { row, scroll }
  const depths = new Uint32Array(part.events).fill(NO_SCROLL)
  for (let i = 0; i < row.length; i++) depths[row[i]!] = scroll[i]!
  const rows = order.filter((event) => depths[event] !== NO_SCROLL)
  return { row: rows, scroll: rows.map((event) => depths[event]!) }
}

/**
 * Event rows of the reports that are the first of their visit and page to reach the threshold (metrics.md 5.1), over the
 * visit's whole life. `out` has room for all reports; returns how many were found.
 */
export function firstReaches(
  { row, scroll }: ScrollReports,
  { visit, page }: { visit: Uint32Array; page: Uint32Array },
  pages: ValueMask,
  threshold: number,
  out: Uint32Array,
): number {
  // By page, the visit that reached it last, counted from 1: visits come one after the other.
  const reachedBy = new Uint32Array(pages.length)
  let count = 0
  for (let i = 0; i < row.length; i++) {
    const event = row[i]!
    const on = page[event]!
    if (scroll[i]! < threshold || scroll[i] === NO_SCROLL || pages[on] === 0 || reachedBy[on] === visit[event]! + 1) continue
    reachedBy[on] = visit[event]! + 1
    out[count++] = event
  }
  return count
}
