import { type Static, type TNumber, type TOptional, Type as t } from "@sinclair/typebox"
import { FLAT_METRICS, type FlatMetric } from "./metric.ts"

/**
 * The schemas of statistics in the flat form (api.md section 6.4), which REST, the MCP tools and the dashboard share. Fields
 * without a value are left out. Rows and points contain the requested metrics by name.
 */
export const METRICS = Object.fromEntries(FLAT_METRICS.map((metric) => [metric, t.Optional(t.Number())])) as Record<
  FlatMetric,
  TOptional<TNumber>
>
const Metrics = t.Object(METRICS)
const Count = t.Integer({ minimum: 0 })

/** The resolved range. Days are local and inclusive; the times are present when the range does not consist of whole days. */
export const ReportRange = t.Object(
  {
    from: t.String({ description: "First day, YYYY-MM-DD." }),
    to: t.String({ description: "Last day (inclusive), YYYY-MM-DD." }),
    timezone: t.String({ description: "IANA time zone of the days." }),
    includes_today: t.Boolean({ description: "Whether the range includes the current day." }),
    from_time: t.Optional(t.String({ description: "Start of the range. Present only when it does not consist of whole days." })),
    to_time: t.Optional(t.String({ description: "End of the range. Present only when it does not consist of whole days." })),
  },
  { title: "ReportRange" },
)
export type ReportRange = Static<typeof ReportRange>

const VisitorWindow = t.Union(
  [t.Literal("day"), t.Literal("week"), t.Literal("month"), t.Literal("identified"), t.Literal("persistent"), t.Literal("mixed")],
  { description: "Period within which a visitor is counted once. `mixed` when it changed within the range." },
)

export const REPORT_FACTS = {
  site_id: t.Integer(),
  range: ReportRange,
  visitor_window: t.Optional(VisitorWindow),
  notes: t.Optional(t.Array(t.String())),
  revenue_currency: t.Optional(t.String()),
}
export const ReportFacts = t.Object(REPORT_FACTS)
/** The fields that every report about a range contains. */
export type ReportFacts = Static<typeof ReportFacts>

export const Summary = t.Object(
  {
    ...REPORT_FACTS,
    metrics: Metrics,
    comparison: t.Optional(t.Object({ range: ReportRange, metrics: Metrics, change_percent: Metrics })),
  },
  { title: "Summary" },
)
export type Summary = Static<typeof Summary>

const Point = t.Object({ time: t.String(), partial: t.Optional(t.Boolean()), ...METRICS })
export const Timeseries = t.Object(
  {
    ...REPORT_FACTS,
    interval: t.String(),
    points: t.Array(Point),
    comparison: t.Optional(t.Object({ range: ReportRange, points: t.Array(Point) })),
  },
  { title: "Timeseries" },
)
export type Timeseries = Static<typeof Timeseries>

const VALUE_FIELDS = { value: t.String(), label: t.Optional(t.String()) }

export const Breakdown = t.Object(
  {
    ...REPORT_FACTS,
    dimension: t.String(),
    property: t.Optional(t.String()),
    rows: t.Array(t.Object({ ...VALUE_FIELDS, truncated: t.Optional(t.Boolean()), ...METRICS, share: t.Optional(t.Number()) })),
    total_rows: Count,
    has_more: t.Boolean(),
  },
  { title: "Breakdown" },
)
export type Breakdown = Static<typeof Breakdown>

const Top = t.Array(t.Object({ ...VALUE_FIELDS, visitors: Count }))
export const Realtime = t.Object(
  {
    site_id: t.Integer(),
    at: t.String(),
    window_minutes: t.Integer(),
    visitors: Count,
    pageviews: Count,
    pages: Top,
    sources: Top,
    countries: Top,
  },
  { title: "Realtime" },
)
export type Realtime = Static<typeof Realtime>

const STEP = { type: t.String(), match: t.String(), value: t.String(), name: t.String() }

export const GoalReport = t.Object(
  {
    ...REPORT_FACTS,
    goals: t.Array(
      t.Object({
        goal_id: t.Integer(),
        name: t.String(),
        kind: t.String(),
        match: t.String(),
        value: t.String(),
        threshold: t.Optional(t.Integer()),
        visitors: Count,
        conversions: Count,
        conversion_rate: t.Number(),
        revenue: t.Optional(t.Number()),
      }),
    ),
    funnels: t.Array(
      t.Object({
        funnel_id: t.Integer(),
        name: t.String(),
        steps: t.Array(t.Object(STEP)),
        order: t.String(),
        window_hours: t.Optional(t.Integer()),
      }),
    ),
  },
  { title: "GoalReport" },
)
export type GoalReport = Static<typeof GoalReport>

export const FunnelReport = t.Object(
  {
    ...REPORT_FACTS,
    funnel_id: t.Optional(t.Integer()),
    name: t.Optional(t.String()),
    order: t.String(),
    window_hours: t.Optional(t.Integer()),
    entered: Count,
    completed: Count,
    conversion_rate: t.Number(),
    steps: t.Array(
      t.Object({
        step: t.Integer({ minimum: 1 }),
        ...STEP,
        visitors: Count,
        conversion_rate: t.Number(),
        step_conversion_rate: t.Number(),
        dropoff: Count,
        median_seconds: t.Optional(Count),
      }),
    ),
  },
  { title: "FunnelReport" },
)
export type FunnelReport = Static<typeof FunnelReport>
