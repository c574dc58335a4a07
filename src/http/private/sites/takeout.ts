import type { Static } from "@sinclair/typebox"
import { Elysia } from "elysia"
import type { Job } from "../../domain/job.ts"
import { API } from "../../domain/limits.ts"
import { readOptionalJson } from "../../plugin/body.ts"
import type { PrivateRouter } from "../../plugin/router.ts"
import type { Takeouts } from "../../services/takeouts.ts"
import type { creation } from "../public/creation.ts"
import { NoQuery, Sent } from "../public/things.ts"
import { allowPauses } from "../quiet-connections.ts"
import { refuseLack } from "./authorize.ts"
import { shownWork, WorkShown } from "./erase.ts"
import { answersFile } from "./sent-bodies.ts"
import type { SessionWatch } from "./session-watch.ts"
import { refuses } from "./tagged.ts"

export interface TakeoutRoutesOptions {
  takeouts: Takeouts
  sessionWatch: SessionWatch
  create: ReturnType<typeof creation>
  now(): number
}

const says = (summary: string) => ({ summary, tags: ["export"] })

/** Beside what the route names: the archive holds all there is. */
const NEEDED = ["export:read", "revenue:read"]

/** The whole site in one archive. Needs `export:read` and `revenue:read` beside `people:read`. */
export const takeoutRoutes = (router: PrivateRouter, { takeouts, sessionWatch, create, now }: TakeoutRoutesOptions) =>
  new Elysia({ prefix: "/api/private/sites/:site/takeout" })
    .use(router)
    .post(
      "",
      ({ site, user, permissions, actor, ...call }) => {
        for (const wanted of NEEDED) refuseLack(permissions, wanted)
        return create<Job, Static<typeof WorkShown>>(
          { ...call, user },
          (_, also) => takeouts.begin(site, { userId: user.id, actor }, also),
          (job) => ({ status: 202, location: `/api/private/sites/${site.id}/takeout/${job.id}`, body: shownWork(job, now()) }),
        )
      },
      {
        can: { permission: "people:read", personal: true, read: readOptionalJson(API.privateBodyBytes) },
        query: NoQuery,
        body: Sent,
        response: { 202: WorkShown },
        detail: { ...says("Begin to pack the whole site"), ...refuses("invalid_state") },
      },
    )
    .get(
      "/:id",
      async ({ site, permissions, params }) => {
        for (const wanted of NEEDED) refuseLack(permissions, wanted)
        return shownWork(await takeouts.get(site, params.id), now())
      },
      {
        can: "people:read",
        query: NoQuery,
        response: { 200: WorkShown },
        detail: { ...says("How far the archive is"), ...refuses("work_not_found") },
      },
    )
    .get(
      "/:id/file",
      async ({ site, session, permissions, params, request, server }) => {
        for (const wanted of NEEDED) refuseLack(permissions, wanted)
        const { path, name } = await takeouts.file(site, params.id)
        const headers = { "content-type": "application/zip", "content-disposition": `attachment; filename="${name}"` }
        if (request.method === "HEAD") return new Response(null, { headers })
        allowPauses(request, server)
        const watch = sessionWatch.whileSignedIn(request, session, site.id)
        return new Response(piecesOf(path, watch), { headers })
      },
      {
        can: { permission: "people:read", personal: true },
        query: NoQuery,
        detail: { ...says("The archive, for a day"), ...refuses("work_not_found", "invalid_state"), ...answersFile("application/zip") },
      },
    )

/** For as long as the session lasts: what is cut off has no regular end. */
function piecesOf(path: string, { signal, end }: ReturnType<SessionWatch["whileSignedIn"]>): ReadableStream<Uint8Array> {
  const reader = Bun.file(path).stream().getReader()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        if (signal.aborted) {
          end()
          return controller.error(new Error("The session has ended"))
        }
        if (!done) return controller.enqueue(value)
        end()
        controller.close()
      },
      async cancel() {
        end()
        await reader.cancel()
      },
    },
    { highWaterMark: 0 },
  )
}
