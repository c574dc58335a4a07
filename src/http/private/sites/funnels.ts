import { FunnelInput } from "../../../domain/funnel.ts"
import type { Funnels } from "../../../services/definitions/funnels.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import { FunnelResponse, toFunnelResponse } from "../../public/shown.ts"
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
    shown: FunnelResponse,
    show: toFunnelResponse,
    label: ({ name }) => name,
  })
