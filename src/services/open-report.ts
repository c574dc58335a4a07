import type { Clock } from "../domain/clock.ts"
import type { Filter } from "../domain/filter.ts"
import type { RecordKind } from "../domain/record.ts"
import type { Site } from "../domain/site.ts"
import type { Form } from "../query/arguments.ts"
import type { SavedFilters } from "../query/array-filters.ts"
import { parseQuestion, type Report } from "../query/parse.ts"
import type { Asker } from "../query/pool.ts"
import type { EventStore } from "../store/events/events.ts"
import type { Goals } from "./goals.ts"
import { type OpenReport, siteFacts } from "./report-facts.ts"

/** How arguments came, when nobody waits any more, and what the asker may see. */
export interface Asking {
  /** As text of a query string, or as JSON (the default). */
  form?: Form
  signal?: AbortSignal
  /** A person's own segments can be named too; without one those of the site alone. */
  userId?: number
  /** Metrics of revenue are refused, and left out where nobody names them. */
  hidesRevenue?: boolean
  /** Rows of a breakdown can be compared, which the public API does not offer. */
  comparesRows?: boolean
  /** Rows by value that count fewer visitors are left out, and the answer says so. */
  leastVisitors?: number
  /** Holds beside the filters of the arguments, whatever these say. */
  locked?: Filter
  /** Of these records in place of visits: of the metrics then `visitors` and `events` mean something. */
  records?: RecordKind
}

/** What segments and cohorts of a site are made of, as far as a user can see them; without a user those of the site. */
export type SavedOf = (site: Site, userId?: number) => SavedFilters

export interface OpenReportOptions {
  events: Pick<EventStore, "firstAt">
  goals: Pick<Goals, "rules">
  clock: Pick<Clock, "now">
  /** Without it there are none. */
  saved?: SavedOf
}

/** The one way from arguments of the flat form to a question. Throws all that is wrong with them at once. */
export type OpenReports = (report: Report, site: Site, given: Record<string, unknown>, asking?: Asking) => Promise<OpenReport>

export function openReports({ events, goals, clock, saved }: OpenReportOptions): OpenReports {
  return async (report, site, given, asking = {}) => {
    const { userId, hidesRevenue = false, comparesRows = false, locked, records, leastVisitors, form = "json" } = asking
    const asker = askerOf(site, asking)
    const firstAt = given.period === "all" ? events.firstAt(site.id, records) : undefined
    const now = clock.now()
    const sight = { ...(saved && { saved: saved(site, userId) }), hidesRevenue, comparesRows, leastVisitors }
    const question = parseQuestion(report, given, { now, timezone: site.timezone, firstAt }, form, sight)
    const filter = both(locked, question.filter)
    return {
      site,
      facts: siteFacts(site, goals.rules(site.id)),
      question: { ...question, ...(filter && { filter }) },
      now,
      asker,
      ...(records && { records }),
    }
  }
}

export const askerOf = (site: Site, { signal }: Asking): Asker => ({ organizationId: site.organization_id, ...(signal && { signal }) })

/** What satisfies both of two filters that may be there. */
export const both = (one: Filter | undefined, other: Filter | undefined): Filter | undefined =>
  one && other ? { op: "and", filters: [one, other] } : (one ?? other)
