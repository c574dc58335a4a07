/** Synchronous queries: a query worker sends its statements to a network thread. */
import { StoreFault } from "../../events/fault.ts"
import { answerRequests, openThreadChannel, type SentRequest } from "../../thread-channel.ts"
import { ClickhouseFault, type ClickhouseServer, createClickhouse, type Send, type StatementOptions } from "../client.ts"

export type ReadOptions = Pick<StatementOptions, "parameters" | "settings" | "timeoutMs">

export interface Channel {
  /** Sends a query. Its answer is in the format `Native`. */
  send(sql: string, options: ReadOptions): SentQuery
  close(): void
}

export type SentQuery = SentRequest<Uint8Array>

interface ReadRequest {
  sql: string
  options: ReadOptions
}
type ReadAnswer = { bytes: Uint8Array<ArrayBuffer> } | { code: number | undefined; message: string }

/** Opens a channel. `threadUrl` is a worker that calls `answerReads`. */
export function openChannel(threadUrl: string, server: ClickhouseServer): Channel {
  const { send, close } = openThreadChannel<ClickhouseServer, ReadRequest, ReadAnswer>(threadUrl, server)
  return {
    send(sql, options) {
      const { receive, cancel } = send({ sql, options })
      return { receive: (check) => contentOf(receive(check)), cancel }
    },
    close,
  }
}

function contentOf(answer: ReadAnswer): Uint8Array {
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
export const answerReads = (send: Send) =>
  answerRequests<ClickhouseServer, ReadRequest, ReadAnswer>(
    (server) => {
      const clickhouse = createClickhouse(server, send)
      return async ({ sql, options }, signal) => {
        try {
          return { bytes: (await clickhouse.read(sql, { ...options, signal })) as Uint8Array<ArrayBuffer> } // of a response
        } catch (error) {
          const { code, message } = error instanceof ClickhouseFault ? error : { code: undefined, message: String(error) }
          return { code, message }
        }
      }
    },
    (answer) => ("bytes" in answer ? [answer.bytes.buffer] : []),
  )
