import { FunnelInput } from "../../domain/funnel.ts"
import type { PrivateRouter } from "../../plugin/router.ts"
import type { Funnels } from "../../services/funnels.ts"
import { FunnelShown, shownFunnel } from "../public/shown.ts"
import { privateThingRoutes, type ThingRoutesOptions } from "./things.ts"

export interface FunnelRoutesOptions extends ThingRoutesOptions {
  funnels: Funnels
}

/** The saved funnels of a site. Their reports are among the statistics. */
export const privateFunnelRoutes = (router: PrivateRouter, options: FunnelRoutesOptions) =>
  privateThingRoutes(router, options, {
    path: "funnels",
    noun: "funnel",
    write: "funnels:write",
    things: () => options.funnels,
    input: FunnelInput,
    shown: FunnelShown,
    show: shownFunnel,
    label: ({ name }) => name,
  })
