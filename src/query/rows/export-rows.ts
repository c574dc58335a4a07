import { currencyDecimals } from "../../domain/currency.ts"
import { EXPORTED_TRAITS, type ExportFormat, type RowType, rowColumns } from "../../domain/export.ts"
import { instantText } from "../../domain/moment.ts"
import type { ImportFacts, Query, RowsQuery, SiteFacts } from "../../domain/query.ts"
import { firstAtLeast } from "../../store/events/bytes/ascending.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import { aggregate } from "../measure/aggregate.ts"
import { flatMetrics, shownRows } from "../parse/flat-query.ts"
import type { ParsedQuery } from "../parse/parse.ts"
import { pseudonyms } from "../show/pseudonyms.ts"
import { shownMetrics, shownValue } from "../show/result.ts"
import { nextVisits, type PickedVisit, type RowsCursor } from "./cursor.ts"
import { type EncodedRows, encodeRecords } from "./export-file.ts"
import type { ExportRecord } from "./export-text.ts"
import { type EventRow, eventReader, type RowsBatch, textsOf, type VisitFacts, visitReader } from "./rows.ts"

/** A query of encoded raw rows: visits that start in the range, or events in the range, that satisfy the filter. */
export interface ExportQuery extends RowsQuery {
  of: RowType
  format: ExportFormat
  /** Key of the pseudonyms of visitors and visits. */
  siteKey: Uint8Array
  /** Properties that reveal revenue, if it is left out with them. */
  withoutRevenue?: readonly string[]
}

/** Rows of a batch: as text a few hundred kilobytes in a few milliseconds, and as Parquet a row group. */
const BATCH_ROWS: Readonly<Record<ExportFormat, number>> = { csv: 500, json: 500, ndjson: 500, parquet: 10_000 }

/**
 * Returns the batch after a cursor, encoded. A batch of events is limited by its events and not its visits, because one visit can have
 * ten thousand events. No state is kept between batches.
 */
export function exportRows(
  snapshot: Snapshot,
  query: ExportQuery,
  cursor: RowsCursor | undefined,
  check: () => void,
): RowsBatch<Uint8Array> & EncodedRows {
  const maxRows = BATCH_ROWS[query.format]
  const { picks, choice, next, omitted } = nextVisits(snapshot, { ...query, maxRows }, cursor, check)
  const texts = textsOf(snapshot)
  const found = new Array<Found>(picks.length)
  for (const [part, positions] of Map.groupBy(picks.keys(), (i) => picks[i]!.part)) {
    const visit = visitReader(texts, part, snapshot.visitors)
    const events = query.of === "events" ? chosenEvents(part, choice.events(part), eventReader(texts, part)) : () => []
    for (const i of positions) found[i] = { visit: visit(picks[i]!.visit), events: events(picks[i]!) }
  }
  const columns = rowColumns(query.of, query.withoutRevenue !== undefined)
  return { ...encodeRecords(query.format, columns, recordsOf(found, query)), next, omitted }
}

interface Found {
  visit: VisitFacts
  events: PlacedEvent[]
}

interface PlacedEvent extends EventRow {
  /** Number of the event in its visit, from 1. It is final once the visit has ended. */
  position: number
}

const chosenEvents =
  (part: Part, mask: Uint8Array, event: (row: number) => EventRow) =>
  ({ visit, from, to }: PickedVisit): PlacedEvent[] => {
    const first = firstAtLeast(part.event("visit"), visit)
    const found: PlacedEvent[] = []
    for (let row = from; row < to; row++) if (mask[row] === 1) found.push({ ...event(row), position: row - first + 1 })
    return found
  }

function recordsOf(found: readonly Found[], { of, site, siteKey, withoutRevenue }: ExportQuery): ExportRecord[] {
  const visitors = pseudonyms(siteKey, "visitor")(found.map(({ visit }) => visit.visitor))
  const visits = pseudonyms(siteKey, "visit")(found.map(({ visit }) => visit.sequence))
  return found.flatMap(({ visit, events }, i) => {
    const names = { visitor: visitors[i]!, visit: visits[i]! }
    return of === "visits"
      ? [visitRecord(visit, names, site)]
      : eventRecords(visit, withoutRevenue ? events.map((event) => unpriced(event, withoutRevenue)) : events, names)
  })
}

