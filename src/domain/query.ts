import type { Dimension } from "./dimension.ts"
import type { Filter } from "./filter.ts"
import type { Metric } from "./metric.ts"
import type { RecordKind } from "./record.ts"

/** A half-open range in UTC epoch milliseconds. */
export interface Range {
  from: number
  to: number
}

export const INTERVALS = ["minute", "hour", "day", "week", "month"] as const
export type Interval = (typeof INTERVALS)[number]

/** A grouping: by the value of a dimension, or by time bucket (at most one per query). */
export type Grouping = DimensionGrouping | { by: "time"; interval: Interval }

export interface DimensionGrouping {
  by: "dimension"
  dimension: Dimension
  /** The property key. Only for dimension `property`. */
  property?: string
  /** Whether the keys are English names instead of codes. Only for dimension `country`. */
  named?: boolean
  /** Text that stands for a missing value in the answer and when sorting. Default: the text of the flat form. */
  missing?: string
}

/** A goal as the engine evaluates it. */
export interface GoalRule {
  id: number
  name: string
  kind: "event" | "page" | "scroll"
  match: "exact" | "prefix" | "contains" | "wildcard"
  value: string
  threshold?: number
  props?: Readonly<Record<string, string>>
}

/** The settings of a site that the query engine needs. */
export interface SiteFacts {
  id: number
  /** Engaged seconds from which a visit is not a bounce. 0 turns the rule off. */
  bounceEngagedSeconds: number
  revenueCurrency: string
  goals: readonly GoalRule[]
}

/** Why imported totals are not part of an answer, or only those of some imports. */
export type ImportExclusion =
  | "unsupported_filters"
  | "unsupported_interval"
  | "unsupported_metric"
  | "unsupported_timezone"
  | "disabled"
  | "none_in_range"

/** Which imports are part of an answer. */
export interface ImportFacts {
  /** Ids of the imports whose visits or totals are included. */
  ids: number[]
  /** Why the totals of the others, or of all, are left out. */
  reason?: ImportExclusion
  /** Whether totals of several days are included, so that visitors of several days count once for each. */
  isEstimated?: boolean
}

/**
 * A query: metrics over a range, by 0 to 3 groupings. It is a plain value, because it is sent to a worker. Only the parsers know
 * whether it came from REST, MCP, the dashboard or the array form.
 */
export interface Query {
  site: SiteFacts
  /** Kind of records to query instead of visits and events. */
  records?: RecordKind
  range: Range
  /** IANA time zone of bucket boundaries. */
  timezone: string
  /** Time of the query, for `current_visitors` and unfinished buckets. */
  now: number
  metrics: readonly Metric[]
  groupings: readonly Grouping[]
  filter?: Filter
  /** A `by` index counts metrics (`metric`) or groupings (`grouping`). Ties are broken by the groupings ascending. */
  order: readonly { by: "metric" | "grouping"; index: number; descending: boolean }[]
  limit: number
  offset: number
  /** Whether time buckets without data become rows with zeros. Only with a single time grouping. */
  fillBuckets: boolean
  /** Whether imported totals are added where they fit. Imported visits are always included. */
  importedTotals?: boolean
  /** Returns exactly the rows with these keys; `order`, `limit` and `offset` are ignored. */
  only?: readonly (readonly Key[])[]
  /** Rows of a dimension value with fewer visitors are left out; `Table.smallRows` is their number. */
  minVisitors?: number
  /** Whether `visitors` includes visitors with engagement events only (date range `realtime`, metrics.md section 14). */
  anyEvent?: boolean
  /** Whether to find the values of the filter that occur in no data (`Table.absentValues`). */
  namesAbsent?: boolean
}

/** A value of a filter that no data of the site has, at any time. */
export interface AbsentValue {
  dimension: Dimension
  /** The property key. Only for dimension `property`. */
  property?: string
  /** Whether it is the name of a country instead of a code. */
  named?: boolean
  value: string
}

/** A row's key per grouping: text, null for the missing value, or the start of the bucket in epoch milliseconds. */
export type Key = string | number | null

export interface Row {
  keys: Key[]
  /** In the order of `Query.metrics`, rounded as metrics.md 5.2 says; revenue in minor units; null where nothing was measured. */
  values: (number | null)[]
}

export interface Table {
  rows: Row[]
  /** Rows before paging. */
  totalRows: number
  /** Number of rows that `minVisitors` left out. */
  smallRows?: number
  /** Currencies other than the site's among the events. Their amounts are not included in any sum. */
  otherCurrencies: string[]
  /** Absent for a site without imports. */
  imports?: ImportFacts
  /** Present only if the query asked for them. */
  absentValues?: AbsentValue[]
}

export interface FunnelStep {
  type: "page" | "event"
  match: "exact" | "prefix" | "contains" | "wildcard"
  value: string
}

export interface FunnelQuery {
  site: SiteFacts
  range: Range
  steps: readonly FunnelStep[]
  order: "sequential" | "strict"
  /** Maximum time from the first to the last step. Absent means the whole range. */
  windowMs?: number
  /** Applied to the event of the first step and its visit only. */
  filter?: Filter
  /** Whether only visits of visitors with a person key count, for windows longer than the rotating identity. */
  identifiedOnly?: boolean
}

