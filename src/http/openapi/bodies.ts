import { Type as t } from "@sinclair/typebox"
import { dimensionFacts, FLAT_DIMENSIONS } from "../../domain/dimension.ts"
import { DROP_REASONS } from "../../domain/event.ts"
import { COLLECT, QUERY } from "../../domain/limits.ts"
import { METRICS } from "../../domain/metric.ts"
import { PERIODS } from "../../domain/period.ts"
import { INTERVALS } from "../../domain/query.ts"
import { ReportRange } from "../../domain/report.ts"

/** Bodies that services judge without a schema, because they say all that is wrong at once. This is what they take. */

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
  description: "A dimension, a property as event:props: and its key, or time",
  anyOf: [{ enum: [...DIMENSIONS, ...TIMES] }, { type: "string", pattern: "^event:props:.+" }],
})
const MetricName = t.Unsafe<string>({ title: "QueryMetric", type: "string", enum: METRICS })

const Pair = t.Unsafe<[string, string]>({
  type: "array",
  description: "Two days, or two RFC 3339 instants with offsets; both included",
  items: { type: "string" },
  minItems: 2,
  maxItems: 2,
})

const FilterTree = t.Unsafe<unknown[]>({
  title: "QueryFilter",
  description: [
    "A condition, `[operator, dimension, [clauses], {case_sensitive}?]`, of which any one clause will do; the operators are",
    "is, is_not, contains, contains_not, starts_with, matches_wildcard, matches_wildcard_not.",
    'Or a tree: `["and" | "or", [filters]]`, `["not" | "has_done" | "has_not_done", filter]`.',
    `At most ${QUERY.leaves} conditions, ${QUERY.filterDepth} operators deep, ${QUERY.clauses} clauses each.`,
  ].join(" "),
  type: "array",
  minItems: 2,
  maxItems: 4,
  prefixItems: [{ type: "string" }],
})

