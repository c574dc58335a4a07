import { Elysia } from "elysia"
import { FunnelInput } from "../../../domain/funnel.ts"
import {
  BatchAnswer,
  BusyHours,
  CampaignMatrix,
  ComparedBreakdown,
  FunnelInsight,
  OverviewResponse,
  Properties,
  RealtimePanel,
  Suggestions,
} from "../../../domain/insight.ts"
import { JourneyInput, Journeys } from "../../../domain/journey.ts"
import { QUERY } from "../../../domain/limits.ts"
import { GoalReport, Summary, Timeseries } from "../../../domain/report.ts"
import { VITAL_DIMENSIONS, VITALS, WebVitals, WebVitalsBreakdown } from "../../../domain/web-vitals.ts"
import type { Access } from "../../../services/access/access.ts"
import type { Insights } from "../../../services/stats/insights.ts"
import type { ReportOptions } from "../../../services/stats/open-report.ts"
import type { SiteOverview } from "../../../services/stats/site-overview.ts"
import type { Stats } from "../../../services/stats/stats.ts"
import { objectBody } from "../../../web/body.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import { withMeasures } from "../../public/reports.ts"
import { NoQuery, parameter, Sent, takes, toolParameters } from "../../public/requests.ts"
import { parameters, RANGED } from "../../public/stats.ts"
import { refuses } from "../responses.ts"
import { BatchInput, type BatchOptions, batchAnswer } from "./batch.ts"

export interface PrivateStatsOptions extends BatchOptions {
  stats: Stats
  insights: Insights
  siteOverview: SiteOverview
  access: Pick<Access, "all">
}

/** Parts of a call that affect the result of a report. */
interface ReportCall {
  request: Request
  user: { id: number }
  permissions: ReadonlySet<string>
}

/**
 * Returns the options of a report for a user. The report is cancelled when the client disconnects, can use personal segments of the
 * user, hides revenue without the permission, and compares rows.
 */
export const reportOptionsFor = ({ request, user, permissions }: ReportCall): Omit<ReportOptions, "form"> => ({
  signal: request.signal,
  userId: user.id,
  hidesRevenue: !permissions.has("revenue:read"),
  seesPeople: permissions.has("people:read"),
  comparesRows: true,
})

const textOptions = (call: ReportCall): ReportOptions => ({ ...reportOptionsFor(call), form: "text" })
const jsonOptions = (call: ReportCall): ReportOptions => ({ ...reportOptionsFor(call), form: "json" })

const operation = (summary: string) => ({
  summary,
  tags: ["stats"],
  ...refuses("query_timeout", "identity_insufficient", "broken_reference", "goal_not_found", "funnel_not_found", "segment_not_found"),
})
const READ = { permission: "site:read", reads: true }

const text = (description: string) => parameter({ type: "string", description })
const count = (description: string, { min, max, default: usual }: { min: number; max: number; default: number }) =>
  parameter({ type: "integer", minimum: min, maximum: max, default: usual, description })
const { dimension, property, limit, offset, sort, order, metrics } = toolParameters("get_breakdown")
const { compare, compare_from, compare_to, match_weekday } = toolParameters("get_summary")
const COMPARED = { compare: compare!, compare_from: compare_from!, compare_to: compare_to!, match_weekday: match_weekday! }
const PAGED = { limit: limit!, offset: offset!, sort: sort!, order: order!, metrics: metrics! }

