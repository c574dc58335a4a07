import type { ListedVisit } from "../../domain/visit-list.ts"
import { firstAtLeast } from "../../store/events/bytes/ascending.ts"
import type { Part, VisitorNumbers } from "../../store/events/part.ts"
import type { CompiledGoals } from "../filter/goals.ts"
import { eventsOf, type Texts, visitReader } from "../rows/rows.ts"

/** A range of event rows, half-open. */
interface Rows {
  from: number
  to: number
}

/** Creates the function that reads a visit of a part by row. The events of the part must be ordered. */
export function listedVisitReader(texts: Texts, part: Part, goals: CompiledGoals, visitors: VisitorNumbers): (row: number) => ListedVisit {
  const visit = visitReader(texts, part, visitors)
  const goalsIn = goalReader(part, goals)
  const revenueIn = revenueReader(texts, part)
  return (row) => {
    const { started_at: start, duration: durationMs, counted_events: events, entry_page_hostname: hostname, ...facts } = visit(row)
    const rows = eventsOf(part, row)
    const { interactive: _, engaged: __, exit_page_hostname: ___, import_id: ____, ...shown } = facts
    return { ...shown, start, durationMs, events, hostname, goals: goalsIn(rows), revenue: revenueIn(rows) }
  }
}

/** Creates the function that returns the indexes of the goals that a range of events completes, ascending. */
export function goalReader(part: Part, goals: CompiledGoals): (rows: Rows) => number[] {
  // The next part overwrites the lists.
  const { rows, goals: indexes, count } = goals.completions(part)
  const [events, completed] = [rows.slice(0, count), indexes.slice(0, count)]
  return ({ from, to }) => {
    const found = completed.subarray(firstAtLeast(events, from), firstAtLeast(events, to))
    return [...new Set(found)].sort((a, b) => a - b)
  }
}

function revenueReader(texts: Texts, part: Part): (rows: Rows) => ListedVisit["revenue"] {
  const { row, amount, currency } = part.revenue()
  return ({ from, to }) => {
    const sums = new Map<number, number>()
    for (let i = firstAtLeast(row, from); i < row.length && row[i]! < to; i++)
      sums.set(currency[i]!, (sums.get(currency[i]!) ?? 0) + amount[i]!)
    const named = Array.from(sums, ([code, minor]) => ({ currency: texts("currency").text(code), minor }))
    return named.sort((a, b) => (a.currency < b.currency ? -1 : 1))
  }
}
