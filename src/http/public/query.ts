import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { dimensionFacts, FLAT_DIMENSIONS } from "../../domain/dimension.ts"
import { API, QUERY } from "../../domain/limits.ts"
import { METRICS } from "../../domain/metric.ts"
import { INTERVALS } from "../../domain/query.ts"
import { QueryAnswer } from "../../domain/query-answer.ts"
import { PERIOD_CHOICES, PERIOD_PATTERN } from "../../domain/relative-period.ts"
import type { QueryForm } from "../../services/stats/query-form.ts"
import { readJson } from "../../web/body.ts"
import type { ApiKeyAuth } from "../auth.ts"
import { outliveReport } from "../idle-timeouts.ts"
import { Problem } from "../openapi/problem.ts"
import { describeRoute } from "../openapi/route.ts"
import { type SettleOptions, settleAll } from "../settled.ts"
import { NoQuery, takes } from "./requests.ts"

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
  description:
    "First and last day, or two times: RFC 3339 with an offset, or local ones such as `2026-11-20T08:00:00`. Both are inclusive.",
  items: { type: "string" },
  minItems: 2,
  maxItems: 2,
})

const FilterTree = t.Unsafe<unknown[]>({
  title: "QueryFilter",
  description: [
    "A condition `[operator, dimension, [clauses], {case_sensitive}?]`, which matches if any of its clauses matches. Operators:",
    "is, is_not, contains, contains_not, starts_with, matches_wildcard, matches_wildcard_not.",
    "Clauses are strings or whole numbers. `is` and `is_not` understand the names of other products, such as `Twitter` for `X`.",
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
      {
        type: "object",
        properties: { case_sensitive: { type: "boolean", description: "Whether letter case matters. Default: true." } },
        additionalProperties: false,
      },
    ],
  },
})

/** Body of a query, for the documentation. The query parser validates it without this schema. */
const QueryRequest = t.Object(
  {
    site_id: t.Union([t.Integer({ minimum: 1 }), t.String()], {
      description: "Id, tracking id or host of the site. A host must belong to exactly one visible site.",
    }),
    metrics: t.Array(MetricName, { minItems: 1, maxItems: QUERY.metrics, uniqueItems: true, description: "Metrics to return." }),
    date_range: t.Union([choice(["day", "realtime"]), t.String({ pattern: PERIOD_PATTERN }), Pair], {
      description: `Range: ${PERIOD_CHOICES}, counted back from today, which is included. \`day\` is today, \`realtime\` the last 5 minutes. Or a pair of first and last day, such as \`["2026-11-14", "2026-11-20"]\`, or of two times, RFC 3339 or local such as \`2026-11-20T08:00:00\`.`,
    }),
    timezone: t.Optional(t.String({ description: "IANA time zone of day and bucket boundaries. Default: time zone of the site." })),
    dimensions: t.Optional(
      t.Array(DimensionName, {
        maxItems: QUERY.groupings,
        uniqueItems: true,
        description:
          "Dimensions to group by, such as `visit:source`, `event:props:plan` or `time:day`, at most one of them a time dimension. [All dimensions](docs#metrics). Default: no grouping.",
      }),
    ),
    filters: t.Optional(
      t.Array(FilterTree, {
        description:
          'Filters that must all match, such as `["is", "visit:country", ["DE"]]`. [How filters work](docs#filters). Default: no filter.',
      }),
    ),
    order_by: t.Optional(
      t.Array(t.Tuple([t.String({ description: "Requested metric or dimension to sort by." }), choice(["asc", "desc"])]), {
        maxItems: QUERY.orders,
        description:
          'Sort order, such as `[["visitors", "desc"]]`. Default: time ascending, or the first metric descending without a time dimension.',
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
                mode: choice(["previous_period", "year_over_year", "custom"], "Compared range. `custom` requires `date_range`."),
                date_range: t.Optional(Pair),
                match_day_of_week: t.Optional(
                  t.Boolean({ description: "Whether to shift the comparison range back so that it starts on the same weekday." }),
                ),
                match_time_of_day: t.Optional(
                  t.Boolean({
                    description: "Whether to end the compared range at the current time of day if the range is not over. Default: false.",
                  }),
                ),
              },
              { ...closed, description: "Range to compare with. Default: none." },
            ),
          ),
        },
        { ...closed, description: "Additions to the rows." },
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
        { ...closed, description: "Page of the rows." },
      ),
    ),
  },
  { ...closed, title: "QueryRequest" },
)

