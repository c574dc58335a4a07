import { Type as t } from "@sinclair/typebox"
import { dimensionFacts, FLAT_DIMENSIONS } from "../../domain/dimension.ts"
import { DROP_REASONS } from "../../domain/event.ts"
import { COLLECT, QUERY } from "../../domain/limits.ts"
import { METRICS } from "../../domain/metric.ts"
import { PERIODS } from "../../domain/period.ts"
import { INTERVALS } from "../../domain/query.ts"
import { ReportRange } from "../../domain/report.ts"

/** Schemas of bodies for the documentation. Services validate these bodies without a schema, to report all problems at once. */

const choice = (names: readonly string[], description?: string) =>
  t.Unsafe<string>({ type: "string", enum: names, ...(description && { description }) })
const closed = { additionalProperties: false }

const DIMENSIONS = [
  ...FLAT_DIMENSIONS.filter((name) => name !== "property"),
  ...(["entry_page_hostname", "exit_page_hostname", "click_id_type"] as const),
].flatMap((name) => dimensionFacts(name).query)
const TIMES = ["time", ...INTERVALS.map((interval) => `time:${interval}`)]

const DimensionName = t.Unsafe<string>({
  title: "QueryDimension",
  description: "Dimension, property as `event:props:` followed by its key, or time bucket.",
  anyOf: [{ enum: [...DIMENSIONS, ...TIMES] }, { type: "string", pattern: "^event:props:.+" }],
})
const MetricName = t.Unsafe<string>({ title: "QueryMetric", type: "string", enum: METRICS })

const Pair = t.Unsafe<[string, string]>({
  type: "array",
  description: "First and last day, or two RFC 3339 timestamps with offsets. Both are inclusive.",
  items: { type: "string" },
  minItems: 2,
  maxItems: 2,
})

const FilterTree = t.Unsafe<unknown[]>({
  title: "QueryFilter",
  description: [
    "A condition `[operator, dimension, [clauses], {case_sensitive}?]`, which matches if any of its clauses matches. Operators:",
    "is, is_not, contains, contains_not, starts_with, matches_wildcard, matches_wildcard_not.",
    'Or a combination: `["and" | "or", [filters]]`, `["not" | "has_done" | "has_not_done", filter]`.',
    `Maximum: ${QUERY.leaves} conditions, ${QUERY.filterDepth} nested operators, ${QUERY.clauses} clauses per condition.`,
  ].join(" "),
  type: "array",
  minItems: 2,
  maxItems: 4,
  // One schema for all items, because client generators read `prefixItems` as a tuple of exactly these items.
  items: {
    anyOf: [
      { type: "string" },
      { type: "array", items: {} },
      { type: "object", properties: { case_sensitive: { type: "boolean" } }, additionalProperties: false },
    ],
  },
})

export const QueryRequest = t.Object(
  {
    site_id: t.Union([t.Integer({ minimum: 1 }), t.String()], {
      description: "Id, tracking id or host of the site. A host must belong to exactly one visible site.",
    }),
    metrics: t.Array(MetricName, { minItems: 1, maxItems: QUERY.metrics, uniqueItems: true }),
    date_range: t.Union([choice(["day", "realtime", ...PERIODS]), Pair], {
      description: "Preset or range of dates. `realtime` is the last 5 minutes.",
    }),
    timezone: t.Optional(t.String({ description: "IANA time zone of day and bucket boundaries. Default: time zone of the site." })),
    dimensions: t.Optional(
      t.Array(DimensionName, {
        maxItems: QUERY.groupings,
        uniqueItems: true,
        description: "Dimensions to group by, at most one of them a time dimension. Default: no grouping.",
      }),
    ),
    filters: t.Optional(t.Array(FilterTree, { description: "Filters that must all match. Default: no filter." })),
    order_by: t.Optional(
      t.Array(t.Tuple([t.String({ description: "Requested metric or dimension to sort by." }), choice(["asc", "desc"])]), {
        maxItems: QUERY.orders,
        description: "Sort order. Default: time ascending, or the first metric descending without a time dimension.",
      }),
    ),
    include: t.Optional(
      t.Object(
        {
          imports: t.Optional(t.Boolean({ description: "Whether to include imported totals. Default: false." })),
          time_labels: t.Optional(
            t.Boolean({ description: "Whether to list all time buckets in meta.time_labels. Needs a time dimension." }),
          ),
          total_rows: t.Optional(
            t.Boolean({ description: "Whether to return the number of all rows in meta.total_rows. Default: false." }),
          ),
          comparisons: t.Optional(
            t.Object(
              {
                mode: choice(["previous_period", "year_over_year", "custom"]),
                date_range: t.Optional(Pair),
                match_day_of_week: t.Optional(
                  t.Boolean({ description: "Whether to shift the comparison range back so that it starts on the same weekday." }),
                ),
                match_time_of_day: t.Optional(
                  t.Boolean({ description: "Whether to compare today with the same hours of the earlier day." }),
                ),
              },
              closed,
            ),
          ),
        },
        closed,
      ),
    ),
    pagination: t.Optional(
      t.Object(
        {
          limit: t.Optional(
            t.Integer({ minimum: 1, maximum: QUERY.pageLimit, description: `Maximum number of rows. Default: ${QUERY.pageLimit}.` }),
          ),
          offset: t.Optional(
            t.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: "Number of rows to skip. Default: 0." }),
          ),
        },
        closed,
      ),
    ),
  },
  { ...closed, title: "QueryRequest" },
)

