/**
 * A loop of HTTP requests over raw sockets. Closed: each connection sends its next request when the previous one is answered. Open:
 * requests are due at a steady rate, however slow the answers are, and their time counts from then.
 * Writing the bytes directly keeps the sender cheaper than the server it measures.
 */
import { quantile } from "../timing.ts"

export interface LoopOptions {
  port: number
  connections: number
  seconds: number
  /** Duration of the warm-up in seconds, whose requests are not counted. */
  warmUpSeconds: number
  /** Rate of an open loop. Without it the loop is closed. */
  perSecond?: number
  /** Text that every answer must contain. Answers without it are counted as `unexpected` instead of by status. */
  expects?: string
}
export interface LoadResult {
  /** Number of answers by status, over the whole run. */
  answers: Record<string, number>
  perSecond: number
  /** Milliseconds. */
  p50: number
  p99: number
}

/** A connection that is free for a request. */
interface Free {
  /** Sends the next request. Its time counts from the given moment. */
  send(from: number): void
  end(): void
}

/** Runs the loop. `next` returns the bytes of a request, which are written in one call. */
export async function requestLoop(options: LoopOptions, next: () => Uint8Array): Promise<LoadResult> {
  const { port, connections, seconds, warmUpSeconds, perSecond, expects = "" } = options
  const counted = performance.now() + warmUpSeconds * 1_000
  const over = counted + seconds * 1_000
  const answers: Record<string, number> = {}
  const latencies: number[] = []
  const waiting = perSecond === undefined ? undefined : dueTimes(perSecond, over)

  const connect = (): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    let from = 0
    const freed = (socket: Bun.Socket) => {
      const connection: Free = {
        send(at) {
          from = at
          const request = next()
          if (socket.write(request) !== request.length) reject(new Error("A request did not fit the socket's buffer"))
        },
        end: () => void socket.end(),
      }
      if (waiting) waiting.free(connection)
      else if (performance.now() < over) connection.send(performance.now())
      else connection.end()
    }
    Bun.connect({
      hostname: "127.0.0.1",
      port,
      socket: {
        open: freed,
        data(socket, chunk) {
          const now = performance.now()
          const status = chunk.includes(expects) ? chunk.toString("latin1", 9, 12) : "unexpected"
          answers[status] = (answers[status] ?? 0) + 1
          if (now >= counted && now < over) latencies.push(now - from)
          freed(socket)
        },
        close: () => resolve(),
        error: (_, error) => reject(error),
      },
    }).catch(reject)
    return promise
  }
  await Promise.all(Array.from({ length: connections }, connect))
  return { answers, perSecond: latencies.length / seconds, p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) }
}

/** Gives connections the requests that are due at a steady rate, in order. */
function dueTimes(perSecond: number, over: number): { free(connection: Free): void } {
  const idle: Free[] = []
  const begun = performance.now()
  const dueAt = (number: number) => begun + (number * 1_000) / perSecond
  let sent = 0
  const give = () => {
    const now = performance.now()
    while (idle.length > 0 && dueAt(sent) <= Math.min(now, over)) idle.pop()!.send(dueAt(sent++))
    if (now < over) return
    clearInterval(timer)
    for (const connection of idle.splice(0)) connection.end()
  }
  const timer = setInterval(give, 1)
  return {
    free(connection) {
      idle.push(connection)
      give()
    },
  }
}
