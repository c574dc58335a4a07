import { Type as t } from "@sinclair/typebox"
import { AppError } from "../domain/error.ts"
import { EXPORT_FORMATS, isRowType, MEDIA_TYPES } from "../domain/export.ts"
import { API } from "../domain/limits.ts"
import type { Log } from "../domain/log.ts"
import { ReportRange } from "../domain/report.ts"
import { tokenBuckets } from "../services/api-keys/token-buckets.ts"
import type { Export } from "../services/export/export.ts"
import { type LiveNodes, shareOf } from "../services/runtime/nodes.ts"
import type { Peers } from "../web/guard.ts"
import { accepts } from "./accept.ts"
import { toFailure } from "./errors.ts"
import { allowPauses } from "./idle-timeouts.ts"

export interface ExportAnswerOptions {
  log: Log
  now(): number
  /** The nodes that share the catalog. */
  nodes?: Pick<LiveNodes, "live"> | undefined
}

const HOUR_MS = 3_600_000

interface ExportRequest {
  opened: Export
  request: Request
  server: Peers | null
  /** Caller to whose limits the export counts. */
  caller: string
  requestId: string
  /** Signal that stops the export. */
  signal?: AbortSignal
  /** Called once after the file is complete, stopped or could not be created. */
  onEnd?(): void
}

/** Creates responses that stream exports, with limits per caller. */
export function exportAnswers({ log, now, nodes }: ExportAnswerOptions): (wanted: ExportRequest) => Promise<Response> {
  const limits = exportLimits(now, nodes)
  return async ({ opened, request, server, caller, requestId, signal = request.signal, onEnd = () => {} }) => {
    const headers = fileHeaders(opened)
    // HEAD creates no file, so its length and failures are unknown.
    if (request.method === "HEAD") {
      onEnd()
      return new Response(null, { headers })
    }
    allowPauses(request, server)
    const release = limits.take(caller, isRowType(opened.type))
    // Writes unexpected failures to the log.
    const onFailure = (thrown: unknown) => void toFailure(thrown, requestId, log)
    const finish = () => {
      release()
      onEnd()
    }
    return new Response(await fileOf(opened, signal, { release: finish, onFailure }), { headers })
  }
}

/** Throws `not_acceptable` if `Accept` excludes the requested format. Unknown formats are rejected later in the order of checks. */
export function refuseOtherFormats(request: Request, given: unknown): void {
  const format = EXPORT_FORMATS.find((known) => known === (given ?? "csv"))
  if (format && !accepts(request, MEDIA_TYPES[format]))
    throw new AppError("not_acceptable", `The response is only available as ${MEDIA_TYPES[format]}.`)
}

const fileHeaders = ({ format, fileName, nextSince }: Export): Record<string, string> => ({
  "content-type": format === "parquet" ? MEDIA_TYPES[format] : `${MEDIA_TYPES[format]}; charset=utf-8`,
  "content-disposition": `attachment; filename="${fileName}"`,
  ...(nextSince && { "x-next-since": nextSince }),
})

/** Limits the concurrent exports of a caller and exports of raw rows per hour. `take` returns a function to call at the end. */
function exportLimits(now: () => number, nodes: Pick<LiveNodes, "live"> | undefined) {
  const hourly = tokenBuckets(API.rowExportsPerHour, now, HOUR_MS)
  const running = new Map<string, number>()
  return {
    take(caller: string, isOfRows: boolean): () => void {
      const count = running.get(caller) ?? 0
      if (count >= API.exportsAtOnce)
        throw limited(`You already have ${API.exportsAtOnce} running exports. Wait until one has finished.`, 5)
      const perHour = shareOf(API.rowExportsPerHour, nodes)
      const level = isOfRows ? hourly.take(caller, perHour) : undefined
      if (level?.taken === false) throw limited(`You can export raw rows ${perHour} times per hour.`, level.retryAfter)
      running.set(caller, count + 1)
      return () => {
        const left = running.get(caller)! - 1
        if (left > 0) running.set(caller, left)
        else running.delete(caller)
      }
    },
  }
}

const limited = (detail: string, retry_after: number) => new AppError("rate_limited", detail, { retry_after })

interface FileEvents {
  /** Called once when the file is complete, stopped or abandoned by the client. */
  release(): void
  onFailure(thrown: unknown): void
}

/** Streams an export. Resolves after the first chunk is created and throws if that fails. */
async function fileOf(opened: Export, signal: AbortSignal, { release, onFailure }: FileEvents): Promise<ReadableStream<Uint8Array>> {
  const left = new AbortController()
  const pieces = opened.read(AbortSignal.any([signal, left.signal]))
  const finish = onceOnly(() => {
    left.abort()
    // Ends the generator. Errors no longer matter.
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
          // The export was stopped: an incomplete file must not look complete.
          if (signal.aborted) return controller.error(new AppError("session_required", "The session has ended."))
          controller.close()
        } catch (thrown) {
          finish()
          onFailure(thrown)
          // Closes the connection before the end of the body, so that an incomplete file does not look complete.
          controller.error(thrown)
        }
      },
      cancel: finish,
    },
    // Chunks are only created on demand.
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

/** Schemas of an export, by media type. */
export const EXPORTED_FILES = {
  "text/csv": {
    schema: t.String({
      description: "CSV according to RFC 4180 with a header line. Cells that begin with = + - @ are prefixed with a single quote.",
    }),
  },
  "application/json": {
    schema: t.Object(
      {
        range: t.Optional(ReportRange),
        since: t.Optional(t.String({ description: "Value of the parameter `since`. Absent in an export of a range." })),
        next_since: t.Optional(
          t.String({ description: "Value for the parameter `since` of the next export. Absent in an export of a range." }),
        ),
        data: t.Array(t.Object({}, { additionalProperties: true }), { description: "Rows, with their columns by name." }),
      },
      { title: "Export", description: "Exported rows. Their columns depend on the export type." },
    ),
  },
  "application/x-ndjson": { schema: t.String({ description: "One JSON object per line and row." }) },
  "application/vnd.apache.parquet": {
    schema: t.String({
      contentMediaType: "application/vnd.apache.parquet",
      description: "Apache Parquet, compressed with ZSTD. Times are timestamps in UTC, and missing values are null.",
    }),
  },
}
