import type { DictionaryName } from "../../domain/dimension.ts"
import type { Vitals } from "../../domain/event.ts"
import type { RowsQuery } from "../../domain/query.ts"
import { TRAITS, VISITOR_KINDS, type VisitorKind, type VisitTraits } from "../../domain/visit.ts"
import { firstAtLeast } from "../../store/events/bytes/ascending.ts"
import { type Dictionary, NO_SCROLL, NO_VITAL, type Part, type Snapshot, type VisitorNumbers } from "../../store/events/part.ts"
import { nextVisits, type RowsCursor } from "./cursor.ts"

/** A stored visit with all of its events. Dictionary numbers are resolved to texts; "" is the missing value. Durations are in ms. */
export interface VisitRow extends VisitFacts {
  events: EventRow[]
}

/** A stored visit without its events. */
export interface VisitFacts extends VisitTraits {
  /** Number of the visitor. Must be converted to a pseudonym before it is shown to anyone. */
  visitor: number
  visitor_kind: VisitorKind
  started_at: number
  /** Sequence of the first event, which distinguishes visits with equal times. */
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

/** A batch of rows with the cursor of the next batch. */
export interface RowsBatch<Rows> {
  rows: Rows
  /** Undefined for the last batch. */
  next: RowsCursor | undefined
  /** In the last batch: number of visits that were removed since the read began. Otherwise 0. */
  omitted: number
}

const BATCH_VISITS = 500

/**
 * Returns the batch of visits after a cursor, ordered by start and each with all of its events: those that start in the range and have
 * an event that satisfies the filter. The snapshot can be newer than that of the previous batch. `check` is called between parts.
 */
export function visitRows(snapshot: Snapshot, query: RowsQuery, cursor: RowsCursor | undefined, check: () => void): RowsBatch<VisitRow[]> {
  const { picks, next, omitted } = nextVisits(snapshot, { ...query, of: "visits", maxRows: BATCH_VISITS }, cursor, check)
  const texts = textsOf(snapshot)
  const found = new Array<VisitRow>(picks.length)
  for (const [part, positions] of Map.groupBy(picks.keys(), (i) => picks[i]!.part)) {
    const [visit, event] = [visitReader(texts, part, snapshot.visitors), eventReader(texts, part)]
    for (const i of positions) {
      const row = picks[i]!.visit
      const { from, to } = eventsOf(part, row)
      found[i] = { ...visit(row), events: Array.from({ length: to - from }, (_, k) => event(from + k)) }
    }
  }
  return { rows: found, next, omitted }
}

/** Returns the range of a visit's event rows, half-open. The rows of the part must be ordered by visit. */
export function eventsOf(part: Part, visit: number): { from: number; to: number } {
  const visits = part.event("visit")
  return { from: firstAtLeast(visits, visit), to: firstAtLeast(visits, visit + 1) }
}

/** Returns a dictionary by name. Each is requested from the store only once. */
export type Texts = (name: DictionaryName) => Dictionary

export function textsOf(snapshot: Snapshot): Texts {
  const known = new Map<DictionaryName, Dictionary>()
  return (name) => {
    const dictionary = known.get(name) ?? snapshot.dictionary(name)
    known.set(name, dictionary)
    return dictionary
  }
}

/** Creates the function that reads the visits of a part by row. */
export function visitReader(texts: Texts, part: Part, { number }: VisitorNumbers): (visit: number) => VisitFacts {
  const [starts, sequences] = [part.starts(), part.sequences()]
  const page = (column: "entry_page" | "exit_page", visit: number) => texts("page").text(part.visit(column)[visit]!)
  const hostname = (column: "entry_page_hostname" | "exit_page_hostname", visit: number) =>
    texts("hostname").text(part.visit(column)[visit]!)
  return (visit) => ({
    visitor: number(part.visit("visitor")[visit]!),
    visitor_kind: VISITOR_KINDS[part.visit("visitor_kind")[visit]!] ?? "rotating",
    started_at: starts[visit]!,
    sequence: sequences[visit]!,
    duration: part.visit("duration")[visit]!,
    pageviews: part.visit("pageviews")[visit]!,
    counted_events: part.visit("events")[visit]!,
    interactive: part.visit("interactive")[visit]!,
    engaged: part.visit("engaged")[visit]!,
    entry_page: page("entry_page", visit),
    exit_page: page("exit_page", visit),
    entry_page_hostname: hostname("entry_page_hostname", visit),
    exit_page_hostname: hostname("exit_page_hostname", visit),
    ...traitsOf(texts, part, visit),
    import_id: part.importId,
  })
}

function traitsOf(texts: Texts, part: Part, visit: number): VisitTraits {
  const traits = TRAITS.map((trait) => [trait, texts(trait).text(part.visit(trait)[visit]!)])
  return Object.fromEntries(traits) as VisitTraits // an entry for each trait
}

/** Creates the function that reads the events of a part by row. Sparse columns are searched, because an index would be rebuilt per batch. */
export function eventReader(texts: Texts, part: Part): (row: number) => EventRow {
  const starts = part.starts()
  const text = (column: "name" | "page" | "hostname" | "title", row: number) => texts(column).text(part.event(column)[row]!)
  const [props, revenue, engagement, vitals] = [
    propsReader(texts, part),
    revenueReader(texts, part),
    engagementReader(part),
    vitalsReader(part),
  ]
  return (row) => ({
    at: starts[part.event("visit")[row]!]! + part.event("offset")[row]!,
    name: text("name", row),
    page: text("page", row),
    hostname: text("hostname", row),
    title: text("title", row),
    interactive: part.event("interactive")[row] === 1,
    props: props(row),
    ...revenue(row),
    ...engagement(row),
    ...vitals(row),
  })
}

function propsReader(texts: Texts, part: Part): (row: number) => EventRow["props"] {
  const { row, key, value } = part.props()
  const pair = (i: number): [string, string] => [texts("property").text(key[i]!), texts(`property:${key[i]!}`).text(value[i]!)]
  return (wanted) => {
    const found: [string, string][] = []
    for (let i = firstAtLeast(row, wanted); i < row.length && row[i] === wanted; i++) found.push(pair(i))
    return found
  }
}

/** Creates the function that reads a sparse column by event row. It returns undefined for events without a value. */
function sparseReader<Value extends object>(rows: Uint32Array, valueAt: (i: number) => Value): (row: number) => Value | undefined {
  return (row) => {
    const i = firstAtLeast(rows, row)
    return rows[i] === row ? valueAt(i) : undefined
  }
}

function revenueReader(texts: Texts, part: Part): (row: number) => Pick<EventRow, "revenue"> | undefined {
  const { row, amount, currency } = part.revenue()
  return sparseReader(row, (i) => ({ revenue: { amount: amount[i]!, currency: texts("currency").text(currency[i]!) } }))
}

function engagementReader(part: Part): (row: number) => Pick<EventRow, "engagement"> | undefined {
  const { row, engaged, scroll } = part.engagement()
  return sparseReader(row, (i) => ({
    engagement: { engagedMs: engaged[i]!, ...(scroll[i] !== NO_SCROLL && { scrollDepth: scroll[i]! }) },
  }))
}

/** Reads web vitals. `cls` is stored in thousandths. */
function vitalsReader(part: Part): (row: number) => Pick<EventRow, "vitals"> | undefined {
  const { row, lcp, inp, fcp, ttfb, cls } = part.vitals()
  const measured = (name: string, value: number, scale = 1) => (value === NO_VITAL ? {} : { [name]: value / scale })
  return sparseReader(row, (i) => ({
    vitals: {
      ...measured("lcp", lcp[i]!),
      ...measured("inp", inp[i]!),
      ...measured("fcp", fcp[i]!),
      ...measured("ttfb", ttfb[i]!),
      ...measured("cls", cls[i]!, 1000),
    },
  }))
}
