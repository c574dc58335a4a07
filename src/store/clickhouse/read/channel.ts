/**
 * Synchronous queries. The functions of queries are synchronous, so a query worker sends its statements to a network thread and blocks
 * until the answer is there.
 */
import { MessageChannel, type MessagePort, receiveMessageOnPort } from "node:worker_threads"
import { StoreFault } from "../../events/fault.ts"
import { ClickhouseFault, type ClickhouseServer, createClickhouse, type Send, type StatementOptions } from "../client.ts"

export type ReadOptions = Pick<StatementOptions, "parameters" | "settings" | "timeoutMs">

export interface Channel {
  /** Returns the answer to a query in the format `Native`. `check` throws when the query was cancelled; then its request is closed. */
  read(sql: string, options: ReadOptions, check: () => void): Uint8Array
  close(): void
}

/** Messages to the network thread. An `end` without effect is one whose query has been answered. */
type ToNetwork =
  | { type: "open"; server: ClickhouseServer; port: MessagePort; flag: SharedArrayBuffer }
  | { type: "read"; id: number; sql: string; options: ReadOptions }
  | { type: "end"; id: number }

type FromNetwork = { id: number } & ({ bytes: Uint8Array<ArrayBuffer> } | { code: number | undefined; message: string })

/** How often a waiting thread looks whether its query was cancelled. */
const CHECK_MS = 50

/** Opens a channel. `threadUrl` is a worker that calls `answerReads`. */
export function openChannel(threadUrl: string, server: ClickhouseServer): Channel {
  const thread = new Worker(threadUrl)
  const { port1, port2 } = new MessageChannel()
  const shared = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT)
  /** Number of answers so far. */
  const answers = new Int32Array(shared)
  const post = (message: ToNetwork, transfer: MessagePort[] = []) => thread.postMessage(message, transfer as unknown as Transferable[])
  post({ type: "open", server, port: port2, flag: shared }, [port2])
  let last = 0

  /** Returns the answer to a query. Answers to cancelled queries are skipped. */
  function receive(id: number): FromNetwork | undefined {
    for (;;) {
      const received = receiveMessageOnPort(port1) as { message: FromNetwork } | undefined
      if (!received || received.message.id === id) return received?.message
    }
  }

  return {
    read(sql, options, check) {
      const id = ++last
      let count = Atomics.load(answers, 0)
      post({ type: "read", id, sql, options })
      try {
        for (;;) {
          Atomics.wait(answers, 0, count, CHECK_MS)
          count = Atomics.load(answers, 0)
          const answer = receive(id)
          if (answer) return contentOf(answer)
          check()
        }
      } catch (error) {
        post({ type: "end", id })
        throw error
      }
    },
    close() {
      thread.terminate()
      port1.close()
    },
  }
}

function contentOf(answer: FromNetwork): Uint8Array {
  if ("bytes" in answer) return answer.bytes
  if (answer.code !== undefined && !TEMPORARY.has(answer.code)) throw new ClickhouseFault(answer.code, answer.message)
  throw new StoreFault("unreachable", answer.message)
}

/**
 * Exceptions of a server that may answer later: of time and memory limits, of too many queries, and of parts of a cluster that cannot be
 * reached.
 */
const TEMPORARY: ReadonlySet<number> = new Set([159, 202, 209, 210, 236, 241, 242, 279, 394, 439, 999])

/** Answers the reads of a channel, in the network thread: `self.onmessage = answerReads(send)`. */
export function answerReads(send: Send): (event: MessageEvent<ToNetwork>) => void {
  let answer: (id: number, sql: string, options: ReadOptions) => void = () => {}
  const running = new Map<number, AbortController>()
  function open({ server, port, flag }: Extract<ToNetwork, { type: "open" }>): void {
    const clickhouse = createClickhouse(server, send)
    const answers = new Int32Array(flag)
    const reply = (message: FromNetwork, transfer: ArrayBuffer[] = []) => {
      port.postMessage(message, transfer)
      Atomics.add(answers, 0, 1)
      Atomics.notify(answers, 0)
    }
    answer = async (id, sql, options) => {
      const controller = new AbortController()
      running.set(id, controller)
      try {
        const bytes = (await clickhouse.read(sql, { ...options, signal: controller.signal })) as Uint8Array<ArrayBuffer> // of a response
        reply({ id, bytes }, [bytes.buffer])
      } catch (error) {
        const { code, message } = error instanceof ClickhouseFault ? error : { code: undefined, message: String(error) }
        reply({ id, code, message })
      } finally {
        running.delete(id)
      }
    }
  }
  return ({ data }) => {
    if (data.type === "open") open(data)
    else if (data.type === "read") answer(data.id, data.sql, data.options)
    else running.get(data.id)?.abort()
  }
}
