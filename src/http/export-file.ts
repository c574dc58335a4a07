import { AppError } from "../domain/error.ts"
import { EXPORT_FORMATS, isRowType, MEDIA_TYPES } from "../domain/export.ts"
import { API } from "../domain/limits.ts"
import type { Log } from "../domain/log.ts"
import type { Peers } from "../plugin/guard.ts"
import type { Export } from "../services/exports.ts"
import { tokenBuckets } from "../services/token-buckets.ts"
import { accepts } from "./accept.ts"
import { toFailure } from "./errors.ts"
import { allowPauses } from "./quiet-connections.ts"

export interface ExportAnswerOptions {
  log: Log
  now(): number
}

const HOUR_MS = 3_600_000

interface Asked {
  opened: Export
  request: Request
  server: Peers | null
  /** Whose limits it counts against. */
  caller: string
  requestId: string
  /** Ends the file before its end. */
  signal?: AbortSignal
  /** Called once, when the file is over or there is none. */
  onEnd?(): void
}

/** Exports as answers: files that are made while they are read, so many of a caller at a time. */
export function exportAnswers({ log, now }: ExportAnswerOptions): (asked: Asked) => Promise<Response> {
  const limits = exportLimits(now)
  return async ({ opened, request, server, caller, requestId, signal = request.signal, onEnd = () => {} }) => {
    const headers = fileHeaders(opened)
    // Its length and its failures are known to nobody who does not ask for it.
    if (request.method === "HEAD") {
      onEnd()
      return new Response(null, { headers })
    }
    allowPauses(request, server)
    const release = limits.take(caller, isRowType(opened.type))
    // What callers can act on is for them; anything else is for the log, which this writes.
    const onFailure = (thrown: unknown) => void toFailure(thrown, requestId, log)
    const finish = () => {
      release()
      onEnd()
    }
    return new Response(await fileOf(opened, signal, { release: finish, onFailure }), { headers })
  }
}

/** Once the format is known to be one; whether it is comes later in the order of checks. */
export function refuseOtherFormats(request: Request, given: unknown): void {
  const format = EXPORT_FORMATS.find((known) => known === (given ?? "csv"))
  if (format && !accepts(request, MEDIA_TYPES[format])) throw new AppError("not_acceptable", `The answer is ${MEDIA_TYPES[format]}.`)
}

const fileHeaders = ({ format, fileName }: Export): Record<string, string> => ({
  "content-type": `${MEDIA_TYPES[format]}; charset=utf-8`,
  "content-disposition": `attachment; filename="${fileName}"`,
})

/** How many exports a caller may run at once, and of raw rows begin in an hour. Returns what to call when the export is over. */
function exportLimits(now: () => number) {
  const hourly = tokenBuckets(API.rowExportsPerHour, now, HOUR_MS)
  const running = new Map<string, number>()
  return {
    take(caller: string, isOfRows: boolean): () => void {
      const count = running.get(caller) ?? 0
      if (count >= API.exportsAtOnce) throw limited(`${API.exportsAtOnce} exports are running already.`, 5)
      const level = isOfRows ? hourly.take(caller) : undefined
      if (level?.taken === false) throw limited(`Raw rows may be exported ${API.rowExportsPerHour} times an hour.`, level.retryAfter)
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
          // Given up: what came so far is no whole file, and must not look like one.
          if (signal.aborted) return controller.error(new AppError("session_required", "The session has ended."))
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
