import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { join } from "node:path"
import { dayNumber, type ImportedRow } from "../../../src/domain/imported.ts"
import { createClickhouse } from "../../../src/store/clickhouse/client.ts"
import { migrateClickhouse } from "../../../src/store/clickhouse/migrate.ts"
import { type Channel, openChannel } from "../../../src/store/clickhouse/read/channel.ts"
import { openClickhouseReader } from "../../../src/store/clickhouse/read/reader.ts"
import { ChangeReader } from "../../../src/store/clickhouse/ship/changes.ts"
import { TotalsShipper } from "../../../src/store/clickhouse/ship/totals.ts"
import { type EventStore, openEventStore } from "../../../src/store/events/events.ts"
import type { Snapshot } from "../../../src/store/events/part.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import { temporaryFolder } from "../../kit.ts"
import { visibleImport } from "../../visible-imports.ts"
import { sendDirectly } from "./chdb.ts"
import { hasClickhouse, startClickhouse, type TestServer } from "./server.ts"

const NOW = Date.parse("2026-11-20T12:00:00Z")
const SITE = 1

/** A node that has only what it imports itself. */
interface Node extends Disposable {
  store: EventStore
  totals: TotalsShipper
  snapshot(imports: readonly number[]): Snapshot
}

const row = (day: string, page: string, visitors: number): ImportedRow => ({
  day,
  texts: { hostname: "a.com", page },
  counts: { visitors },
})
const property = (day: string, key: string, value: string): ImportedRow => ({
  ...{ day, hour: 7 },
  texts: { property: key, value },
  counts: { visitors: 2, events: 3 },
})

describe.skipIf(!hasClickhouse())("imported totals on ClickHouse", () => {
  let running: TestServer
  let channel: Channel
  const nodes: Node[] = []
  const inserted: string[] = []
  beforeAll(async () => {
    running = await startClickhouse()
    await migrateClickhouse(running.clickhouse, { version: "1.0.0", now: 1 })
    channel = openChannel(new URL("./network-thread.ts", import.meta.url).href, running.server)
    nodes.push(openNode(1), openNode(2))
  })
  afterAll(async () => {
    for (const node of nodes) node[Symbol.dispose]()
    channel.close()
    await running[Symbol.asyncDispose]()
  })

  const clickhouse = () =>
    createClickhouse(running.server, (url, request) => {
      const statement = new URL(url).searchParams.get("query")
      if (statement) inserted.push(statement)
      return sendDirectly(url, request)
    })

  function openNode(node: number): Node {
    const folder = temporaryFolder()
    const path = join(folder.path, "events.db")
    const store = openEventStore(path, { now: NOW })
    const changes = new ChangeReader(path, node)
    const local = openEventReader(path, { cacheBytes: 1 << 20 })
    const reader = openClickhouseReader({ channel, cacheBytes: 1 << 20, local, check() {} })
    return {
      store,
      totals: new TotalsShipper({ reader: changes, clickhouse: clickhouse(), node }),
      snapshot: (imports) => reader.snapshot(SITE, "visits", imports.map(visibleImport)),
      [Symbol.dispose]() {
        local.close()
        changes.close()
        store.close()
        folder[Symbol.dispose]()
      },
    }
  }

  /** Returns the days, pages and visitors of all rows, with the texts of the snapshot's dictionary. */
  const pagesOf = (snapshot: Snapshot) =>
    snapshot.totals("imported_pages").flatMap((part) => {
      const [days, pages, visitors] = [part.days(), part.text("page"), part.count("visitors")]
      return Array.from({ length: part.rows }, (_, at) => [days[at]!, snapshot.dictionary("page").text(pages[at]!), visitors[at]!])
    })

  test("every node reads the totals that another one has imported, of visible imports only", async () => {
    const [one, two] = nodes as [Node, Node]
    await one.store.importTotals({ siteId: SITE, importId: 5 }, "imported_pages", [
      row("2026-11-01", "/'\\\t'", 3),
      row("2026-11-02", "", 4),
    ])
    await one.store.importTotals({ siteId: 2, importId: 5 }, "imported_pages", [row("2026-11-01", "/other-site", 1)])
    await two.store.importTotals({ siteId: SITE, importId: 6 }, "imported_pages", [row("2026-11-03", "/b", 5)])
    for (const node of nodes) await node.totals.ship()
    const [first, second, third] = ["2026-11-01", "2026-11-02", "2026-11-03"].map(dayNumber)
    for (const node of nodes) {
      expect(pagesOf(node.snapshot([5, 6]))).toEqual([
        [first!, "/'\\\t'", 3],
        [second!, "", 4],
        [third!, "/b", 5],
      ])
      expect(pagesOf(node.snapshot([6]))).toEqual([[third!, "/b", 5]])
      expect(pagesOf(node.snapshot([]))).toEqual([])
    }
  })

  test("values of properties have the dictionary of their property, which has all texts before a column is read", async () => {
    const [one, two] = nodes as [Node, Node]
    const rows = [property("2026-11-01", "plan", "pro"), property("2026-11-01", "size", "pro"), property("2026-11-02", "plan", "free")]
    await one.store.importTotals({ siteId: SITE, importId: 7 }, "imported_custom_props", rows)
    await one.totals.ship()
    const snapshot = two.snapshot([7])
    const keys = snapshot.dictionary("property")
    const [plan, size] = [keys.find("plan")!, keys.find("size")!]
    expect([snapshot.dictionary(`property:${plan}`).size, snapshot.dictionary(`property:${size}`).size]).toEqual([3, 2])
    const [part] = snapshot.totals("imported_custom_props")
    const values = Array.from(part!.text("value"), (value, at) =>
      snapshot.dictionary(`property:${part!.text("property")[at]!}`).text(value),
    )
    expect([values, [...part!.hours()], [...part!.count("events")]]).toEqual([
      ["pro", "pro", "free"],
      [7, 7, 7],
      [3, 3, 3],
    ])
  })

  test("totals that were removed or replaced are gone from answers and from the disk, and nothing is written twice", async () => {
    const [one, two] = nodes as [Node, Node]
    await one.store.retainTotals(SITE, "2026-11-02", NOW)
    await one.totals.ship()
    expect(pagesOf(two.snapshot([5])).map(([, page]) => page)).toEqual([""])
    inserted.length = 0
    const again = new TotalsShipper({
      ...{ clickhouse: clickhouse(), node: 1 },
      reader: { changedTotals: (known, since) => (known.size === 3 && since === -1 ? undefined : expect.unreachable()) },
    })
    await again.ship()
    await one.totals.ship()
    expect(inserted).toEqual([])
    await one.store.dropTotals(SITE, NOW)
    await one.totals.ship()
    expect(pagesOf(two.snapshot([5, 6])).map(([, page]) => page)).toEqual(["/b"])
    const count = async (sql: string) => Number((await running.clickhouse.rows<{ n: string }>(sql))[0]!.n)
    while ((await count("select count() as n from system.mutations where table = 'totals' and not is_done")) > 0) await Bun.sleep(50)
    expect(await count(`select count() as n from totals where content != '' and site_id = ${SITE}`)).toBe(1)
  })
})