/** Body of a query. The query parser validates its fields, so that all problems are reported at once. */
const QueryBody = t.Object({}, { additionalProperties: true })
const QUERY_ROUTE = {
  scope: { scopes: ["stats:read"], read: readJson(API.bodyBytes, API.queryJsonDepth) },
  query: NoQuery,
  body: QueryBody,
  response: { 200: QueryAnswer },
} as const

/** Several queries, for the documentation. */
const QueriesRequest = t.Object(
  { queries: t.Array(QueryRequest, { minItems: 1, maxItems: QUERY.batch, description: "Queries, each with its own site." }) },
  { ...closed, title: "QueriesRequest" },
)
const QueriesBody = t.Object({ queries: t.Array(t.Unknown(), { minItems: 1, maxItems: QUERY.batch }) }, closed)
const QueriesAnswer = t.Object(
  {
    results: t.Array(
      t.Object({
        status: t.Integer({ description: "HTTP status that the query would have alone." }),
        data: t.Optional(t.Unsafe<object>(t.Any({ description: "Response of the query.", allOf: [QueryAnswer] }))),
        problem: t.Optional(t.Unsafe<object>(t.Any({ description: "Why the query failed.", allOf: [Problem] }))),
      }),
      { description: "Results in the order of the queries. Each has `data` or, if it failed, `problem`." },
    ),
  },
  { title: "QueriesAnswer" },
)

const QUERY_ABOUT = `Returns a row for each combination of values of the dimensions, or one row of totals without dimensions. The values are in the
order in which \`metrics\` and \`dimensions\` name them. See [Metrics and dimensions](docs#metrics), [Filters](docs#filters) and
[Ranges and comparisons](docs#ranges).`

const operation = (operationId: string, summary: string) =>
  describeRoute({
    operationId,
    summary,
    description: QUERY_ABOUT,
    tags: ["query"],
    ...takes(QueryRequest),
    "x-failures": ["query_timeout"],
  })

/** Creates the routes for queries in array form, at our path and at the path of Plausible clients, and for several at once. */
export const queryRoutes = (auth: ApiKeyAuth, { answer }: QueryForm, options: SettleOptions) =>
  new Elysia()
    .use(auth)
    .onBeforeHandle(({ request, server }) => outliveReport(request, server))
    .post("/api/public/v1/query", ({ apiKey, body, request }) => answer(apiKey, body, request.signal), {
      ...QUERY_ROUTE,
      detail: operation("query", "Run a query"),
    })
    .post("/api/v2/query", ({ apiKey, body, request }) => answer(apiKey, body, request.signal), {
      ...QUERY_ROUTE,
      detail: operation("queryPlausible", "Run a query at the path used by Plausible clients"),
    })
    .post(
      "/api/public/v1/queries",
      async ({ apiKey, body, request, set }) => ({
        results: await settleAll(body.queries, (query, signal) => answer(apiKey, query, signal), options, {
          ...{ request, set, signal: request.signal },
        }),
      }),
      {
        scope: { scopes: ["stats:read"], read: readJson(API.queriesBodyBytes, API.queryJsonDepth + 2) },
        query: NoQuery,
        body: QueriesBody,
        response: { 200: QueriesAnswer },
        detail: describeRoute({
          operationId: "runQueries",
          summary: "Run several queries",
          description: `Up to ${QUERY.batch} queries, which share the time limit of one query and count as one request. A query that is invalid or not finished in time does not affect the others: the response is 200 even if all of them fail, and each result has a status of its own.`,
          tags: ["query"],
          ...takes(QueriesRequest),
        }),
      },
    )
