import { type Static, type TNumber, type TOptional, Type as t } from "@sinclair/typebox"
import { PeopleIdentity } from "./identity.ts"
import { FLAT_METRICS, type FlatMetric } from "./metric.ts"
import type { ImportExclusion } from "./query.ts"
import { textOf } from "./response.ts"

const METRIC_DESCRIPTIONS: Readonly<Record<FlatMetric, string>> = {
  visitors: "Number of distinct visitors, each counted once per `visitor_window`.",
  visits: "Number of visits.",
  pageviews: "Number of pageviews.",
  events: "Number of pageviews and custom events.",
  views_per_visit: "Mean number of pageviews per visit.",
  bounce_rate: "Percentage of visits with at most one pageview and no interactive custom event.",
  visit_duration: "Mean time from the first to the last event of a visit, in seconds.",
  engaged_time: "Mean engaged time per visit, in seconds.",
  time_on_page: "Mean engaged time on the page per visit, in seconds. Absent if nothing was measured.",
  scroll_depth: "Mean of the maximum scroll depth per visit and page, in percent. Absent if nothing was measured.",
  exit_rate: "Percentage of the page's pageviews that were the last of their visit.",
  conversions: "Number of completed goals.",
  conversion_rate: "Percentage of visitors who converted.",
  revenue: "Revenue in major units of `revenue_currency`.",
}

/**
 * The schemas of statistics in the flat form (api.md section 6.4), which REST, the MCP tools and the dashboard share. Fields
 * without a value are left out. Rows and points contain the requested metrics by name.
 */
export const METRICS = Object.fromEntries(
  FLAT_METRICS.map((metric) => [metric, t.Optional(t.Number({ description: METRIC_DESCRIPTIONS[metric] }))]),
) as Record<FlatMetric, TOptional<TNumber>>
const Metrics = t.Object(METRICS, { description: "Values of the requested metrics." })
/** Changes of the metrics, by their names. */
export const CHANGES = Object.fromEntries(
  FLAT_METRICS.map((metric) => [metric, t.Optional(t.Number({ description: `Change of \`${metric}\` in percent.` }))]),
) as typeof METRICS
const Change = t.Object(CHANGES, {
  description: "Relative change of each metric in percent. Metrics that were 0 in the compared range are left out.",
})
/** Schema of a number of things. */
export const count = (description: string) => t.Integer({ minimum: 0, description })
/** Schema of a share of a whole. */
export const percentage = (description: string) => t.Number({ description })

/** The resolved range. Days are local and inclusive; the times are present when the range does not consist of whole days. */
export const ReportRange = t.Object(
  {
    from: t.String({ description: "First day, YYYY-MM-DD." }),
    to: t.String({ description: "Last day (inclusive), YYYY-MM-DD." }),
    timezone: t.String({ description: "IANA time zone of the days." }),
    includes_today: t.Boolean({ description: "Whether the range includes the current day." }),
    from_time: t.Optional(
      t.String({ description: "Start, as an RFC 3339 time. Present only if the range does not consist of whole days." }),
    ),
    to_time: t.Optional(
      t.String({ description: "End (exclusive), as an RFC 3339 time. Present only if the range does not consist of whole days." }),
    ),
  },
  { title: "ReportRange", description: "Resolved range of the report." },
)
export type ReportRange = Static<typeof ReportRange>

const VisitorWindow = t.Union(
  [t.Literal("day"), t.Literal("week"), t.Literal("month"), t.Literal("identified"), t.Literal("persistent"), t.Literal("mixed")],
  { description: "Period within which a visitor is counted once. `mixed` when it changed within the range." },
)

