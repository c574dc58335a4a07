/**
 * A closed loop of pageviews with unique ids. Runs as a separate process: the options are one JSON argument, the result is one line
 * of JSON.
 */
import { personOf } from "../../src/services/demo/people.ts"
import { closedLoop, type LoopOptions } from "./closed-loop.ts"

export interface LoadOptions extends LoopOptions {
  trackingId: string
}

const ID_DIGITS = 12

if (import.meta.main) {
  const options: LoadOptions = JSON.parse(Bun.argv[2]!)
  const requests = requestsOf(options.trackingId)
  let sent = 0
  const next = () => {
    const request = requests[sent % requests.length]!
    stamp(request, sent++)
    return request.bytes
  }
  console.log(JSON.stringify(await closedLoop(options, next)))
}

interface Prepared {
  bytes: Uint8Array
  /** Offset of the event's id. */
  idAt: number
}

/** Pageviews of 5,000 people behind a proxy on this machine. Each is sent repeatedly under a new id. */
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

/** Writes a unique id into each event, like the tracker. */
function stamp({ bytes, idAt }: Prepared, number: number): void {
  for (let digit = ID_DIGITS - 1, left = number; digit >= 0; digit--, left = Math.floor(left / 10)) bytes[idAt + digit] = 48 + (left % 10)
}