/** Creates the routes for reports: those of the public API and further ones for the dashboard. Revenue needs `revenue:read`. */
export function privateStatsRoutes(router: PrivateRouter, options: PrivateStatsOptions) {
  const { stats, insights } = options
  return new Elysia({ prefix: "/api/private/sites/:site/stats" })
    .use(router)
    .get("/summary", ({ site, query, ...call }) => stats.summary(site, query, textOptions(call)), {
      can: "site:read",
      query: parameters(toolParameters("get_summary")),
      response: { 200: Summary },
      detail: operation("Get totals"),
    })
    .get("/timeseries", ({ site, query, ...call }) => stats.timeseries(site, query, textOptions(call)), {
      can: "site:read",
      query: parameters(toolParameters("get_timeseries")),
      response: { 200: Timeseries },
      detail: operation("Get metrics over time"),
    })
    .get("/breakdown", ({ site, query, ...call }) => stats.breakdown(site, query, textOptions(call)), {
      can: "site:read",
      query: parameters({ ...toolParameters("get_breakdown"), ...COMPARED }),
      response: { 200: ComparedBreakdown },
      detail: operation("Get the top values of a dimension"),
    })
    .get("/realtime", ({ site, query, ...call }) => insights.realtime(site, query, textOptions(call)), {
      can: "site:read",
      query: parameters(toolParameters("get_realtime")),
      response: { 200: RealtimePanel },
      detail: operation("Get current visitors, visitors per minute for 30 minutes, and the latest events"),
    })
    .get("/goals", ({ site, query, ...call }) => stats.goals(site, query, textOptions(call)), {
      can: "site:read",
      query: parameters(RANGED),
      response: { 200: GoalReport },
      detail: operation("Get goals with their conversions, and saved funnels"),
    })
    .get("/values", ({ site, query, ...call }) => insights.values(site, query, textOptions(call)), {
      can: "site:read",
      query: parameters({
        dimension: dimension!,
        property: property!,
        q: text("Text that the values must contain, ignoring case. Default: any value."),
        limit: count("Maximum number of values.", QUERY.suggestions),
        ...RANGED,
      }),
      response: { 200: Suggestions },
      detail: operation("Suggest filter values of a dimension"),
    })
    .get("/busy-hours", ({ site, query, ...call }) => insights.busyHours(site, query, textOptions(call)), {
      can: "site:read",
      query: parameters(RANGED),
      response: { 200: BusyHours },
      detail: operation("Get visits by weekday and hour"),
    })
    .get("/events", ({ site, query, ...call }) => insights.events(site, query, textOptions(call)), {
      can: "site:read",
      query: parameters({ ...RANGED, ...COMPARED, ...PAGED }),
      response: { 200: ComparedBreakdown },
      detail: operation("Get event names with their totals"),
    })
    .get("/properties", ({ site, query, ...call }) => insights.properties(site, query, textOptions(call)), {
      can: "site:read",
      query: parameters({
        event: text("Name of the event. Default: all events."),
        limit: count("Maximum number of properties.", QUERY.propertyKeys),
        ...RANGED,
      }),
      response: { 200: Properties },
      detail: operation("Get the properties of an event with their values"),
    })
    .get("/campaigns", ({ site, query, ...call }) => insights.campaigns(site, query, textOptions(call)), {
      can: "site:read",
      query: parameters({
        limit: count("Maximum number of rows.", QUERY.campaigns),
        offset: parameter({ type: "integer", minimum: 0, default: 0, description: "Number of rows to skip." }),
        ...RANGED,
      }),
      response: { 200: CampaignMatrix },
      detail: operation("Get visits with campaign tags by source, medium and campaign"),
    })
    .get("/web-vitals", ({ site, query, ...call }) => insights.webVitals(site, withMeasures(query), textOptions(call)), {
      can: "site:read",
      query: parameters({
        metrics: text(`Measures, separated by commas: ${VITALS.join(", ")}. Default: all.`),
        ...RANGED,
        ...COMPARED,
      }),
      response: { 200: WebVitals },
      detail: operation("Get web vitals at the 75th percentile"),
    })
    .get("/web-vitals-breakdown", ({ site, query, ...call }) => insights.webVitalsBy(site, query, textOptions(call)), {
      can: "site:read",
      query: parameters({
        dimension: parameter({ type: "string", enum: VITAL_DIMENSIONS, default: "page", description: "Dimension of the rows." }),
        sort: text("`measured_loads` (default) or one of the measures."),
        order: order!,
        limit: limit!,
        offset: offset!,
        ...RANGED,
      }),
      response: { 200: WebVitalsBreakdown },
      detail: operation("Get web vitals by the values of a dimension"),
    })
    .post("/journeys", ({ site, body, ...call }) => insights.journeys(site, objectBody(body.value), jsonOptions(call)), {
      can: READ,
      query: NoQuery,
      body: Sent,
      response: { 200: Journeys },
      detail: { ...operation("Get paths that start or end at a page"), ...takes(JourneyInput) },
    })
    .post("/funnel", ({ site, body, ...call }) => insights.funnel(site, objectBody(body.value), jsonOptions(call)), {
      can: READ,
      query: NoQuery,
      body: Sent,
      response: { 200: FunnelInsight },
      detail: { ...operation("Get the report of a funnel, with comparison and breakdown"), ...takes(FunnelInput) },
    })
    .post(
      "/batch",
      ({ site, body, set, ...call }) =>
        batchAnswer(options, { site, reportOptions: jsonOptions(call), body: body.value, set, request: call.request }),
      {
        can: READ,
        query: NoQuery,
        body: Sent,
        response: { 200: BatchAnswer },
        detail: { ...operation("Get up to 20 reports in one request"), ...takes(BatchInput) },
      },
    )
}

/** Creates the route for a table of all sites of a user. */
export const overviewRoutes = (router: PrivateRouter, { access, siteOverview }: PrivateStatsOptions) =>
  new Elysia({ prefix: "/api/private/stats" }).use(router).get(
    "/overview",
    async ({ user, session, query, request }) => {
      const { sites } = await access.all({ user, session })
      return { data: await siteOverview.table(sites, query, request.signal) }
    },
    {
      signedIn: true,
      query: parameters(toolParameters("get_summary")),
      response: { 200: OverviewResponse },
      detail: { ...operation("Get totals of all your sites"), ...refuses("sso_required") },
    },
  )
