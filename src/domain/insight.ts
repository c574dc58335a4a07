import { type Static, Type as t } from "@sinclair/typebox"
import { FLAT_DIMENSIONS } from "./dimension.ts"
import type { Counter, DropReason } from "./event.ts"
import { COLLECT, THINGS } from "./limits.ts"
import { Breakdown, FunnelReport, METRICS, REPORT_FACTS, Realtime, ReportRange } from "./report.ts"
import { anyOf, Id, Instant, textOf } from "./response.ts"

/** Schemas of the statistics that only the dashboard requests (areas/10 section 2). */
const Count = t.Integer({ minimum: 0 })
const VALUE_FIELDS = { value: t.String(), label: t.Optional(t.String()), truncated: t.Optional(t.Boolean()) }

export const RealtimePanel = t.Object(
  {
    ...Realtime.properties,
    minutes: t.Array(t.Object({ time: t.String(), visitors: Count, pageviews: Count })),
    events: t.Array(
      t.Object({
        at: t.String(),
        name: t.String(),
        page: t.String(),
        hostname: t.String(),
        source: t.String(),
        country: t.String(),
        device: t.String(),
        browser: t.String(),
      }),
    ),
  },
  { title: "RealtimePanel" },
)
export type RealtimePanel = Static<typeof RealtimePanel>

const Row = Breakdown.properties.rows.items
const SHARED = { ...METRICS, share: t.Optional(t.Number()) }

/** A breakdown. With `compare`, each row contains its metrics in the compared range, all zero for a value that did not occur then. */
export const ComparedBreakdown = t.Object(
  {
    ...Breakdown.properties,
    rows: t.Array(
      t.Object({
        ...Row.properties,
        comparison: t.Optional(
          t.Object({
            metrics: t.Object(SHARED),
            change_percent: t.Object(METRICS, {
              description: "Relative change of each metric in percent. Metrics that were 0 in the compared range are left out.",
            }),
          }),
        ),
      }),
    ),
    comparison: t.Optional(t.Object({ range: ReportRange })),
  },
  { title: "ComparedBreakdown" },
)
export type ComparedBreakdown = Static<typeof ComparedBreakdown>

export const Suggestions = t.Object({ data: t.Array(t.Object({ ...VALUE_FIELDS, visitors: Count })) }, { title: "Suggestions" })
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
    event: t.Optional(t.String()),
    data: t.Array(
      t.Object({
        property: t.String(),
        events: Count,
        values: t.Array(t.Object({ ...VALUE_FIELDS, visitors: Count, events: Count })),
        total_values: Count,
      }),
    ),
    total_properties: Count,
  },
  { title: "Properties" },
)
export type Properties = Static<typeof Properties>

export const CampaignMatrix = t.Object(
  {
    ...REPORT_FACTS,
    rows: t.Array(
      t.Object({
        source: t.String(),
        medium: t.String(),
        campaign: t.String(),
        visitors: Count,
        conversions: Count,
        conversion_rate: t.Number({ description: "Converting visitors in percent of the visitors of the row." }),
      }),
    ),
    total_rows: Count,
    has_more: t.Boolean(),
  },
  { title: "CampaignMatrix" },
)
export type CampaignMatrix = Static<typeof CampaignMatrix>

/** An item of a journey: a page or a custom event. */
const Item = t.Object(
  {
    page: t.Optional(t.String({ minLength: 1, maxLength: COLLECT.pageBytes })),
    event: t.Optional(t.String({ minLength: 1, maxLength: COLLECT.nameChars })),
  },
  { additionalProperties: false },
)
const { min: minSteps, max: maxSteps } = THINGS.journeySteps
const Pin = t.Object({ column: t.Integer({ minimum: 1, maximum: maxSteps - 1 }), ...Item.properties }, { additionalProperties: false })
export const JourneyInput = t.Object(
  {
    start: t.Optional(Item),
    end: t.Optional(Item),
    steps: t.Optional(
      t.Integer({ minimum: minSteps, maximum: maxSteps, description: "Number of columns, including that of the start or end." }),
    ),
    top: t.Optional(t.Integer({ minimum: THINGS.journeyTop.min, maximum: THINGS.journeyTop.max })),
    collapse_query: t.Optional(t.Boolean()),
    group: t.Optional(t.Union([t.Literal("page"), t.Literal("directory")])),
    events: t.Optional(t.Boolean({ description: "Whether custom events are items, too. Default: false." })),
    pins: t.Optional(t.Array(Pin, { maxItems: maxSteps - 1 })),
  },
  { additionalProperties: false, title: "JourneyInput" },
)
export type JourneyInput = Static<typeof JourneyInput>
export type JourneyItem = Static<typeof Item>

