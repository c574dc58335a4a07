import type { Filter } from "../domain/filter.ts"
import type { Properties } from "../domain/insight.ts"
import { QUERY } from "../domain/limits.ts"
import type { Table } from "../domain/query.ts"
import type { Site } from "../domain/site.ts"
import { readProperties } from "../query/property-arguments.ts"
import { shownValue } from "../query/result.ts"
import { splitArguments, withAllFaults } from "./all-faults.ts"
import { type Asking, both, openReports } from "./open-report.ts"
import { type OpenReport, reportFacts } from "./report-facts.ts"
import { queryOf, withFilter } from "./report-query.ts"
import type { StatsOptions } from "./stats.ts"

/** Property keys of an event, or of all, with their values. */
export async function propertyInsight(
  options: StatsOptions,
  site: Site,
  given: Record<string, unknown>,
  asking: Asking = {},
): Promise<Properties> {
  const { own, ranged } = splitArguments(given, ["event", "limit"])
  const form = asking.form ?? "json"
  const opening = openReports(options)("visits", site, ranged, asking)
  const [report, { event, limit }] = await withAllFaults(form, opening, () => readProperties(own, form))
  const isEvent = event === undefined ? undefined : nameIs(event)
  const { facts, asker, question } = report
  const keys = await options.engine.propertyKeys({ site: facts, range: question.range.range, ...withFilter(report, isEvent) }, asker)
  const shown = keys.slice(0, limit)
  const tables = await Promise.all(shown.map(({ property }) => valuesOf(options, report, property, isEvent)))
  return {
    ...reportFacts(report, { otherCurrencies: [], smallRows: sumOf(tables) }, false),
    ...(event !== undefined && { event }),
    data: shown.map(({ property, events }, i) => ({ property, events, ...shownTable(tables[i]!) })),
    total_properties: keys.length,
  }
}

/** The values of one property, those with most events first. */
function valuesOf({ engine }: StatsOptions, report: OpenReport, property: string, isEvent: Filter | undefined): Promise<Table> {
  const grouping = { by: "dimension" as const, dimension: "property" as const, property }
  const metrics = ["visitors", "events"] as const
  const carries: Filter = { op: "not", filter: { ...nameIs(""), dimension: "property", property, values: [], missing: true } }
  const order = [{ by: "metric" as const, index: 1, descending: true }]
  const more = withFilter(report, both(isEvent, carries))
  return engine.aggregate(queryOf(report, { metrics, groupings: [grouping], order, limit: QUERY.propertyValues, ...more }), report.asker)
}

const sumOf = (tables: readonly Table[]): number => tables.reduce((sum, { smallRows = 0 }) => sum + smallRows, 0)

const shownTable = ({ rows, totalRows }: Table) => ({
  values: rows.map(({ keys: [key = null], values: [visitors, count] }) => ({
    ...shownValue("property", key),
    visitors: visitors ?? 0,
    events: count ?? 0,
  })),
  total_values: totalRows,
})

const nameIs = (name: string) => ({ op: "is", dimension: "event", values: [name], missing: false, caseSensitive: true }) satisfies Filter
