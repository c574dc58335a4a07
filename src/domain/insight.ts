import { type Static, Type as t } from "@sinclair/typebox"
import { FLAT_DIMENSIONS } from "./dimension.ts"
import {
  Breakdown,
  count,
  FunnelReport,
  METRICS,
  percentage,
  REPORT_FACTS,
  VALUE_FIELDS as REPORT_VALUE_FIELDS,
  Realtime,
  ReportRange,
} from "./report.ts"
import { anyOf, field } from "./response.ts"

/** Schemas of the statistics that only the dashboard requests (areas/10 section 2). */
const Count = t.Integer({ minimum: 0 })
/** Fields of a value of a dimension, which may be truncated. */
export const VALUE_FIELDS = {
  ...REPORT_VALUE_FIELDS,
  truncated: t.Optional(t.Boolean({ description: "Whether the value was truncated to 500 characters. Absent if not." })),
}

export const RealtimePanel = t.Object(
  {
    ...Realtime.properties,
    minutes: t.Array(
      t.Object({
        time: t.String({ description: "Start of the minute." }),
        visitors: count("Number of visitors."),
        pageviews: count("Number of pageviews."),
      }),
      { description: "The last 30 minutes, oldest first." },
    ),
    events: t.Array(
      t.Object({
        at: t.String({ description: "Time of the event." }),
        name: t.String({ description: "`pageview`, or the name of the custom event." }),
        page: t.String({ description: "Path of the page." }),
        hostname: t.String({ description: "Host of the page." }),
        source: t.String({ description: "Source of the visit." }),
        country: t.String({ description: "ISO 3166-1 code of the country." }),
        device: t.String({ description: "Type of the device." }),
        browser: t.String({ description: "Name of the browser." }),
      }),
      { description: "Latest events, newest first." },
    ),
  },
  { title: "RealtimePanel" },
)
export type RealtimePanel = Static<typeof RealtimePanel>

const Row = Breakdown.properties.rows.items
const SHARED = { ...METRICS, share: t.Optional(percentage("Percentage of all visitors of the range.")) }

/** A breakdown. With `compare`, each row contains its metrics in the compared range, all zero for a value that did not occur then. */
export const ComparedBreakdown = t.Object(
  {
    ...Breakdown.properties,
    rows: t.Array(
      t.Object({
        ...Row.properties,
        comparison: t.Optional(
          t.Object(
            {
              metrics: t.Object(SHARED, { description: "Values in the compared range. 0 for a value that did not occur in it." }),
              change_percent: t.Object(METRICS, {
                description: "Relative change of each metric in percent. Metrics that were 0 in the compared range are left out.",
              }),
            },
            { description: "The row in the compared range. Present only with `compare`." },
          ),
        ),
      }),
      { description: "Rows in the requested order." },
    ),
    comparison: t.Optional(t.Object({ range: ReportRange }, { description: "Compared range. Present only with `compare`." })),
  },
  { title: "ComparedBreakdown" },
)
export type ComparedBreakdown = Static<typeof ComparedBreakdown>

export const Suggestions = t.Object(
  {
    data: t.Array(t.Object({ ...VALUE_FIELDS, visitors: count("Number of visitors with this value.") }), {
      description: "Values that match the text, most visitors first.",
    }),
  },
  { title: "Suggestions" },
)
export type Suggestions = Static<typeof Suggestions>

export const BusyHours = t.Object(
  {
    ...REPORT_FACTS,
    grid: t.Array(t.Array(Count), { description: "Number of visits by weekday (Monday first) and hour of the day in which they started." }),
  },
  { title: "BusyHours" },
)
export type BusyHours = Static<typeof BusyHours>

export const Properties = t.Object(
  {
    ...REPORT_FACTS,
    event: t.Optional(t.String({ description: "Name of the event. Absent for all events." })),
    data: t.Array(
      t.Object({
        property: t.String({ description: "Key of the property." }),
        events: count("Number of events with the property."),
        values: t.Array(
          t.Object({
            ...VALUE_FIELDS,
            visitors: count("Number of visitors with this value."),
            events: count("Number of events with this value."),
          }),
          { description: "Most frequent values." },
        ),
        total_values: count("Number of all values."),
      }),
      { description: "Properties, most events first." },
    ),
    total_properties: count("Number of all properties."),
  },
  { title: "Properties" },
)
export type Properties = Static<typeof Properties>