export const QueryRequest = t.Object(
  {
    site_id: t.Union([t.Integer({ minimum: 1 }), t.String()], { description: "Id, tracking id, or a host of exactly one visible site" }),
    metrics: t.Array(MetricName, { minItems: 1, maxItems: QUERY.metrics, uniqueItems: true }),
    date_range: t.Union([choice(["day", "realtime", ...PERIODS]), Pair], { description: "realtime is the last 5 minutes" }),
    timezone: t.Optional(t.String({ description: "IANA zone of day and bucket boundaries. Default: that of the site" })),
    dimensions: t.Optional(
      t.Array(DimensionName, { maxItems: QUERY.groupings, uniqueItems: true, description: "At most one of them time. Default: none" }),
    ),
    filters: t.Optional(t.Array(FilterTree, { description: "All must match. Default: none" })),
    order_by: t.Optional(
      t.Array(t.Tuple([t.String({ description: "One of the metrics or dimensions asked for" }), choice(["asc", "desc"])]), {
        maxItems: QUERY.orders,
        description: "Default: time ascending, else the first metric descending",
      }),
    ),
    include: t.Optional(
      t.Object(
        {
          imports: t.Optional(t.Boolean({ description: "Add imported totals. Default: false" })),
          time_labels: t.Optional(t.Boolean({ description: "meta.time_labels lists every bucket; needs a time dimension" })),
          total_rows: t.Optional(t.Boolean({ description: "meta.total_rows" })),
          comparisons: t.Optional(
            t.Object(
              {
                mode: choice(["previous_period", "year_over_year", "custom"]),
                date_range: t.Optional(Pair),
                match_day_of_week: t.Optional(t.Boolean({ description: "Move the compared range back to the same weekday" })),
                match_time_of_day: t.Optional(t.Boolean({ description: "Compare today with the same hours" })),
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
          limit: t.Optional(t.Integer({ minimum: 1, maximum: QUERY.pageLimit, description: `Default: ${QUERY.pageLimit}` })),
          offset: t.Optional(t.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: "Default: 0" })),
        },
        closed,
      ),
    ),
  },
  { ...closed, title: "QueryRequest" },
)

const text = (maxLength: number, description?: string) => t.Optional(t.String({ maxLength, ...(description && { description }) }))

/** As it should be; an event that is not does not stop the others. */
const ServerEvent = t.Object(
  {
    name: t.String({ minLength: 1, maxLength: COLLECT.nameChars, description: "pageview, or a name of your own" }),
    url: t.String({
      minLength: 1,
      maxLength: COLLECT.urlBytes,
      description: "An absolute URL or a path; utm and click ids are read from it",
    }),
    id: t.Optional(t.String({ pattern: "^[A-Za-z0-9_-]{8,64}$", description: "The same id within 24 hours is counted once" })),
    timestamp: t.Optional(t.Union([t.String({ format: "date-time" }), t.Integer()], { description: "RFC 3339 or epoch ms. Default: now" })),
    referrer: t.Optional(t.String({ description: `Longer than ${COLLECT.referrerBytes} bytes is cut` })),
    title: t.Optional(t.String({ description: `Longer than ${COLLECT.titleChars} characters is cut` })),
    ip: t.Optional(t.String({ description: "The visitor's address, for the rotating id and geography; never stored" })),
    user_agent: t.Optional(t.String({ description: "The visitor's, for the rotating id, device and bot check; never stored" })),
    language: text(COLLECT.languageChars, "A BCP 47 tag"),
    user_id: text(COLLECT.userIdChars, "Your id of the person, for sites whose identity mode allows it"),
    interactive: t.Optional(t.Boolean({ description: "Default: true" })),
    props: t.Optional(
      t.Record(t.String(), t.Union([t.String({ maxLength: COLLECT.propValueBytes }), t.Number(), t.Boolean()]), {
        maxProperties: COLLECT.props,
      }),
    ),
    revenue: t.Optional(
      t.Object(
        {
          amount: t.Union([t.Number(), t.String()], { description: "In major units; negative is a refund" }),
          currency: t.Optional(t.String({ description: "ISO 4217 code. Default: the site's" })),
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
export const EventLines = t.Unsafe<string>({ type: "string", description: "One ServerEvent per line" })

export const EventsAnswer = t.Object(
  {
    accepted: t.Integer({ minimum: 0 }),
    rejected: t.Array(t.Object({ index: t.Integer({ minimum: 0 }), code: t.String(), detail: t.String() }), {
      description: "Events that are not valid",
    }),
    dropped: t.Array(t.Object({ index: t.Integer({ minimum: 0 }), reason: choice(DROP_REASONS) }), {
      description: "Valid events that the site's rules refuse",
    }),
  },
  { title: "EventsAnswer", description: "The three numbers add up to the events sent" },
)

const RpcId = t.Union([t.String(), t.Integer()])

export const RpcRequest = t.Object(
  {
    jsonrpc: t.Literal("2.0"),
    id: t.Optional(t.Union([t.String(), t.Integer()], { description: "Without one it is a notification" })),
    method: t.String({ description: "initialize, ping, tools/list or tools/call" }),
    params: t.Optional(t.Object({}, { additionalProperties: true })),
  },
  { title: "RpcRequest", description: "A message of JSON-RPC 2.0; batches are refused" },
)
export const RpcAnswer = t.Object(
  {
    jsonrpc: t.Literal("2.0"),
    id: RpcId,
    result: t.Optional(t.Object({}, { additionalProperties: true })),
    error: t.Optional(t.Object({ code: t.Integer(), message: t.String(), data: t.Optional(t.Object({}, { additionalProperties: true })) })),
  },
  { title: "RpcAnswer", description: "A result or an error" },
)

/** An export, by media type. */
export const EXPORTED_FILES = {
  "text/csv": { schema: t.String({ description: "RFC 4180, with a header line; cells that begin with = + - @ have a quote before it" }) },
  "application/json": {
    schema: t.Object(
      { range: ReportRange, data: t.Array(t.Object({}, { additionalProperties: true })) },
      { title: "Export", description: "Rows have the columns of the type" },
    ),
  },
  "application/x-ndjson": { schema: t.String({ description: "One row per line, as JSON" }) },
}
