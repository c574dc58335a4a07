/**
 * A closed loop of JSON-RPC requests: each of some clients sends its next one when the last one is answered. Run as a process:
 * options as one JSON argument, result as one JSON line.
 */
import { quantile } from "./timing.ts"

export interface McpLoadOptions {
  url: string
  key: string
  clients: number
  seconds: number
  /** Requests of the first so many seconds are not counted. */
  warmUpSeconds: number
  /** Of JSON-RPC, without its id. */
  message: object
  /** What every answer must hold. */
  expected: string
}
export interface McpLoadResult {
  perSecond: number
  p50: number
  p99: number
}

if (import.meta.main) console.log(JSON.stringify(await run(JSON.parse(Bun.argv[2]!))))

async function run({ url, key, clients, seconds, warmUpSeconds, message, expected }: McpLoadOptions): Promise<McpLoadResult> {
  const counted = performance.now() + warmUpSeconds * 1_000
  const over = counted + seconds * 1_000
  const latencies: number[] = []
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json", accept: "application/json, text/event-stream" }
  let id = 0

  async function client(): Promise<void> {
    while (performance.now() < over) {
      const from = performance.now()
      const body = JSON.stringify({ jsonrpc: "2.0", id: ++id, ...message })
      const response = await fetch(url, { method: "POST", headers, body })
      const text = await response.text()
      const now = performance.now()
      if (response.status !== 200 || !text.includes(expected)) throw new Error(`${response.status}: ${text.slice(0, 300)}`)
      if (from >= counted && now < over) latencies.push(now - from)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return { perSecond: latencies.length / seconds, p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) }
}
