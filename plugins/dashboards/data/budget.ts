/** What one request for the data of a dashboard may cost. */
import { AppError } from "#plugin"

export const QUERIES_AT_ONCE = 4
const QUERY_MS = 10_000
const CALL_MS = 15_000

export interface Budget {
  /** Runs work under a key. Work with the key of earlier work is not run again: it gets the same result. Throws `query_timeout`. */
  once<Result>(key: string, work: (signal: AbortSignal) => Promise<Result>): Promise<Result>
}

/** Time limits in milliseconds, which tests shorten. */
export interface BudgetLimits {
  queryMs?: number
  callMs?: number
  /** Queries that run at the same time. */
  atOnce?: number
}

export function createBudget(
  signal: AbortSignal | undefined,
  { queryMs = QUERY_MS, callMs = CALL_MS, atOnce = QUERIES_AT_ONCE }: BudgetLimits = {},
): Budget {
  const late = AbortSignal.timeout(callMs)
  const known = new Map<string, Promise<unknown>>()
  const slots = createSlots(atOnce)

  async function run<Result>(work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    return slots(async () => {
      if (late.aborted) throw tooLate()
      const slow = AbortSignal.timeout(queryMs)
      const signals = [late, slow, ...(signal ? [signal] : [])]
      try {
        return await work(AbortSignal.any(signals))
      } catch (error) {
        // A cancelled query is reported as unavailable.
        throw late.aborted || slow.aborted ? tooLate() : error
      }
    })
  }
  return {
    once<Result>(key: string, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
      if (!known.has(key)) known.set(key, run(work))
      return known.get(key) as Promise<Result> // work under one key has one result
    },
  }
}

const tooLate = () => new AppError("query_timeout", "The widget took too long. Choose a shorter range.", { retry_after: 5 })

/** Returns a function that runs work as soon as fewer than `most` others run, in the order of the calls. */
function createSlots(most: number) {
  const waiting: (() => void)[] = []
  let running = 0
  return async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (running === most) await new Promise<void>((resolve) => waiting.push(resolve))
    else running++
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}

/** Returns a text that is equal for equal values, whatever the order of their fields. */
export const keyOf = (value: unknown): string =>
  JSON.stringify(value, (_, inner) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
