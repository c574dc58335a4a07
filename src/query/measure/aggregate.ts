import type { Query, Range, Table } from "../../domain/query.ts"
import { compareCodePoints } from "../../domain/text.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import { absentValues } from "../filter/absent-values.ts"
import { comparedQuery, partnerOf } from "../parse/array-query.ts"
import { divideByMonth } from "../parts/months.ts"
import { cutToRange, touches } from "../parts/ranges.ts"
import { returningVisitors } from "../parts/visitor-bits.ts"
import { type Measures, measureContext, openMeasures } from "./measures.ts"
import { addMonths, canBeKept, lacking } from "./month-sums.ts"
import { orderedPart } from "./ordered-part.ts"
import { tableOf } from "./table.ts"

/**
 * Computes exact metrics by 0 to 3 groupings, for summary, timeseries and breakdown. `measures.ts` decides what is measured over
 * which events and visits, `metrics.ts` computes the numbers, `table.ts` chooses and orders the rows. Pure and synchronous; `check`
 * is called between parts and throws when the query was cancelled.
 */
export function aggregate(snapshot: Snapshot, query: Query, check: () => void): Table {
  const parts = snapshot.parts.filter((part) => touches(part, query.range))
  const context = measureContext(snapshot, query)
  const divided = canBeKept(query) ? divideByMonth(snapshot, parts, { range: query.range, lacks: lacking(context) }) : undefined
  const measures = openMeasures(context, divided?.returning ?? returningOf(snapshot, query, parts))
  if (query.fillBuckets) makeAllBuckets(measures)
  if (divided) addMonths(snapshot, query, { measures, months: divided.months, check })
  for (const part of cutToRange(divided?.others ?? parts, query.range)) {
    check()
    measures.read(orderedPart(part))
  }
  check()
  const table = tableOf(measures, query, otherCurrencies(snapshot, measures))
  return query.namesAbsent ? { ...table, absentValues: absentValues(snapshot, query.filter, query.site) } : table
}

const returningOf = (snapshot: Snapshot, { groupings }: Query, parts: readonly Part[]): Int32Array =>
  groupings.length > 0 ? returningVisitors(snapshot, parts) : new Int32Array(0)

/** Creates a group for each bucket, so that buckets without data are rows too. */
function makeAllBuckets({ chosen, buckets }: Measures): void {
  const count = buckets!.edges.length - 1
  const codes = Uint32Array.from({ length: count }, (_, bucket) => bucket)
  chosen.index.assign([codes], count, new Uint32Array(count))
}

function otherCurrencies(snapshot: Snapshot, { revenue }: Measures): string[] {
  const others = revenue.others()
  // A dictionary can be a request to another server.
  if (others.length === 0) return []
  const currencies = snapshot.dictionary("currency")
  return others.map((id) => currencies.text(id)).sort(compareCodePoints)
}

/** A query with the range that its rows are compared with. */
export interface ComparedQuery extends Query {
  compared: Range
}

/** A table and the table of the compared range, both from the same snapshot. */
export interface ComparedTables {
  table: Table
  /** The rows that correspond to rows of `table`; with `fillBuckets` every bucket. */
  before: Table
}

/**
 * Computes both tables of a compared report as one query: one place in the queue, one time limit, one snapshot. The compared table
 * contains only rows that correspond to rows of the first one; a value that occurred only in the compared range is left out.
 */
export function comparedTables(snapshot: Snapshot, { compared: range, ...query }: ComparedQuery, check: () => void): ComparedTables {
  const table = aggregate(snapshot, query, check)
  if (query.fillBuckets) return { table, before: aggregate(snapshot, { ...query, range }, check) }
  const partner = partnerOf(query, range)
  const wanted = table.rows.map(({ keys }) => partner(keys)).filter((keys) => keys !== undefined)
  if (wanted.length === 0) return { table, before: { rows: [], totalRows: 0, otherCurrencies: [] } }
  return { table, before: aggregate(snapshot, comparedQuery(query, range, wanted), check) }
}
