/** Combines reports that are requested at the same moment into one request, so that a dashboard's first view needs only one. */
import type { FlatArguments } from "../../../domain/site-address.ts"
import { Problem, post } from "../../api/api.ts"

interface Waiting {
  report: string
  given: FlatArguments
  signal: AbortSignal
  resolve(data: unknown): void
  reject(error: unknown): void
}
interface Results {
  results: Record<string, { status: number; data?: unknown; problem?: { code: string; detail: string } }>
}

/** Maximum number of queries per request. Further queries are sent in another request. */
const MAX_QUERIES = 20

export function createBatch(siteId: number): (report: string, given: FlatArguments, signal: AbortSignal) => Promise<unknown> {
  let waiting: Waiting[] = []

  async function sendAll(): Promise<void> {
    // Queries that were superseded in the meantime are not sent.
    const all = waiting.filter(({ signal }) => !signal.aborted)
    waiting = []
    for (let start = 0; start < all.length; start += MAX_QUERIES) void sendSome(siteId, all.slice(start, start + MAX_QUERIES))
  }

  return (report, given, signal) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setTimeout(sendAll)
      waiting.push({ report, given, signal, resolve, reject })
    })
}

async function sendSome(siteId: number, asked: readonly Waiting[]): Promise<void> {
  const queries = asked.map(({ report, given }, index) => ({ ...given, id: String(index), report }))
  try {
    const { results } = await post<Results>(`/api/private/sites/${siteId}/stats/batch`, { queries }, { signal: abortedWhenAll(asked) })
    for (const [index, { resolve, reject }] of asked.entries()) {
      const { status, data, problem } = results[String(index)] ?? { status: 500 }
      if (status === 200) resolve(data)
      else reject(new Problem(status, problem?.code ?? "unknown", problem?.detail ?? "The report failed. Try again.", { ...problem }))
    }
  } catch (error) {
    for (const { reject } of asked) reject(error)
  }
}

/** Returns a signal that aborts the request once all of its queries were aborted. */
function abortedWhenAll(asked: readonly Waiting[]): AbortSignal {
  const controller = new AbortController()
  let left = asked.length
  for (const { signal } of asked)
    signal.addEventListener("abort", () => {
      left -= 1
      if (left === 0) controller.abort()
    })
  return controller.signal
}
