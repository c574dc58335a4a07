import type { NewEvent } from "../../src/domain/event.ts"
import type { RowsQuery } from "../../src/domain/query.ts"
import type { VisitRow } from "../../src/query/rows/rows.ts"
import { mayCount, satisfies } from "./conditions.ts"
import { counted, durationOf, engagedMs, entry, exit, interactions, pageviews, type RawVisit, startOf } from "./raw.ts"

/** A visit as raw rows show it, without the numbers that only the store knows. */
export type ShownVisit = Omit<VisitRow, "visitor" | "sequence">

/** "All visits that start in the range, each with all of its events, that have an event satisfying the filter", by start. */
export function rowsAnswer(visits: readonly RawVisit[], { range, filter, site }: RowsQuery): ShownVisit[] {
  const has = (visit: RawVisit) =>
    visit.events.some((event) => mayCount(event, visit, filter, site.goals) && satisfies(filter, event, visit, site.goals))
  return visits
    .filter((visit) => startOf(visit) >= range.from && startOf(visit) < range.to && has(visit))
    .sort((a, b) => startOf(a) - startOf(b) || a.sequence - b.sequence)
    .map(shownVisit)
}

const shownVisit = (visit: RawVisit): ShownVisit => ({
  visitor_kind: visit.kind,
  started_at: startOf(visit),
  duration: durationOf(visit),
  pageviews: pageviews(visit).length,
  counted_events: counted(visit).length,
  interactive: interactions(visit).length,
  engaged: engagedMs(visit),
  entry_page: entry(visit, "page"),
  exit_page: exit(visit, "page"),
  entry_page_hostname: entry(visit, "hostname"),
  exit_page_hostname: exit(visit, "hostname"),
  ...visit.traits,
  import_id: visit.importId,
  events: visit.events.map(shownEvent),
})

const shownEvent = ({ at, name, page, hostname, title, interactive, props, ...rest }: NewEvent): VisitRow["events"][number] => ({
  at,
  name,
  page,
  hostname,
  title,
  interactive,
  props: props.map(([key, value]) => [key, value]),
  ...rest,
})
