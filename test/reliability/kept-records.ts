import { expect } from "bun:test"
import { join } from "node:path"
import { FROM_SOURCE, prepareSite, serveFootfall } from "../../scripts/instance.ts"
import type { RecordKind } from "../../src/domain/record.ts"
import { openCatalog } from "../../src/store/catalog/catalog.ts"
import type { Sql } from "../../src/store/catalog/sql.ts"
import { openEventReader } from "../../src/store/events/reader.ts"
import { temporaryFolder } from "../kit.ts"

const REQUESTS = 60
export const KILLS = 3
const AGENT = "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0"
const PATIENCE_MS = 20_000
const ENDS = 10

interface Recorded {
  /** A program that makes what is asked for, in a data folder that nobody serves; from the root of the checkout. */
  make: string
  path: string
  status: number
  kind: RecordKind
  /** The lifetime counter of it, as `n`. */
  counter: Sql
  /** Beside it, where nothing is: asked for, the area knows what it has without recording anything. */
  nobody: string
}

/** Answered requests are recorded, each once, over kills between them, and so they are in the lifetime counter. */
export async function expectKept({ make, path, status, kind, counter, nobody }: Recorded): Promise<void> {
  using folder = temporaryFolder()
  const { siteId } = await prepareSite(FROM_SOURCE, folder.path)
  const made = Bun.spawnSync([process.execPath, join(import.meta.dir, "../..", make), folder.path, String(siteId)])
  expect(made.exitCode).toBe(0)
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
    // The first kills find a counter that was never written, the last one a counter that was.
    if (kill >= KILLS - 1) await expectCounted(folder.path, { counter, nobody, expected: kill * REQUESTS })
  }
}

/** Ends in order bring the counter up. A second is all that an end has for it, so a slow machine may need several; none counts twice. */
async function expectCounted(
  dataDir: string,
  { counter, nobody, expected }: Pick<Recorded, "counter" | "nobody"> & { expected: number },
): Promise<void> {
  let counted = -1
  for (let end = 0; end < ENDS && counted < expected; end++) {
    await using server = await serveFootfall({ dataDir })
    await (await fetch(`${server.address}${nobody}`)).bytes()
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
