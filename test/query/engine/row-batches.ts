import type { RowsQuery } from "../../../src/domain/query.ts"
import type { RowsCursor } from "../../../src/query/rows/cursor.ts"
import { type VisitRow, visitRows } from "../../../src/query/rows/rows.ts"
import type { Snapshot } from "../../../src/store/events/part.ts"

/** Yields all raw visits of a snapshot in batches. */
export function* rowBatches(snapshot: Snapshot, query: RowsQuery): Generator<VisitRow[]> {
  let cursor: RowsCursor | undefined
  do {
    const batch = visitRows(snapshot, query, cursor, () => {})
    if (batch.rows.length > 0) yield batch.rows
    cursor = batch.next
  } while (cursor)
}
