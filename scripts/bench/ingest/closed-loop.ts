/**
 * A closed loop of HTTP requests over raw sockets: each connection sends its next request when the previous one is answered.
 * Writing the bytes directly keeps the sender cheaper than the server it measures.
 */
import { quantile } from "../timing.ts"

export interface LoopOptions {
  port: number
  connections: number
  seconds: number
  /** Duration of the warm-up in seconds, whose requests are not counted. */
  warmUpSeconds: number
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

/** Runs the loop. `next` returns the bytes of a request, which are written in one call. */
export async function closedLoop(
  { port, connections, seconds, warmUpSeconds, expects = "" }: LoopOptions,
  next: () => Uint8Array,
): Promise<LoadResult> {
  const counted = performance.now() + warmUpSeconds * 1_000
  const over = counted + seconds * 1_000
  const answers: Record<string, number> = {}
  const latencies: number[] = []

  const connection = (): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    let from = 0
    const send = (socket: { write(bytes: Uint8Array): number }) => {
      const request = next()
      from = performance.now()
      if (socket.write(request) !== request.length) reject(new Error("A request did not fit the socket's buffer"))
    }
    Bun.connect({
      hostname: "127.0.0.1",
      port,
      socket: {
        open: send,
        data(socket, chunk) {
          const now = performance.now()
          const status = chunk.includes(expects) ? chunk.toString("latin1", 9, 12) : "unexpected"
          answers[status] = (answers[status] ?? 0) + 1
          if (now >= counted && now < over) latencies.push(now - from)
          if (now < over) send(socket)
          else socket.end()
        },
        close: () => resolve(),
        error: (_, error) => reject(error),
      },
    }).catch(reject)
    return promise
  }
  await Promise.all(Array.from({ length: connections }, connection))
  return { answers, perSecond: latencies.length / seconds, p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) }
}
