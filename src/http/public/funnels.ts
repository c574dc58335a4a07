import { FunnelInput } from "../../domain/funnel.ts"
import { FunnelReport } from "../../domain/report.ts"
import type { Funnels } from "../../services/funnels.ts"
import type { Stats } from "../../services/stats.ts"
import type { ApiKeyAuth } from "../auth.ts"
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
    shown: FunnelShown,
    show: shownFunnel,
  }).get(
    "/:id/report",
    async ({ site, params, query, request }) => {
      // Which funnel it is comes before what is asked of it.
      const { id } = await funnels.get(site, params.id)
      return stats.funnel(site, query, { ...asking(request), funnelId: id })
    },
    {
      siteScope: "stats:read",
      query: parameters(RANGED),
      response: { 200: FunnelReport },
      detail: { summary: "Report of a saved funnel", tags: ["funnels"] },
    },
  )
