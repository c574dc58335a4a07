/**
 * A closed loop of JSON-RPC requests: each client sends its next request when the previous one is answered. Runs as a separate
 * process: the options are one JSON argument, the result is one line of JSON.
 */
import { quantile } from "../timing.ts"

export interface McpLoadOptions {
  url: string
  key: string
  clients: number
  seconds: number
  /** Duration of the warm-up in seconds, whose requests are not counted. */
  warmUpSeconds: number
  /** JSON-RPC request without its id. */
  message: object
  /** Text that every answer must contain. */
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
