import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { PLAUSIBLE } from "../../../domain/limits.ts"
import { PLAUSIBLE_METRICS, type PlausibleV1 } from "../../../services/stats/plausible-v1.ts"
import type { ApiKeyAuth } from "../../auth.ts"
import { outliveReport } from "../../idle-timeouts.ts"
import { describeRoute } from "../../openapi/route.ts"
import { parameter } from "../requests.ts"
import { parameters } from "../stats.ts"

const SITE = {
  site_id: parameter({ type: "string", description: "Host of the site, or its id.", examples: ["shop.example"] }, true),
}

const COMMON = {
  ...SITE,
  period: parameter({
    type: "string",
    pattern: "^(day|month|year|custom|[1-9][0-9]{0,3}(d|mo))$",
    default: "30d",
    description:
      "Period, which ends with `date` and includes it: day, month, year, or a number of days or months such as 7d or 12mo. With `custom`, `date` is a range. (Plausible’s own `7d` and `30d` end the day before.)",
  }),
  date: parameter({ type: "string", description: "Day, YYYY-MM-DD, or two days separated by a comma. Default: today." }),
  metrics: parameter({
    type: "array",
    items: { type: "string", enum: PLAUSIBLE_METRICS },
    minItems: 1,
    uniqueItems: true,
    default: ["visitors"],
    description: "Metrics to return.",
  }),
  filters: parameter({
    type: "string",
    maxLength: PLAUSIBLE.filterChars,
    description: "Conditions such as `visit:source==Google|Twitter;event:page!=/blog*`, all of which must match.",
  }),
  with_imported: parameter({
    type: "string",
    enum: ["true", "false"],
    default: "false",
    description: "Whether to include imported totals.",
  }),
}

const Value = t.Union([t.Number(), t.Null()])
const Warning = t.Optional(t.String({ description: "Why imported totals are not included. Absent if they are, or if there are none." }))

const Aggregate = t.Object(
  {
    results: t.Record(
      t.String(),
      t.Object({
        value: t.Union([t.Number(), t.Null()], { description: "Value of the metric. null when nothing was measured." }),
        change: t.Optional(
          t.Union([t.Number(), t.Null()], {
            description: "Change in percent, or in percentage points for bounce_rate and conversion_rate. Present only with `compare`.",
          }),
        ),
      }),
      { description: "Requested metrics, by name." },
    ),
    warning: Warning,
  },
  { title: "PlausibleAggregate" },
)
const rows = (title: string, description: string) =>
  t.Object({ results: t.Array(t.Record(t.String(), t.Union([t.String(), Value])), { description }), warning: Warning }, { title })

const operation = (operationId: string, summary: string) =>
  describeRoute({ operationId, summary, tags: ["plausible"], "x-failures": ["site_not_found", "query_timeout"] })

/** Creates the routes of Plausible's stats API v1, at the paths of its clients. */
export const plausibleStatsRoutes = (auth: ApiKeyAuth, plausible: PlausibleV1) =>
  new Elysia({ prefix: "/api/v1/stats" })
    .use(auth)
    .onBeforeHandle(({ request, server }) => outliveReport(request, server))
    .get("/realtime/visitors", ({ apiKey, query, request }) => plausible.visitors(apiKey, query, request.signal), {
      scope: "stats:read",
      query: parameters(SITE),
      response: { 200: t.Integer({ minimum: 0, title: "PlausibleVisitors" }) },
      detail: operation("getPlausibleVisitors", "Get the number of current visitors"),
    })
    .get("/aggregate", ({ apiKey, query, request }) => plausible.aggregate(apiKey, query, request.signal), {
      scope: "stats:read",
      query: parameters({
        ...COMMON,
        compare: parameter({ type: "string", enum: ["previous_period"], description: "Range to compare with. Default: none." }),
      }),
      response: { 200: Aggregate },
      detail: operation("getPlausibleAggregate", "Get totals"),
    })
    .get("/timeseries", ({ apiKey, query, request }) => plausible.timeseries(apiKey, query, request.signal), {
      scope: "stats:read",
      query: parameters({
        ...COMMON,
        interval: parameter({
          type: "string",
          enum: ["day", "date", "month", "hour"],
          description: "Size of the time buckets. Default: hour for a day, month for a number of months, otherwise day.",
        }),
      }),
      response: { 200: rows("PlausibleTimeseries", "Time buckets in order, each with its `date` and the requested metrics.") },
      detail: operation("getPlausibleTimeseries", "Get metrics over time"),
    })
    .get("/breakdown", ({ apiKey, query, request }) => plausible.breakdown(apiKey, query, request.signal), {
      scope: "stats:read",
      query: parameters({
        ...COMMON,
        property: parameter({ type: "string", description: "Property of the rows.", examples: ["visit:source"] }, true),
        limit: parameter({
          type: "integer",
          minimum: 1,
          maximum: PLAUSIBLE.rows,
          default: PLAUSIBLE.usualRows,
          description: "Maximum number of rows.",
        }),
        page: parameter({
          type: "integer",
          minimum: 1,
          maximum: PLAUSIBLE.pages,
          default: 1,
          description: "Number of the page, counted from 1.",
        }),
      }),
      response: {
        200: rows(
          "PlausibleBreakdown",
          "Rows, largest first, each with the value of the property under its short name and the requested metrics.",
        ),
      },
      detail: operation("getPlausibleBreakdown", "Get the top values of a property"),
    })
