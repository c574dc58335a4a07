import { dimensionFacts } from "../../src/domain/dimension.ts"
import type { Key, Query, Row, Table } from "../../src/domain/query.ts"
import { type ImportedAnswer, importedAnswer, type RawImport } from "./imported.ts"
import { metricsOf } from "./metrics.ts"
import { isCounted, type RawVisit } from "./raw.ts"
import { compareCodePoints } from "./rounding.ts"
import { isByGoal, type Sets, setsOf } from "./sets.ts"

/**
 * Recomputes the result of a query from plain visits with naive loops, following the wording of metrics.md. Where the text is
 * ambiguous, a comment names the interpretation, which is the engine's.
 */
export function answer(visits: readonly RawVisit[], query: Query, imports: readonly RawImport[] = []): Table {
  const sets = setsOf(visits, query)
  const imported = importedAnswer(imports, query, sets.starts)
  const rows = allRows(sets, query, imported).sort(comparison(query))
  return {
    ...(imported.facts && { imports: imported.facts }),
    rows: rows.slice(query.offset, query.offset + query.limit),
    totalRows: rows.length,
    otherCurrencies: otherCurrencies(sets, query),
  }
}

function allRows(sets: Sets, query: Query, imported: ImportedAnswer): Row[] {
  const metrics = metricsOf(sets, query, imported)
  const values = query.metrics.map((metric) => metrics[metric]())
  return [...keysOf(sets, query, imported.rows)].map((row) => ({
    keys: JSON.parse(row) as Key[],
    values: values.map((value) => value(row)),
  }))
}

/**
 * "Buckets and values without data are not rows" (api.md 7.6). Interpreted as the engine does: a row exists if E has an event or
 * V a visit in it, regardless of the metrics, if a conversion metric is requested and it has a conversion, or if an import has a count. The internal names
 * `engagement` and `vitals` are not rows of `event`.
 */
function keysOf(sets: Sets, query: Query, imported: ReadonlySet<string>): Set<string> {
  const { filter, groupings, fillBuckets, metrics } = query
  if (groupings.length === 0) return new Set(["[]"])
  if (fillBuckets) return new Set(sets.starts.map((start) => JSON.stringify([start])))
  const byGoal = isByGoal(query)
  const events = sets.events(sets.matching(filter, byGoal))
  const anyone = query.anyEvent && !byGoal ? sets.events(sets.matching(filter, false, sets.anyEvent)) : events
  const converts = metrics.some((metric) => metric === "conversions" || metric.endsWith("conversion_rate"))
  const completions = converts ? sets.events(sets.matching(filter, true)) : new Map<string, never>()
  const counted = [...events].filter(([, matches]) => matches.some(({ event }) => isCounted(event))).map(([row]) => row)
  const named = groupings.findIndex((grouping) => grouping.by === "dimension" && grouping.dimension === "event")
  const isInternal = (row: string) => named !== -1 && ["engagement", "vitals"].includes(JSON.parse(row)[named])
  const rows = [...counted, ...anyone.keys(), ...sets.started(filter).keys(), ...completions.keys(), ...imported]
  return new Set(rows.filter((row) => !isInternal(row)))
}

/**
 * Interpreted as the engine does: unmeasured values sort last in both directions, no revenue sorts as 0, a missing value as its
 * label.
 */
function comparison({ order, groupings, metrics }: Query): (a: Row, b: Row) => number {
  const ties = groupings.map((_, index) => ({ by: "grouping" as const, index, descending: false }))
  return (a, b) => {
    for (const { by, index, descending } of [...order, ...ties]) {
      const difference =
        by === "metric" ? byNumber(numberOf(a, index), numberOf(b, index), descending) : byKey(a, b, index) * (descending ? -1 : 1)
      if (difference !== 0) return difference
    }
    return 0
  }

  /** No revenue is null, but sorts as 0 because the flat form shows it as 0. */
  function numberOf({ values }: Row, index: number): number | null {
    return values[index] ?? (metrics[index] === "total_revenue" ? 0 : null)
  }

  function byKey(a: Row, b: Row, index: number): number {
    const grouping = groupings[index]!
    const missing = grouping.by === "time" ? "" : (grouping.missing ?? dimensionFacts(grouping.dimension).missing[0])
    const [one, other] = [a.keys[index] ?? missing, b.keys[index] ?? missing]
    return typeof one === "number" ? one - Number(other) : compareCodePoints(one, String(other))
  }
}

function byNumber(a: number | null, b: number | null, descending: boolean): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  return descending ? b - a : a - b
}

/** Returns the other currencies of the matching events if a revenue metric is requested. */
function otherCurrencies(sets: Sets, query: Query): string[] {
  if (!query.metrics.some((metric) => metric.endsWith("_revenue"))) return []
  const matches = [...sets.events(sets.matching(query.filter, isByGoal(query))).values()].flat()
  const currencies = matches.flatMap(({ event }) => (event.revenue ? [event.revenue.currency] : []))
  return [...new Set(currencies)].filter((currency) => currency !== query.site.revenueCurrency).sort(compareCodePoints)
}
