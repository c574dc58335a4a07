import type { Dimension } from "../../domain/dimension.ts"
import type { Filter } from "../../domain/filter.ts"
import { type FunnelInsight, VISIT_DIMENSIONS } from "../../domain/insight.ts"
import { QUERY } from "../../domain/limits.ts"
import type { FunnelStep, Key } from "../../domain/query.ts"
import type { Site } from "../../domain/site.ts"
import { ArgumentReader, type Form, refuseArguments } from "../../query/parse/arguments.ts"
import { changePercent } from "../../query/parse/compare.ts"
import { shownValue } from "../../query/show/result.ts"
import { funnelFacts, type OpenFunnel, openFunnel, type ShownFunnel, shownFunnel } from "./funnel-report.ts"
import { visitImports } from "./import-facts.ts"
import { both, codeNames, openReports, type ReportOptions, shownRange, splitArguments, withAllFaults } from "./open-report.ts"
import type { StatsOptions } from "./stats.ts"

/** Reports on a funnel, on the compared range, and on one funnel for each of the most frequent values at the first step. */
export async function funnelInsight(
  options: StatsOptions,
  site: Site,
  given: Record<string, unknown>,
  reportOptions: ReportOptions = {},
): Promise<FunnelInsight> {
  const form = reportOptions.form ?? "json"
  const { own, ranged } = splitArguments(given, ["breakdown", "breakdown_limit"])
  const open = openReports(options)
  const opening = openFunnel({
    site,
    given: ranged,
    form,
    saved: options.funnels.all(site.id),
    open: (rest) => open("compared_funnel", site, rest, reportOptions),
  })
  const [opened, split] = await withAllFaults(form, opening, () => readSplit(own, form))
  const { compared } = opened.report.parsed
  const ask: Ask = async (variants) => {
    const results = await options.engine.funnels({ ...opened.query, variants }, opened.report.caller)
    return results.map((result) => shownFunnel(opened.funnel, result))
  }
  const [imports, [shown, before], breakdown] = await Promise.all([
    visitImports(options, opened.report),
    ask(compared ? [{}, { range: compared.range }] : [{}]),
    split.dimension && breakdownOf(options, opened, split.dimension, split.limit, ask),
  ])
  return {
    ...funnelFacts(opened, imports),
    ...shown!,
    ...(compared &&
      before && {
        comparison: { range: shownRange(compared, opened.report.now), ...countsOf(before), change_percent: changes(shown!, before) },
      }),
    ...(breakdown && { breakdown }),
  }
}

function readSplit(given: Record<string, unknown>, form: Form): { dimension: Dimension | undefined; limit: number } {
  const reader = new ArgumentReader(given, ["breakdown", "breakdown_limit"])
  const dimension = reader.choice("breakdown", VISIT_DIMENSIONS)
  const limit = reader.integer("breakdown_limit", QUERY.funnelRows) ?? QUERY.funnelRows.default
  refuseArguments(reader, form)
  return { dimension, limit }
}

type Ask = (variants: Parameters<StatsOptions["engine"]["funnels"]>[0]["variants"]) => Promise<ShownFunnel[]>

/** Splits a funnel by a dimension. A visitor counts for every value of the visits in which they took the first step. */
async function breakdownOf(options: StatsOptions, { query, report }: OpenFunnel, dimension: Dimension, limit: number, ask: Ask) {
  const filter = both(stepFilter(query.steps[0]!), query.filter)
  const { rows, totalRows } = await options.engine.aggregate(
    {
      site: report.facts,
      range: query.range,
      timezone: report.parsed.range.timezone,
      now: report.now,
      metrics: ["visitors"],
      groupings: [{ by: "dimension", dimension }],
      ...(filter && { filter }),
      order: [{ by: "metric", index: 0, descending: true }],
      limit,
      offset: 0,
      fillBuckets: false,
    },
    report.caller,
  )
  const keys = rows.map(({ keys: [key = null] }) => key)
  const funnels = keys.length === 0 ? [] : await ask(keys.map((key) => ({ filter: both(valueIs(dimension, key), query.filter)! })))
  const names = await codeNames(options, dimension)
  const shown = keys.map((key, i) => ({ ...shownValue(dimension, key, { names }), ...countsOf(funnels[i]!) }))
  return { dimension, rows: shown, total_rows: totalRows }
}

const STEP_OPERATORS = { exact: "is", prefix: "starts_with", contains: "contains", wildcard: "matches_wildcard" } as const

/** Returns the filter for events that count as the first step: pageviews of a page, or custom events with a name. */
function stepFilter({ type, match, value }: FunnelStep): Filter {
  const isPageview: Filter = { op: "is", dimension: "event", values: ["pageview"], missing: false, caseSensitive: true }
  const dimension = type === "page" ? "page" : "event"
  const matches: Filter = { op: STEP_OPERATORS[match], dimension, values: [value], missing: false, caseSensitive: true }
  return { op: "and", filters: [type === "page" ? isPageview : { op: "not", filter: isPageview }, matches] }
}

const valueIs = (dimension: Dimension, key: Key): Filter => ({
  op: "is",
  dimension,
  values: key === null ? [] : [String(key)],
  missing: key === null,
  caseSensitive: true,
})

const countsOf = ({ entered, completed, conversion_rate, steps }: ShownFunnel) => ({ entered, completed, conversion_rate, steps })

function changes(now: ShownFunnel, before: ShownFunnel) {
  const names = ["entered", "completed", "conversion_rate"] as const
  const changed = names.map((name) => [name, changePercent(now[name], before[name])] as const)
  return Object.fromEntries(changed.filter(([, change]) => change !== undefined)) as Partial<Record<(typeof names)[number], number>>
}
