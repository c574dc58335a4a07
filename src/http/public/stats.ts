import { type TProperties, Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { Breakdown, GoalReport, Realtime, Summary, Timeseries } from "../../domain/report.ts"
import type { Asking } from "../../services/open-report.ts"
import type { Stats } from "../../services/stats.ts"
import type { ApiKeyAuth } from "../auth.ts"
import type { ToolName } from "../mcp/input-schemas.ts"
import { told } from "../openapi/route.ts"
import { toolParameters } from "./parameters.ts"

/** The documents list the parameters; the parser of the question judges them, so that all that is wrong is said at once. */
export const parameters = (properties: TProperties) => t.Object(properties, { additionalProperties: true })

/** What chooses the events of a report. */
export const RANGED = toolParameters("list_goals")

const says = (operationId: string, summary: string, tool: ToolName) =>
  told({
    operationId,
    summary,
    description: `The same object as the tool ${tool} answers.`,
    tags: ["stats"],
    "x-failures": ["query_timeout"],
  })

/** Statistics of a site in the flat form: the same objects that the tools of MCP answer. */
export const statsRoutes = (auth: ApiKeyAuth, stats: Stats) =>
  new Elysia({ prefix: "/api/public/v1/sites/:site_id/stats" })
    .use(auth)
    .get("/summary", ({ site, query, request }) => stats.summary(site, query, asking(request)), {
      siteScope: "stats:read",
      query: parameters(toolParameters("get_summary")),
      response: { 200: Summary },
      detail: says("getSummary", "Totals of a period", "get_summary"),
    })
    .get("/timeseries", ({ site, query, request }) => stats.timeseries(site, query, asking(request)), {
      siteScope: "stats:read",
      query: parameters(toolParameters("get_timeseries")),
      response: { 200: Timeseries },
      detail: says("getTimeseries", "Metrics in equal time buckets", "get_timeseries"),
    })
    .get("/breakdown", ({ site, query, request }) => stats.breakdown(site, query, asking(request)), {
      siteScope: "stats:read",
      query: parameters(toolParameters("get_breakdown")),
      response: { 200: Breakdown },
      detail: says("getBreakdown", "Top values of one dimension", "get_breakdown"),
    })
    .get("/realtime", ({ site, query, request }) => stats.realtime(site, query, asking(request)), {
      siteScope: "stats:read",
      query: parameters(toolParameters("get_realtime")),
      response: { 200: Realtime },
      detail: says("getRealtime", "Visitors of the last 5 minutes", "get_realtime"),
    })
    .get("/goals", ({ site, query, request }) => stats.goals(site, query, asking(request)), {
      siteScope: "stats:read",
      query: parameters(RANGED),
      response: { 200: GoalReport },
      detail: says("getGoalReport", "Goals with their conversions, and the saved funnels", "list_goals"),
    })

/** A report ends when its client goes away. */
export const asking = ({ signal }: Request): Asking => ({ form: "text", signal })
