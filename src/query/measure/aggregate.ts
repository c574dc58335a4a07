import type { Query, Range, Table } from "../../domain/query.ts"
import { compareCodePoints } from "../../domain/text.ts"
import type { Snapshot } from "../../store/events/part.ts"
import { absentValues } from "../filter/absent-values.ts"
import { comparedQuery, partnerOf } from "../parse/array-query.ts"
import { type Measures, openMeasures } from "./measures.ts"
import { orderedPart } from "./ordered-part.ts"
import { tableOf } from "./table.ts"

/**
 * Computes exact metrics by 0 to 3 groupings, for summary, timeseries and breakdown. `measures.ts` decides what is measured over
 * which events and visits, `metrics.ts` computes the numbers, `table.ts` chooses and orders the rows. Pure and synchronous; `check`
 * is called between parts and throws when the query was cancelled.
 */
export function aggregate(snapshot: Snapshot, query: Query, check: () => void): Table {
  const measures = openMeasures(snapshot, query)
  if (query.fillBuckets) makeAllBuckets(measures)
  for (const part of measures.parts) {
    check()
    measures.read(orderedPart(part))
  }
  check()
  const table = tableOf(measures, query, otherCurrencies(snapshot, measures))
  return query.namesAbsent ? { ...table, absentValues: absentValues(snapshot, query.filter, query.site) } : table
}

/** Creates a group for each bucket, so that buckets without data are rows too. */
function makeAllBuckets({ chosen, buckets }: Measures): void {
  const count = buckets!.edges.length - 1
  const codes = Uint32Array.from({ length: count }, (_, bucket) => bucket)
  chosen.index.assign([codes], count, new Uint32Array(count))
}

function otherCurrencies(snapshot: Snapshot, { revenue }: Measures): string[] {
  const currencies = snapshot.dictionary("currency")
  return revenue
    .others()
    .map((id) => currencies.text(id))
    .sort(compareCodePoints)
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
