import { QUERY } from "../../domain/limits.ts"
import type { Metric } from "../../domain/metric.ts"
import type { Table } from "../../domain/query.ts"
import type { Site } from "../../domain/site.ts"
import { VITAL_DIMENSIONS, VITALS, type WebVitals, type WebVitalsBreakdown } from "../../domain/web-vitals.ts"
import { ArgumentReader, type Form, refuseArguments } from "../../query/parse/arguments.ts"
import { shownValue } from "../../query/show/result.ts"
import { importsOf } from "./import-facts.ts"
import {
  codeNames,
  openReports,
  queryOf,
  type ReportOptions,
  reportFacts,
  shownRange,
  splitArguments,
  withAllFaults,
} from "./open-report.ts"
import type { StatsOptions } from "./stats.ts"

type Vital = (typeof VITALS)[number]
const METRICS: Readonly<Record<Vital, Metric>> = { lcp: "lcp_p75", inp: "inp_p75", cls: "cls_p75", fcp: "fcp_p75", ttfb: "ttfb_p75" }

/** Returns the 75th percentile of the named measures, by default of all. Takes the arguments of a summary. */
export async function webVitalsReport(
  options: StatsOptions,
  site: Site,
  given: Record<string, unknown>,
  reportOptions: ReportOptions = {},
): Promise<WebVitals> {
  const { own, ranged } = splitArguments(given, ["metrics"])
  const form = reportOptions.form ?? "json"
  const [report, names] = await withAllFaults(form, openReports(options)("vitals", site, ranged, reportOptions), () =>
    readVitals(own, form),
  )
  const query = queryOf(report, { metrics: [...names.map((name) => METRICS[name]), "measured_loads"] })
  const { compared } = report.parsed
  const { table, before } = compared
    ? await options.engine.compare({ ...query, compared: compared.range }, report.caller)
    : { table: await options.engine.aggregate(query, report.caller), before: undefined }
  const shown = ({ rows }: Table) => percentiles(names, rows[0]?.values ?? [])
  return {
    ...reportFacts(report, { ...table, ...importsOf(table, before) }, false),
    percentile: 75,
    measured_loads: table.rows[0]?.values.at(-1) ?? 0,
    metrics: shown(table),
    ...(compared && before && { comparison: { range: shownRange(compared, report.now), metrics: shown(before) } }),
  }
}

/** Returns the values by measure, without those that were not measured. */
function percentiles(names: readonly Vital[], values: readonly (number | null)[]): WebVitals["metrics"] {
  return Object.fromEntries(names.flatMap((name, i) => (typeof values[i] === "number" ? [[name, values[i]]] : [])))
}

const SORTS = ["measured_loads", ...VITALS] as const

/** Returns the 75th percentiles by the values of a dimension, by default those with the most measured page loads first. */
export async function webVitalsBreakdown(
  options: StatsOptions,
  site: Site,
  given: Record<string, unknown>,
  reportOptions: ReportOptions = {},
): Promise<WebVitalsBreakdown> {
  const { own, ranged } = splitArguments(given, OWN)
  const form = reportOptions.form ?? "json"
  const [report, { dimension, sort, descending, limit, offset }] = await withAllFaults(
    form,
    openReports(options)("visits", site, ranged, reportOptions),
    () => readGrouped(own, form),
  )
  const metrics = [...VITALS.map((name) => METRICS[name]), "measured_loads"] as const
  const byMetric = (name: Metric, isDescending: boolean) =>
    ({ by: "metric", index: metrics.indexOf(name), descending: isDescending }) as const
  const order = [byMetric(sort === "measured_loads" ? sort : METRICS[sort], descending), byMetric("measured_loads", true)]
  const groupings = [{ by: "dimension" as const, dimension }]
  const query = queryOf(report, { metrics, groupings, order, limit: Number.MAX_SAFE_INTEGER })
  const { rows, ...table } = await options.engine.aggregate(query, report.caller)
  // Values without measured page loads have rows, because their visits match.
  const measured = rows.filter(({ values }) => values.at(-1) !== 0)
  const names = await codeNames(options, dimension)
  return {
    ...reportFacts(report, { ...table, otherCurrencies: [] }, false),
    percentile: 75,
    dimension,
    rows: measured.slice(offset, offset + limit).map(({ keys: [key = null], values }) => ({
      ...shownValue(dimension, key, { names }),
      measured_loads: values.at(-1) ?? 0,
      ...percentiles(VITALS, values),
    })),
    has_more: offset + limit < measured.length,
  }
}

const OWN = ["dimension", "sort", "order", "limit", "offset"]

function readGrouped(given: Record<string, unknown>, form: Form) {
  const reader = new ArgumentReader(given, OWN)
  const dimension = reader.choice("dimension", VITAL_DIMENSIONS) ?? "page"
  const sort = reader.choice("sort", SORTS) ?? "measured_loads"
  const descending = reader.choice("order", ["desc", "asc"]) !== "asc"
  const limit = reader.integer("limit", { min: 1, max: QUERY.breakdownLimit }) ?? 10
  const offset = reader.integer("offset", { min: 0, max: QUERY.breakdownOffset }) ?? 0
  refuseArguments(reader, form)
  return { dimension, sort, descending, limit, offset }
}

function readVitals(given: Record<string, unknown>, form: Form): readonly Vital[] {
  const reader = new ArgumentReader(given, ["metrics"])
  const names = reader.choices("metrics", VITALS, { min: 1, max: VITALS.length }) ?? VITALS
  refuseArguments(reader, form)
  return names
}
