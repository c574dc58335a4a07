import type { Query, Table } from "../domain/query.ts"
import type { Snapshot } from "../store/events/part.ts"
import { compareCodePoints } from "./code-points.ts"
import { type Measures, openMeasures } from "./measures.ts"
import { orderedPart } from "./ordered-part.ts"
import { tableOf } from "./table.ts"

/**
 * Metrics by 0 to 3 groupings, exact: the heart of summary, timeseries and breakdown. What is measured, and over which
 * events and visits, is in `measures.ts`; how numbers are made of it in `metrics.ts`; which rows there are, in which order,
 * in `table.ts`. Pure and synchronous; `check` is called between parts and throws when the question is given up.
 */
export function aggregate(snapshot: Snapshot, query: Query, check: () => void): Table {
  const measures = openMeasures(snapshot, query)
  if (query.fillBuckets) makeAllBuckets(measures)
  for (const part of measures.parts) {
    check()
    measures.read(orderedPart(part))
  }
  check()
  return tableOf(measures, query, otherCurrencies(snapshot, measures))
}

/** Each bucket becomes a group, so that those without data are rows too. */
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
