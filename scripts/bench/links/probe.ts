/**
 * Follows a short link repeatedly over one connection, with a request every few milliseconds, until its input ends. Runs as a
 * separate process: port and path are one JSON argument, the result is one line of JSON.
 */
import { quantile } from "../timing.ts"

export interface ProbeOptions {
  port: number
  path: string
}
export interface ProbeResult {
  /** Number of answers by status. */
  answers: Record<string, number>
  /** Milliseconds. */
  p50: number
  p99: number
  longest: number
}

const PAUSE_MS = 2

if (import.meta.main) {
  const options: ProbeOptions = JSON.parse(Bun.argv[2]!)
  let isOver = false
  void Bun.stdin.text().then(() => {
    isOver = true
  })
  console.log(JSON.stringify(await probe(options, () => isOver)))
}

async function probe({ port, path }: ProbeOptions, isOver: () => boolean): Promise<ProbeResult> {
  const answers: Record<string, number> = {}
  const latencies: number[] = []
  const request = Buffer.from(
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0\r\n\r\n`,
  )
  let answered = Promise.withResolvers<string>()
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      data: (_, chunk) => answered.resolve(chunk.toString("latin1", 9, 12)),
      close: () => answered.reject(new Error("The server closed the connection")),
      error: (_, error) => answered.reject(error),
    },
  })
  while (!isOver()) {
    answered = Promise.withResolvers()
    const from = performance.now()
    socket.write(request)
    const status = await answered.promise
    latencies.push(performance.now() - from)
    answers[status] = (answers[status] ?? 0) + 1
    await Bun.sleep(PAUSE_MS)
  }
  answered.promise.catch(() => {})
  socket.end()
  return { answers, p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99), longest: Math.max(...latencies) }
}
