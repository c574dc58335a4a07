import type { Dimension } from "./dimension.ts"
import type { Filter } from "./filter.ts"
import type { Metric } from "./metric.ts"
import type { RecordKind } from "./record.ts"

/** Half-open, UTC epoch milliseconds. */
export interface Range {
  from: number
  to: number
}

export const INTERVALS = ["minute", "hour", "day", "week", "month"] as const
export type Interval = (typeof INTERVALS)[number]

/** One way of grouping: by the value of a dimension, or by time bucket (at most one of these). */
export type Grouping = DimensionGrouping | { by: "time"; interval: Interval }

export interface DimensionGrouping {
  by: "dimension"
  dimension: Dimension
  /** The key, of dimension `property` alone. */
  property?: string
  /** Keys are English names instead of codes; of dimension `country` alone. */
  named?: boolean
  /** What a missing value is ordered as: the text it will be shown as. Default that of the flat form. */
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

/** What the engine must know of a site beside its events. */
export interface SiteFacts {
  id: number
  /** 0 = off: a visit with at least that many engaged seconds is no bounce. */
  bounceEngagedSeconds: number
  revenueCurrency: string
  goals: readonly GoalRule[]
}

/**
 * A question: metrics over a range, by 0 to 3 groupings. A plain value (it travels to a worker); nothing behind the
 * parsers knows whether it came from REST, MCP, the dashboard or the array form.
 */
export interface Query {
  site: SiteFacts
  /** Of these records in place of visits and events. */
  records?: RecordKind
  range: Range
  /** IANA zone of bucket boundaries. */
  timezone: string
  /** The moment of asking: `current_visitors`, running buckets. */
  now: number
  metrics: readonly Metric[]
  groupings: readonly Grouping[]
  filter?: Filter
  /** A `by` index counts metrics (`metric`) or groupings (`grouping`). Ties are broken by the groupings ascending. */
  order: readonly { by: "metric" | "grouping"; index: number; descending: boolean }[]
  limit: number
  offset: number
  /** Time buckets without data are rows too, with zeros. Only with a single time grouping. */
  fillBuckets: boolean
  /** Only the rows with these keys, and all of them: `order`, `limit` and `offset` are left aside. */
  only?: readonly (readonly Key[])[]
  /** Rows by value that count fewer visitors are left out, as if they were not there; `Table.smallRows` says how many. */
  leastVisitors?: number
  /** `visitors` counts visitors with any event, engagement included (date range `realtime`, metrics.md section 14). */
  anyEvent?: boolean
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
  /** Of a question with `leastVisitors`: the rows that were left out. */
  smallRows?: number
  /** Currencies other than the site's that occurred among the events asked for; their amounts are in no sum. */
  otherCurrencies: string[]
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
  /** Longest time from the first to the last step; absent = the whole range. */
  windowMs?: number
  /** Tested on the first step's event and its visit only. */
  filter?: Filter
  /** Only visits whose visitor has a person key count (a window longer than the rotating identity). */
  identifiedOnly?: boolean
}

export interface FunnelResult {
  /** Per step. `medianSeconds` is absent at the first step and where nobody came. */
  steps: { visitors: number; medianSeconds?: number }[]
}

export interface RealtimeQuery {
  site: SiteFacts
  now: number
  limit: number
  /** Only events that satisfy it, and their visitors. */
  filter?: Filter
  /** How many of the last counted events to tell of; absent: none. */
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
  /** The youngest first; absent when none were asked for. */
  events?: LatestEvent[]
}

/** Raw rows: all visits that start in the range, each with all of its events, that have an event satisfying the filter. */
export interface RowsQuery {
  site: SiteFacts
  /** Of these records in place of visits. */
  records?: RecordKind
  range: Range
  filter?: Filter
}

/** How many records there are, told apart by what their properties say. */
export interface TallyQuery {
  site: SiteFacts
  records: RecordKind
  range: Range
  /** Only records whose sequence is higher: those stored since somebody looked. */
  after: number
  /** And not higher than that. */
  upTo?: number
  /** Keys of the properties. */
  by: readonly string[]
}
export interface Tally {
  groups: TallyGroup[]
  /** The highest sequence of those counted; `after` when there are none. */
  sequence: number
}
export interface TallyGroup {
  /** In the order of the keys; "" for records without the property. */
  values: string[]
  count: number
  /** Epoch ms of the latest. */
  lastAt: number
}

/** Whether a site is alive. */
export interface PulseQuery {
  site: { id: number }
  now: number
}
export interface PulseResult {
  visitors: number
  /** Of any name; absent without any. */
  lastAt?: number
}

export interface LastMatchQuery {
  site: { id: number }
  goal: GoalRule
}

/** Whole visits, and their pageviews and custom events. */
export interface VisitsWeight {
  visits: number
  events: number
}

export interface PropertyKeysQuery {
  site: SiteFacts
  range: Range
  filter?: Filter
}
export interface PropertyKeyCount {
  property: string
  /** Events that carry it. */
  events: number
}

/** An item of a journey: a page, or the name of a custom event. */
export interface PathAnchor {
  kind: "page" | "event"
  value: string
}

/** Paths inside visits that start in the range, from an item on or up to one (metrics.md section 13). */
export interface PathsQuery {
  site: SiteFacts
  range: Range
  filter?: Filter
  /** `start`: from the anchor's first occurrence on; `end`: from its last one backwards. */
  mode: "start" | "end"
  anchor: PathAnchor
  /** Columns, that of the anchor included. */
  steps: number
  /** Items shown in each column. */
  top: number
  /** Items that narrow the columns behind them to the visits that took them. Column 0 is that of the anchor. */
  pins: readonly (PathAnchor & { column: number })[]
  group: "page" | "directory"
  /** What stands behind `?` is no part of a page. */
  collapseQuery: boolean
  /** Custom events are items too. */
  withEvents: boolean
}

/** `other` stands for the items that are not shown, `end` for the visits that went no further. */
export interface PathNode {
  kind: "page" | "event" | "other" | "end"
  /** "" for `other` and `end`. */
  value: string
  visits: number
}

export interface PathsResult {
  /** With the anchor. */
  visits: number
  columns: PathNode[][]
  /** From a node of a column to one of the next, by their places there. */
  edges: { column: number; from: number; to: number; visits: number }[]
  /** Visits that ended at a node, by column (but the last one) and place. */
  ended: number[][]
}
