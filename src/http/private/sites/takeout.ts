import { Elysia } from "elysia"
import type { Job } from "../../../domain/job.ts"
import { toWorkResponse, WorkResponse } from "../../../domain/job.ts"
import { API } from "../../../domain/limits.ts"
import { parseEmptyBody } from "../../../domain/shape.ts"
import type { Takeouts } from "../../../services/export/takeouts.ts"
import { readOptionalJson } from "../../../web/body.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import { allowPauses } from "../../idle-timeouts.ts"
import type { creation } from "../../public/requests.ts"
import { NoQuery, Sent } from "../../public/requests.ts"
import { answersFile, refuses } from "../responses.ts"
import type { SessionWatch } from "../session-watch.ts"

export interface TakeoutRoutesOptions {
  takeouts: Takeouts
  sessionWatch: SessionWatch
  create: ReturnType<typeof creation>
  now(): number
}

const operation = (summary: string) => ({ summary, tags: ["export"] })

/** The archive contains all data of the site. */
const CAN = { permission: "people:read", also: ["export:read", "revenue:read"] }

/** Creates the routes that export a whole site. They require `export:read`, `revenue:read` and `people:read`. */
export const takeoutRoutes = (router: PrivateRouter, { takeouts, sessionWatch, create, now }: TakeoutRoutesOptions) =>
  new Elysia({ prefix: "/api/private/sites/:site/takeout" })
    .use(router)
    .post(
      "",
      ({ site, user, actor, ...call }) =>
        create<Job, WorkResponse>(
          { ...call, user },
          (body, also) => {
            parseEmptyBody(body)
            return takeouts.begin(site, { userId: user.id, actor }, also)
          },
          (job) => ({ status: 202, location: `/api/private/sites/${site.id}/takeout/${job.id}`, body: toWorkResponse(job, now()) }),
        ),
      {
        can: { ...CAN, personal: true, read: readOptionalJson(API.privateBodyBytes) },
        query: NoQuery,
        body: Sent,
        response: { 202: WorkResponse },
        detail: { ...operation("Start exporting a site"), ...refuses("invalid_state") },
      },
    )
    .get("/:id", async ({ site, params }) => toWorkResponse(await takeouts.get(site, params.id), now()), {
      can: CAN,
      query: NoQuery,
      response: { 200: WorkResponse },
      detail: { ...operation("Get the progress of a site export"), ...refuses("work_not_found") },
    })
    .get(
      "/:id/file",
      async ({ site, session, params, request, server }) => {
        const { path, name } = await takeouts.file(site, params.id)
        const headers = { "content-type": "application/zip", "content-disposition": `attachment; filename="${name}"` }
        if (request.method === "HEAD") return new Response(null, { headers })
        allowPauses(request, server)
        const watch = sessionWatch.whileSignedIn(request, session, site.id)
        return new Response(piecesOf(path, watch), { headers })
      },
      {
        can: { ...CAN, personal: true },
        query: NoQuery,
        detail: {
          ...operation("Download the archive of a site export, available for a day"),
          ...refuses("work_not_found", "invalid_state"),
          ...answersFile("application/zip"),
        },
      },
    )

/** Streams the archive while the session is valid. An interrupted download ends with an error. */
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
