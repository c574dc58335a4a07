import { Elysia } from "elysia"
import { FunnelInput } from "../../domain/funnel.ts"
import {
  BusyHours,
  CampaignMatrix,
  ComparedBreakdown,
  FunnelInsight,
  JourneyInput,
  Journeys,
  Properties,
  RealtimePanel,
  Suggestions,
} from "../../domain/insight.ts"
import { QUERY } from "../../domain/limits.ts"
import { GoalReport, Summary, Timeseries } from "../../domain/report.ts"
import type { PrivateRouter } from "../../plugin/router.ts"
import type { Access } from "../../services/access.ts"
import type { Insights } from "../../services/insights.ts"
import type { Asking } from "../../services/open-report.ts"
import type { SiteOverview } from "../../services/site-overview.ts"
import type { Stats } from "../../services/stats.ts"
import { parameter, toolParameters } from "../public/parameters.ts"
import { parameters, RANGED } from "../public/stats.ts"
import { NoQuery, Sent, takes } from "../public/things.ts"
import { BatchAnswer, BatchInput, type BatchOptions, batchAnswer, objectBody } from "./stats-batch.ts"
import { OverviewShown } from "./stats-overview.ts"
import { refuses } from "./tagged.ts"

export interface PrivateStatsOptions extends BatchOptions {
  stats: Stats
  insights: Insights
  siteOverview: SiteOverview
  access: Pick<Access, "all">
}

/** What of a caller decides about the numbers. */
interface Looking {
  request: Request
  user: { id: number }
  permissions: ReadonlySet<string>
}

/** A report ends when its client goes away; own segments can be named; revenue has a permission of its own; rows are compared. */
export const sightOf = ({ request, user, permissions }: Looking): Omit<Asking, "form"> => ({
  signal: request.signal,
  userId: user.id,
  hidesRevenue: !permissions.has("revenue:read"),
  comparesRows: true,
})

const inText = (looking: Looking): Asking => ({ ...sightOf(looking), form: "text" })
const inJson = (looking: Looking): Asking => ({ ...sightOf(looking), form: "json" })

const says = (summary: string) => ({
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

/** The statistics of a site: those of the public API, and what the dashboard asks besides. Revenue needs `revenue:read`. */
export function privateStatsRoutes(router: PrivateRouter, options: PrivateStatsOptions) {
  const { stats, insights } = options
  return new Elysia({ prefix: "/api/private/sites/:site/stats" })
    .use(router)
    .get("/summary", ({ site, query, ...looking }) => stats.summary(site, query, inText(looking)), {
      can: "site:read",
      query: parameters(toolParameters("get_summary")),
      response: { 200: Summary },
      detail: says("Totals of a period"),
    })
    .get("/timeseries", ({ site, query, ...looking }) => stats.timeseries(site, query, inText(looking)), {
      can: "site:read",
      query: parameters(toolParameters("get_timeseries")),
      response: { 200: Timeseries },
      detail: says("Metrics in equal time buckets"),
    })
    .get("/breakdown", ({ site, query, ...looking }) => stats.breakdown(site, query, inText(looking)), {
      can: "site:read",
      query: parameters({ ...toolParameters("get_breakdown"), ...COMPARED }),
      response: { 200: ComparedBreakdown },
      detail: says("Top values of one dimension"),
    })
    .get("/realtime", ({ site, query, ...looking }) => insights.realtime(site, query, inText(looking)), {
      can: "site:read",
      query: parameters(toolParameters("get_realtime")),
      response: { 200: RealtimePanel },
      detail: says("Visitors of the last 5 minutes, the last 30 minutes one by one, and the last events"),
    })
    .get("/goals", ({ site, query, ...looking }) => stats.goals(site, query, inText(looking)), {
      can: "site:read",
      query: parameters(RANGED),
      response: { 200: GoalReport },
      detail: says("Goals with their conversions, and the saved funnels"),
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
      detail: says("Values of a dimension to filter by"),
    })
    .get("/busy-hours", ({ site, query, ...looking }) => insights.busyHours(site, query, inText(looking)), {
      can: "site:read",
      query: parameters(RANGED),
      response: { 200: BusyHours },
      detail: says("Visits by weekday and hour"),
    })
    .get("/events", ({ site, query, ...looking }) => insights.events(site, query, inText(looking)), {
      can: "site:read",
      query: parameters({ ...RANGED, ...COMPARED, ...PAGED }),
      response: { 200: ComparedBreakdown },
      detail: says("Event names with their totals"),
    })
    .get("/properties", ({ site, query, ...looking }) => insights.properties(site, query, inText(looking)), {
      can: "site:read",
      query: parameters({ event: text("Only of events of this name"), limit: count(QUERY.propertyKeys), ...RANGED }),
      response: { 200: Properties },
      detail: says("Property keys of an event, with their values"),
    })
    .get("/campaigns", ({ site, query, ...looking }) => insights.campaigns(site, query, inText(looking)), {
      can: "site:read",
      query: parameters({ limit: count(QUERY.campaigns), offset: parameter({ type: "integer", minimum: 0, default: 0 }), ...RANGED }),
      response: { 200: CampaignMatrix },
      detail: says("Tagged visits by source, medium and campaign together"),
    })
    .post("/journeys", ({ site, body, ...looking }) => insights.journeys(site, objectBody(body.value), inJson(looking)), {
      can: READ,
      query: NoQuery,
      body: Sent,
      response: { 200: Journeys },
      detail: { ...says("Pages that visits took from a chosen one on, or up to one"), ...takes(JourneyInput) },
    })
    .post("/funnel", ({ site, body, ...looking }) => insights.funnel(site, objectBody(body.value), inJson(looking)), {
      can: READ,
      query: NoQuery,
      body: Sent,
      response: { 200: FunnelInsight },
      detail: { ...says("A saved funnel or steps, compared and split"), ...takes(FunnelInput) },
    })
    .post("/batch", ({ site, body, set, ...looking }) => batchAnswer(options, { site, asking: inJson(looking), body: body.value, set }), {
      can: READ,
      query: NoQuery,
      body: Sent,
      response: { 200: BatchAnswer },
      detail: { ...says("Up to 20 reports in one call"), ...takes(BatchInput) },
    })
}

/** All sites of a person in one table. */
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
      response: { 200: OverviewShown },
      detail: { ...says("All sites you may see in one table"), ...refuses("sso_required") },
    },
  )