const text = (maxLength: number, description?: string) => t.Optional(t.String({ maxLength, ...(description && { description }) }))

/** Valid event of a server. Invalid events in a list are rejected one by one. */
const ServerEvent = t.Object(
  {
    name: t.String({ minLength: 1, maxLength: COLLECT.nameChars, description: "`pageview`, or the name of a custom event." }),
    url: t.String({
      minLength: 1,
      maxLength: COLLECT.urlBytes,
      description: "Absolute URL or path of the page. UTM parameters and click ids are read from it.",
    }),
    id: t.Optional(
      t.String({
        pattern: "^[A-Za-z0-9_-]{8,64}$",
        description: "Id for deduplication. Events with the same id within 24 hours are counted once.",
      }),
    ),
    timestamp: t.Optional(
      t.Union([t.String({ format: "date-time" }), t.Integer()], {
        description: "Time of the event in RFC 3339 format or epoch milliseconds. Default: now.",
      }),
    ),
    referrer: t.Optional(t.String({ description: `URL of the referring page. Truncated to ${COLLECT.referrerBytes} bytes.` })),
    title: t.Optional(t.String({ description: `Title of the page. Truncated to ${COLLECT.titleChars} characters.` })),
    ip: t.Optional(
      t.String({ description: "IP address of the visitor. Used for the rotating visitor id and the location; never stored." }),
    ),
    user_agent: t.Optional(
      t.String({ description: "User agent of the visitor. Used for the rotating visitor id, device and bot detection; never stored." }),
    ),
    language: text(COLLECT.languageChars, "Language of the visitor as a BCP 47 tag."),
    user_id: text(COLLECT.userIdChars, "Your id of the person, for sites whose identity mode allows it."),
    interactive: t.Optional(t.Boolean({ description: "Whether the event ends a bounce. Default: true." })),
    props: t.Optional(
      t.Record(t.String(), t.Union([t.String({ maxLength: COLLECT.propValueBytes }), t.Number(), t.Boolean(), t.Null()]), {
        maxProperties: COLLECT.props,
        description: "Properties of the event. Numbers and booleans are stored as text; null values are ignored.",
      }),
    ),
    revenue: t.Optional(
      t.Object(
        {
          amount: t.Union([t.Number(), t.String()], { description: "Amount in major currency units. Negative amounts are refunds." }),
          currency: t.Optional(t.String({ description: "ISO 4217 currency code. Default: currency of the site." })),
        },
        closed,
      ),
    ),
  },
  { ...closed, title: "ServerEvent" },
)

export const EventsRequest = t.Object(
  { events: t.Array(ServerEvent, { minItems: 1, maxItems: COLLECT.serverEvents }) },
  { ...closed, title: "EventsRequest" },
)
export const EventLines = t.Unsafe<string>({ type: "string", description: "One ServerEvent object per line." })

export const EventsAnswer = t.Object(
  {
    accepted: t.Integer({ minimum: 0 }),
    rejected: t.Array(t.Object({ index: t.Integer({ minimum: 0 }), code: t.String(), detail: t.String() }), {
      description: "Invalid events, with the reason.",
    }),
    dropped: t.Array(t.Object({ index: t.Integer({ minimum: 0 }), reason: choice(DROP_REASONS) }), {
      description: "Valid events blocked by the rules of the site.",
    }),
  },
  { title: "EventsAnswer", description: "Result for each event: accepted, rejected or dropped." },
)

const RpcId = t.Union([t.String(), t.Integer()])

export const RpcRequest = t.Object(
  {
    jsonrpc: t.Literal("2.0"),
    id: t.Optional(t.Union([t.String(), t.Integer()], { description: "Id of the request. A message without an id is a notification." })),
    method: t.String({ description: "Method: `initialize`, `ping`, `tools/list` or `tools/call`." }),
    params: t.Optional(t.Object({}, { additionalProperties: true })),
  },
  { title: "RpcRequest", description: "JSON-RPC 2.0 message. Batches are rejected." },
)
export const RpcAnswer = t.Object(
  {
    jsonrpc: t.Literal("2.0"),
    id: RpcId,
    result: t.Optional(t.Object({}, { additionalProperties: true })),
    error: t.Optional(t.Object({ code: t.Integer(), message: t.String(), data: t.Optional(t.Object({}, { additionalProperties: true })) })),
  },
  { title: "RpcAnswer", description: "Result or error of a JSON-RPC 2.0 request." },
)

/** Schemas of an export, by media type. */
export const EXPORTED_FILES = {
  "text/csv": {
    schema: t.String({
      description: "CSV according to RFC 4180 with a header line. Cells that begin with = + - @ are prefixed with a single quote.",
    }),
  },
  "application/json": {
    schema: t.Object(
      { range: ReportRange, data: t.Array(t.Object({}, { additionalProperties: true })) },
      { title: "Export", description: "Exported rows. Their columns depend on the export type." },
    ),
  },
  "application/x-ndjson": { schema: t.String({ description: "One JSON object per line and row." }) },
}
