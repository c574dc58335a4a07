import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { instantText } from "../../../domain/moment.ts"
import { ReportRange } from "../../../domain/report.ts"
import type { Drops } from "../../../services/stats/drops.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import { NoQuery } from "../../public/requests.ts"
import { Instant, ListQuery } from "../responses.ts"

export interface DropRoutesOptions {
  drops: Drops
}

const Count = t.Integer({ minimum: 0 })
const DropReport = t.Object(
  {
    range: ReportRange,
    days: t.Array(t.String({ format: "date" })),
    rows: t.Array(
      t.Object({
        reason: t.String(),
        total: Count,
        counts: t.Array(Count, { description: "Number of dropped events per day, oldest day first." }),
        entries: t.Array(t.Object({ entry: t.String(), count: Count })),
      }),
    ),
    counters: t.Array(t.Object({ counter: t.String(), total: Count })),
  },
  { title: "Drops" },
)
const DropSamples = t.Object(
  {
    data: t.Array(
      t.Object({
        at: Instant,
        reason: t.String(),
        hostname: t.String(),
        page: t.String(),
        browser: t.String(),
        country: t.String(),
      }),
    ),
  },
  { title: "DropSamples" },
)

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
