import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { type Job, toWorkResponse, WorkResponse } from "../../../domain/job.ts"
import { ErasurePreview } from "../../../domain/site-response.ts"
import type { SiteErasures } from "../../../services/erasure/site-erasures.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import type { creation } from "../../public/requests.ts"
import { NoQuery, Sent, takes } from "../../public/requests.ts"
import { refuses } from "../responses.ts"

export interface EraseRoutesOptions {
  siteErasures: SiteErasures
  create: ReturnType<typeof creation>
  now(): number
}

/** Fields that select the events to delete. */
const SELECTION = {
  filters: t.Optional(t.Array(t.Any(), { description: "Filters as in statistics requests, which must all match. Default: no filter." })),
  period: t.Optional(t.String({ description: "Preset range, such as `30d`. Ignored if `from` and `to` are given." })),
  from: t.Optional(t.String({ format: "date", description: "First day, inclusive. Requires `to`." })),
  to: t.Optional(t.String({ format: "date", description: "Last day, inclusive. Requires `from`." })),
  timezone: t.Optional(t.String({ description: "IANA time zone of day boundaries. Default: time zone of the site." })),
}

const operation = (summary: string) => ({ summary, tags: ["erasure"] })

/** Creates the routes that delete data of a site: by filters and range after a preview, or everything. */
export function eraseRoutes(router: PrivateRouter, { siteErasures, create, now }: EraseRoutesOptions) {
  const begun = (site: { id: number }) => (job: Job) => ({
    status: 202 as const,
    location: `/api/private/sites/${site.id}/erase/${job.id}`,
    body: toWorkResponse(job, now()),
  })

  /** The options of a route that deletes data as a job. */
  const deletion = (detail: object) => ({
    can: { permission: "site:delete" as const, sudo: true, personal: true },
    query: NoQuery,
    body: Sent,
    response: { 202: WorkResponse },
    detail,
  })

  return new Elysia({ prefix: "/api/private/sites/:site" })
    .use(router)
    .post("/erase/preview", ({ site, user, body }) => siteErasures.preview(site, body.value, user.id), {
      can: { permission: "site:delete", reads: true },
      query: NoQuery,
      body: Sent,
      response: { 200: ErasurePreview },
      detail: {
        ...operation("Preview the deletion of data"),
        ...refuses("query_timeout"),
        ...takes(t.Object(SELECTION, { title: "ErasureSelection" })),
      },
    })
    .post(
      "/erase",
      ({ site, user, actor, ...call }) =>
        create<Job, WorkResponse>(
          { ...call, user },
          (body, also) => siteErasures.erase(site, body, { userId: user.id, actor }, also),
          begun(site),
        ),
      deletion({
        ...operation("Delete the data of a preview"),
        ...refuses("token_invalid"),
        ...takes(
          t.Object(
            { ...SELECTION, confirm: t.String({ description: "Token from the preview of the same selection." }) },
            { title: "Erasure" },
          ),
        ),
      }),
    )
    .get("/erase/:id", async ({ site, params }) => toWorkResponse(await siteErasures.get(site, params.id), now()), {
      can: "site:delete",
      query: NoQuery,
      response: { 200: WorkResponse },
      detail: { ...operation("Get the progress of a deletion"), ...refuses("work_not_found") },
    })
    .post(
      "/reset",
      ({ site, user, actor, ...call }) =>
        create<Job, WorkResponse>(
          { ...call, user },
          (body, also) => siteErasures.reset(site, body, { userId: user.id, actor }, also),
          begun(site),
        ),
      deletion({
        ...operation("Delete all events and imports of a site, but keep its settings"),
        ...takes(t.Object({ confirm: t.String({ description: "Current name of the site, as confirmation." }) }, { title: "Reset" })),
      }),
    )
}
