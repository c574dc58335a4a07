import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { THINGS } from "../domain/limits.ts"
import { SharedViewResponse } from "../domain/share.ts"
import type { ShareVisits, Visit } from "../services/sharing/share-visits.ts"
import type { PrivateRouter } from "../web/router.ts"
import { type Clients, networkName } from "./caller.ts"
import { type ExportAnswerOptions, exportAnswers, refuseOtherFormats } from "./export-file.ts"
import { ListQuery } from "./private/responses.ts"
import { NoQuery, Sent, takes } from "./public/requests.ts"

export interface ShareRoutesOptions extends ExportAnswerOptions, Pick<Clients, "addressOf"> {
  shareVisits: ShareVisits
  /** Whether the dashboard uses HTTPS. */
  isSecure: boolean
}

const operation = (summary: string) => ({ summary, tags: ["shared views"] })
const UnlockInput = t.Object({ password: t.String({ description: "Password of the shared view." }) }, { title: "Unlock" })

/** Creates the routes of shared views. The slug, and the password if any, are the only secrets that viewers need. */
export function shareRoutes(router: PrivateRouter, { shareVisits, isSecure, addressOf, ...files }: ShareRoutesOptions) {
  const answer = exportAnswers(files)
  const cookieName = (id: number) => `${isSecure ? "__Host-" : ""}unlock-${id}`
  const visitOf = (slug: string, request: Request): Visit => {
    const cookies = new Bun.CookieMap(request.headers.get("cookie") ?? "")
    return { slug, tokenFor: (id) => cookies.get(cookieName(id)) ?? undefined }
  }
  const cookieOf = (id: number, token: string): string =>
    [
      `${cookieName(id)}=${token}`,
      "Path=/",
      `Max-Age=${THINGS.shareUnlockMs / 1_000}`,
      "HttpOnly",
      "SameSite=Lax",
      ...(isSecure ? ["Secure"] : []),
    ].join("; ")

  return new Elysia({ prefix: "/api/share/s" })
    .use(router)
    .onBeforeHandle(({ set }) => {
      set.headers["x-robots-tag"] = "noindex"
    })
    .get("/:slug", ({ params, request }) => shareVisits.view(visitOf(params.slug, request)), {
      open: true,
      query: NoQuery,
      response: { 200: SharedViewResponse },
      detail: operation("Get a shared view"),
    })
    .post(
      "/:slug/unlock",
      async ({ params, body, request, server, set, status }) => {
        const network = networkName(addressOf({ request, server }))
        const { shareId, token } = await shareVisits.unlock(params.slug, body.value, network)
        set.headers["set-cookie"] = cookieOf(shareId, token)
        return status(204, undefined)
      },
      {
        open: true,
        query: NoQuery,
        body: Sent,
        detail: { ...operation("Unlock a shared view with its password for one hour"), ...takes(UnlockInput) },
      },
    )
    .get(
      "/:slug/stats/:report",
      ({ params, query, request }) => shareVisits.report(visitOf(params.slug, request), params.report, query, request.signal),
      { open: true, query: ListQuery, detail: operation("Get a report of a shared view") },
    )
    .get(
      "/:slug/export",
      async ({ params, query, request, server, set }) => {
        refuseOtherFormats(request, (query as Record<string, unknown>).format)
        const opened = await shareVisits.export(visitOf(params.slug, request), query)
        return answer({ opened, request, server, caller: params.slug, requestId: String(set.headers["x-request-id"]) })
      },
      { open: true, query: ListQuery, detail: operation("Export a report of a shared view") },
    )
}