/** Which imports a report includes. Rows imported as events are always included; imported totals only where they fit. */
export const ReportImports = t.Object(
  {
    included: t.Boolean({ description: "Whether any import is part of the report." }),
    reason: t.Optional(
      textOf<ImportExclusion>({
        description:
          "Why imported totals are left out: `unsupported_filters`, `unsupported_interval`, `unsupported_metric`, `unsupported_timezone`, `disabled` or `none_in_range`. If `included` is true, those of some imports are.",
      }),
    ),
    message: t.Optional(t.String({ description: "Explanation of the reason, in English." })),
    import_ids: t.Optional(t.Array(t.Integer(), { description: "Ids of the included imports. Absent if there are none." })),
  },
  { title: "ReportImports", description: "Imports in the report. Present only if the site has imports." },
)

const lateEvents = t.Optional(
  t.Boolean({ description: "Present and true if events that were accepted more than ten seconds ago may be missing in the result." }),
)

export const REPORT_FACTS = {
  site_id: t.Integer({ description: "Id of the site." }),
  range: ReportRange,
  visitor_window: t.Optional(VisitorWindow),
  identity: t.Optional(PeopleIdentity),
  imports: t.Optional(ReportImports),
  visitors_estimated: t.Optional(
    t.Boolean({
      description: "Present and true if daily visitors of imported totals were added up, so that a visitor can count more than once.",
    }),
  ),
  late_events: lateEvents,
  notes: t.Optional(t.Array(t.String(), { description: "Notes on the result, in English. Absent if there are none." })),
  revenue_currency: t.Optional(t.String({ description: "ISO 4217 code of the currency of revenue. Present only with revenue." })),
}
export const ReportFacts = t.Object(REPORT_FACTS)
/** The fields that every report about a range contains. */
export type ReportFacts = Static<typeof ReportFacts>

export const Summary = t.Object(
  {
    ...REPORT_FACTS,
    metrics: Metrics,
    comparison: t.Optional(
      t.Object(
        { range: ReportRange, metrics: Metrics, change_percent: Change },
        { description: "Values in the compared range. Present only with `compare`." },
      ),
    ),
  },
  { title: "Summary" },
)
export type Summary = Static<typeof Summary>

const Point = t.Object({
  time: t.String({ description: "Start of the bucket: a day, or a local date and time for hours and minutes." }),
  partial: t.Optional(t.Boolean({ description: "Whether the bucket is still running or cut off by the range. Absent if not." })),
  imported: t.Optional(t.Boolean({ description: "Whether the bucket has days of an included import. Absent if not." })),
  ...METRICS,
})
export const Timeseries = t.Object(
  {
    ...REPORT_FACTS,
    interval: t.String({ description: "Size of the buckets, such as `hour` or `day`." }),
    points: t.Array(Point, { description: "Buckets of the range in order, including those without traffic." }),
    comparison: t.Optional(
      t.Object(
        { range: ReportRange, points: t.Array(Point, { description: "Buckets of the compared range, in order." }) },
        { description: "Buckets of the compared range. Present only with `compare`." },
      ),
    ),
  },
  { title: "Timeseries" },
)
export type Timeseries = Static<typeof Timeseries>

/** The members that name a value of a dimension. */
export const VALUE_FIELDS = {
  value: t.String({ description: "Value of the dimension. `(none)` stands for a missing value." }),
  label: t.Optional(t.String({ description: "Readable name of a value that is a code, such as a country. Absent for other values." })),
}

export const Breakdown = t.Object(
  {
    ...REPORT_FACTS,
    dimension: t.String({ description: "Dimension of the rows." }),
    property: t.Optional(t.String({ description: "Key of the property. Present only with the dimension `property`." })),
    rows: t.Array(
      t.Object({
        ...VALUE_FIELDS,
        truncated: t.Optional(t.Boolean({ description: "Whether the value was truncated to 500 characters. Absent if not." })),
        ...METRICS,
        share: t.Optional(percentage("Percentage of all visitors of the range.")),
      }),
      { description: "Rows in the requested order." },
    ),
    total_rows: count("Number of all rows."),
    has_more: t.Boolean({ description: "Whether more rows follow." }),
  },
  { title: "Breakdown" },
)
export type Breakdown = Static<typeof Breakdown>

