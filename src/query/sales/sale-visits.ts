import type { Range, SiteFacts } from "../../domain/query.ts"
import { SALE_DIMENSIONS, type SaleDimensions, type SaleVisit } from "../../domain/sale.ts"
import { VISIT_LENGTH_MS, VISITOR_KINDS } from "../../domain/visit.ts"
import { firstAtLeast } from "../../store/events/bytes/ascending.ts"
import type { Part, Snapshot, VisitColumn, VisitOfSale } from "../../store/events/part.ts"
import { SiteTail } from "../../store/events/tail/tail.ts"
import { type Texts, textsOf } from "../rows/rows.ts"
import { pseudonyms } from "../show/pseudonyms.ts"

/** A query for the visits of sale events. */
export interface SaleVisitsQuery {
  site: SiteFacts
  /** Time of the query in epoch ms, by which visits are open or closed. */
  now: number
  siteKey: Uint8Array
  /** The sale events by sequence, or with their visits if these are not in the store of this node; or the visits themselves. */
  of: { sales: readonly number[] } | { found: readonly VisitOfSale[] } | { visits: readonly VisitPlace[] }
}

/** A visit by its place in the store. */
export interface VisitPlace {
  /** Sequence of its first event. */
  sequence: number
  /** Its start in epoch ms. */
  at: number
}

interface FoundVisit {
  part: Part
  row: number
}

/** Returns the visits of sale events by the event's sequence, or visits by their own. Visits that were removed are left out. */
export function saleVisits(snapshot: Snapshot, query: SaleVisitsQuery, check: () => void): Map<number, SaleVisit> {
  const sales = salesOf(snapshot, query.of)
  const read = readVisits(findVisits(snapshot.parts, sales, check), snapshot, query)
  const visits = new Map<number, SaleVisit>()
  for (const { sequence, visit } of sales) {
    const known = read.get(visit)
    if (known) visits.set(sequence, known)
  }
  return visits
}

function salesOf(snapshot: Snapshot, of: SaleVisitsQuery["of"]): readonly VisitOfSale[] {
  if ("sales" in of) return snapshot.saleVisits(of.sales)
  return "found" in of ? of.found : of.visits.map(({ sequence, at }) => ({ sequence, visit: sequence, at }))
}

/** Finds visits by sequence. A sale belongs to a visit that started at most a day before, which leaves few parts, and few rows of each. */
function findVisits(parts: readonly Part[], sales: readonly VisitOfSale[], check: () => void): Map<number, FoundVisit> {
  const byTime = sales.toSorted((a, b) => a.at - b.at)
  const times = Float64Array.from(byTime, ({ at }) => at)
  const found = new Map<number, FoundVisit>()
  for (const part of parts) {
    if (part.visits === 0) continue
    const from = firstAtLeast(times, part.minStart)
    const to = firstAtLeast(times, part.maxStart + VISIT_LENGTH_MS + 1)
    if (from === to) continue
    check()
    const wanted = new Set(byTime.slice(from, to).map(({ visit }) => visit))
    const { first, last } = visitsBetween(part, { from: times[from]! - VISIT_LENGTH_MS, to: times[to - 1]! + 1 })
    const sequences = part.sequences()
    for (let row = first; row < last; row++) if (wanted.has(sequences[row]!)) found.set(sequences[row]!, { part, row })
  }
  return found
}

/** Returns the rows among which the visits that start in a range are: exactly these, except in the tail, which is not ordered by start. */
export function visitsBetween(part: Part, { from, to }: Range): { first: number; last: number } {
  if (part instanceof SiteTail) return { first: 0, last: part.visits }
  const starts = part.starts()
  return { first: firstAtLeast(starts, from), last: firstAtLeast(starts, to) }
}

/** Reads visits by sequence, part by part. */
function readVisits(found: ReadonlyMap<number, FoundVisit>, snapshot: Snapshot, { siteKey, now }: SaleVisitsQuery): Map<number, SaleVisit> {
  const texts = textsOf(snapshot)
  const visits = new Map<number, SaleVisit>()
  for (const [part, places] of Map.groupBy(found, ([, { part }]) => part)) {
    const visitors = part.visit("visitor")
    // A call for each visit would take longer than everything else.
    const names = pseudonyms(siteKey, "visitor")(places.map(([, { row }]) => snapshot.visitors.number(visitors[row]!)))
    const [starts, kinds] = [part.starts(), part.visit("visitor_kind")]
    const dimensions = dimensionsReader(texts, part, SALE_DIMENSIONS)
    for (const [index, [sequence, { row }]] of places.entries())
      visits.set(sequence, {
        sequence,
        visitor: names[index]!,
        visitor_kind: VISITOR_KINDS[kinds[row]!] ?? "rotating",
        started_at: starts[row]!,
        is_closed: !part.isOpen(row, now),
        dims: dimensions(row),
      })
  }
  return visits
}

/** Creates the function that reads dimensions of the visits of a part as texts. */
export function dimensionsReader<Name extends keyof SaleDimensions>(
  texts: Texts,
  part: Part,
  names: readonly Name[],
): (row: number) => Record<Name, string> {
  const columns = names.map((name) => {
    const column: VisitColumn = name === "hostname" ? "entry_page_hostname" : name
    return { name, numbers: part.visit(column), dictionary: texts(name === "entry_page" ? "page" : name) }
  })
  return (row) => {
    const values: Partial<Record<Name, string>> = {}
    for (const { name, numbers, dictionary } of columns) values[name] = dictionary.text(numbers[row]!)
    return values as Record<Name, string> // an entry for each name
  }
}
