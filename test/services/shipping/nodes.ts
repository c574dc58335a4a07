import { join } from "node:path"
import type { ShippingState } from "../../../src/services/shipping/shipping.ts"
import type { ClickhouseServer } from "../../../src/store/clickhouse/client.ts"
import type { Unshipped } from "../../../src/store/events/spool/spool.ts"

export interface NodeOptions {
  spools?: boolean
  spoolBytes?: number
  keepMs?: number
  waitMs?: number
}

/** The answer to an event. */
interface NodeAnswer {
  status: number
  body: { state?: ShippingState; code?: string; retry_after?: number }
}

interface NodeState extends Unshipped {
  state: ShippingState
  isLate: boolean
}

/** A node in a process of its own. */
export interface RunningNode {
  send(amounts: readonly number[]): Promise<NodeAnswer>
  state(): Promise<NodeState>
  seal(): Promise<void>
  /** Deletes what ClickHouse has had for long enough. Resolves with the number of segments that are left. */
  drop(): Promise<number>
  /** Ends the process without warning. */
  kill(): Promise<void>
  stop(): Promise<void>
}

export async function startNode(folder: string, number: number, server: ClickhouseServer, options: NodeOptions = {}): Promise<RunningNode> {
  const file = join(import.meta.dir, "node.ts")
  const command = [process.execPath, file, folder, `${number}`, JSON.stringify(server), JSON.stringify(options)]
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "inherit" })
  let port = 0
  for await (const line of child.stdout) {
    port = Number(new TextDecoder().decode(line))
    break
  }
  const url = `http://127.0.0.1:${port}`
  const end = async (signal: "SIGKILL" | "SIGTERM") => {
    child.kill(signal)
    await child.exited
  }
  return {
    async send(amounts) {
      const response = await fetch(url, { method: "POST", body: JSON.stringify(amounts) })
      return { status: response.status, body: (await response.json()) as NodeAnswer["body"] } // see node.ts
    },
    state: async () => (await fetch(`${url}/state`)).json() as Promise<NodeState>, // see node.ts
    async seal() {
      await fetch(`${url}/seal`)
    },
    drop: async () => (await fetch(`${url}/drop`)).json() as Promise<number>, // see node.ts
    kill: () => end("SIGKILL"),
    stop: () => end("SIGTERM"),
  }
}

/** Sends events with amounts of their own, several at the same time, until it is stopped. */
export class Load {
  /** State of the node in the answer to each acknowledged event, by amount. */
  readonly acknowledged = new Map<number, ShippingState>()
  readonly refused: NodeAnswer[] = []
  #next: number
  #isStopped = false
  readonly #running: Promise<void>[]

  constructor(node: RunningNode, first: number, parallel = 8) {
    this.#next = first
    this.#running = Array.from({ length: parallel }, () => this.#run(node))
  }

  async #run(node: RunningNode): Promise<void> {
    while (!this.#isStopped) {
      const amount = this.#next++
      try {
        const answer = await node.send([amount])
        if (answer.status === 202) this.acknowledged.set(amount, answer.body.state!)
        else this.refused.push(answer)
      } catch {
        // The node was killed.
        return
      }
      await Bun.sleep(5)
    }
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all(this.#running)
  }
}

/** What happens to an insert on its way to the server. It answers queries while it refuses inserts, and as an old version when it is old. */
export type Trouble = "none" | "late" | "fails after storing" | "refused" | "unreachable" | "old"

/** Pause before a late answer, in milliseconds. */
const LATE_MS = 1_500

/** Stands between nodes and a server, and can disturb inserts. */
export function startProxy(server: ClickhouseServer) {
  const proxy = {
    trouble: "none" as Trouble,
    /** Texts of all statements, without the rows of inserts. */
    statements: [] as string[],
    server,
    [Symbol.dispose]: () => void running.stop(true),
  }
  const running = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    maxRequestBodySize: 2 ** 31,
    async fetch(request) {
      const { pathname, search, searchParams } = new URL(request.url)
      const { trouble } = proxy
      if (trouble === "refused" && searchParams.has("query")) return new Response("Code: 242. DB::Exception: read only", { status: 500 })
      if (trouble === "unreachable") return new Response("", { status: 502 })
      const { method, headers } = request
      const body = await request.bytes()
      proxy.statements.push(searchParams.get("query") ?? new TextDecoder().decode(body))
      const response = await fetch(`${server.url}${pathname}${search}`, { method, headers, body })
      if (trouble === "old") return new Response((await response.text()).replace('"version":1', '"version":0'))
      if (trouble === "late") await Bun.sleep(LATE_MS)
      return trouble === "fails after storing" ? new Response("the answer was lost", { status: 500 }) : response
    },
  })
  proxy.server = { ...server, url: `http://127.0.0.1:${running.port}` }
  return proxy
}
