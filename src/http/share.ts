import { SharedViewResponse } from "../domain/share.ts"
import type { ShareVisits } from "../services/sharing/share-visits.ts"
import type { Authorize } from "../web/router.ts"
import { shareRouter } from "../web/share-router.ts"
import type { Clients } from "./caller.ts"
import { type ExportAnswerOptions, exportAnswers, refuseOtherFormats } from "./export-file.ts"
import { ListQuery } from "./private/responses.ts"
import { NoQuery } from "./public/requests.ts"

export interface ShareRoutesOptions extends ExportAnswerOptions, Pick<Clients, "networkOf"> {
  authorize: Authorize
  shareVisits: ShareVisits
}

const operation = (summary: string) => ({ summary, tags: ["shared views"] })

/** Creates the routes of shared views. The slug, and the password if any, are the only secrets that viewers need. */
export function shareRoutes({ authorize, shareVisits, networkOf, ...files }: ShareRoutesOptions) {
  const answer = exportAnswers(files)
  const { opening } = shareVisits
  return shareRouter(authorize, { name: "core", prefix: "/api/share/s", opening, networkOf })
    .get("/:slug", ({ found }) => shareVisits.view(found), {
      shared: { locked: true },
      query: NoQuery,
      response: { 200: SharedViewResponse },
      detail: operation("Get a shared view"),
    })
    .get("/:slug/stats/:report", ({ found, params, query, request }) => shareVisits.report(found, params.report, query, request.signal), {
      shared: true,
      query: ListQuery,
      detail: operation("Get a report of a shared view"),
    })
    .get(
      "/:slug/export",
      async ({ found, params, query, request, server, set }) => {
        refuseOtherFormats(request, (query as Record<string, unknown>).format)
        const opened = await shareVisits.export(found, query)
        return answer({ opened, request, server, caller: params.slug, requestId: String(set.headers["x-request-id"]) })
      },
      { shared: true, query: ListQuery, detail: operation("Export a report of a shared view") },
    )
}
