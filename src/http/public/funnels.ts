import { FunnelInput } from "../../domain/funnel.ts"
import { FunnelReport } from "../../domain/report.ts"
import type { Site } from "../../domain/site.ts"
import type { Funnels } from "../../services/definitions/funnels.ts"
import type { Stats } from "../../services/stats/stats.ts"
import type { Call } from "../../web/guard.ts"
import type { ApiKeyAuth } from "../auth.ts"
import { describeRoute } from "../openapi/route.ts"
import type { creation } from "./creation.ts"
import { FunnelResponse, toFunnelResponse } from "./shown.ts"
import { parameters, RANGED, reportOptions } from "./stats.ts"
import { thingRoutes } from "./things.ts"

interface FunnelRoutesOptions {
  funnels: Funnels
  stats: Stats
}

/** Creates the routes for saved funnels and their reports. */
export const funnelRoutes = (auth: ApiKeyAuth, create: ReturnType<typeof creation>, { funnels, stats }: FunnelRoutesOptions) =>
  thingRoutes(auth, create, {
    path: "funnels",
    noun: "funnel",
    read: ["funnels:read", "goals:read", "stats:read"],
    write: ["funnels:write", "goals:write"],
    things: funnels,
    input: FunnelInput,
    taken: "funnel_exists",
    shown: FunnelResponse,
    show: toFunnelResponse,
  }).get(
    "/:id/report",
    ({ site, params, query, request }) => stats.funnel(site, query, { ...reportOptions(request), funnelId: Number(params.id) }),
    {
      siteScope: { scopes: ["stats:read"], finds: (site: Site, { params }: Call) => funnels.get(site, params.id) },
      query: parameters(RANGED),
      response: { 200: FunnelReport },
      detail: describeRoute({
        operationId: "getFunnelReport",
        summary: "Get the report of a saved funnel",
        description:
          "Number of visitors who completed step 1, then step 2, and so on. Same object as the result of the MCP tool run_funnel.",
        tags: ["funnels"],
        "x-failures": ["identity_insufficient", "query_timeout"],
      }),
    },
  )
