import type { Clock } from "../../domain/clock.ts"
import type { DropReport } from "../../domain/drop-report.ts"
import { type Counter, DROP_REASONS, type DropReason } from "../../domain/event.ts"
import type { Shield } from "../../domain/shield.ts"
import type { Site } from "../../domain/site.ts"
import { parseQuery } from "../../query/parse/parse.ts"
import { today } from "../../query/parse/period.ts"
import type { EventStore } from "../../store/events/events.ts"
import { StoreFault } from "../../store/events/fault.ts"
import type { DropSample } from "../../store/events/writer.ts"
import type { StoredTallies } from "../tallies/tallies.ts"
import { shownRange } from "./open-report.ts"

/** Reports on events that a site's rules dropped (metrics.md 19.2). Counts are stored for 90 days. */
export interface Drops {
  /** Reports on `period`, or `from` and `to`, given as text of a query string. Throws `invalid_query`. */
  report(site: Site, given: Record<string, unknown>): Promise<DropReport>
  /** Returns the latest hundred dropped events, newest first, without address, visitor or full user agent. */
  samples(site: Site): Promise<DropSample[]>
  /**
   * Returns the function that tells how many events a shield of the site dropped in the last seven days. While ClickHouse cannot be reached,
   * it counts those of this node only, because shields can be changed nevertheless.
   */
  hits(site: Site): Promise<(shield: Pick<Shield, "kind" | "value">) => number>
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

interface DropsOptions {
  tallies: Pick<StoredTallies, "drops" | "samples">
  events: Pick<EventStore, "drops">
  clock: Pick<Clock, "now">
}

export function createDrops({ tallies, events, clock }: DropsOptions): Drops {
  return {
    async report(site, given) {
      const now = clock.now()
      const firstAt = site.created_at
      const { range } = parseQuery("days", given, { now, timezone: site.timezone, firstAt }, "text")
      const days = daysOf(range.from, range.to)
      const found = await tallies.drops(site.id, range.from, range.to)
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
    samples: (site) => tallies.samples(site.id),
    async hits(site) {
      const day = today({ now: clock.now(), timezone: site.timezone })
      const [from, to] = [day.subtract({ days: 6 }).toString(), day.toString()]
      const rows = await tallies.drops(site.id, from, to).catch((error) => {
        if (error instanceof StoreFault && error.kind === "unreachable") return events.drops(site.id, from, to)
        throw error
      })
      return ({ kind, value }) =>
        sum(rows.filter(({ reason, entry }) => reason === REASONS[kind] && entry === value).map(({ count }) => count))
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
