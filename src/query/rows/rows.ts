import type { DictionaryName } from "../../domain/dimension.ts"
import type { Vitals } from "../../domain/event.ts"
import type { RowsQuery } from "../../domain/query.ts"
import { TRAITS, VISITOR_KINDS, type VisitorKind, type VisitTraits } from "../../domain/visit.ts"
import { type Dictionary, NO_SCROLL, NO_VITAL, type Part, type Snapshot } from "../../store/events/part.ts"
import { firstAtLeast } from "../measure/row-lists.ts"
import { nextVisits, type RowsPlace } from "./places.ts"

/** A stored visit with all of its events, in texts; "" is the missing value. Times in epoch ms, lengths in ms. */
export interface VisitRow extends VisitFacts {
  events: EventRow[]
}

/** What a visit is beside its events. */
export interface VisitFacts extends VisitTraits {
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

/** Some rows, and where to go on. */
export interface RowsBatch<Rows> {
  rows: Rows
  /** Undefined when that was all. */
  next: RowsPlace | undefined
  /** Once that was all: visits that there were at the beginning and that have been removed meanwhile. */
  omitted: number
}

const BATCH_VISITS = 500

/**
 * Visits that start in the range and have an event that satisfies the filter, each with all of its events, by their start: the
 * batch that follows a place, of a snapshot that may be younger than that of the batch before. `check` is called between parts.
 */
export function visitRows(snapshot: Snapshot, query: RowsQuery, place: RowsPlace | undefined, check: () => void): RowsBatch<VisitRow[]> {
  const { picks, next, omitted } = nextVisits(snapshot, { ...query, of: "visits", most: BATCH_VISITS }, place, check)
  const texts = textsOf(snapshot)
  const found = new Array<VisitRow>(picks.length)
  for (const [part, places] of Map.groupBy(picks.keys(), (i) => picks[i]!.part)) {
    const [visit, event] = [visitReader(texts, part), eventReader(texts, part)]
    for (const i of places) {
      const row = picks[i]!.visit
      const { from, to } = eventsOf(part, row)
      found[i] = { ...visit(row), events: Array.from({ length: to - from }, (_, k) => event(from + k)) }
    }
  }
  return { rows: found, next, omitted }
}

/** Where the events of a visit lie; in a part whose rows are ordered by visit. */
export function eventsOf(part: Part, visit: number): { from: number; to: number } {
  const visits = part.event("visit")
  return { from: firstAtLeast(visits, visit), to: firstAtLeast(visits, visit + 1) }
}

/** The texts behind numbers. A dictionary is looked up once: that costs a question to the store. */
export type Texts = (name: DictionaryName) => Dictionary

export function textsOf(snapshot: Snapshot): Texts {
  const known = new Map<DictionaryName, Dictionary>()
  return (name) => {
    const dictionary = known.get(name) ?? snapshot.dictionary(name)
    known.set(name, dictionary)
    return dictionary
  }
}

/** Reads visits of a part by their number. */
export function visitReader(texts: Texts, part: Part): (visit: number) => VisitFacts {
  const [starts, sequences] = [part.starts(), part.sequences()]
  const page = (column: "entry_page" | "exit_page", visit: number) => texts("page").text(part.visit(column)[visit]!)
  const hostname = (column: "entry_page_hostname" | "exit_page_hostname", visit: number) =>
    texts("hostname").text(part.visit(column)[visit]!)
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

/** Reads events of a part by their row. What few events have is searched for: a table of it would be made for every batch. */
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

/** What one row of a sparse column says of an event; nothing when the event has none. */
function sparseReader<Said extends object>(rows: Uint32Array, said: (i: number) => Said): (row: number) => Said | undefined {
  return (row) => {
    const i = firstAtLeast(rows, row)
    return rows[i] === row ? said(i) : undefined
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

/** `cls` is stored in thousandths. */
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
