import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { connect, type Socket } from "node:net"
import { join } from "node:path"
import { TRAITS, type VisitTraits } from "../../../src/domain/visit.ts"
import { LISTENING } from "../../../src/http/server.ts"
import { groupRow } from "../../../src/store/events/bytes/columns.ts"
import type { ImportedVisit } from "../../../src/store/events/import-batch.ts"
import { startInstance, type TestInstance } from "../../kit.ts"
import { longTest } from "../../size.ts"
import { showImports } from "../../visible-imports.ts"
import { recordsOf } from "./csv.ts"

const EXPORT = "/api/public/v1/sites/1/export"
const NOW = "2026-11-21T12:00:00Z"
const MIDNIGHT = Date.parse("2026-11-20T23:00:00Z")
const MIB = 2 ** 20

// The type requires every trait.
const NO_TRAITS = Object.fromEntries(TRAITS.map((trait) => [trait, ""])) as Record<keyof VisitTraits, string>

/** Visits of today, one every `every` milliseconds, with `events` pageviews each. */
function* visitsOf(count: number, { events = 1, every = 10 } = {}): Generator<ImportedVisit> {
  const traits = { ...NO_TRAITS, source: "News", country: "DE", browser: "Firefox", os: "Linux", device: "Desktop" }
  for (let visit = 0; visit < count; visit++) {
    const seen = Array.from({ length: events }, (_, i) => ({
      at: MIDNIGHT + visit * every + i,
      ...{ name: "pageview", page: `/shop/page-${(visit + i) % 500}`, hostname: "shop.example", title: "A page of the shop" },
      ...{ interactive: true, props: [["plan", "pro"]] as const },
    }))
    yield { visitor: String(visit), traits, events: seen, day: "2026-11-21" }
  }
}

/** Starts the application behind a real socket, with the given visits. */
async function openShop(...visits: Parameters<typeof visitsOf>) {
  const instance = await startInstance({ now: NOW, settings: { trusted_proxies: "127.0.0.0/8" } })
  await instance.app.instance.events.importVisits({ siteId: 1, importId: 1 }, visitsOf(...visits))
  await showImports(instance, [{ id: 1 }])
  const key = await instance.makeKey(["export:read"])
  const server = Bun.serve({ ...LISTENING, port: 0, hostname: "127.0.0.1", fetch: (request, peers) => instance.app.fetch(request, peers) })
  const path = (query: string) => `${EXPORT}?period=today&${query}`
  return {
    instance,
    port: server.port!,
    /** Requests through the socket. */
    fetch: (query: string, as = key) =>
      fetch(`http://127.0.0.1:${server.port}${path(query)}`, { headers: { authorization: `Bearer ${as}` } }),
    /** Requests without a socket, so that each read produces one chunk. */
    ask: (query: string, as = key) =>
      instance.fetch(new Request(`http://localhost${path(query)}`, { headers: { authorization: `Bearer ${as}` } })),
    async status(query: string, as = key): Promise<number> {
      const answer = await this.ask(query, as)
      await answer.text()
      return answer.status
    },
    /** Returns how many bytes another process receives. A reader in this process would be included in the measured memory. */
    async read(query: string): Promise<number> {
      const request = { url: `http://127.0.0.1:${server.port}${path(query)}`, headers: { authorization: `Bearer ${key}` } }
      const script = `let size = 0
        const { url, headers } = ${JSON.stringify(request)}
        for await (const chunk of (await fetch(url, { headers })).body) size += chunk.length
        console.log(size)`
      const reader = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" })
      return Number(await new Response(reader.stdout).text())
    },
    /** Opens a client whose socket the test controls. */
    async connect(query: string): Promise<Socket> {
      const socket = connect(server.port!, "127.0.0.1")
      socket.on("error", () => {})
      socket.write(`GET ${path(query)} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\n\r\n`)
      await new Promise((resolve) => socket.once("readable", resolve))
      return socket
    },
    async [Symbol.asyncDispose]() {
      await server.stop(true)
      await instance[Symbol.asyncDispose]()
    },
  }
}

