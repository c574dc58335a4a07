import { type Static, Type as t } from "@sinclair/typebox"
import { FLAT_DIMENSIONS } from "./dimension.ts"
import type { Counter, DropReason } from "./event.ts"
import { COLLECT, THINGS } from "./limits.ts"
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
import { anyOf, field, textOf } from "./response.ts"

/** Schemas of the statistics that only the dashboard requests (areas/10 section 2). */
const Count = t.Integer({ minimum: 0 })
const VALUE_FIELDS = {
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

/** An item of a journey: a page or a custom event. */
const Item = t.Object(
  {
    page: t.Optional(t.String({ minLength: 1, maxLength: COLLECT.pageBytes, description: "Path of the page. Alternative to `event`." })),
    event: t.Optional(
      t.String({ minLength: 1, maxLength: COLLECT.nameChars, description: "Name of the custom event. Alternative to `page`." }),
    ),
  },
  { additionalProperties: false },
)
const { min: minSteps, max: maxSteps } = THINGS.journeySteps
const Pin = t.Object(
  { column: t.Integer({ minimum: 1, maximum: maxSteps - 1, description: "Index of the column." }), ...Item.properties },
  { additionalProperties: false },
)
export const JourneyInput = t.Object(
  {
    start: t.Optional(
      t.Object(Item.properties, { additionalProperties: false, description: "Item at which the paths start. Alternative to `end`." }),
    ),
    end: t.Optional(
      t.Object(Item.properties, { additionalProperties: false, description: "Item at which the paths end. Alternative to `start`." }),
    ),
    steps: t.Optional(
      t.Integer({ minimum: minSteps, maximum: maxSteps, description: "Number of columns, including that of the start or end." }),
    ),
    top: t.Optional(
      t.Integer({
        minimum: THINGS.journeyTop.min,
        maximum: THINGS.journeyTop.max,
        description: `Maximum number of items per column. Default: ${THINGS.journeyTop.default}.`,
      }),
    ),
    collapse_query: t.Optional(t.Boolean({ description: "Whether to ignore query parameters of pages." })),
    group: t.Optional(
      t.Union([t.Literal("page"), t.Literal("directory")], { description: "Whether items are pages or their directories." }),
    ),
    events: t.Optional(t.Boolean({ description: "Whether custom events are items, too. Default: false." })),
    pins: t.Optional(t.Array(Pin, { maxItems: maxSteps - 1, description: "Items that the visits must contain, by column." })),
  },
  { additionalProperties: false, title: "JourneyInput" },
)
export type JourneyInput = Static<typeof JourneyInput>
export type JourneyItem = Static<typeof Item>

export const Journeys = t.Object(
  {
    ...REPORT_FACTS,
    mode: t.Union([t.Literal("start"), t.Literal("end")], { description: "Whether the paths start or end at the anchor." }),
    anchor: t.Object(Item.properties, { additionalProperties: false, description: "Page or event at which the paths start or end." }),
    columns: t.Array(
      t.Array(
        t.Object({
          kind: t.Union([t.Literal("page"), t.Literal("event"), t.Literal("other"), t.Literal("exit"), t.Literal("entry")], {
            description: "Kind of the node. `other` stands for all further items, `exit` and `entry` for the ends of visits.",
          }),
          page: t.String({ description: "Path of the page. For kind `event`, the name of the event." }),
          visits: count("Number of visits."),
          conversion_rate: percentage("Percentage of the visits with the anchor."),
        }),
      ),
      { description: "Nodes by column." },
    ),
    edges: t.Array(
      t.Object({
        column: count("Index of the source column."),
        from: t.String({ description: "Page or event of the source node." }),
        to: t.String({ description: "Page or event of the target node." }),
        from_node: t.Integer({ description: "Index of the source node in its column." }),
        to_node: t.Integer({ description: "Index of the target node in the next column." }),
        visits: count("Number of visits."),
      }),
      { description: "Steps between nodes of neighbouring columns." },
    ),
    dropped: t.Array(t.Array(Count), {
      description:
        "Number of visits that ended at each node, by column and index. The last column is left out, because it is unknown there.",
    }),
    sample_visits: count("Number of visits with the anchor."),
    sparse: t.Optional(
      t.Boolean({ description: `Whether there are fewer than ${THINGS.journeySample} visits with the anchor. Absent if not.` }),
    ),
  },
  { title: "Journeys" },
)
export type Journeys = Static<typeof Journeys>

/** The measures of web vitals, as reports name them. */
export const VITALS = ["lcp", "inp", "cls", "fcp", "ttfb"] as const
const Percentiles = t.Object(
  {
    lcp: t.Optional(t.Number({ description: "Largest contentful paint in milliseconds. Absent if nothing was measured." })),
    inp: t.Optional(t.Number({ description: "Interaction to next paint in milliseconds. Absent if nothing was measured." })),
    cls: t.Optional(t.Number({ description: "Cumulative layout shift. Absent if nothing was measured." })),
    fcp: t.Optional(t.Number({ description: "First contentful paint in milliseconds. Absent if nothing was measured." })),
    ttfb: t.Optional(t.Number({ description: "Time to first byte in milliseconds. Absent if nothing was measured." })),
  },
  { description: "75th percentiles of the requested measures." },
)

const MEASURED_LOADS = count("Number of page loads that were measured.")

export const WebVitals = t.Object(
  {
    ...REPORT_FACTS,
    percentile: t.Integer({ description: "Percentile of the values: 75." }),
    measured_loads: MEASURED_LOADS,
    metrics: Percentiles,
    comparison: t.Optional(
      t.Object({ range: ReportRange, metrics: Percentiles }, { description: "Values in the compared range. Present only with `compare`." }),
    ),
  },
  { title: "WebVitals" },
)
export type WebVitals = Static<typeof WebVitals>

/** Dimensions by which web vitals are reported. */
export const VITAL_DIMENSIONS = ["page", "hostname", "device", "size", "browser", "os", "country", "region", "city"] as const

export const WebVitalsBreakdown = t.Object(
  {
    ...REPORT_FACTS,
    percentile: t.Integer({ description: "Percentile of the values: 75." }),
    dimension: t.String({ description: "Dimension of the rows." }),
    rows: t.Array(t.Object({ ...VALUE_FIELDS, measured_loads: MEASURED_LOADS, ...Percentiles.properties }), {
      description: "Values with measured page loads, in the requested order.",
    }),
    has_more: t.Boolean({ description: "Whether more rows follow." }),
  },
  { title: "WebVitalsBreakdown" },
)
export type WebVitalsBreakdown = Static<typeof WebVitalsBreakdown>

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

/** The events that a site's rules dropped, by reason and local day. Reasons without drops are included. */
export const DropReport = t.Object(
  {
    range: ReportRange,
    days: t.Array(t.String({ format: "date" }), { description: "Days of the range, oldest first." }),
    rows: t.Array(
      t.Object({
        reason: textOf<DropReason>({ description: "Code of the reason." }),
        total: t.Integer({ minimum: 0, description: "Number of dropped events." }),
        counts: t.Array(Count, { description: "Number of dropped events per day, oldest day first." }),
        entries: t.Array(t.Object({ entry: field.text("Host, page or id of the shield."), count: count("Number of dropped events.") }), {
          description: "Hosts, pages or shields that caused the drops, most frequent first. Empty for reasons that do not record them.",
        }),
      }),
      { description: "Drops by reason." },
    ),
    counters: t.Array(t.Object({ counter: textOf<Counter>({ description: "Name of the counter." }), total: count("Number of events.") }), {
      description: "Events that were stored without a part of their content, by what was left out.",
    }),
  },
  { title: "Drops" },
)
export type DropReport = Static<typeof DropReport>

/** The latest dropped events, newest first, without address, visitor or full user agent. */
export const DropSamples = t.Object(
  {
    data: t.Array(
      t.Object({
        at: field.instant("Time at which the event was dropped."),
        reason: textOf<DropReason>({ description: "Code of the reason." }),
        hostname: field.text("Host of the page."),
        page: t.String({ description: "Path of the page." }),
        browser: field.text("Browser, without its version. Empty when unknown."),
        country: t.String({ description: "ISO 3166-1 code of the country. Empty when unknown." }),
      }),
      { description: "Dropped events, newest first." },
    ),
  },
  { title: "DropSamples" },
)
export type DropSamples = Static<typeof DropSamples>

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
