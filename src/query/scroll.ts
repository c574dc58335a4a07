import { NO_SCROLL, type Part } from "../store/events/part.ts"
import type { ValueMask } from "./value-mask.ts"

/**
 * Finds, part by part, the event rows of the reports that are the first of their visit and page to reach the threshold
 * (metrics.md 5.1), over the visit's whole life; ascending.
 */
export function firstReaches(pages: ValueMask, threshold: number): (part: Part) => Uint32Array {
  // By page, the visit that reached it last, counted from 1 over all parts: the events of a visit lie in one run.
  const reachedBy = new Uint32Array(pages.length)
  let before = 1
  return (part) => {
    const reports = scrollReports(part)
    const out = new Uint32Array(reports.row.length)
    const columns = { visit: part.event("visit"), page: part.event("page") }
    const count = listFirst(reports, columns, { pages, threshold }, { reachedBy, before }, out)
    before += part.visits
    const rows = out.subarray(0, count)
    return part.order() === null ? rows : rows.sort()
  }
}

interface ScrollReports {
  row: Uint32Array
  scroll: Uint32Array
}

/** Engagement reports of a part in the order visit, time, sequence, whatever the order of its rows. */
function scrollReports(part: Part): ScrollReports {
  const { row, scroll } = part.engagement()
  const order = part.order()
  if (order === null) return { row, scroll }
  const depths = new Uint32Array(part.events).fill(NO_SCROLL)
  for (let i = 0; i < row.length; i++) depths[row[i]!] = scroll[i]!
  const rows = order.filter((event) => depths[event] !== NO_SCROLL)
  return { row: rows, scroll: rows.map((event) => depths[event]!) }
}

function listFirst(
  { row, scroll }: ScrollReports,
  { visit, page }: { visit: Uint32Array; page: Uint32Array },
  { pages, threshold }: { pages: ValueMask; threshold: number },
  { reachedBy, before }: { reachedBy: Uint32Array; before: number },
  out: Uint32Array,
): number {
  let count = 0
  for (let i = 0; i < row.length; i++) {
    const event = row[i]!
    const on = page[event]!
    const of = visit[event]! + before
    if (scroll[i]! < threshold || scroll[i] === NO_SCROLL || pages[on] === 0 || reachedBy[on] === of) continue
    reachedBy[on] = of
    out[count++] = event
  }
  return count
}
