import { type TProperties, Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { Breakdown, GoalReport, Realtime, Summary, Timeseries } from "../../domain/report.ts"
import type { ReportOptions } from "../../services/stats/open-report.ts"
import type { Stats } from "../../services/stats/stats.ts"
import type { ApiKeyAuth } from "../auth.ts"
import { describeRoute } from "../openapi/route.ts"
import type { ToolName } from "./report-schemas.ts"
import { toolParameters } from "./requests.ts"

/** Creates the query schema of a report. It accepts any parameter; the query parser validates them, so that all problems are reported at once. */
export const parameters = (properties: TProperties) => t.Object(properties, { additionalProperties: true })

/** Query parameters that select the events of a report. */
export const RANGED = toolParameters("list_goals")

const operation = (operationId: string, summary: string, tool: ToolName, about: string) =>
  describeRoute({
    operationId,
    summary,
    description: `${about} Assistants get the same object from the tool \`${tool}\`.`,
    tags: ["stats"],
    "x-failures": ["query_timeout"],
  })

/** Creates the routes for reports with flat parameters. The MCP tools return the same objects. */
export const statsRoutes = (auth: ApiKeyAuth, stats: Stats) =>
  new Elysia({ prefix: "/api/public/v1/sites/:site_id/stats" })
    .use(auth)
    .get("/summary", ({ site, query, request }) => stats.summary(site, query, reportOptions(request)), {
      siteScope: "stats:read",
      query: parameters(toolParameters("get_summary")),
      response: { 200: Summary },
      detail: operation(
        "getSummary",
        "Get totals",
        "get_summary",
        "Metrics over the whole range, and with `compare` their change against an earlier one.",
      ),
    })
    .get("/timeseries", ({ site, query, request }) => stats.timeseries(site, query, reportOptions(request)), {
      siteScope: "stats:read",
      query: parameters(toolParameters("get_timeseries")),
      response: { 200: Timeseries },
      detail: operation(
        "getTimeseries",
        "Get metrics over time",
        "get_timeseries",
        "Metrics in equal time buckets. Buckets without traffic are 0. A bucket with `partial` is not over, or is cut by the range.",
      ),
    })
    .get("/breakdown", ({ site, query, request }) => stats.breakdown(site, query, reportOptions(request)), {
      siteScope: "stats:read",
      query: parameters(toolParameters("get_breakdown")),
      response: { 200: Breakdown },
      detail: operation(
        "getBreakdown",
        "Get the top values of a dimension",
        "get_breakdown",
        "Metrics by value of one dimension, such as the top pages, sources or countries. To compare rows with an earlier range, use `POST /query` with `include.comparisons`.",
      ),
    })
    .get("/realtime", ({ site, query, request }) => stats.realtime(site, query, reportOptions(request)), {
      siteScope: "stats:read",
      query: parameters(toolParameters("get_realtime")),
      response: { 200: Realtime },
      detail: operation(
        "getRealtime",
        "Get the visitors of the last 5 minutes",
        "get_realtime",
        "Visitors with any event in the last 5 minutes, with their pages, sources and countries.",
      ),
    })
    .get("/goals", ({ site, query, request }) => stats.goals(site, query, reportOptions(request)), {
      siteScope: "stats:read",
      query: parameters(RANGED),
      response: { 200: GoalReport },
      detail: operation(
        "getGoalReport",
        "Get goals with their conversions, and saved funnels",
        "list_goals",
        "All goals of the site, also those without conversions, and its saved funnels.",
      ),
    })

/** Returns the options of a report, which is cancelled when the client disconnects. */
export const reportOptions = ({ signal }: Request): ReportOptions => ({ form: "text", signal })
