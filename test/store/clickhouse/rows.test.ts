import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { TRAITS } from "../../../src/domain/visit.ts"
import { ClickhouseFault, createClickhouse } from "../../../src/store/clickhouse/client.ts"
import { MIGRATIONS, migrateClickhouse } from "../../../src/store/clickhouse/migrate.ts"
import { ROW_COLUMNS, RowWriter } from "../../../src/store/clickhouse/row-binary.ts"
import type { VisitRow } from "../../../src/store/clickhouse/visit-row.ts"
import { NO_SCROLL, NO_VITAL } from "../../../src/store/events/part.ts"
import { sendDirectly } from "./chdb.ts"
import { hasClickhouse, startClickhouse, type TestServer } from "./server.ts"

const HOSTILE = ["'; drop table visits; --", "\\", "\\N", "\t\n\r\0", "{site:UInt32}", "héllo 😀", "", "\u2028", "`e.name`", "NULL"]

const visit: VisitRow = {
  ...{ siteId: 7, kind: "visits", openedAt: 1_700_000_000_123, visit: 1_281, version: 3, importId: 0, run: 0 },
  ...{ opener: 2n ** 64n - 1n, visitor: 2n ** 63n + 5n, visitorKind: "user", startedAt: 1_700_000_000_100, sequence: 1_537 },
  ...{ duration: 90_000, pageviews: 1, events: 2, interactive: 1, engaged: 4_000, arrival: 91, closed: true },
  pages: ["/a", "/b", "example.com", "example.com"],
  traits: TRAITS.map((trait) => `a ${trait}`),
  steps: [
    { offset: 0, name: "pageview", page: "/a", hostname: "example.com", title: "A", interactive: false, props: [["plan", "pro"]] },
    {
      ...{ offset: 50, name: "Sale", page: "/b", hostname: "example.com", title: "", interactive: true, props: [] },
      revenue: { amount: -1_999, currency: "EUR" },
    },
    {
      ...{ offset: 60, name: "engagement", page: "/b", hostname: "example.com", title: "", interactive: false, props: [] },
      engagement: { engaged: 4_000, scroll: NO_SCROLL },
      vitals: [2_500, NO_VITAL, 900, 80, 120],
    },
  ],
}

describe.skipIf(!hasClickhouse())("rows in ClickHouse", () => {
  let running: TestServer
  beforeAll(async () => {
    running = await startClickhouse()
    await migrateClickhouse(running.clickhouse, { version: "1.0.0", now: 1 })
  })
  afterAll(() => running[Symbol.asyncDispose]())

  const insert = (writer: RowWriter) => running.clickhouse.insert("visits", ROW_COLUMNS, writer.finish())
  const rowOf = async (siteId: number) => {
    const sql = "select *, visitor from visits final where site_id = {site:UInt32} order by visit"
    return running.clickhouse.rows<Record<string, unknown>>(sql, { parameters: { site: siteId } })
  }

  test("an inserted visit has the same values in every column", async () => {
    const writer = new RowWriter()
    writer.add(visit)
    await insert(writer)
    const [row] = await rowOf(7)
    expect(row).toEqual({
      ...{ site_id: 7, kind: "visits", import_id: 0, run: 0, opened_at: "1700000000123", visit: "1281", version: "3", gone: 0 },
      ...{ opener: "18446744073709551615", identified: "9223372036854775813", visitor: "9223372036854775813", visitor_kind: "user" },
      ...{ started_at: "1700000000100", sequence: "1537", duration: 90_000, length: 60, pageviews: 1, events: 2, interactive: 1 },
      ...{ engaged: 4_000, arrival: 91, closed: 1 },
      ...{ entry_page: "/a", exit_page: "/b", entry_page_hostname: "example.com", exit_page_hostname: "example.com" },
      ...Object.fromEntries(TRAITS.map((trait) => [trait, `a ${trait}`])),
      "e.offset": [0, 50, 60],
      "e.name": ["pageview", "Sale", "engagement"],
      "e.page": ["/a", "/b", "/b"],
      "e.hostname": ["example.com", "example.com", "example.com"],
      "e.title": ["A", "", ""],
      "e.interactive": [0, 1, 0],
      ...{ "p.event": [0], "p.key": ["plan"], "p.value": ["pro"] },
      ...{ "r.event": [1], "r.amount": ["-1999"], "r.currency": ["EUR"] },
      ...{ "g.event": [2], "g.engaged": [4_000], "g.scroll": [NO_SCROLL] },
      ...{ "v.event": [2], "v.lcp": [2_500], "v.inp": [NO_VITAL], "v.fcp": [900], "v.ttfb": [80], "v.cls": [120] },
    })
  })

  test("the highest version of a visit counts, whatever the order of arrival", async () => {
    for (const version of [2, 9, 5, 9, 1]) {
      const writer = new RowWriter()
      writer.add({ ...visit, siteId: 8, version, duration: version })
      await insert(writer)
    }
    const rows = await rowOf(8)
    expect(rows.map(({ version, duration }) => [version, duration])).toEqual([["9", 9]])
  })

  test("a tombstone hides a visit, and earlier versions do not bring it back", async () => {
    const removed = new RowWriter()
    removed.addTombstone({ ...visit, siteId: 9, version: 10 })
    removed.add({ ...visit, siteId: 9, visit: 2, version: 1 })
    await insert(removed)
    const late = new RowWriter()
    late.add({ ...visit, siteId: 9, version: 4 })
    await insert(late)
    expect((await rowOf(9)).map((row) => row.visit)).toEqual(["2"])
  })

  test("keeps hostile texts in rows and parameters as they are", async () => {
    const writer = new RowWriter()
    for (const [index, text] of HOSTILE.entries()) writer.add({ ...visit, siteId: 10, visit: index, traits: TRAITS.map(() => text) })
    await insert(writer)
    for (const [index, text] of HOSTILE.entries()) {
      const sql = "select visit, source, {text:String} as echo from visits final where site_id = 10 and source = {text:String}"
      const rows = await running.clickhouse.rows(sql, { parameters: { text } })
      expect(rows).toEqual([{ visit: `${index}`, source: text, echo: text }])
    }
  })

  test("migrations can be repeated, and a newer schema is refused", async () => {
    await migrateClickhouse(running.clickhouse, { version: "1.0.0", now: 2 })
    const recorded = await running.clickhouse.rows("select name from migrations final order by name")
    expect(recorded).toEqual(MIGRATIONS.map(({ name }) => ({ name })))
    await running.clickhouse.run("insert into migrations values ('9999_future', '9.0.0', 1)")
    await expect(migrateClickhouse(running.clickhouse, { version: "1.0.0", now: 3 })).rejects.toThrow("Install Footfall 9.0.0")
  })

  test("names the exception of a failed statement", async () => {
    const failure = await running.clickhouse.run("select nothing from visits").catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(ClickhouseFault)
    expect((failure as ClickhouseFault).code).toBe(47)
    const stranger = createClickhouse({ ...running.server, password: "wrong" }, sendDirectly)
    await expect(stranger.rows("select 1")).rejects.toMatchObject({ code: 516 })
  })

  test("the outcome is unknown when the server is away, and it keeps what it has confirmed", async () => {
    const before = await rowOf(7)
    await running.stop()
    await expect(rowOf(7)).rejects.toMatchObject({ code: undefined })
    await running.start()
    expect(await rowOf(7)).toEqual(before)
  })
})
