/** The state of a transaction of the event store's writer in which revenue transactions are written. */
import { dayStart, localDay, type SaleEvent, type Site } from "#plugin"
import type { RateLookup } from "../rates/rate.ts"
import type { RevenueSettings } from "../settings.ts"
import type { Book } from "./book.ts"
import type { TransactionRow } from "./transaction.ts"

export interface RevenueWriter {
  book: Book
  site: Site
  settings: RevenueSettings
  lookup: RateLookup
  now: number
  /** Returns the local day of the site at an instant. */
  dayOf(at: number): string
  /** Returns whether a transaction counts: it is the site's own, or of an import that is shown on the day of its visit. */
  isShown(row: Pick<TransactionRow, "import_id" | "visit_started_at" | "occurred_at">): boolean
  /** Returns sale events by sequence, in storage order, without those that were removed. */
  events(sequences: readonly number[]): SaleEvent[]
}

/** Creates the function that returns the local day of an instant. Neighbouring instants usually share their day, so it is remembered. */
export function createDayOf(timezone: string): (at: number) => string {
  let [from, to, text] = [0, 0, ""]
  return (at) => {
    if (at >= from && at < to) return text
    const day = localDay(at, timezone)
    from = dayStart(day, timezone)
    to = dayStart(day.add({ days: 1 }), timezone)
    text = day.toString()
    return text
  }
}
