import { expect, test } from "bun:test"
import { connect } from "node:net"
import { askStats, PROGRAM, type Prepared, prepareSite, type Served, serveFootfall } from "../../scripts/instance.ts"
import { BROWSER, temporaryFolder } from "../kit.ts"
import { bySize } from "../size.ts"

/** Threat `huge-and-slow`, its slow half. Oversized input is covered by `test/http/raw-input` and `bad-input`. */

const CLIENTS = bySize({ check: 120, full: 120, release: 1_000 })
const NORMAL = 100
/** The timeout of 10 seconds is checked in steps of 4. Doubled for a busy machine. */
const CUT_OFF_MS = 26_000
/** More than the program uses for the normal requests plus all bytes that the slow clients can have sent. */
const MEMORY_BYTES = (64 << 20) + CLIENTS * (64 << 10)

const LONG = "x".repeat(60_000)
const head = (path: string, ...lines: readonly string[]) =>
  [`POST ${path} HTTP/1.1`, "Host: shop.example.com", "Content-Type: application/json", ...lines].join("\r\n")

/** How each slow client begins its request, and what it sends every half second afterwards. */
function slowClients({ siteId, key }: Prepared): readonly { begin: string; go: string }[] {
  const authorization = `Authorization: Bearer ${key}`
  const events = `/api/public/v1/sites/${siteId}/events`
  return [
    { begin: "", go: "" },
    { begin: "POST /api/ev", go: "e" },
    { begin: head("/api/event", "X-Filler: "), go: "x" },
    { begin: head("/api/event", ""), go: "X-Filler: x\r\n" },
    { begin: `${head("/api/event", "Content-Length: 65000")}\r\n\r\n"`, go: "x" },
    { begin: `${head("/api/event", "Content-Length: 65000")}\r\n\r\n"${LONG}`, go: "x" },
    { begin: `${head("/api/send", "Transfer-Encoding: chunked")}\r\n\r\n`, go: "1\r\n{\r\n" },
    { begin: `${head(events, authorization, "Content-Length: 65000")}\r\n\r\n"${LONG}`, go: "x" },
    { begin: `${head(events, authorization, "Transfer-Encoding: chunked")}\r\n\r\n`, go: "1\r\n{\r\n" },
    { begin: `${head(`/api/public/v1/sites/${siteId}/goals`, authorization, "Content-Length: 65000")}\r\n\r\n{`, go: "x" },
    { begin: `${head("/api/public/v1/mcp", authorization, "Content-Length: 65000")}\r\n\r\n{`, go: "x" },
    { begin: `${head("/api/private/auth/sign-in", "Content-Length: 65000")}\r\n\r\n{`, go: "x" },
  ]
}

/** Opens slow connections. Returns the number still open and a promise that resolves when the last one was closed. */
function openSlowConnections(port: number, site: Prepared) {
  const kinds = slowClients(site)
  let open = 0
  const ends = Array.from({ length: CLIENTS }, (_, client) => {
    const { begin, go } = kinds[client % kinds.length]!
    const { promise, resolve } = Promise.withResolvers<void>()
    const socket = connect(port, "127.0.0.1", () => {
      open++
      if (begin !== "") socket.write(begin)
    })
    const trickle = setInterval(() => go !== "" && socket.writable && socket.write(go), 500)
    // A closed connection may surface as a reset.
    socket.on("error", () => {})
    socket.resume()
    socket.on("close", () => {
      clearInterval(trickle)
      open--
      resolve()
    })
    return promise
  })
  return { open: () => open, allEnded: Promise.all(ends) }
}

const sendNormal = async ({ address }: Served): Promise<number> => {
  const body = JSON.stringify({ n: "pageview", u: "https://shop.example.com/", d: "shop.example.com" })
  return (await fetch(`${address}/api/event`, { method: "POST", headers: { "user-agent": BROWSER }, body })).status
}

test(`${CLIENTS} clients that send a byte at a time delay no other request and are disconnected`, async () => {
  using folder = temporaryFolder()
  const site = await prepareSite(PROGRAM, folder.path)
  await using server = await serveFootfall({ dataDir: folder.path })
  expect(await sendNormal(server)).toBe(202)
  await askStats(server.address, site, "summary?period=today")
  const before = await server.memory()
  const slow = openSlowConnections(Number(new URL(server.address).port), site)
  while (slow.open() < CLIENTS) await Bun.sleep(10)
  const began = performance.now()
  for (let i = 0; i < NORMAL; i++) expect(await sendNormal(server)).toBe(202)
  const { metrics } = await askStats(server.address, site, "summary?period=today&metrics=pageviews")
  expect(metrics).toEqual({ pageviews: NORMAL + 1 })
  // Clients whose headers are already rejected may have received a response; no request waited for the others.
  expect(slow.open()).toBeGreaterThan(CLIENTS / 2)
  expect((await server.memory()).own - before.own).toBeLessThan(MEMORY_BYTES)
  await slow.allEnded
  expect(performance.now() - began).toBeLessThan(CUT_OFF_MS)
  expect((await askStats(server.address, site, "summary?period=today&metrics=pageviews")).metrics).toEqual({ pageviews: NORMAL + 1 })
  expect((await (await fetch(`${server.address}/health`)).json()).status).toBe("ok")
}, 90_000)