const top = (description: string) => t.Array(t.Object({ ...VALUE_FIELDS, visitors: count("Number of current visitors.") }), { description })
export const Realtime = t.Object(
  {
    site_id: t.Integer({ description: "Id of the site." }),
    at: t.String({ description: "Time of the report." }),
    window_minutes: t.Integer({ description: "Number of minutes that the report covers." }),
    visitors: count("Number of current visitors."),
    pageviews: count("Number of pageviews in these minutes."),
    pages: top("Most visited pages, most visitors first."),
    sources: top("Most frequent sources, most visitors first."),
    countries: top("Most frequent countries, most visitors first."),
    late_events: lateEvents,
  },
  { title: "Realtime" },
)
export type Realtime = Static<typeof Realtime>

const STEP = {
  type: t.String({ description: "Type of the step: `page` or `event`." }),
  match: t.String({ description: "Comparison with `value`: `exact`, `prefix`, `contains` or `wildcard`." }),
  value: t.String({ description: "Page path or event name." }),
  name: t.String({ description: "Display name of the step." }),
}
const ORDER = t.String({ description: "`sequential` allows other activity between two steps, `strict` does not." })
const WINDOW_HOURS = t.Optional(
  t.Integer({ description: "Maximum number of hours from the first to the last step. Absent if the whole range is allowed." }),
)

export const GoalReport = t.Object(
  {
    ...REPORT_FACTS,
    goals: t.Array(
      t.Object({
        goal_id: t.Integer({ description: "Id of the goal." }),
        name: t.String({ description: "Display name." }),
        kind: t.String({ description: "Kind: `event`, `page` or `scroll`." }),
        match: t.String({ description: "Comparison with `value`: `exact`, `prefix`, `contains` or `wildcard`." }),
        value: t.String({ description: "Event name, or page path for the other kinds." }),
        threshold: t.Optional(t.Integer({ description: "Minimum scroll depth in percent. Present only for kind `scroll`." })),
        visitors: count("Number of visitors who converted."),
        conversions: count("Number of conversions."),
        conversion_rate: percentage("Percentage of all visitors of the range who converted."),
        revenue: t.Optional(
          t.Number({ description: "Revenue of the conversions in major units of `revenue_currency`. Absent without revenue." }),
        ),
      }),
      { description: "Goals of the site." },
    ),
    funnels: t.Array(
      t.Object({
        funnel_id: t.Integer({ description: "Id of the funnel." }),
        name: t.String({ description: "Display name." }),
        steps: t.Array(t.Object(STEP), { description: "Steps in the order in which visitors take them." }),
        order: ORDER,
        window_hours: WINDOW_HOURS,
      }),
      { description: "Saved funnels of the site." },
    ),
  },
  { title: "GoalReport" },
)
export type GoalReport = Static<typeof GoalReport>

export const FunnelReport = t.Object(
  {
    ...REPORT_FACTS,
    funnel_id: t.Optional(t.Integer({ description: "Id of the funnel. Present only for a saved funnel." })),
    name: t.Optional(t.String({ description: "Display name. Present only for a saved funnel." })),
    order: ORDER,
    window_hours: WINDOW_HOURS,
    entered: count("Number of visitors who reached the first step."),
    completed: count("Number of visitors who reached the last step."),
    conversion_rate: percentage("Percentage of the visitors of the first step who reached the last step."),
    steps: t.Array(
      t.Object({
        step: t.Integer({ minimum: 1, description: "Number of the step, starting at 1." }),
        ...STEP,
        visitors: count("Number of visitors who reached the step."),
        conversion_rate: percentage("Percentage of the visitors of the first step who reached this step."),
        step_conversion_rate: percentage("Percentage of the visitors of the previous step who reached this step. 100 for the first step."),
        dropoff: count("Number of visitors of the previous step who did not reach this step. 0 for the first step."),
        median_seconds: t.Optional(count("Median time from the previous step to this one, in seconds. Absent for the first step.")),
      }),
      { description: "Results of the steps, in order." },
    ),
  },
  { title: "FunnelReport" },
)
export type FunnelReport = Static<typeof FunnelReport>
