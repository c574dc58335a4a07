import { Elysia } from "elysia"
import { refuseDuringImpersonation } from "../../../domain/account.ts"
import { isRowType } from "../../../domain/export.ts"
import type { Exports } from "../../../services/export/export.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import { EXPORTED_FILES, type ExportAnswerOptions, exportAnswers, refuseOtherFormats } from "../../export-file.ts"
import { describeRoute } from "../../openapi/route.ts"
import { EXPORT_PARAMETERS } from "../../public/export.ts"
import { parameters } from "../../public/stats.ts"
import { requirePermission } from "../authorize.ts"
import { refuses } from "../responses.ts"
import type { SessionWatch } from "../session-watch.ts"
import { reportOptionsFor } from "../stats/stats.ts"

export interface ExportRoutesOptions extends ExportAnswerOptions {
  exports: Exports
  sessionWatch: SessionWatch
}

/**
 * Creates the route that streams an export while the session is valid. Raw rows also need `people:read` and are unavailable
 * during impersonation.
 */
export function privateExportRoutes(router: PrivateRouter, { exports, sessionWatch, ...options }: ExportRoutesOptions) {
  const answer = exportAnswers(options)
  return new Elysia({ prefix: "/api/private/sites/:site/export" }).use(router).get(
    "",
    async ({ site, user, session, permissions, query, request, server, set }) => {
      if (isRowType(query.type as "events")) {
        requirePermission(permissions, "people:read")
        refuseDuringImpersonation(session)
      }
      // Events contain revenue.
      if (query.type === "events") requirePermission(permissions, "revenue:read")
      refuseOtherFormats(request, query.format)
      const { signal: _, ...sight } = reportOptionsFor({ request, user, permissions })
      const opened = await exports.open(site, query, sight)
      const requestId = String(set.headers["x-request-id"])
      const watch = sessionWatch.whileSignedIn(request, session, site.id)
      const wanted = { opened, request, server, caller: `user ${user.id}`, requestId, signal: watch.signal, onEnd: watch.end }
      return answer(wanted).catch((thrown) => {
        watch.end()
        throw thrown
      })
    },
    {
      can: "export:read",
      query: parameters(EXPORT_PARAMETERS),
      detail: {
        summary: "Export events, visits or a report",
        tags: ["export"],
        ...refuses("impersonation_read_only", "identity_insufficient", "broken_reference"),
        ...describeRoute({ responses: { 200: { content: EXPORTED_FILES } } }),
      },
    },
  )
}
