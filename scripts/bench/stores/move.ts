/** The rate of a move to ClickHouse, compared with an import of the same visits into the embedded store. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { moveEvents } from "../../../src/services/moving/moving.ts"
import { catalogUrl, openCatalog } from "../../../src/store/catalog/catalog.ts"
import { CATALOG_SCHEMA, migrate } from "../../../src/store/catalog/schema.ts"
import { createClickhouse } from "../../../src/store/clickhouse/client.ts"
import { migrateClickhouse } from "../../../src/store/clickhouse/migrate.ts"
import { openEventStore } from "../../../src/store/events/events.ts"
import { siteOf } from "../../../test/ingest/intake.ts"
import { sendDirectly } from "../../../test/store/clickhouse/chdb.ts"
import type { TestServer } from "../../../test/store/clickhouse/server.ts"
import { count, table } from "../table.ts"
import { benchData, type DataOptions } from "./data.ts"
import { openFootfall, SCHEMAS } from "./footfall.ts"
import { DAY_MS } from "./reports.ts"

const SITE = 1
/** Events per second of a move ÷ those of an import. */
const BAR = 0.5
const STAMP = { version: "1.0.0", now: 1 }

interface Timed {
  seconds: number
  /** Processor time of this process, without that of ClickHouse. */
  processor: number
}

async function timed(work: () => Promise<unknown>): Promise<Timed> {
  const [from, usage] = [performance.now(), process.cpuUsage()]
  await work()
  const { user, system } = process.cpuUsage(usage)
  return { seconds: (performance.now() - from) / 1_000, processor: (user + system) / 1e6 }
}

/** Fills a store by ingestion and moves it to ClickHouse, next to an import of the same visits. */
export async function measureMove(running: TestServer, data: DataOptions): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "footfall-"))
  try {
    const footfall = openFootfall(folder, data.end - data.days * DAY_MS)
    for (const visits of benchData(data)) await footfall.load(visits)
    await footfall.finish()
    const imported = await timed(() => importInto(join(folder, "imported.db"), data))
    const moved = await timed(() => move(running, folder, footfall.path))
    console.log(`\n### Moving ${count(data.events)} events\n`)
    const line = (name: string, { seconds, processor }: Timed) => [
      name,
      count(Math.round(data.events / seconds)),
      ((1e6 * processor) / data.events).toFixed(1),
    ]
    console.log(table(["", "events per second", "processor µs per event"], [line("embedded import", imported), line("engine move", moved)]))
    const [rate, ofNode] = [imported.seconds / moved.seconds, imported.processor / moved.processor]
    console.log(`engine move ÷ embedded import: ${rate.toFixed(2)} (bar: ${BAR}, ${rate >= BAR ? "holds" : "does not hold"})`)
    console.log(`the same by the processor time of the node, as if ClickHouse had cores of its own: ${ofNode.toFixed(2)}`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function importInto(path: string, data: DataOptions): Promise<void> {
  const store = openEventStore(path, { now: data.end, schemas: SCHEMAS })
  for (const visits of benchData(data))
    await store.importVisits(
      { siteId: SITE, importId: 1 },
      visits.map(({ visitor, traits, events }) => ({
        ...{ visitor: String(visitor), traits, events },
        day: new Date(events[0]!.at).toISOString().slice(0, 10),
      })),
    )
  store.close()
}

async function move(running: TestServer, folder: string, path: string): Promise<void> {
  await running.clickhouse.run("create database moved")
  const server = { ...running.server, database: "moved" }
  const clickhouse = createClickhouse(server, sendDirectly)
  await migrateClickhouse(clickhouse, STAMP)
  const catalog = await openCatalog(catalogUrl(join(folder, "catalog.db")))
  await migrate(catalog, [CATALOG_SCHEMA], STAMP)
  const events = openEventStore(path, { now: Date.now(), schemas: SCHEMAS })
  await moveEvents("clickhouse", {
    ...{ catalog, events, path, clickhouse, server, node: 1, lease: undefined, rows: undefined, plugins: [], imports: { of: () => [] } },
    allSites: async () => [siteOf({})],
    siteKey: async () => new Uint8Array(32),
    clock: { now: Date.now, monotonic: () => performance.now() },
    networkUrl: new URL("../../../test/store/clickhouse/network-thread.ts", import.meta.url).href,
    report() {},
  })
  events.close()
  await catalog.close()
}
