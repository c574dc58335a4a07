import type { Vitals } from "../domain/event.ts"
import type { RowsQuery } from "../domain/query.ts"
import { TRAITS, VISITOR_KINDS, type VisitorKind, type VisitTraits } from "../domain/visit.ts"
import { NO_SCROLL, NO_VITAL, type Part, type Snapshot } from "../store/events/part.ts"
import { compileFilter } from "./filters.ts"
import { orderedPart } from "./ordered-part.ts"

/** A stored visit with all of its events, in texts; "" is the missing value. Times in epoch ms, lengths in ms. */
export interface VisitRow extends VisitTraits {
  /** The site's ordinal of the visitor: to be turned into a pseudonym before it leaves the house. */
  visitor: number
  visitor_kind: VisitorKind
  started_at: number
  /** Of the first event: tells visits with equal times apart. */
  sequence: number
  duration: number
  pageviews: number
  /** Pageviews and custom events. */
  counted_events: number
  interactive: number
  engaged: number
  entry_page: string
  exit_page: string
  entry_page_hostname: string
  exit_page_hostname: string
  import_id: number
  events: EventRow[]
}

export interface EventRow {
  at: number
  name: string
  page: string
  hostname: string
  title: string
  interactive: boolean
  props: [key: string, value: string][]
  revenue?: { amount: number; currency: string }
  engagement?: { engagedMs: number; scrollDepth?: number }
  vitals?: Vitals
}

const BATCH_VISITS = 500

/**
 * Visits that start in the range and have an event that satisfies the filter, each with all of its events, batch by
 * batch: part by part, in each by start. `check` is called between batches.
 */
export function* rows(snapshot: Snapshot, query: RowsQuery, check: () => void): Generator<VisitRow[]> {
  const filter = compileFilter(snapshot, query.filter, query.site)
  for (const stored of snapshot.parts) {
    if (stored.visits === 0 || stored.maxStart < query.range.from || stored.minStart >= query.range.to) continue
    const chosen = chosenVisits(stored, query, filter.visits(stored))
    const read = rowReader(snapshot, orderedPart(stored))
    for (let i = 0; i < chosen.length; i += BATCH_VISITS) {
      check()
      yield Array.from(chosen.subarray(i, i + BATCH_VISITS), read)
    }
  }
}

/** Rows of visits in the order of their starts. */
function chosenVisits(part: Part, { range }: RowsQuery, mask: Uint8Array | "all"): Uint32Array {
  const [starts, sequences] = [part.starts(), part.sequences()]
  const all = Uint32Array.from({ length: part.visits }, (_, visit) => visit)
  const chosen = all.filter((visit) => starts[visit]! >= range.from && starts[visit]! < range.to && (mask === "all" || mask[visit] === 1))
  return chosen.sort((a, b) => starts[a]! - starts[b]! || sequences[a]! - sequences[b]!)
}

/** Makes a visit's row of its number in the part, whose events lie in the order visit, time, sequence. */
function rowReader(snapshot: Snapshot, part: Part): (visit: number) => VisitRow {
  const begin = eventBegins(part)
  const event = eventReader(snapshot, part)
  const [starts, sequences] = [part.starts(), part.sequences()]
  const text = (column: "entry_page" | "exit_page" | "entry_page_hostname" | "exit_page_hostname", visit: number) =>
    snapshot.dictionary(column.endsWith("hostname") ? "hostname" : "page").text(part.visit(column)[visit]!)
  return (visit) => ({
    visitor: part.visit("visitor")[visit]!,
    visitor_kind: VISITOR_KINDS[part.visit("visitor_kind")[visit]!] ?? "rotating",
    started_at: starts[visit]!,
    sequence: sequences[visit]!,
    duration: part.visit("duration")[visit]!,
    pageviews: part.visit("pageviews")[visit]!,
    counted_events: part.visit("events")[visit]!,
    interactive: part.visit("interactive")[visit]!,
    engaged: part.visit("engaged")[visit]!,
    entry_page: text("entry_page", visit),
    exit_page: text("exit_page", visit),
    entry_page_hostname: text("entry_page_hostname", visit),
    exit_page_hostname: text("exit_page_hostname", visit),
    ...traitsOf(snapshot, part, visit),
    import_id: part.importId,
    events: Array.from({ length: begin[visit + 1]! - begin[visit]! }, (_, i) => event(begin[visit]! + i, starts[visit]!)),
  })
}

