import { Elysia } from "elysia"
import { DropReport, DropSamples } from "../../../domain/insight.ts"
import { instantText } from "../../../domain/moment.ts"
import type { Drops } from "../../../services/stats/drops.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import { NoQuery } from "../../public/requests.ts"
import { ListQuery } from "../responses.ts"

export interface DropRoutesOptions {
  drops: Drops
}

const operation = (summary: string) => ({ summary, tags: ["drops"] })

/** Creates the routes for the dropped events of a site. */
export const dropRoutes = (router: PrivateRouter, { drops }: DropRoutesOptions) =>
  new Elysia({ prefix: "/api/private/sites/:site/drops" })
    .use(router)
    .get("", ({ site, query }) => drops.report(site, query), {
      can: "site:read",
      query: ListQuery,
      response: { 200: DropReport },
      detail: operation("List dropped events by reason and day"),
    })
    .get("/sample", ({ site }) => ({ data: drops.samples(site).map(({ at, ...sample }) => ({ at: instantText(at), ...sample })) }), {
      can: "site:read",
      query: NoQuery,
      response: { 200: DropSamples },
      detail: operation("List the latest 100 dropped events"),
    })
