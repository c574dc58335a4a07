import type { Query, Range, Table } from "../domain/query.ts"
import type { Snapshot } from "../store/events/part.ts"
import { aggregate } from "./aggregate.ts"
import { comparedQuery, partnerOf } from "./array-query.ts"

/** A table and the one of the range that it is compared with, both of the same moment. */
export interface ComparedTables {
  table: Table
  /** The rows that are compared with one of `table`; with `fillBuckets` every bucket. */
  before: Table
}

/**
 * Both halves of a compared report as one question: one place among those that wait, one limit of time, one state of the data.
 * Before, a row is looked for under the keys of its partner: a value that only occurred then is no row.
 */
export function comparedTables(snapshot: Snapshot, query: Query, range: Range, check: () => void): ComparedTables {
  const table = aggregate(snapshot, query, check)
  if (query.fillBuckets) return { table, before: aggregate(snapshot, { ...query, range }, check) }
  const partner = partnerOf(query, range)
  const wanted = table.rows.map(({ keys }) => partner(keys)).filter((keys) => keys !== undefined)
  if (wanted.length === 0) return { table, before: { rows: [], totalRows: 0, otherCurrencies: [] } }
  return { table, before: aggregate(snapshot, comparedQuery(query, range, wanted), check) }
}
