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
  since: parameter({
    type: "string",
    format: "date-time",
    description:
      "Only with `events` and `visits`, and instead of `period`, `from` and `to`: visits that ended at this time or later, with all of their events. Either `X-Next-Since` of an earlier response or a time such as `2026-11-21T12:00:00Z`.",
  }),
  ...RANGED,
  metrics: metrics!,
  interval: interval!,
  property: toolParameters("get_breakdown").property!,
}

const EXPORT_ABOUT = `The file is streamed. If the export fails, the connection is closed before the end of the file.

\`events\` and \`visits\` are raw rows with these [columns](docs#exported-rows). The other types are reports.

To load a site into a warehouse incrementally, send \`since\` instead of a range. The response contains the visits that ended
from that time on, and the header \`X-Next-Since\` is the \`since\` of the next request. A visit has ended when no event has arrived for 30
minutes by the clock of the server, so it no longer changes and is exported once, however late its events were sent. Visits that are
still open follow in a later export. If no visit has ended since then, the file has no rows, and the response is still 200 with \`X-Next-Since\`.
Imported visits are only in exports of a range.`

/** Creates the route that streams an export of a site. */
export function exportRoutes(auth: ApiKeyAuth, { exports, log, now, nodes }: ExportRoutesOptions) {
  const answer = exportAnswers({ log, now, nodes })

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
        description: EXPORT_ABOUT,
        tags: ["export"],
        responses: {
          200: { description: "The exported file.", headers: ["Content-Disposition", "X-Next-Since"], content: EXPORTED_FILES },
        },
      }),
    },
  )
}
