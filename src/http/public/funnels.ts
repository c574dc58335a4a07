import { FunnelInput } from "../../domain/funnel.ts"
import { FunnelReport } from "../../domain/report.ts"
import type { Site } from "../../domain/site.ts"
import type { Call } from "../../plugin/guard.ts"
import type { Funnels } from "../../services/funnels.ts"
import type { Stats } from "../../services/stats.ts"
import type { ApiKeyAuth } from "../auth.ts"
import { told } from "../openapi/route.ts"
import type { creation } from "./creation.ts"
import { FunnelShown, shownFunnel } from "./shown.ts"
import { asking, parameters, RANGED } from "./stats.ts"
import { thingRoutes } from "./things.ts"

interface FunnelRoutesOptions {
  funnels: Funnels
  stats: Stats
}

/** The saved funnels of a site, and their reports. */
export const funnelRoutes = (auth: ApiKeyAuth, create: ReturnType<typeof creation>, { funnels, stats }: FunnelRoutesOptions) =>
  thingRoutes(auth, create, {
    path: "funnels",
    noun: "funnel",
    read: ["funnels:read", "goals:read", "stats:read"],
    write: ["funnels:write", "goals:write"],
    things: funnels,
    input: FunnelInput,
    taken: "funnel_exists",
    shown: FunnelShown,
    show: shownFunnel,
  }).get(
    "/:id/report",
    ({ site, params, query, request }) => stats.funnel(site, query, { ...asking(request), funnelId: Number(params.id) }),
    {
      siteScope: { scopes: ["stats:read"], finds: (site: Site, { params }: Call) => funnels.get(site, params.id) },
      query: parameters(RANGED),
      response: { 200: FunnelReport },
      detail: told({
        operationId: "getFunnelReport",
        summary: "Report of a saved funnel",
        description: "How many visitors did step 1, then step 2 later, and so on. The same object as the tool run_funnel answers.",
        tags: ["funnels"],
        "x-failures": ["identity_insufficient", "query_timeout"],
      }),
    },
  )
