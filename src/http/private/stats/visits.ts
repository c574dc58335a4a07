import { Elysia } from "elysia"
import { API } from "../../../domain/limits.ts"
import { VisitListResponse, VisitResponse } from "../../../domain/visit-list.ts"
import type { Visits } from "../../../services/stats/visits.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import { parameter } from "../../public/requests.ts"
import { parameters, RANGED } from "../../public/stats.ts"
import { refuses } from "../responses.ts"
import { reportOptionsFor } from "./stats.ts"

export interface VisitRoutesOptions {
  visits: Visits
}

const { imports: _, ...RANGE } = RANGED
const { min: minimum, max: maximum, default: usual } = API.privateListLimit
const HOUR = { type: "integer", minimum: 0, maximum: 23 }
const PAGE = {
  limit: parameter({ type: "integer", minimum, maximum, default: usual, description: "Maximum number of rows." }),
  cursor: parameter({ type: "string", description: "`next_cursor` of the previous page." }),
  count: parameter({ type: "boolean", description: "Whether to count all rows." }),
}

/** Creates the routes for single visits. Both need `people:read`; revenue needs `revenue:read` as well. */
export const visitRoutes = (router: PrivateRouter, { visits }: VisitRoutesOptions) =>
  new Elysia({ prefix: "/api/private/sites/:site/stats/visits" })
    .use(router)
    .get("", ({ site, query, ...call }) => visits.list(site, query, { ...reportOptionsFor(call), form: "text" }), {
      can: "people:read",
      query: parameters({
        ...RANGE,
        from_hour: parameter({ ...HOUR, description: "First local hour of the first day. Default: 0." }),
        to_hour: parameter({ ...HOUR, description: "Last local hour of the last day, inclusive. Default: 23." }),
        min_duration: parameter({ type: "integer", minimum: 0, description: "Minimum duration in seconds. Default: any." }),
        min_pageviews: parameter({ type: "integer", minimum: 0, description: "Minimum number of pageviews. Default: any." }),
        revenue: parameter({ type: "boolean", description: "Whether to list only visits with revenue. Default: false." }),
        ...PAGE,
      }),
      response: { 200: VisitListResponse },
      detail: {
        summary: "List recorded visits, newest first",
        tags: ["stats"],
        ...refuses("query_timeout", "invalid_cursor", "identity_insufficient", "broken_reference"),
      },
    })
    .get("/:visit", ({ site, params, query, ...call }) => visits.timeline(site, params.visit, query, reportOptionsFor(call)), {
      can: "people:read",
      query: parameters(PAGE),
      response: { 200: VisitResponse },
      detail: {
        summary: "Get a visit with its events",
        tags: ["stats"],
        ...refuses("query_timeout", "invalid_cursor", "visit_not_found"),
      },
    })
