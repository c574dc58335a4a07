import { expect, test } from "bun:test"
import { connect } from "node:net"
import { askStats, FROM_SOURCE, type Prepared, prepareSite, type Served, serveFootfall } from "../../scripts/instance.ts"
import { BROWSER, temporaryFolder } from "../kit.ts"
import { bySize } from "../size.ts"

/** Row `huge-and-slow` of the table of threats: its slow half. Sizes are in `test/http/raw-input` and `bad-input`. */

const CLIENTS = bySize({ check: 120, full: 120, release: 1_000 })
const NORMAL = 100
/** Ten seconds, counted in steps of four. Twice that for a machine that is busy. */
const CUT_OFF_MS = 26_000
/** More than the program takes for as many normal requests, and all that the slow ones can have sent. */
const MEMORY_BYTES = (64 << 20) + CLIENTS * (64 << 10)

const LONG = "x".repeat(60_000)
const head = (path: string, ...lines: readonly string[]) =>
  [`POST ${path} HTTP/1.1`, "Host: shop.example.com", "Content-Type: application/json", ...lines].join("\r\n")

/** How each slow client begins, and what it then sends every half a second. */
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

/** Those that hang on; how many there still are, and when the last has been cut off. */
function hangOn(port: number, site: Prepared) {
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
    // Being cut off may come as a reset.
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

test(`${CLIENTS} clients that send a byte now and then hold up nobody and are cut off`, async () => {
  using folder = temporaryFolder()
  const site = await prepareSite(FROM_SOURCE, folder.path)
  await using server = await serveFootfall({ dataDir: folder.path })
  expect(await sendNormal(server)).toBe(202)
  await askStats(server.address, site, "summary?period=today")
  const before = await server.memory()
  const slow = hangOn(Number(new URL(server.address).port), site)
  while (slow.open() < CLIENTS) await Bun.sleep(10)
  const began = performance.now()
  for (let i = 0; i < NORMAL; i++) expect(await sendNormal(server)).toBe(202)
  const { metrics } = await askStats(server.address, site, "summary?period=today&metrics=pageviews")
  expect(metrics).toEqual({ pageviews: NORMAL + 1 })
  // Those that a gate refuses before their bodies may have their answer; nobody waited for any of them to end.
  expect(slow.open()).toBeGreaterThan(CLIENTS / 2)
  expect((await server.memory()).own - before.own).toBeLessThan(MEMORY_BYTES)
  await slow.allEnded
  expect(performance.now() - began).toBeLessThan(CUT_OFF_MS)
  expect((await askStats(server.address, site, "summary?period=today&metrics=pageviews")).metrics).toEqual({ pageviews: NORMAL + 1 })
  expect((await (await fetch(`${server.address}/health`)).json()).status).toBe("ok")
}, 90_000)
