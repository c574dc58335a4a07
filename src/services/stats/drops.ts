import type { Clock } from "../../domain/clock.ts"
import type { DropReport } from "../../domain/drop-report.ts"
import { type Counter, DROP_REASONS, type DropReason } from "../../domain/event.ts"
import type { Shield } from "../../domain/shield.ts"
import type { Site } from "../../domain/site.ts"
import { parseQuery } from "../../query/parse/parse.ts"
import { today } from "../../query/parse/period.ts"
import type { EventStore } from "../../store/events/events.ts"
import type { DropSample } from "../../store/events/writer.ts"
import { shownRange } from "./open-report.ts"

/** Reports on events that a site's rules dropped (metrics.md 19.2). Counts are stored for 90 days. */
export interface Drops {
  /** Reports on `period`, or `from` and `to`, given as text of a query string. Throws `invalid_query`. */
  report(site: Site, given: Record<string, unknown>): DropReport
  /** Returns the latest hundred dropped events, newest first, without address, visitor or full user agent. */
  samples(site: Site): DropSample[]
  /** Counts the events that a shield of the site dropped in the last seven days. */
  hits(site: Site, shield: Pick<Shield, "kind" | "value">): number
}

const COUNTERS: readonly Counter[] = ["revenue_invalid", "revenue_duplicate", "props_discarded", "identify_ignored", "cardinality"]

/** The drop reason that each kind of shield counts under. */
const REASONS: Readonly<Record<Shield["kind"], DropReason>> = {
  ip: "ip",
  country: "country",
  page: "page",
  hostname: "host",
  referrer: "spam",
  rule: "rule",
}

export function createDrops({ events, clock }: { events: Pick<EventStore, "drops" | "dropSamples">; clock: Pick<Clock, "now"> }): Drops {
  return {
    report(site, given) {
      const now = clock.now()
      const firstAt = site.created_at
      const { range } = parseQuery("days", given, { now, timezone: site.timezone, firstAt }, "text")
      const days = daysOf(range.from, range.to)
      const found = events.drops(site.id, range.from, range.to)
      const whole = Map.groupBy(
        found.filter(({ entry }) => entry === ""),
        ({ reason }) => reason,
      )
      const totalOf = (reason: DropReason | Counter): number => sum((whole.get(reason) ?? []).map(({ count }) => count))
      return {
        range: shownRange(range, now),
        days,
        rows: DROP_REASONS.map((reason) => {
          const byDay = new Map((whole.get(reason) ?? []).map(({ day, count }) => [day, count]))
          return {
            reason,
            total: totalOf(reason),
            counts: days.map((day) => byDay.get(day) ?? 0),
            entries: entriesOf(found.filter((row) => row.reason === reason && row.entry !== "")),
          }
        }),
        counters: COUNTERS.map((counter) => ({ counter, total: totalOf(counter) })),
      }
    },
    samples: (site) => events.dropSamples(site.id),
    hits(site, { kind, value }) {
      const day = today({ now: clock.now(), timezone: site.timezone })
      const rows = events.drops(site.id, day.subtract({ days: 6 }).toString(), day.toString())
      return sum(rows.filter(({ reason, entry }) => reason === REASONS[kind] && entry === value).map(({ count }) => count))
    },
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)

function daysOf(from: string, to: string): string[] {
  const first = Temporal.PlainDate.from(from)
  const count = first.until(to, { largestUnit: "days" }).days + 1
  return Array.from({ length: count }, (_, day) => first.add({ days: day }).toString())
}

function entriesOf(rows: readonly { entry: string; count: number }[]): DropReport["rows"][number]["entries"] {
  const totals = new Map<string, number>()
  for (const { entry, count } of rows) totals.set(entry, (totals.get(entry) ?? 0) + count)
  return [...totals].map(([entry, count]) => ({ entry, count })).sort((a, b) => b.count - a.count || (a.entry < b.entry ? -1 : 1))
}
