import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { DropReport } from "../../domain/drop-report.ts"
import { BusyHours } from "../../domain/insight.ts"
import { JourneyInput, Journeys } from "../../domain/journey.ts"
import { API } from "../../domain/limits.ts"
import { VITAL_DIMENSIONS, VITALS, WebVitals, WebVitalsBreakdown } from "../../domain/web-vitals.ts"
import type { Drops } from "../../services/stats/drops.ts"
import type { Insights } from "../../services/stats/insights.ts"
import { objectBody, readJsonAsSent } from "../../web/body.ts"
import type { ApiKeyAuth } from "../auth.ts"
import { outliveReport } from "../idle-timeouts.ts"
import { describeRoute } from "../openapi/route.ts"
import { INPUT } from "./report-schemas.ts"
import { describedFilters, NoQuery, parameter, Sent, takes, toolParameters } from "./requests.ts"
import { parameters, RANGED, reportOptions } from "./stats.ts"

export interface ReportRoutesOptions {
  insights: Insights
  drops: Pick<Drops, "report">
}

const { compare, compare_from, compare_to, match_weekday } = toolParameters("get_summary")
const COMPARED = { compare: compare!, compare_from: compare_from!, compare_to: compare_to!, match_weekday: match_weekday! }
const { order, limit, offset } = toolParameters("get_breakdown")

const vitals = parameter({ type: "array", items: { type: "string", enum: VITALS }, description: "Measures to return. Default: all." })

const operation = (operationId: string, summary: string, description: string) =>
  describeRoute({ operationId, summary, description, tags: ["stats"], "x-failures": ["query_timeout"] })

/** Splits the list of measures in a query. Other arguments stay as they are. */
export const withMeasures = ({ metrics, ...query }: Record<string, unknown>): Record<string, unknown> =>
  metrics === undefined ? query : { ...query, metrics: typeof metrics === "string" ? metrics.split(",") : metrics }

const { site_id: _, filters, ...RANGE } = INPUT.list_goals.properties
const optional = (schema: object) => t.Optional(t.Unsafe<unknown>(schema))

/** The body of a request for journeys: with the range and the filters that other reports take as parameters. */
const JourneyQuery = t.Object(
  {
    ...JourneyInput.properties,
    ...Object.fromEntries(Object.entries(RANGE).map(([name, schema]) => [name, optional(schema)])),
    filters: optional(describedFilters(filters!)),
  },
  { additionalProperties: false, title: "JourneyQuery" },
)

/** Creates the routes for the further reports of the dashboard. They take the range and the filters of the other reports. */
export const reportRoutes = (auth: ApiKeyAuth, { insights, drops }: ReportRoutesOptions) =>
  new Elysia({ prefix: "/api/public/v1/sites/:site_id/stats" })
    .use(auth)
    .get("/busy-hours", ({ site, query, request }) => insights.busyHours(site, query, reportOptions(request)), {
      siteScope: "stats:read",
      query: parameters(RANGED),
      response: { 200: BusyHours },
      detail: operation("getBusyHours", "Get visits by weekday and hour", "Visits by the local weekday and hour in which they started."),
    })
    .get("/web-vitals", ({ site, query, request }) => insights.webVitals(site, withMeasures(query), reportOptions(request)), {
      siteScope: "stats:read",
      query: parameters({ metrics: vitals, ...RANGED, ...COMPARED }),
      response: { 200: WebVitals },
      detail: operation(
        "getWebVitals",
        "Get web vitals",
        "75th percentile of each measure over the measured page loads. `lcp`, `inp`, `fcp` and `ttfb` are in milliseconds. A measure without values is left out.",
      ),
    })
    .get("/web-vitals/breakdown", ({ site, query, request }) => insights.webVitalsBy(site, query, reportOptions(request)), {
      siteScope: "stats:read",
      query: parameters({
        dimension: parameter({ type: "string", enum: VITAL_DIMENSIONS, default: "page", description: "Dimension of the rows." }),
        sort: parameter({
          type: "string",
          enum: ["measured_loads", ...VITALS],
          default: "measured_loads",
          description: "Number of measured page loads, or a measure.",
        }),
        order: order!,
        limit: limit!,
        offset: offset!,
        ...RANGED,
      }),
      response: { 200: WebVitalsBreakdown },
      detail: operation("getWebVitalsBreakdown", "Get web vitals by a dimension", "75th percentiles by page, device or another dimension."),
    })
    .get("/drops", ({ site, query }) => drops.report(site, query), {
      siteScope: "stats:read",
      query: parameters({ period: RANGED.period!, from: RANGED.from!, to: RANGED.to! }),
      response: { 200: DropReport },
      detail: describeRoute({
        operationId: "getDrops",
        summary: "Get dropped events by reason and day",
        description:
          "Events that the rules of the site dropped, such as those of bots, by reason and local day. Counts are kept for 90 days.",
        tags: ["stats"],
      }),
    })
    .post(
      "/journeys",
      ({ site, body, request, server }) => {
        outliveReport(request, server)
        return insights.journeys(site, objectBody(body.value), { form: "json", signal: request.signal })
      },
      {
        siteScope: { scopes: ["stats:read"], read: readJsonAsSent(API.bodyBytes) },
        query: NoQuery,
        body: Sent,
        response: { 200: Journeys },
        detail: describeRoute({
          operationId: "getJourneys",
          summary: "Get the paths from or to a page",
          description:
            "Pages that visits took after a page, or before it, one column per step. The body also takes the range and the filters of the other reports.",
          tags: ["stats"],
          "x-failures": ["query_timeout"],
          ...takes(JourneyQuery),
        }),
      },
    )
