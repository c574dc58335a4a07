import { expect } from "bun:test"
import { join } from "node:path"
import { PROGRAM, prepareSite, serveFootfall } from "../../scripts/instance.ts"
import type { RecordKind } from "../../src/domain/record.ts"
import { openCatalog } from "../../src/store/catalog/catalog.ts"
import { openEventReader } from "../../src/store/events/reader.ts"
import type { Sql } from "../../src/store/sql.ts"
import { temporaryFolder } from "../kit.ts"
import { bySize } from "../size.ts"

const REQUESTS = 60
export const KILLS = 3
/** Number of kills under load. */
export const KILLS_UNDER_LOAD = bySize({ check: 3, full: 8, release: 8 })
const CONNECTIONS = 64
/** Acknowledged requests that a kill may lose: those of the last `ms`, and never more than `records`. */
const MAY_WAIT = { ms: 20, records: 1_000 }
const AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0"
const PATIENCE_MS = 20_000
const ENDS = 10

interface Recorded {
  /** Path, from the root of the checkout, of a program that creates the requested thing in the data folder of a stopped server. */
  make: string
  path: string
  status: number
  kind: RecordKind
  /** Query that returns the lifetime counter as `n`. */
  counter: Sql
  /** Path of something that doesn't exist. A request for it loads the plugin's cache and records nothing. */
  missingPath: string
}

/** Kills the process between recorded requests, and expects each of them once among the records and in the lifetime counter. */
export async function expectKept({ make, path, status, kind, counter, missingPath }: Recorded): Promise<void> {
  using folder = await prepare({ make })
  const { siteId } = folder
  const stored = () => storedIn(folder.path, { siteId, kind })
  for (let kill = 1; kill <= KILLS; kill++) {
    await using server = await serveFootfall({ dataDir: folder.path })
    for (let request = 0; request < REQUESTS; request++) {
      const headers = { "user-agent": AGENT, "x-forwarded-for": `198.18.${kill}.${request}` }
      const answer = await fetch(`${server.address}${path}`, { redirect: "manual", headers })
      await answer.bytes()
      expect(answer.status).toBe(status)
    }
    await until(() => stored() >= kill * REQUESTS)
    await server.kill("SIGKILL")
    expect(stored()).toBe(kill * REQUESTS)
    // The first kills find a counter that was never written, the last one finds a written one.
    if (kill >= KILLS - 1) await expectCounted(folder.path, { counter, missingPath, expected: kill * REQUESTS })
  }
}

/** Prepares a data folder with a site and the requested thing, which `make` creates. */
async function prepare({ make, options = [] }: { make: string; options?: readonly string[] }) {
  const folder = temporaryFolder()
  const { siteId } = await prepareSite(PROGRAM, folder.path)
  const made = Bun.spawnSync([process.execPath, join(import.meta.dir, "../..", make), folder.path, String(siteId), ...options])
  expect(made.exitCode).toBe(0)
  return { ...folder, siteId }
}

/** Uses up a link, kills the process right after the last click is answered, and expects that no later click succeeds. */
export async function expectUsedUp({ make, path }: Pick<Recorded, "make" | "path">): Promise<void> {
  const limit = 7
  using folder = await prepare({ make, options: [String(limit)] })
  const click = async (address: string, sender: number) => {
    const headers = { "user-agent": AGENT, "x-forwarded-for": `198.18.0.${sender}` }
    return (await fetch(`${address}${path}`, { redirect: "manual", headers })).status
  }
  {
    await using server = await serveFootfall({ dataDir: folder.path })
    const statuses = await Promise.all(Array.from({ length: limit }, (_, sender) => click(server.address, sender)))
    await server.kill("SIGKILL")
    expect(statuses).toEqual(Array(limit).fill(302))
  }
  expect(storedIn(folder.path, { siteId: folder.siteId, kind: "clicks" })).toBe(limit)
  await using server = await serveFootfall({ dataDir: folder.path })
  expect(await click(server.address, limit)).toBe(410)
}

/**
 * Kills the process under load, and expects that at most the acknowledged requests of 20 ms are missing. The limit is the number of
 * answers in the busiest 20 ms of the same load, so that a machine that stalls for a moment does not fail the test.
 */
export async function expectFewLost({ make, path, status, kind }: Omit<Recorded, "counter" | "missingPath">): Promise<void> {
  using folder = await prepare({ make })
  const { siteId } = folder
  let before = 0
  for (let kill = 1; kill <= KILLS_UNDER_LOAD; kill++) {
    await using server = await serveFootfall({ dataDir: folder.path })
    const load = startLoad(server.address, path, status)
    await Bun.sleep(1_000 + 100 * kill)
    await server.kill("SIGKILL")
    const answeredAt = await load.ended
    const after = storedIn(folder.path, { siteId, kind })
    expect(answeredAt.length).toBeGreaterThan(CONNECTIONS)
    expect(answeredAt.length - (after - before)).toBeLessThanOrEqual(Math.min(MAY_WAIT.records, busiest(answeredAt, MAY_WAIT.ms)))
    before = after
  }
}

/** Sends requests over many connections until the server is gone. `ended` resolves with the time of each answer. */
function startLoad(address: string, path: string, status: number): { ended: Promise<number[]> } {
  const { hostname, port, host } = new URL(address)
  const request = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: ${AGENT}\r\n\r\n`)
  const answer = `HTTP/1.1 ${status}`
  const answeredAt: number[] = []
  const connection = async (): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const send = (socket: { write(bytes: Uint8Array): number }) => void socket.write(request)
    await Bun.connect({
      hostname,
      port: Number(port),
      socket: {
        open: send,
        data(socket, chunk) {
          const text = chunk.toString("latin1", 0, answer.length)
          if (text !== answer) return reject(new Error(`Answered with ${text}`))
          answeredAt.push(performance.now())
          send(socket)
        },
        close: () => resolve(),
        error: () => resolve(),
      },
    })
    await promise
  }
  return { ended: Promise.all(Array.from({ length: CONNECTIONS }, connection)).then(() => answeredAt) }
}

/** Returns the maximum number of times within any interval of `ms`. */
function busiest(times: readonly number[], ms: number): number {
  let most = 0
  for (let first = 0, last = 0; last < times.length; last++) {
    while (times[last]! - times[first]! >= ms) first++
    most = Math.max(most, last - first + 1)
  }
  return most
}

/** Stops the server until the counter is complete. Each stop has one second to update it, so a slow machine may need several. */
async function expectCounted(
  dataDir: string,
  { counter, missingPath, expected }: Pick<Recorded, "counter" | "missingPath"> & { expected: number },
): Promise<void> {
  let counted = -1
  for (let end = 0; end < ENDS && counted < expected; end++) {
    await using server = await serveFootfall({ dataDir })
    await (await fetch(`${server.address}${missingPath}`)).bytes()
    expect(await server.kill("SIGTERM")).toBe(0)
    const catalog = await openCatalog(`file:${join(dataDir, "catalog.db")}`)
    counted = (await catalog.get<{ n: number }>(counter))!.n
    await catalog.close()
  }
  expect(counted).toBe(expected)
}

async function until(holds: () => boolean): Promise<void> {
  for (const end = performance.now() + PATIENCE_MS; !holds() && performance.now() < end; ) await Bun.sleep(20)
}

function storedIn(dataDir: string, { siteId, kind }: { siteId: number; kind: RecordKind }): number {
  const reader = openEventReader(join(dataDir, "events.db"), { cacheBytes: 1 << 20 })
  const found = reader.snapshot(siteId, kind).parts.reduce((sum, { visits }) => sum + visits, 0)
  reader.close()
  return found
}
