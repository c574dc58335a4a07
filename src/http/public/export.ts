import { Elysia } from "elysia"
import { EXPORT_FORMATS, EXPORT_TYPES, MEDIA_TYPES } from "../../domain/export.ts"
import type { Exports } from "../../services/export/export.ts"
import type { ApiKeyAuth } from "../auth.ts"
import { EXPORTED_FILES, type ExportAnswerOptions, exportAnswers, refuseOtherFormats } from "../export-file.ts"
import { describeRoute } from "../openapi/route.ts"
import { parameter, toolParameters } from "./requests.ts"
import { parameters, RANGED } from "./stats.ts"

export interface ExportRoutesOptions extends ExportAnswerOptions {
  exports: Exports
}

const { metrics, interval } = toolParameters("get_timeseries")
export const EXPORT_PARAMETERS = {
  type: parameter({ type: "string", enum: EXPORT_TYPES, description: "Raw rows, a report, or a breakdown by a dimension." }, true),
  format: parameter({ type: "string", enum: EXPORT_FORMATS, default: "csv", description: "Format of the file." }),
  ...RANGED,
  metrics: metrics!,
  interval: interval!,
  property: toolParameters("get_breakdown").property!,
}

/** Creates the route that streams an export of a site. */
export function exportRoutes(auth: ApiKeyAuth, { exports, log, now }: ExportRoutesOptions) {
  const answer = exportAnswers({ log, now })

  return new Elysia({ prefix: "/api/public/v1/sites/:site_id/export" }).use(auth).get(
    "",
    async ({ site, apiKey, query, request, server, set }) => {
      refuseOtherFormats(request, query.format)
      const opened = await exports.open(site, query)
      return answer({ opened, request, server, caller: String(apiKey.id), requestId: String(set.headers["x-request-id"]) })
    },
    {
      siteScope: { scopes: ["export:read"], produces: Object.values(MEDIA_TYPES) },
      query: parameters(EXPORT_PARAMETERS),
      detail: describeRoute({
        operationId: "exportSite",
        summary: "Export events, visits or a report",
        description: "The file is streamed. If the export fails, the connection is closed before the end of the file.",
        tags: ["export"],
        responses: { 200: { description: "The exported file.", headers: ["Content-Disposition"], content: EXPORTED_FILES } },
      }),
    },
  )
}
