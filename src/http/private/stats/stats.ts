import { Elysia } from "elysia"
import { FunnelInput } from "../../../domain/funnel.ts"
import {
  BatchAnswer,
  BusyHours,
  CampaignMatrix,
  ComparedBreakdown,
  FunnelInsight,
  JourneyInput,
  Journeys,
  OverviewResponse,
  Properties,
  RealtimePanel,
  Suggestions,
} from "../../../domain/insight.ts"
import { QUERY } from "../../../domain/limits.ts"
import { GoalReport, Summary, Timeseries } from "../../../domain/report.ts"
import type { Access } from "../../../services/access/access.ts"
import type { Insights } from "../../../services/stats/insights.ts"
import type { ReportOptions } from "../../../services/stats/open-report.ts"
import type { SiteOverview } from "../../../services/stats/site-overview.ts"
import type { Stats } from "../../../services/stats/stats.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import { NoQuery, parameter, Sent, takes, toolParameters } from "../../public/requests.ts"
import { parameters, RANGED } from "../../public/stats.ts"
import { refuses } from "../responses.ts"
import { BatchInput, type BatchOptions, batchAnswer, objectBody } from "./batch.ts"

export interface PrivateStatsOptions extends BatchOptions {
  stats: Stats
  insights: Insights
  siteOverview: SiteOverview
  access: Pick<Access, "all">
}

/** Facts about a caller that affect the numbers. */
interface Looking {
  request: Request
  user: { id: number }
  permissions: ReadonlySet<string>
}

/** Returns the options of a report: it is cancelled when the client disconnects, can use personal segments, needs a permission for revenue, and compares rows. */
export const sightOf = ({ request, user, permissions }: Looking): Omit<ReportOptions, "form"> => ({
  signal: request.signal,
  userId: user.id,
  hidesRevenue: !permissions.has("revenue:read"),
  comparesRows: true,
})

const inText = (looking: Looking): ReportOptions => ({ ...sightOf(looking), form: "text" })
const inJson = (looking: Looking): ReportOptions => ({ ...sightOf(looking), form: "json" })

const operation = (summary: string) => ({
  summary,
  tags: ["stats"],
  ...refuses("query_timeout", "identity_insufficient", "goal_not_found", "funnel_not_found", "segment_not_found"),
})
const READ = { permission: "site:read", reads: true }

const text = (description: string, isRequired = false) => parameter({ type: "string", description }, isRequired)
const count = (bounds: { min: number; max: number; default: number }) =>
  parameter({ type: "integer", minimum: bounds.min, maximum: bounds.max, default: bounds.default })
const { dimension, property, limit, offset, sort, order, metrics } = toolParameters("get_breakdown")
const { compare, compare_from, compare_to, match_weekday } = toolParameters("get_summary")
const COMPARED = { compare: compare!, compare_from: compare_from!, compare_to: compare_to!, match_weekday: match_weekday! }
const PAGED = { limit: limit!, offset: offset!, sort: sort!, order: order!, metrics: metrics! }

/** Creates the routes for reports: those of the public API and further ones for the dashboard. Revenue needs `revenue:read`. */
export function privateStatsRoutes(router: PrivateRouter, options: PrivateStatsOptions) {
  const { stats, insights } = options
  return new Elysia({ prefix: "/api/private/sites/:site/stats" })
    .use(router)
    .get("/summary", ({ site, query, ...looking }) => stats.summary(site, query, inText(looking)), {
      can: "site:read",
      query: parameters(toolParameters("get_summary")),
      response: { 200: Summary },
      detail: operation("Get totals"),
    })
    .get("/timeseries", ({ site, query, ...looking }) => stats.timeseries(site, query, inText(looking)), {
      can: "site:read",
      query: parameters(toolParameters("get_timeseries")),
      response: { 200: Timeseries },
      detail: operation("Get metrics over time"),
    })
    .get("/breakdown", ({ site, query, ...looking }) => stats.breakdown(site, query, inText(looking)), {
      can: "site:read",
      query: parameters({ ...toolParameters("get_breakdown"), ...COMPARED }),
      response: { 200: ComparedBreakdown },
      detail: operation("Get the top values of a dimension"),
    })
    .get("/realtime", ({ site, query, ...looking }) => insights.realtime(site, query, inText(looking)), {
      can: "site:read",
      query: parameters(toolParameters("get_realtime")),
      response: { 200: RealtimePanel },
      detail: operation("Get current visitors, visitors per minute for 30 minutes, and the latest events"),
    })
    .get("/goals", ({ site, query, ...looking }) => stats.goals(site, query, inText(looking)), {
      can: "site:read",
      query: parameters(RANGED),
      response: { 200: GoalReport },
      detail: operation("Get goals with their conversions, and saved funnels"),
    })
    .get("/values", ({ site, query, ...looking }) => insights.values(site, query, inText(looking)), {
      can: "site:read",
      query: parameters({
        dimension: dimension!,
        property: property!,
        q: text("Keep values that hold this text, in any case"),
        limit: count(QUERY.suggestions),
        ...RANGED,
      }),
      response: { 200: Suggestions },
      detail: operation("Suggest filter values of a dimension"),
    })
    .get("/busy-hours", ({ site, query, ...looking }) => insights.busyHours(site, query, inText(looking)), {
      can: "site:read",
      query: parameters(RANGED),
      response: { 200: BusyHours },
      detail: operation("Get visits by weekday and hour"),
    })
    .get("/events", ({ site, query, ...looking }) => insights.events(site, query, inText(looking)), {
      can: "site:read",
      query: parameters({ ...RANGED, ...COMPARED, ...PAGED }),
      response: { 200: ComparedBreakdown },
      detail: operation("Get event names with their totals"),
    })
    .get("/properties", ({ site, query, ...looking }) => insights.properties(site, query, inText(looking)), {
      can: "site:read",
      query: parameters({ event: text("Only of events of this name"), limit: count(QUERY.propertyKeys), ...RANGED }),
      response: { 200: Properties },
      detail: operation("Get the properties of an event with their values"),
    })
    .get("/campaigns", ({ site, query, ...looking }) => insights.campaigns(site, query, inText(looking)), {
      can: "site:read",
      query: parameters({ limit: count(QUERY.campaigns), offset: parameter({ type: "integer", minimum: 0, default: 0 }), ...RANGED }),
      response: { 200: CampaignMatrix },
      detail: operation("Get tagged visits by source, medium and campaign"),
    })
    .post("/journeys", ({ site, body, ...looking }) => insights.journeys(site, objectBody(body.value), inJson(looking)), {
      can: READ,
      query: NoQuery,
      body: Sent,
      response: { 200: Journeys },
      detail: { ...operation("Get paths that start or end at a page"), ...takes(JourneyInput) },
    })
    .post("/funnel", ({ site, body, ...looking }) => insights.funnel(site, objectBody(body.value), inJson(looking)), {
      can: READ,
      query: NoQuery,
      body: Sent,
      response: { 200: FunnelInsight },
      detail: { ...operation("Get the report of a funnel, with comparison and breakdown"), ...takes(FunnelInput) },
    })
    .post(
      "/batch",
      ({ site, body, set, ...looking }) =>
        batchAnswer(options, { site, asking: inJson(looking), body: body.value, set, request: looking.request }),
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