interface Names {
  visitor: string
  visit: string
}

function visitRecord(visit: VisitFacts, { visitor, visit: id }: Names, { bounceEngagedSeconds }: SiteFacts): ExportRecord {
  const { started_at, duration, pageviews, interactive, engaged } = visit
  const isEngaged = bounceEngagedSeconds > 0 && engaged >= bounceEngagedSeconds * 1000
  return {
    visit: id,
    visitor,
    started_at: instantText(started_at),
    last_at: instantText(started_at + duration),
    duration: Math.round(duration / 1000),
    pageviews,
    events: visit.counted_events,
    bounce: pageviews <= 1 && interactive === 0 && !isEngaged,
    engaged_seconds: Math.round(engaged / 1000),
    entry_page: visit.entry_page,
    entry_page_hostname: visit.entry_page_hostname,
    exit_page: visit.exit_page,
    exit_page_hostname: visit.exit_page_hostname,
    ...traitsOf(visit),
    import_id: visit.import_id,
  }
}

/** Returns an event without its revenue and the properties that reveal it. */
function unpriced({ revenue: _, props, ...rest }: PlacedEvent, hidden: readonly string[]): PlacedEvent {
  return { ...rest, props: props.filter(([key]) => !hidden.includes(key)) }
}

function eventRecords(visit: VisitFacts, events: readonly PlacedEvent[], { visitor, visit: id }: Names): ExportRecord[] {
  const traits = traitsOf(visit)
  return events.map(({ at, name, page, hostname, title, interactive, props, revenue, engagement, position }) => ({
    at: new Date(at).toISOString(),
    name,
    page,
    hostname,
    title,
    visitor,
    visit: id,
    ...traits,
    interactive,
    revenue_amount: revenue && revenue.amount / 10 ** (currencyDecimals(revenue.currency) ?? 2),
    revenue_currency: revenue?.currency,
    props: props.length === 0 ? undefined : Object.fromEntries(props),
    import_id: visit.import_id,
    scroll_depth: engagement?.scrollDepth,
    engaged_ms: engagement?.engagedMs,
    position,
  }))
}

const traitsOf = (visit: VisitFacts): ExportRecord => Object.fromEntries(EXPORTED_TRAITS.map((trait) => [trait, visit[trait]]))

/** A query of all rows of a breakdown, encoded. */
export interface BreakdownExport {
  site: SiteFacts
  query: Query
  parsed: ParsedQuery
  format: ExportFormat
  /** Decimals of the site's currency. */
  decimals: number
  /** Codes of the dimension with their names, as JSON, because a single string is sent to the worker much faster than a map. */
  names?: string | undefined
}

export const breakdownColumns = (parsed: ParsedQuery): string[] => ["value", "label", ...flatMetrics(parsed)]

/** Returns an encoded breakdown, and which imports it includes. The worker encodes it, because a breakdown of a million values would block the main thread. */
export function exportBreakdown(
  snapshot: Snapshot,
  { query, parsed, format, decimals, names }: BreakdownExport,
  check: () => void,
): EncodedRows & { imports?: ImportFacts } {
  const table = aggregate(snapshot, query, check)
  const { rows } = shownRows(parsed, table)
  const metrics = flatMetrics(parsed)
  const codes = names === undefined ? undefined : new Map<string, string>(JSON.parse(names)) // written by the service
  const records = rows.map(({ keys: [key = null], values }): ExportRecord => {
    const { value, label } = shownValue(parsed.dimension ?? "page", key, { maxChars: Number.POSITIVE_INFINITY, names: codes })
    return { value, label, ...shownMetrics(metrics, values, decimals) }
  })
  return { ...encodeRecords(format, breakdownColumns(parsed), records), ...(table.imports && { imports: table.imports }) }
}
