import { type TProperties, Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { UMAMI } from "../../domain/limits.ts"
import { UMAMI_FILTERS, UMAMI_TYPES, UMAMI_UNITS, type UmamiReports } from "../../services/stats/umami-reports.ts"
import type { ApiKeyAuth } from "../auth.ts"
import { outliveReport } from "../idle-timeouts.ts"
import { describeRoute } from "../openapi/route.ts"
import { parameter } from "./requests.ts"
import { parameters } from "./stats.ts"

const text = (description: string) => parameter({ type: "string", maxLength: UMAMI.filterChars, description })
const instant = (description: string) => parameter({ type: "integer", minimum: 0, description, examples: [1_763_679_600_000] }, true)
const id = (description: string) => parameter({ type: "integer", minimum: 1, description })

const RANGED: TProperties = {
  startAt: instant("Start of the range, in epoch milliseconds."),
  endAt: instant("End of the range, in epoch milliseconds, inclusive to the second."),
  timezone: parameter({ type: "string", maxLength: 64, description: "IANA time zone of the buckets. Default: time zone of the site." }),
  ...Object.fromEntries(Object.keys(UMAMI_FILTERS).map((name) => [name, text(`Value of the filter by ${name}. Letter case is ignored.`)])),
  segment: id("Id of a segment."),
  cohort: id("Id of a cohort."),
}

const TOTALS = {
  pageviews: t.Integer({ description: "Number of pageviews." }),
  visitors: t.Integer({ description: "Number of visitors." }),
  visits: t.Integer({ description: "Number of visits." }),
  bounces: t.Integer({ description: "Number of visits that were bounces." }),
  totaltime: t.Integer({ description: "Duration of all visits together, in seconds." }),
}
const Totals = t.Object(
  { ...TOTALS, comparison: t.Object(TOTALS, { description: "Totals of the range of equal length before this one." }) },
  { title: "UmamiStats" },
)
const Points = (description: string) =>
  t.Array(t.Object({ x: t.String({ description: "Start of the time bucket, in UTC." }), y: t.Integer({ description: "Number." }) }), {
    description,
  })
const SERIES = {
  pageviews: Points("Pageviews by time bucket. Empty buckets are left out."),
  sessions: Points("Visitors by time bucket. Empty buckets are left out."),
}
const Series = t.Object(
  { ...SERIES, compare: t.Optional(t.Object(SERIES, { description: "Series of the compared range. Present only with `compare`." })) },
  { title: "UmamiPageviews" },
)
const Rows = t.Array(
  t.Object({
    x: t.String({ description: "Value. Empty if it is missing." }),
    y: t.Integer({ description: "Number of visitors; for events, number of events." }),
  }),
  { title: "UmamiMetrics" },
)
const Active = t.Object({ visitors: t.Integer({ description: "Visitors of the last 5 minutes." }) }, { title: "UmamiActive" })

const operation = (operationId: string, summary: string) =>
  describeRoute({ operationId, summary, tags: ["umami"], "x-failures": ["site_not_found", "validation_failed", "query_timeout"] })

/** Creates the routes of Umami's reports, at the paths of its clients. Its id of a website works after it was stored with the site. */
export const umamiRoutes = (auth: ApiKeyAuth, reports: UmamiReports) =>
  new Elysia({ prefix: "/api/websites/:website" })
    .use(auth)
    .onBeforeHandle(({ request, server }) => outliveReport(request, server))
    .get("/stats", ({ apiKey: key, site, query: given, request: { signal } }) => reports.stats({ key, site, given, signal }), {
      siteScope: "stats:read",
      query: parameters(RANGED),
      response: { 200: Totals },
      detail: operation("getUmamiStats", "Get totals"),
    })
    .get("/pageviews", ({ apiKey: key, site, query: given, request: { signal } }) => reports.pageviews({ key, site, given, signal }), {
      siteScope: "stats:read",
      query: parameters({
        ...RANGED,
        unit: parameter({
          type: "string",
          enum: UMAMI_UNITS,
          description: "Size of the time buckets. `year` counts by month. Default: one that fits the range.",
        }),
        compare: parameter({
          type: "string",
          enum: ["prev", "yoy"],
          description: "Also return the range of equal length before this one, or the same range a year earlier.",
        }),
      }),
      response: { 200: Series },
      detail: operation("getUmamiPageviews", "Get pageviews and visitors over time"),
    })
    .get("/metrics", ({ apiKey: key, site, query: given, request: { signal } }) => reports.metrics({ key, site, given, signal }), {
      siteScope: "stats:read",
      query: parameters({
        ...RANGED,
        type: parameter({ type: "string", enum: Object.keys(UMAMI_TYPES), description: "Dimension of the rows." }, true),
        limit: parameter({
          type: "integer",
          minimum: 1,
          maximum: UMAMI.rows,
          default: UMAMI.usualRows,
          description: "Maximum number of rows.",
        }),
        offset: parameter({ type: "integer", minimum: 0, maximum: UMAMI.offset, default: 0, description: "Number of rows to skip." }),
      }),
      response: { 200: Rows },
      detail: operation("getUmamiMetrics", "Get the top values of a dimension"),
    })
    .get("/active", ({ apiKey: key, site, query: given, request: { signal } }) => reports.active({ key, site, given, signal }), {
      siteScope: "stats:read",
      query: parameters({}),
      response: { 200: Active },
      detail: operation("getUmamiActive", "Get the number of current visitors"),
    })
