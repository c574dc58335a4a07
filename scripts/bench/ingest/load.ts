/**
 * A loop of pageviews with unique ids, some of them sales. Runs as a separate process: the options are one JSON argument, the result is one line
 * of JSON.
 */
import { personOf } from "../../../src/services/demo/people.ts"
import { type LoopOptions, requestLoop } from "./request-loop.ts"

export interface LoadOptions extends LoopOptions {
  trackingId: string
  /** One of how many events is a sale with an order of its own. Default: none. */
  saleEvery?: number
  /** Number of the first event, from which its id is made. Default: 0. */
  firstId?: number
}

const ID_DIGITS = 12

if (import.meta.main) {
  const options: LoadOptions = JSON.parse(Bun.argv[2]!)
  const requests = requestsOf(options)
  let sent = options.firstId ?? 0
  const next = () => {
    const request = requests[sent % requests.length]!
    stamp(request, sent++)
    return request.bytes
  }
  console.log(JSON.stringify(await requestLoop(options, next)))
}

interface Prepared {
  bytes: Uint8Array
  /** Offsets of the event's id, and of the order's. */
  idsAt: number[]
}

/** Pageviews of 5,000 people behind a proxy on this machine. Each is sent repeatedly under a new id. */
function requestsOf({ trackingId, saleEvery }: LoadOptions): Prepared[] {
  return Array.from({ length: 5_000 }, (_, person) => {
    const { address, userAgent, language, width, timezone } = personOf(7, person)
    const id = "0".repeat(ID_DIGITS)
    const url = `https://shop.example.com/products/${person % 60}?utm_source=newsletter`
    const body = JSON.stringify({
      id,
      ...(saleEvery !== undefined && person % saleEvery === 0
        ? { name: "purchase", $: { amount: "19.90", currency: "EUR" }, p: { order_id: id } }
        : { name: "pageview" }),
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
    return { bytes: Buffer.from(text), idsAt: Array.from(text.matchAll(new RegExp(id, "g")), ({ index }) => index) }
  })
}

/** Writes a unique id into each event, like the tracker. */
function stamp({ bytes, idsAt }: Prepared, number: number): void {
  for (const at of idsAt)
    for (let digit = ID_DIGITS - 1, left = number; digit >= 0; digit--, left = Math.floor(left / 10)) bytes[at + digit] = 48 + (left % 10)
}
