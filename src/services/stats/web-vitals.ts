import { VITALS, type WebVitals } from "../../domain/insight.ts"
import type { Metric } from "../../domain/metric.ts"
import type { Table } from "../../domain/query.ts"
import type { Site } from "../../domain/site.ts"
import { ArgumentReader, type Form, refuseArguments } from "../../query/parse/arguments.ts"
import { importsOf } from "./import-facts.ts"
import { openReports, queryOf, type ReportOptions, reportFacts, shownRange, splitArguments, withAllFaults } from "./open-report.ts"
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
  const query = queryOf(report, { metrics: names.map((name) => METRICS[name]) })
  const { compared } = report.parsed
  const { table, before } = compared
    ? await options.engine.compare({ ...query, compared: compared.range }, report.caller)
    : { table: await options.engine.aggregate(query, report.caller), before: undefined }
  const shown = ({ rows }: Table) =>
    Object.fromEntries(
      names.map((name, i) => [name, rows[0]?.values[i] ?? null]).filter(([, value]) => value !== null),
    ) as WebVitals["metrics"] // without null
  return {
    ...reportFacts(report, { ...table, ...importsOf(table, before) }, false),
    percentile: 75,
    metrics: shown(table),
    ...(compared && before && { comparison: { range: shownRange(compared, report.now), metrics: shown(before) } }),
  }
}

function readVitals(given: Record<string, unknown>, form: Form): readonly Vital[] {
  const reader = new ArgumentReader(given, ["metrics"])
  const names = reader.choices("metrics", VITALS, { min: 1, max: VITALS.length }) ?? VITALS
  refuseArguments(reader, form)
  return names
}