function traitsOf(snapshot: Snapshot, part: Part, visit: number): VisitTraits {
  const texts = TRAITS.map((trait) => [trait, snapshot.dictionary(trait).text(part.visit(trait)[visit]!)])
  return Object.fromEntries(texts) as VisitTraits // an entry for each trait
}

/** Where each visit's events begin; one more at the end. */
function eventBegins(part: Part): Uint32Array {
  const begin = new Uint32Array(part.visits + 1)
  const visit = part.event("visit")
  for (let row = 0; row < part.events; row++) begin[visit[row]! + 1]!++
  for (let i = 0; i < part.visits; i++) begin[i + 1]! += begin[i]!
  return begin
}

function eventReader(snapshot: Snapshot, part: Part): (row: number, startedAt: number) => EventRow {
  const text = (column: "name" | "page" | "hostname" | "title", row: number) => snapshot.dictionary(column).text(part.event(column)[row]!)
  const [props, revenue, engagement, vitals] = [
    propsByRow(snapshot, part),
    revenueByRow(snapshot, part),
    engagementByRow(part),
    vitalsByRow(part),
  ]
  return (row, startedAt) => ({
    at: startedAt + part.event("offset")[row]!,
    name: text("name", row),
    page: text("page", row),
    hostname: text("hostname", row),
    title: text("title", row),
    interactive: part.event("interactive")[row] === 1,
    props: props.get(row) ?? [],
    ...revenue.get(row),
    ...engagement.get(row),
    ...vitals.get(row),
  })
}

function propsByRow(snapshot: Snapshot, part: Part): Map<number, [string, string][]> {
  const { row, key, value } = part.props()
  const keys = snapshot.dictionary("property")
  const byRow = new Map<number, [string, string][]>()
  for (let i = 0; i < row.length; i++) {
    const list = byRow.get(row[i]!) ?? []
    byRow.set(row[i]!, list)
    list.push([keys.text(key[i]!), snapshot.dictionary(`property:${key[i]!}`).text(value[i]!)])
  }
  return byRow
}

function revenueByRow(snapshot: Snapshot, part: Part): Map<number, Pick<EventRow, "revenue">> {
  const { row, amount, currency } = part.revenue()
  const currencies = snapshot.dictionary("currency")
  return new Map(Array.from(row, (at, i) => [at, { revenue: { amount: amount[i]!, currency: currencies.text(currency[i]!) } }]))
}

function engagementByRow(part: Part): Map<number, Pick<EventRow, "engagement">> {
  const { row, engaged, scroll } = part.engagement()
  const report = (i: number) => ({ engagedMs: engaged[i]!, ...(scroll[i] !== NO_SCROLL && { scrollDepth: scroll[i]! }) })
  return new Map(Array.from(row, (at, i) => [at, { engagement: report(i) }]))
}

/** `cls` is stored in thousandths. */
function vitalsByRow(part: Part): Map<number, Pick<EventRow, "vitals">> {
  const { row, lcp, inp, fcp, ttfb, cls } = part.vitals()
  const measured = (name: string, value: number, scale = 1) => (value === NO_VITAL ? {} : { [name]: value / scale })
  const report = (i: number): Vitals => ({
    ...measured("lcp", lcp[i]!),
    ...measured("inp", inp[i]!),
    ...measured("fcp", fcp[i]!),
    ...measured("ttfb", ttfb[i]!),
    ...measured("cls", cls[i]!, 1000),
  })
  return new Map(Array.from(row, (at, i) => [at, { vitals: report(i) }]))
}
