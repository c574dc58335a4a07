import { Elysia } from "elysia"
import { AppError } from "../../domain/error.ts"
import { EXPORT_FORMATS, EXPORT_TYPES, isRowType, MEDIA_TYPES } from "../../domain/export.ts"
import type { ApiKey } from "../../domain/key.ts"
import { API } from "../../domain/limits.ts"
import type { Log } from "../../domain/log.ts"
import type { Peers } from "../../plugin/guard.ts"
import type { Export, Exports } from "../../services/exports.ts"
import { tokenBuckets } from "../../services/token-buckets.ts"
import { accepts } from "../accept.ts"
import type { ApiKeyAuth } from "../auth.ts"
import { toFailure } from "../errors.ts"
import { EXPORTED_FILES } from "../openapi/bodies.ts"
import { told } from "../openapi/route.ts"
import { parameter, toolParameters } from "./parameters.ts"
import { parameters, RANGED } from "./stats.ts"

export interface ExportRoutesOptions {
  exports: Exports
  log: Log
  now(): number
}

/** A reader may pause for so long; what is left of the export waits for it without cost. */
const PAUSE_SECONDS = 120
const HOUR_MS = 3_600_000

const { metrics, interval } = toolParameters("get_timeseries")
const PARAMETERS = {
  type: parameter({ type: "string", enum: EXPORT_TYPES, description: "Raw rows, a report, or a breakdown by a dimension." }, true),
  format: parameter({ type: "string", enum: EXPORT_FORMATS, default: "csv" }),
  ...RANGED,
  metrics: metrics!,
  interval: interval!,
  property: toolParameters("get_breakdown").property!,
}
/** A site's data as a file that is made while it is read. */
export function exportRoutes(auth: ApiKeyAuth, { exports, log, now }: ExportRoutesOptions) {
  const limits = exportLimits(now)

  return new Elysia({ prefix: "/api/public/v1/sites/:site_id/export" }).use(auth).get(
    "",
    async ({ site, apiKey, query, request, server, set }) => {
      refuseOtherFormats(request, query.format)
      const opened = await exports.open(site, query)
      const headers = fileHeaders(opened)
      // Its length and its failures are known to nobody who does not ask for it.
      if (request.method === "HEAD") return new Response(null, { headers })
      // Of a server only what is known of one outside of a socket too.
      const peers: Peers | null = server
      peers?.timeout?.(request, PAUSE_SECONDS)
      const release = limits.take(apiKey, isRowType(opened.type))
      // What callers can act on is for them; anything else is for the log, which this writes.
      const onFailure = (thrown: unknown) => void toFailure(thrown, String(set.headers["x-request-id"]), log)
      return new Response(await fileOf(opened, request.signal, { release, onFailure }), { headers })
    },
    {
      siteScope: { scopes: ["export:read"], produces: Object.values(MEDIA_TYPES) },
      query: parameters(PARAMETERS),
      detail: told({
        operationId: "exportSite",
        summary: "Export events, visits or a report",
        description: "Streamed, however long it is. Of an export that fails the connection is cut before its regular end.",
        tags: ["export"],
        responses: { 200: { description: "The file.", headers: ["Content-Disposition"], content: EXPORTED_FILES } },
      }),
    },
  )
}

/** Once the format is known to be one; whether it is comes later in the order of checks. */
function refuseOtherFormats(request: Request, given: unknown): void {
  const format = EXPORT_FORMATS.find((known) => known === (given ?? "csv"))
  if (format && !accepts(request, MEDIA_TYPES[format])) throw new AppError("not_acceptable", `The answer is ${MEDIA_TYPES[format]}.`)
}

const fileHeaders = ({ format, fileName }: Export): Record<string, string> => ({
  "content-type": `${MEDIA_TYPES[format]}; charset=utf-8`,
  "content-disposition": `attachment; filename="${fileName}"`,
})

/** How many exports a key may run at once, and of raw rows begin in an hour. Returns what to call when the export is over. */
function exportLimits(now: () => number) {
  const hourly = tokenBuckets(API.rowExportsPerHour, now, HOUR_MS)
  const running = new Map<number, number>()
  return {
    take({ id }: ApiKey, isOfRows: boolean): () => void {
      const count = running.get(id) ?? 0
      if (count >= API.exportsAtOnce) throw limited(`The key has ${API.exportsAtOnce} exports running.`, 5)
      const level = isOfRows ? hourly.take(String(id)) : undefined
      if (level?.taken === false) throw limited(`The key may export raw rows ${API.rowExportsPerHour} times an hour.`, level.retryAfter)
      running.set(id, count + 1)
      return () => {
        const left = running.get(id)! - 1
        if (left > 0) running.set(id, left)
        else running.delete(id)
      }
    },
  }
}

const limited = (detail: string, retry_after: number) => new AppError("rate_limited", detail, { retry_after })

interface FileEvents {
  /** Called once, when the file is over, cut off or left by its reader. */
  release(): void
  onFailure(thrown: unknown): void
}

/** The export as a body that is made as it is taken. Resolves with the first piece made; what fails then is thrown. */
async function fileOf(opened: Export, signal: AbortSignal, { release, onFailure }: FileEvents): Promise<ReadableStream<Uint8Array>> {
  const left = new AbortController()
  const pieces = opened.read(AbortSignal.any([signal, left.signal]))
  const finish = onceOnly(() => {
    left.abort()
    // Ends what waits for its next taker; why it ends no longer matters to anybody.
    pieces.return(undefined).catch(() => {})
    release()
  })
  signal.addEventListener("abort", finish, { once: true })
  let next: IteratorResult<Uint8Array> | undefined
  try {
    next = await pieces.next()
  } catch (thrown) {
    finish()
    throw thrown
  }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const piece = next ?? (await pieces.next())
          next = undefined
          if (!piece.done) return controller.enqueue(piece.value)
          finish()
          controller.close()
        } catch (thrown) {
          finish()
          onFailure(thrown)
          // The connection ends before the regular end of the body: what came so far is no whole file.
          controller.error(thrown)
        }
      },
      cancel: finish,
    },
    // Nothing is made ahead of its reader.
    { highWaterMark: 0 },
  )
}

function onceOnly(work: () => void): () => void {
  let isDone = false
  return () => {
    if (isDone) return
    isDone = true
    work()
  }
}