export const Journeys = t.Object(
  {
    ...REPORT_FACTS,
    mode: t.Union([t.Literal("start"), t.Literal("end")]),
    anchor: Item,
    columns: t.Array(
      t.Array(
        t.Object({
          kind: t.Union([t.Literal("page"), t.Literal("event"), t.Literal("other"), t.Literal("exit"), t.Literal("entry")]),
          page: t.String({ description: "Path of the page. For kind `event`, the name of the event." }),
          visits: Count,
          conversion_rate: t.Number(),
        }),
      ),
    ),
    edges: t.Array(
      t.Object({
        column: Count,
        from: t.String(),
        to: t.String(),
        from_node: t.Integer({ description: "Index of the source node in its column." }),
        to_node: t.Integer({ description: "Index of the target node in the next column." }),
        visits: Count,
      }),
    ),
    dropped: t.Array(t.Array(Count), {
      description:
        "Number of visits that ended at each node, by column and index. The last column is left out, because it is unknown there.",
    }),
    sample_visits: Count,
    sparse: t.Optional(t.Boolean()),
  },
  { title: "Journeys" },
)
export type Journeys = Static<typeof Journeys>

const { entered, completed, conversion_rate, steps } = FunnelReport.properties
const FUNNEL_COUNTS = { entered, completed, conversion_rate, steps }

export const FunnelInsight = t.Object(
  {
    ...FunnelReport.properties,
    comparison: t.Optional(
      t.Object({
        range: ReportRange,
        ...FUNNEL_COUNTS,
        change_percent: t.Object({
          entered: t.Optional(t.Number()),
          completed: t.Optional(t.Number()),
          conversion_rate: t.Optional(t.Number()),
        }),
      }),
    ),
    breakdown: t.Optional(
      t.Object({
        dimension: t.String(),
        rows: t.Array(t.Object({ ...VALUE_FIELDS, ...FUNNEL_COUNTS })),
        total_rows: Count,
      }),
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
        entries: t.Array(t.Object({ entry: t.String(), count: Count }), {
          description: "Hosts, pages or shields that caused the drops, most frequent first. Empty for reasons that do not record them.",
        }),
      }),
    ),
    counters: t.Array(t.Object({ counter: textOf<Counter>(), total: Count }), {
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
        at: Instant,
        reason: textOf<DropReason>({ description: "Code of the reason." }),
        hostname: t.String(),
        page: t.String({ description: "Path of the page." }),
        browser: t.String(),
        country: t.String({ description: "ISO 3166-1 code of the country. Empty when unknown." }),
      }),
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
        site_id: Id,
        name: t.String({ description: "Display name of the site." }),
        organization_id: Id,
        current_visitors: t.Integer({ minimum: 0, description: "Visitors of the last 5 minutes." }),
        range: t.Optional(ReportRange),
        metrics: t.Optional(t.Record(t.String(), t.Number(), { description: "Metrics of the range by name." })),
        change_percent: t.Optional(
          t.Record(t.String(), t.Number(), { description: "Relative change of each metric in percent. Present only with `compare`." }),
        ),
        problem: t.Optional(t.String({ description: "Error code if the site has no result at the moment." })),
      }),
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
      t.Object({ status: t.Integer(), data: t.Optional(t.Any()), problem: t.Optional(anyOf<{ code: string; detail: string }>()) }),
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
