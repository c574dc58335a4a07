/** Widgets of figures and lists: metric, timeseries, breakdown, map, comparison and web vitals. */
import { Type as t } from "@sinclair/typebox"
import { AppError, ComparedBreakdown, type Fault, isObject, Summary, Timeseries, VITALS, WebVitals } from "#plugin"
import { INTERVALS } from "../board.ts"
import { readFilters } from "../input.ts"
import { FiltersInput } from "../responses.ts"
import {
  asked,
  type CoreQuestion,
  type CoreWidget,
  closed,
  coreWidget,
  Dimension,
  Metric,
  metricsOf,
  oneOf,
  type Reports,
  shown,
} from "./core.ts"

const READ = { needs: "site:read", filter_dimensions: "all", shareable: () => true } as const

const MetricConfig = t.Object(
  {
    metric: Metric,
    goal_id: t.Optional(t.Integer({ minimum: 1, description: "Id of a goal whose visits are counted. Default: all visits." })),
    sparkline: t.Optional(t.Boolean({ description: "Whether to show the metric over time. Default: true." })),
  },
  closed,
)
const metric = coreWidget<typeof MetricConfig>({
  ...READ,
  title: "Metric",
  description: "One figure, with its change and its course.",
  size: { min_w: 2, min_h: 1, w: 3, h: 2 },
  config: MetricConfig,
  answer: Summary,
  async run(reports, question, { metric, goal_id, sparkline = true }) {
    const more = goal_id === undefined ? [] : [goalFilter(reports, question, goal_id)]
    const { given, options } = asked(question, { more })
    const over = asked(question, { compares: false, more })
    const interval = question.interval === undefined ? {} : { interval: question.interval }
    const [summary, course] = await Promise.all([
      reports.summary(question.site, { ...given, metrics: [metric] }, options),
      sparkline ? reports.timeseries(question.site, { ...over.given, ...interval, metrics: [metric] }, over.options) : undefined,
    ])
    return shown(summary, course && { sparkline: { interval: course.interval, points: course.points } })
  },
})

function goalFilter({ goalName }: Reports, { site }: CoreQuestion, id: number) {
  const name = goalName(site, id)
  if (name === undefined) throw new AppError("broken_reference", "The goal of this widget was deleted.")
  return { dimension: "goal", operator: "is", values: [name] }
}

const TimeseriesConfig = t.Object(
  {
    metrics: metricsOf(3, "Metrics, up to three."),
    interval: t.Optional(oneOf(INTERVALS, "Length of a point. Default: that of the range.")),
    chart: t.Optional(oneOf(["line", "bars"], "Form of the chart. Default: `line`.")),
  },
  closed,
)
const timeseries = coreWidget<typeof TimeseriesConfig>({
  ...READ,
  title: "Chart",
  description: "Up to three metrics over time.",
  size: { min_w: 3, min_h: 2, w: 6, h: 4 },
  config: TimeseriesConfig,
  answer: Timeseries,
  async run(reports, question, { metrics, interval = question.interval }) {
    const { given, options } = asked(question)
    return shown(await reports.timeseries(question.site, { ...given, metrics, ...(interval !== undefined && { interval }) }, options))
  },
})

const BreakdownConfig = t.Object(
  {
    dimension: Dimension,
    property: t.Optional(
      t.String({ minLength: 1, maxLength: 300, description: "Key of the property. Only for the dimension `property`." }),
    ),
    metrics: t.Optional(metricsOf(4, "Metrics, up to four. The first one orders the rows. Default: `visitors`.")),
    limit: t.Optional(t.Integer({ minimum: 1, maximum: 50, description: "Number of rows. Default: 9." })),
    bars: t.Optional(t.Boolean({ description: "Whether to draw a bar behind each row. Default: true." })),
  },
  closed,
)
const breakdown = coreWidget<typeof BreakdownConfig>({
  ...READ,
  title: "List",
  description: "The top values of a dimension, such as pages or sources.",
  size: { min_w: 3, min_h: 2, w: 4, h: 4 },
  config: BreakdownConfig,
  answer: ComparedBreakdown,
  check({ dimension, property }, pointer) {
    if (dimension === "property" && property === undefined)
      return [{ pointer: `${pointer}/property`, code: "required", detail: "The property key is required." }]
    if (dimension !== "property" && property !== undefined)
      return [
        {
          pointer: `${pointer}/property`,
          code: "unsupported_combination",
          detail: "property is only allowed with the dimension property.",
        },
      ]
    return []
  },
  async run(reports, question, { dimension, property, metrics = ["visitors"], limit = 9 }) {
    const { given, options } = asked(question)
    const named = { dimension, metrics, limit, ...(property !== undefined && { property }) }
    return shown(await reports.breakdown(question.site, { ...given, ...named }, options))
  },
})

