import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { instantText } from "../../domain/moment.ts"
import { ReportRange } from "../../domain/report.ts"
import type { PrivateRouter } from "../../plugin/router.ts"
import type { Drops } from "../../services/drops.ts"
import { NoQuery } from "../public/things.ts"
import { Instant, ListQuery } from "./tagged.ts"

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
        counts: t.Array(Count, { description: "By day, in the order of days" }),
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

const says = (summary: string) => ({ summary, tags: ["drops"] })

/** What the rules of a site kept out. */
export const dropRoutes = (router: PrivateRouter, { drops }: DropRoutesOptions) =>
  new Elysia({ prefix: "/api/private/sites/:site/drops" })
    .use(router)
    .get("", ({ site, query }) => drops.report(site, query), {
      can: "site:read",
      query: ListQuery,
      response: { 200: DropReport },
      detail: says("Dropped events by reason and day"),
    })
    .get("/sample", ({ site }) => ({ data: drops.samples(site).map(({ at, ...sample }) => ({ at: instantText(at), ...sample })) }), {
      can: "site:read",
      query: NoQuery,
      response: { 200: DropSamples },
      detail: says("The last hundred dropped events"),
    })