export const CampaignMatrix = t.Object(
  {
    ...REPORT_FACTS,
    rows: t.Array(
      t.Object({
        source: t.String({ description: "`utm_source` of the visits." }),
        medium: t.String({ description: "`utm_medium` of the visits." }),
        campaign: t.String({ description: "`utm_campaign` of the visits." }),
        visitors: count("Number of visitors."),
        conversions: count("Number of completed goals."),
        conversion_rate: percentage("Percentage of the visitors of the row who converted."),
      }),
      { description: "Rows, most visitors first." },
    ),
    total_rows: count("Number of all rows."),
    has_more: t.Boolean({ description: "Whether more rows follow." }),
  },
  { title: "CampaignMatrix" },
)
export type CampaignMatrix = Static<typeof CampaignMatrix>

const { entered, completed, conversion_rate, steps } = FunnelReport.properties
const FUNNEL_COUNTS = { entered, completed, conversion_rate, steps }

export const FunnelInsight = t.Object(
  {
    ...FunnelReport.properties,
    comparison: t.Optional(
      t.Object(
        {
          range: ReportRange,
          ...FUNNEL_COUNTS,
          change_percent: t.Object(
            {
              entered: t.Optional(t.Number({ description: "Change of the visitors of the first step." })),
              completed: t.Optional(t.Number({ description: "Change of the visitors of the last step." })),
              conversion_rate: t.Optional(t.Number({ description: "Change of the conversion rate." })),
            },
            { description: "Relative changes in percent. Values that were 0 in the compared range are left out." },
          ),
        },
        { description: "Report for the compared range. Present only with `compare`." },
      ),
    ),
    breakdown: t.Optional(
      t.Object(
        {
          dimension: t.String({ description: "Dimension of the rows." }),
          rows: t.Array(t.Object({ ...VALUE_FIELDS, ...FUNNEL_COUNTS }), { description: "Report of the funnel for each value." }),
          total_rows: count("Number of all rows."),
        },
        { description: "Report by the values of a dimension. Present only if requested." },
      ),
    ),
  },
  { title: "FunnelInsight" },
)
export type FunnelInsight = Static<typeof FunnelInsight>

/** The table of all sites of a user. */
export const OverviewResponse = t.Object(
  {
    data: t.Array(
      t.Object({
        site_id: field.id("Id of the site."),
        name: t.String({ description: "Display name of the site." }),
        organization_id: field.id("Id of the organization that owns the site."),
        current_visitors: t.Integer({ minimum: 0, description: "Visitors of the last 5 minutes." }),
        range: t.Optional(ReportRange),
        metrics: t.Optional(t.Record(t.String(), t.Number(), { description: "Metrics of the range by name." })),
        change_percent: t.Optional(
          t.Record(t.String(), t.Number(), { description: "Relative change of each metric in percent. Present only with `compare`." }),
        ),
        problem: t.Optional(t.String({ description: "Error code if the site has no result at the moment." })),
      }),
      { description: "Sites in the order of the list." },
    ),
  },
  { title: "Overview" },
)
export type OverviewResponse = Static<typeof OverviewResponse>

/** The results of several reports. */
export const BatchAnswer = t.Object(
  {
    results: t.Record(
      t.String(),
      t.Object({
        status: field.integer("HTTP status of the result."),
        data: t.Optional(t.Any({ description: "Body of a successful response." })),
        problem: t.Optional(anyOf<{ code: string; detail: string }>({ description: "Body of an error response, as in `Problem`." })),
      }),
      { description: "Result of each report by id, equal to the response of its own route." },
    ),
  },
  { title: "BatchAnswer" },
)
export type BatchAnswer = Static<typeof BatchAnswer>

/** The dimensions of the flat form that have one value per visit. */
export const VISIT_DIMENSIONS = FLAT_DIMENSIONS.filter(
  (name) => name !== "page" && name !== "title" && name !== "hostname" && name !== "event" && name !== "goal" && name !== "property",
)
