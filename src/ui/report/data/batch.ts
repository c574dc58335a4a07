/** Reports that are asked in the same moment go out as one call: the first view of a dashboard is one request. */
import type { FlatArguments } from "../../domain/site-address.ts"
import { Problem, post } from "../api.ts"

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

/** More than a call may hold wait for the next one. */
const MOST = 20

export function createBatch(siteId: number): (report: string, given: FlatArguments, signal: AbortSignal) => Promise<unknown> {
  let waiting: Waiting[] = []

  async function sendAll(): Promise<void> {
    // What was overtaken in the same moment is not asked at all.
    const all = waiting.filter(({ signal }) => !signal.aborted)
    waiting = []
    for (let start = 0; start < all.length; start += MOST) void sendSome(siteId, all.slice(start, start + MOST))
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
    const { results } = await post<Results>(`/api/private/sites/${siteId}/stats/batch`, { queries }, { signal: whenAllGo(asked) })
    for (const [index, { resolve, reject }] of asked.entries()) {
      const { status, data, problem } = results[String(index)] ?? { status: 500 }
      if (status === 200) resolve(data)
      else reject(new Problem(status, problem?.code ?? "unknown", problem?.detail ?? "The report failed.", { ...problem }))
    }
  } catch (error) {
    for (const { reject } of asked) reject(error)
  }
}

/** The call is cut off when nobody waits for any of its reports any more. */
function whenAllGo(asked: readonly Waiting[]): AbortSignal {
  const controller = new AbortController()
  let left = asked.length
  for (const { signal } of asked)
    signal.addEventListener("abort", () => {
      left -= 1
      if (left === 0) controller.abort()
    })
  return controller.signal
}