const MapConfig = t.Object(
  {
    metric: t.Optional(Metric),
    level: t.Optional(oneOf(["country", "region"], "Areas to compare. Default: `country`.")),
  },
  closed,
)
const map = coreWidget<typeof MapConfig>({
  ...READ,
  title: "Map",
  description: "A metric by country or region.",
  size: { min_w: 4, min_h: 3, w: 6, h: 5 },
  config: MapConfig,
  answer: ComparedBreakdown,
  async run(reports, question, { metric = "visitors", level = "country" }) {
    const { given, options } = asked(question)
    return shown(await reports.breakdown(question.site, { ...given, dimension: level, metrics: [metric], limit: 100 }, options))
  },
})

const ComparisonConfig = t.Object(
  {
    metric: Metric,
    rows: t.Array(
      t.Object({ label: t.String({ minLength: 1, maxLength: 100, description: "Label of the row." }), filters: FiltersInput }, closed),
      { minItems: 2, maxItems: 6, description: "Rows, each with filters of its own." },
    ),
  },
  closed,
)
const comparison = coreWidget<typeof ComparisonConfig>({
  ...READ,
  title: "Comparison",
  description: "One metric for two to six groups of visits, side by side.",
  size: { min_w: 3, min_h: 2, w: 6, h: 3 },
  config: ComparisonConfig,
  answer: t.Object({
    rows: t.Array(t.Object({ label: t.String({ description: "Label of the row." }), data: Summary }), {
      description: "Summary of each row.",
    }),
  }),
  check({ rows }, pointer) {
    const faults: Fault[] = []
    for (const [i, row] of (Array.isArray(rows) ? rows : []).slice(0, 6).entries())
      if (isObject(row) && row.filters !== undefined) readFilters(row.filters, `${pointer}/rows/${i}/filters`, faults)
    return faults
  },
  async run(reports, question, { metric, rows }) {
    const answers = await Promise.all(
      rows.map(async ({ label, filters }) => {
        const { given, options } = asked(question, { more: filters })
        return { label, data: await reports.summary(question.site, { ...given, metrics: [metric] }, options) }
      }),
    )
    return { data: { rows: answers }, meta: shown(answers[0]!.data).meta! } // at least two rows
  },
})

const VitalsConfig = t.Object(
  {
    metrics: t.Optional(
      t.Array(oneOf(VITALS, "Name of the measure."), {
        minItems: 1,
        maxItems: VITALS.length,
        uniqueItems: true,
        description: "Measures. Default: all.",
      }),
    ),
    percentile: t.Optional(t.Integer({ minimum: 75, maximum: 75, description: "Percentile. Default: 75, the only one that is computed." })),
  },
  closed,
)
const web_vitals = coreWidget<typeof VitalsConfig>({
  ...READ,
  title: "Web vitals",
  description: "How fast pages load and respond, at the 75th percentile.",
  size: { min_w: 3, min_h: 2, w: 6, h: 2 },
  config: VitalsConfig,
  answer: WebVitals,
  async run(reports, question, { metrics = [...VITALS] }) {
    const { given, options } = asked(question)
    return shown(await reports.webVitals(question.site, { ...given, metrics }, options))
  },
})

export const FIGURES: Readonly<Record<string, CoreWidget>> = { metric, timeseries, breakdown, map, comparison, web_vitals }
