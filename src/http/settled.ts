import { AppError } from "../domain/error.ts"
import { QUERY } from "../domain/limits.ts"
import type { Log } from "../domain/log.ts"
import { mapConcurrent } from "../services/runtime/tasks.ts"
import { baseUrlFor, problemBody, toFailure } from "./errors.ts"

export interface SettleOptions {
  baseUrl: string
  log: Log
  /** Time limit of all reports of a request, in milliseconds. Default: the limit of one report. */
  timeoutMs?: number
}

/** A request with several reports. */
interface Settling {
  request: Request
  set: { headers: Record<string, unknown> }
  /** Cancels all reports. */
  signal?: AbortSignal | undefined
}

/** Result of one of several reports: its data, or why it failed. */
export type Settled<Data extends object = object> =
  | { status: 200; data: Data }
  | { status: number; problem: ReturnType<typeof problemBody> }

/**
 * Maximum number of concurrent reports of one request. An organization has few query slots, and several people can open the
 * dashboard at the same moment.
 */
const AT_ONCE = 4

/** Runs several reports. Each fails separately, and all share one time limit. */
export function settleAll<Item, Data extends object>(
  items: readonly Item[],
  run: (item: Item, signal: AbortSignal) => Promise<Data>,
  { baseUrl, log, timeoutMs = QUERY.timeoutMs }: SettleOptions,
  { request, set, signal }: Settling,
): Promise<Settled<Data>[]> {
  const late = AbortSignal.timeout(timeoutMs)
  const inTime = AbortSignal.any(signal ? [signal, late] : [late])
  const requestId = String(set.headers["x-request-id"])
  const base = baseUrlFor(request, baseUrl)
  return mapConcurrent(items, AT_ONCE, async (item) => {
    try {
      if (late.aborted) throw tooLate()
      return { status: 200 as const, data: await run(item, inTime).catch(lateIf(late)) }
    } catch (thrown) {
      const problem = problemBody(toFailure(thrown, requestId, log), base, requestId)
      return { status: problem.status, problem }
    }
  })
}

const tooLate = () => new AppError("query_timeout", "The reports took too long. Choose a shorter range.", { retry_after: 5 })

/** Converts the failure of a report that was cancelled at the time limit to `query_timeout`. */
const lateIf =
  (late: AbortSignal) =>
  (thrown: unknown): never => {
    throw late.aborted && thrown instanceof AppError && thrown.code === "unavailable" ? tooLate() : thrown
  }
