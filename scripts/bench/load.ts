/**
 * A closed loop of HTTP requests over raw sockets: each connection sends its next request when the last one is answered.
 * Writing the bytes ourselves keeps the sender cheaper than the server it measures. Run as a process: options as one JSON
 * argument, result as one JSON line.
 */
import { personOf } from "../../src/services/demo-people.ts"
import { quantile } from "./timing.ts"

export interface LoadOptions {
  port: number
  connections: number
  seconds: number
  /** Requests of the first so many seconds are not counted. */
  warmUpSeconds: number
  trackingId: string
}
export interface LoadResult {
  /** Answers by status, over the whole run. */
  answers: Record<string, number>
  perSecond: number
  p50: number
  p99: number
}

const ID_DIGITS = 12

if (import.meta.main) console.log(JSON.stringify(await run(JSON.parse(Bun.argv[2]!))))

async function run(options: LoadOptions): Promise<LoadResult> {
  const requests = requestsOf(options.trackingId)
  const begun = performance.now()
  const counted = begun + options.warmUpSeconds * 1_000
  const over = counted + options.seconds * 1_000
  const answers: Record<string, number> = {}
  const latencies: number[] = []
  let sent = 0

  const connection = (): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    let from = 0
    const send = (socket: { write(bytes: Uint8Array): number }) => {
      const request = requests[sent % requests.length]!
      stamp(request, sent++)
      from = performance.now()
      if (socket.write(request.bytes) !== request.bytes.length) reject(new Error("A request did not fit the socket's buffer"))
    }
    Bun.connect({
      hostname: "127.0.0.1",
      port: options.port,
      socket: {
        open: send,
        data(socket, chunk) {
          const now = performance.now()
          const status = chunk.toString("latin1", 9, 12)
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
  await Promise.all(Array.from({ length: options.connections }, connection))
  return { answers, perSecond: latencies.length / options.seconds, p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) }
}

interface Prepared {
  bytes: Uint8Array
  /** Where the event's id begins. */
  idAt: number
}

/** Page views of 5,000 people behind a proxy on this machine; each is sent again and again under a new id. */
function requestsOf(trackingId: string): Prepared[] {
  return Array.from({ length: 5_000 }, (_, person) => {
    const { address, userAgent, language, width, timezone } = personOf(7, person)
    const id = "0".repeat(ID_DIGITS)
    const url = `https://shop.example.com/products/${person % 60}?utm_source=newsletter`
    const body = JSON.stringify({
      id,
      name: "pageview",
      d: trackingId,
      url,
      r: "https://www.google.com/",
      title: "Coffee",
      w: width,
      tz: timezone,
    })
    const head = [
      ...["POST /api/event HTTP/1.1", "Host: localhost", "Content-Type: text/plain", `User-Agent: ${userAgent}`],
      ...[`Accept-Language: ${language}`, `X-Forwarded-For: ${address}`, `Content-Length: ${Buffer.byteLength(body)}`],
    ]
    const text = `${head.join("\r\n")}\r\n\r\n${body}`
    return { bytes: Buffer.from(text), idAt: text.indexOf(id, text.indexOf("\r\n\r\n")) }
  })
}

/** Every event has an id of its own, as the tracker's have. */
function stamp({ bytes, idAt }: Prepared, number: number): void {
  for (let digit = ID_DIGITS - 1, left = number; digit >= 0; digit--, left = Math.floor(left / 10)) bytes[idAt + digit] = 48 + (left % 10)
}
