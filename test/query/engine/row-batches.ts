import type { RowsQuery } from "../../../src/domain/query.ts"
import type { RowsPlace } from "../../../src/query/rows/places.ts"
import { type VisitRow, visitRows } from "../../../src/query/rows/rows.ts"
import type { Snapshot } from "../../../src/store/events/part.ts"

/** All raw visits of one snapshot, batch by batch. */
export function* rowBatches(snapshot: Snapshot, query: RowsQuery): Generator<VisitRow[]> {
  let place: RowsPlace | undefined
  do {
    const batch = visitRows(snapshot, query, place, () => {})
    if (batch.rows.length > 0) yield batch.rows
    place = batch.next
  } while (place)
}