/** Counts a text in successive chunks. An occurrence across a boundary of the transfer encoding is missed. */
function counter(wanted: string) {
  const count = {
    found: 0,
    rest: "",
    add(chunk: Uint8Array): string {
      const text = count.rest + Buffer.from(chunk).toString("latin1")
      count.found += text.split(wanted).length - 1
      count.rest = text.slice(1 - wanted.length)
      return text
    },
  }
  return count
}

async function eventually(isSo: () => Promise<boolean> | boolean): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (await isSo()) return
    await Bun.sleep(25)
  }
  throw new Error("It never became so")
}

test("a reader that pauses delays no one else and receives everything later", async () => {
  await using shop = await openShop(60_000)
  const socket = await shop.connect("type=events&format=ndjson")
  await Bun.sleep(500)
  expect((await shop.fetch("type=page&format=json")).status).toBe(200)
  const count = counter('"at":')
  for await (const chunk of socket) if (count.add(chunk as Buffer).endsWith("0\r\n\r\n")) break
  expect(count.found).toBe(60_000)
})

test("a reader that disconnects frees its slot and stops the export", async () => {
  await using shop = await openShop(60_000)
  const sockets = [await shop.connect("type=events"), await shop.connect("type=visits")]
  expect((await shop.ask("type=page")).status).toBe(429)
  for (const socket of sockets) socket.destroy()
  await eventually(async () => {
    const answer = await shop.ask("type=page")
    await answer.body?.cancel()
    return answer.status === 200
  })
  // Both slots are free again, and an export that was cancelled no difference counts as running.
  const both = [await shop.ask("type=visits"), await shop.ask("type=events")]
  expect(both.map(({ status }) => status)).toEqual([200, 200])
  for (const answer of both) await answer.body?.cancel()
  expect(shop.instance.log.lines.filter(({ level }) => level === "error")).toEqual([])
})

test("a failure in the middle aborts the connection, so that a truncated file is not mistaken for a complete one", async () => {
  await using shop = await openShop(100_000)
  damageLastSegment(shop.instance)
  const answer = await shop.fetch("type=events")
  expect(answer.status).toBe(200)
  let size = 0
  const read = async () => {
    for await (const chunk of answer.body!) size += chunk.length
  }
  await expect(read()).rejects.toThrow()
  expect(size).toBeGreaterThan(MIB)
  // The slot is free again.
  for (let i = 0; i < 3; i++) expect(await shop.status("type=goals")).toBe(200)
})

test("a failure before the first row is answered as an error", async () => {
  await using shop = await openShop(10)
  damageLastSegment(shop.instance)
  for (let i = 0; i < 3; i++) expect(await shop.status("type=events")).toBe(503)
})

/** Damages columns of the last segment that are read only with its rows. */
function damageLastSegment({ dataDir }: TestInstance): void {
  using db = new Database(join(dataDir, "events.db"))
  const { last } = db.query<{ last: number }, []>("select max(id) as last from segments").get()!
  const { changes } = db.query("update segment_columns set data = zeroblob(40) where id = ?").run(groupRow(last, "clients"))
  expect(changes).toBe(1)
}

test.each([
  ["csv", (rest: string) => rest.trimEnd().split("\r\n").at(-1)!.split(",")[0], '"# omitted_visits=1000"'],
  ["ndjson", (rest: string) => rest.trimEnd().split("\n").at(-1), '{"omitted_visits":1000}'],
  ["json", (rest: string) => rest.trimEnd().slice(rest.lastIndexOf("]")), '],"omitted_visits":1000}'],
] as const)("omits data erased during an export as %s, and notes it at the end of the file", async (format, endOf, expected) => {
  await using shop = await openShop(4_000)
  const reader = (await shop.ask(`type=visits&format=${format}`)).body!.getReader()
  const first = new TextDecoder().decode((await reader.read()).value)
  // Part of the first five hundred, already read, and the last thousand, not yet read.
  const isErased = (start: number) => start < MIDNIGHT + 2_000 || start >= MIDNIGHT + 30_000
  const choose = (starts: Float64Array) => Uint8Array.from(starts, (start) => (isErased(start) ? 1 : 0))
  await shop.instance.app.instance.events.erase(1, (part) => choose(part.starts()), Date.parse(NOW))
  let rest = ""
  for (;;) {
    const { value, done } = await reader.read()
    if (done) break
    rest += new TextDecoder().decode(value)
  }
  expect(endOf(rest)).toBe(expected)
  const seconds = (text: string) => text.match(/2026-11-20T23:00:\d\dZ/g) ?? []
  expect(new Set(seconds(first))).toEqual(new Set(Array.from({ length: 5 }, (_, s) => `2026-11-20T23:00:0${s}Z`)))
  expect(new Set(seconds(rest)).size).toBe(25)
  expect(seconds(rest).every((at) => at >= "2026-11-20T23:00:05Z" && at < "2026-11-20T23:00:30Z")).toBe(true)
  if (format === "csv") expect(recordsOf(first + rest)).toHaveLength(3_001)
})