export interface FunnelResult {
  /** Results per step. `medianSeconds` is absent for the first step and for steps without visitors. */
  steps: { visitors: number; medianSeconds?: number }[]
}

export interface RealtimeQuery {
  site: SiteFacts
  now: number
  limit: number
  /** Only matching events and their visitors are counted. */
  filter?: Filter
  /** Number of latest counted events to return. Default: 0. */
  latest?: number
}

/** A pageview or custom event of the last half hour, without its visitor. "" is the missing value. */
export interface LatestEvent {
  at: number
  name: string
  page: string
  hostname: string
  source: string
  country: string
  device: string
  browser: string
}
export interface RealtimeResult {
  visitors: number
  pageviews: number
  pages: { value: string | null; visitors: number }[]
  sources: { value: string | null; visitors: number }[]
  countries: { value: string | null; visitors: number }[]
  /** The last 30 minutes, oldest first. */
  minutes: { from: number; visitors: number; pageviews: number }[]
  /** Newest first. Absent when none were requested. */
  events?: LatestEvent[]
}

/** A query for raw rows: the visits that start in the range and have a matching event, each with all of its events. */
export interface RowsQuery {
  site: SiteFacts
  /** Kind of records to return instead of visits. */
  records?: RecordKind
  range: Range
  filter?: Filter
  /** Only native visits whose last event arrived in this range. */
  arrived?: Range
}

/** A query for the number of records, grouped by the values of properties. */
export interface TallyQuery {
  site: SiteFacts
  records: RecordKind
  range: Range
  /** Only records with a higher sequence number count, that is those stored since the previous query. */
  after: number
  /** Maximum sequence number. */
  upTo?: number
  /** Keys of the properties to group by. */
  by: readonly string[]
}
export interface Tally {
  groups: TallyGroup[]
  /** Highest sequence number among the counted records; `after` when there are none. */
  sequence: number
}
export interface TallyGroup {
  /** In the order of the keys; "" for records without the property. */
  values: string[]
  count: number
  /** Time of the latest record, in epoch milliseconds. */
  lastAt: number
}

/** A query for the current activity of a site. */
export interface PulseQuery {
  site: { id: number }
  now: number
}
export interface PulseResult {
  visitors: number
  /** Time of the latest event of any name. Absent when there is none. */
  lastAt?: number
}

/** A number about the traffic of a site, of its own visits only. */
export type Signal =
  /** Current visitors, as the realtime report counts them. */
  | { of: "current" }
  /** Visitors of pageviews and custom events. */
  | { of: "visitors"; range: Range }
  | { of: "conversions"; goal: GoalRule; range: Range }
  /** Events with a name. */
  | { of: "events"; name: string; range: Range }
  /** Mean number of visitors in windows of a length. */
  | { of: "mean_visitors"; range: Range; windowMs: number }
  /** Number of windows of a length without any event. */
  | { of: "empty_windows"; range: Range; windowMs: number }

export interface SignalsQuery {
  site: { id: number }
  now: number
  signals: readonly Signal[]
}
export interface SignalsResult {
  /** In the order of the signals. */
  values: number[]
  /** Time of the latest event of any name. Absent when there is none. */
  lastAt?: number
}

export interface LastMatchQuery {
  site: { id: number }
  goal: GoalRule
}

/** The number of whole visits, and of their pageviews and custom events. */
export interface VisitsWeight {
  visits: number
  events: number
}

export interface PropertyKeyCount {
  property: string
  /** Number of events that have the property. */
  events: number
}

/** An item of a journey: a page, or the name of a custom event. */
export interface PathAnchor {
  kind: "page" | "event"
  value: string
}

/** A query for the paths within visits that start in the range, starting or ending at an item (metrics.md section 13). */
export interface PathsQuery {
  site: SiteFacts
  range: Range
  filter?: Filter
  /** `start` follows the path from the first occurrence of the anchor, `end` goes backwards from its last one. */
  mode: "start" | "end"
  anchor: PathAnchor
  /** Number of columns, including that of the anchor. */
  steps: number
  /** Number of items per column. */
  top: number
  /** Items that restrict the following columns to visits that contain them. Column 0 is that of the anchor. */
  pins: readonly (PathAnchor & { column: number })[]
  group: "page" | "directory"
  /** Whether query parameters are ignored. */
  collapseQuery: boolean
  /** Whether custom events are items, too. */
  withEvents: boolean
}

/** A node of a column. `other` stands for the items that are not shown, `end` for the visits that ended before. */
export interface PathNode {
  kind: "page" | "event" | "other" | "end"
  /** "" for `other` and `end`. */
  value: string
  visits: number
}

export interface PathsResult {
  /** Number of visits that contain the anchor. */
  visits: number
  columns: PathNode[][]
  /** Edges from a node of a column to a node of the next one, by their indexes. */
  edges: { column: number; from: number; to: number; visits: number }[]
  /** Number of visits that ended at a node, by column (except the last one) and index. */
  ended: number[][]
}
