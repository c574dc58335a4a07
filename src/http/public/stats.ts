import { type TProperties, Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { Breakdown, GoalReport, Realtime, Summary, Timeseries } from "../../domain/report.ts"
import type { Asking, Stats } from "../../services/stats.ts"
import type { ApiKeyAuth } from "../auth.ts"

/** The documents list the parameters; the parser of the question judges them, so that all that is wrong is said at once. */
export const parameters = (properties: TProperties) => t.Object(properties, { additionalProperties: true })
export const text = (description: string) => t.Optional(t.String({ description }))

export const RANGED = {
  period: text("Preset range, such as 7d; default 30d. Ignored when from and to are given"),
  from: text("First day, YYYY-MM-DD, inclusive"),
  to: text("Last day, YYYY-MM-DD, inclusive; clipped to today"),
  timezone: text("IANA zone of day boundaries; default that of the site"),
  filters: text("JSON list of {dimension, property?, operator, values}; all must match"),
  imports: text("true or false"),
}
const COMPARED = {
  compare: text("none, previous_period, previous_year or custom"),
  compare_from: text("First day of the compared range, with compare=custom"),
  compare_to: text("Last day of the compared range, with compare=custom"),
  match_weekday: text("true: the compared range begins on the same weekday"),
}
const METRICS = { metrics: text("Comma list of 1 to 10 metrics") }
const PAGED = {
  dimension: text("What to group by"),
  property: text("Key of the property, with dimension=property"),
  sort: text("One of the metrics; default the first"),
  order: text("desc or asc"),
  limit: text("1 to 100; default 10"),
  offset: text("0 to 10000"),
}

/** Statistics of a site in the flat form: the same objects that the tools of MCP answer. */
export const statsRoutes = (auth: ApiKeyAuth, stats: Stats) =>
  new Elysia({ prefix: "/api/public/v1/sites/:site_id/stats" })
    .use(auth)
    .get("/summary", ({ site, query, request }) => stats.summary(site, query, asking(request)), {
      siteScope: "stats:read",
      query: parameters({ ...RANGED, ...COMPARED, ...METRICS }),
      response: { 200: Summary },
    })
    .get("/timeseries", ({ site, query, request }) => stats.timeseries(site, query, asking(request)), {
      siteScope: "stats:read",
      query: parameters({ ...RANGED, ...COMPARED, ...METRICS, interval: text("auto, hour, day, week or month") }),
      response: { 200: Timeseries },
    })
    .get("/breakdown", ({ site, query, request }) => stats.breakdown(site, query, asking(request)), {
      siteScope: "stats:read",
      query: parameters({ ...RANGED, ...METRICS, ...PAGED }),
      response: { 200: Breakdown },
    })
    .get("/realtime", ({ site, query, request }) => stats.realtime(site, query, asking(request)), {
      siteScope: "stats:read",
      query: parameters({ limit: text("1 to 50; default 10") }),
      response: { 200: Realtime },
    })
    .get("/goals", ({ site, query, request }) => stats.goals(site, query, asking(request)), {
      siteScope: "stats:read",
      query: parameters(RANGED),
      response: { 200: GoalReport },
    })

/** A report ends when its client goes away. */
export const asking = ({ signal }: Request): Asking => ({ form: "text", signal })
