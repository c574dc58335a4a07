import { type Static, Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { type Job, shownProgress } from "../../domain/job.ts"
import { instantText } from "../../domain/moment.ts"
import { ReportRange } from "../../domain/report.ts"
import type { PrivateRouter } from "../../plugin/router.ts"
import type { SiteErasures } from "../../services/site-erasures.ts"
import type { creation } from "../public/creation.ts"
import { NoQuery, Sent, takes } from "../public/things.ts"
import { Id, Instant, refuses } from "./tagged.ts"

export interface EraseRoutesOptions {
  siteErasures: SiteErasures
  create: ReturnType<typeof creation>
  now(): number
}

/** Work on a site's data, as answers show it. */
export const WorkShown = t.Object(
  {
    id: Id,
    state: t.String({ description: "queued, running, done, failed or cancelled" }),
    progress: t.Union([t.Any(), t.Null()]),
    created_at: Instant,
    finished_at: t.Union([Instant, t.Null()]),
    error: t.Optional(t.String()),
  },
  { title: "Work" },
)

export const shownWork = (job: Job, now: number): Static<typeof WorkShown> => ({
  id: job.id,
  state: job.state,
  progress: shownProgress(job, now),
  created_at: instantText(job.created_at),
  finished_at: job.finished_at === null ? null : instantText(job.finished_at),
  ...(job.error_code !== null && { error: job.error_code }),
})

const Question = {
  filters: t.Optional(t.Array(t.Any())),
  period: t.Optional(t.String()),
  from: t.Optional(t.String({ format: "date" })),
  to: t.Optional(t.String({ format: "date" })),
  timezone: t.Optional(t.String()),
}
const Preview = t.Object(
  {
    range: ReportRange,
    visits: t.Integer({ minimum: 0 }),
    events: t.Integer({ minimum: 0 }),
    confirm: t.String(),
    confirm_expires_at: Instant,
  },
  { title: "ErasurePreview" },
)

const says = (summary: string) => ({ summary, tags: ["erasure"] })

/** What of a site's data goes: by filters and range, with a count first, or all of it. */
export function eraseRoutes(router: PrivateRouter, { siteErasures, create, now }: EraseRoutesOptions) {
  const begun = (site: { id: number }) => (job: Job) => ({
    status: 202 as const,
    location: `/api/private/sites/${site.id}/erase/${job.id}`,
    body: shownWork(job, now()),
  })

  return new Elysia({ prefix: "/api/private/sites/:site" })
    .use(router)
    .post("/erase/preview", ({ site, user, body }) => siteErasures.preview(site, body.value, user.id), {
      can: { permission: "site:delete", reads: true },
      query: NoQuery,
      body: Sent,
      response: { 200: Preview },
      detail: {
        ...says("What an erasure would take away"),
        ...refuses("query_timeout"),
        ...takes(t.Object(Question, { title: "ErasureQuestion" })),
      },
    })
    .post(
      "/erase",
      ({ site, user, actor, ...call }) =>
        create<Job, Static<typeof WorkShown>>(
          { ...call, user },
          (body, also) => siteErasures.erase(site, body, { userId: user.id, actor }, also),
          begun(site),
        ),
      {
        can: { permission: "site:delete", sudo: true, personal: true },
        query: NoQuery,
        body: Sent,
        response: { 202: WorkShown },
        detail: {
          ...says("Erase what the preview counted"),
          ...refuses("token_invalid"),
          ...takes(t.Object({ ...Question, confirm: t.String() }, { title: "Erasure" })),
        },
      },
    )
    .get("/erase/:id", async ({ site, params }) => shownWork(await siteErasures.get(site, params.id), now()), {
      can: "site:delete",
      query: NoQuery,
      response: { 200: WorkShown },
      detail: { ...says("How far an erasure is"), ...refuses("work_not_found") },
    })
    .post(
      "/reset",
      ({ site, user, actor, ...call }) =>
        create<Job, Static<typeof WorkShown>>(
          { ...call, user },
          (body, also) => siteErasures.reset(site, body, { userId: user.id, actor }, also),
          begun(site),
        ),
      {
        can: { permission: "site:delete", sudo: true, personal: true },
        query: NoQuery,
        body: Sent,
        response: { 202: WorkShown },
        detail: {
          ...says("Remove all events and imports, keep the settings"),
          ...takes(t.Object({ confirm: t.String() }, { title: "Reset" })),
        },
      },
    )
}