test("allows two concurrent exports per key", async () => {
  await using shop = await openShop(3_000)
  const other = await shop.instance.makeKey(["export:read"])
  const [first, second] = [await shop.ask("type=events"), await shop.ask("type=visits")]
  const refused = await shop.ask("type=goals")
  expect({ status: refused.status, wait: refused.headers.get("retry-after") }).toEqual({ status: 429, wait: "5" })
  expect(await refused.json()).toMatchObject({ code: "rate_limited" })
  const third = await shop.ask("type=events", other)
  expect(third.status).toBe(200)
  await first.text()
  expect(await shop.status("type=goals")).toBe(200)
  await second.body?.cancel()
  await third.body?.cancel()
})

test("allows 60 exports of raw rows per hour", async () => {
  await using shop = await openShop(5)
  const other = await shop.instance.makeKey(["export:read"])
  // An open export keeps the worker alive; otherwise sixty would be started.
  const open = await shop.ask("type=visits")
  for (let i = 0; i < 59; i++) expect(await shop.status(i % 2 === 0 ? "type=events" : "type=visits")).toBe(200)
  const refused = await shop.ask("type=events")
  expect({ status: refused.status, wait: refused.headers.get("retry-after") }).toEqual({ status: 429, wait: "60" })
  expect(await shop.status("type=page")).toBe(200)
  expect(await shop.status("type=events", other)).toBe(200)
  await open.text()
  shop.instance.clock.advance(60_000)
  expect(await shop.status("type=events")).toBe(200)
  expect(await shop.status("type=events")).toBe(429)
})

longTest(
  "exporting half a million events needs no more memory than a few thousand, even if the reader pauses",
  async () => {
    await using shop = await openShop(125_000, { events: 4, every: 300 })
    // An open export keeps the worker alive, so that its cost is part of both figures.
    const open = await shop.ask("type=visits")
    const onFirstPages = encodeURIComponent('[{"dimension":"page","operator":"starts_with","values":["/shop/page-1"]}]')
    const few = await growthWhile(() => shop.read(`type=events&filters=${onFirstPages}`))
    const began = performance.now()
    const all = await growthWhile(() => shop.read("type=events"))
    const took = performance.now() - began
    const paused = await growthWhile(async () => {
      const socket = await shop.connect("type=events")
      // Long enough to produce the whole file, if the server did not wait for the reader.
      await Bun.sleep(2 * took)
      const held = process.memoryUsage.rss()
      socket.destroy()
      return held
    })
    await open.body?.cancel()
    expect(few.result).toBeLessThan(25 * MIB)
    expect(all.result).toBeGreaterThan(85 * MIB)
    // A server that buffered the file would use at least as much more memory as the file is longer.
    const difference = all.result - few.result
    expect(paused.result - paused.before).toBeLessThan(difference)
    expect(all.growth - few.growth).toBeLessThan(difference)
  },
  120_000,
)

/** Returns the result of `work`, and the peak growth of this process's memory while it ran. */
async function growthWhile<T>(work: () => Promise<T>): Promise<{ result: T; before: number; growth: number }> {
  Bun.gc(true)
  await Bun.sleep(500)
  const before = process.memoryUsage.rss()
  let peak = before
  const timer = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }, 10)
  const result = await work()
  clearInterval(timer)
  return { result, before, growth: peak - before }
}
