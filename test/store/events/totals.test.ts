import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { join } from "node:path"
import type { DictionaryName } from "../../../src/domain/dimension.ts"
import {
  dayText,
  IMPORTED_KINDS,
  IMPORTED_TABLES,
  type ImportedKind,
  type ImportedRow,
  type VisibleImport,
  WHOLE_DAY,
} from "../../../src/domain/imported.ts"
import { copyEventFile, examineEventFile, forgetVisitorsOfCopy } from "../../../src/store/events/copy.ts"
import { type EventStore, openEventStore } from "../../../src/store/events/events.ts"
import type { Snapshot } from "../../../src/store/events/part.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import { listSegmentUsage } from "../../../src/store/events/tables/usage.ts"
import { temporaryFolder } from "../../kit.ts"
import { visibleImport } from "../../visible-imports.ts"
import { event, NO_TRAITS } from "./samples.ts"

const NOW = Date.parse("2026-11-21T12:00:00Z")
const ALL = [visibleImport(7), visibleImport(8)]

/** Opens a store with a reader, both closed at the end of the scope. */
function openStore() {
  const folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  let store = openEventStore(path, { now: NOW })
  const reader = openEventReader(path, { cacheBytes: 1 << 20 })
  return {
    path,
    get store(): EventStore {
      return store
    },
    read: (kind: ImportedKind, imports: readonly VisibleImport[] = ALL) => readRows(reader.snapshot(1, "visits", imports), kind),
    snapshot: () => reader.snapshot(1, "visits", ALL),
    restart(): void {
      store.close()
      store = openEventStore(path, { now: NOW })
    },
    [Symbol.dispose]() {
      reader.close()
      store.close()
      folder[Symbol.dispose]()
    },
  }
}

const VISITOR = "00ff"

/** Stores a lookup of a visitor as a batch of an import does. */
const keepVisitor = (store: EventStore, siteId: number, importId: number) => store.nameVisitors({ siteId, importId }, [VISITOR])

/** Returns the totals of a kind as the rows that were imported. */
function readRows(snapshot: Snapshot, kind: ImportedKind): (ImportedRow & { importId: number })[] {
  const { texts, counts } = IMPORTED_TABLES[kind]
  const key = (name: string) => snapshot.dictionary("property").find(name) ?? 0
  return snapshot.totals(kind).flatMap((part) =>
    Array.from({ length: part.rows }, (_, row) => {
      const dictionaryOf = (name: string, usual: DictionaryName): DictionaryName => {
        if (name === "value") return `property:${part.text("property")[row]!}`
        return name === "link_url" || name === "path" ? `property:${key(name === "path" ? "path" : "url")}` : usual
      }
      const found = Object.entries(texts).map(([name, usual]) => [
        name,
        snapshot.dictionary(dictionaryOf(name, usual)).text(part.text(name)[row]!),
      ])
      return {
        importId: part.importId,
        day: dayText(part.days()[row]!),
        ...(part.hours()[row] !== WHOLE_DAY && { hour: part.hours()[row]! }),
        texts: Object.fromEntries(found),
        counts: Object.fromEntries(counts.map((name) => [name, part.count(name)[row]!])),
      }
    }),
  )
}

/** Returns a row with a different value in every column. */
function fullRow(kind: ImportedKind, day: string, number: number, hour?: number): ImportedRow {
  const { texts, counts } = IMPORTED_TABLES[kind]
  return {
    day,
    ...(hour !== undefined && { hour }),
    texts: Object.fromEntries(Object.keys(texts).map((name) => [name, `${name} ${number}`])),
    counts: Object.fromEntries(counts.map((name, i) => [name, 100 * number + i])),
  }
}

const pageRow = (day: string, page: string, visitors = 1): ImportedRow => ({ day, texts: { page }, counts: { visitors } })
const pages = (rows: readonly ImportedRow[]) => rows.map(({ day, texts, counts }) => [day, texts.page, counts.visitors])

test.each(IMPORTED_KINDS)("reads back every column of %s, by day and by hour", async (kind) => {
  using open = openStore()
  const rows = [
    fullRow(kind, "1999-12-31", 1),
    fullRow(kind, "2026-03-29", 2, 0),
    fullRow(kind, "2026-03-29", 3, 23),
    { day: "2026-03-30", texts: {}, counts: {} },
  ]
  await open.store.importTotals({ siteId: 1, importId: 7 }, kind, rows)
  const empty = {
    ...Object.fromEntries(Object.keys(IMPORTED_TABLES[kind].texts).map((name) => [name, ""])),
  }
  const zero = Object.fromEntries(IMPORTED_TABLES[kind].counts.map((name) => [name, 0]))
  expect(open.read(kind)).toEqual([
    ...rows.slice(0, 3).map((row) => ({ importId: 7, ...row })),
    { importId: 7, day: "2026-03-30", texts: empty, counts: zero },
  ])
  for (const other of IMPORTED_KINDS) if (other !== kind) expect(open.read(other)).toEqual([])
})

test("splits many rows into several segments", async () => {
  using open = openStore()
  const rows = Array.from({ length: 70_000 }, (_, i) => pageRow(dayText(20_000 + (i % 300)), `/${i % 50}`, i))
  await open.store.importTotals({ siteId: 1, importId: 7 }, "imported_pages", rows)
  const parts = open.snapshot().totals("imported_pages")
  expect(parts.map((part) => part.rows)).toEqual([65_536, 4_464])
  const sum = parts.reduce((all, part) => all + part.count("visitors").reduce((a, b) => a + b), 0)
  expect(sum).toBe((69_999 * 70_000) / 2)
  expect([parts[0]!.firstDay, parts[0]!.lastDay]).toEqual([20_000, 20_299])
})

test("a snapshot has the totals of visible imports only, up to their last completed run", async () => {
  using open = openStore()
  await open.store.importTotals({ siteId: 1, importId: 7, run: 1 }, "imported_pages", [pageRow("2026-01-01", "/one")])
  await open.store.importTotals({ siteId: 1, importId: 7, run: 2 }, "imported_pages", [pageRow("2026-01-02", "/two")])
  await open.store.importTotals({ siteId: 2, importId: 7, run: 1 }, "imported_pages", [pageRow("2026-01-03", "/elsewhere")])
  expect(pages(open.read("imported_pages", []))).toEqual([])
  expect(pages(open.read("imported_pages", [visibleImport(8)]))).toEqual([])
  expect(pages(open.read("imported_pages"))).toEqual([["2026-01-01", "/one", 1]])
  const later = [{ ...visibleImport(7), run: 2 }]
  expect(pages(open.read("imported_pages", later))).toEqual([
    ["2026-01-01", "/one", 1],
    ["2026-01-02", "/two", 1],
  ])
  await open.store.dropImport(1, 7, NOW, 2)
  expect(pages(open.read("imported_pages", later))).toEqual([["2026-01-01", "/one", 1]])
})

test("a snapshot keeps its totals while an import is dropped", async () => {
  using open = openStore()
  await open.store.importTotals({ siteId: 1, importId: 7 }, "imported_pages", [pageRow("2026-01-01", "/one", 3)])
  const before = open.snapshot()
  await open.store.dropImport(1, 7, NOW)
  expect(before.totals("imported_pages").map((part) => [...part.count("visitors")])).toEqual([[3]])
  expect(open.read("imported_pages")).toEqual([])
})

test("retention removes the rows of earlier days and nothing else", async () => {
  using open = openStore()
  const days = ["2025-12-31", "2026-01-01", "2026-01-02"]
  for (const importId of [7, 8])
    await open.store.importTotals(
      { siteId: 1, importId },
      "imported_pages",
      days.map((day, i) => pageRow(day, `/${i}`, importId + i)),
    )
  await open.store.importTotals({ siteId: 1, importId: 7 }, "imported_visitors", [
    { day: "2020-01-01", hour: 23, texts: {}, counts: { visitors: 5 } },
  ])
  await open.store.importTotals({ siteId: 2, importId: 7 }, "imported_pages", [pageRow("2020-01-01", "/")])
  expect(await open.store.retainTotals(1, "2026-01-01", NOW)).toBe(3)
  expect(open.read("imported_pages").map(({ importId, day, counts }) => [importId, day, counts.visitors])).toEqual([
    [7, "2026-01-01", 8],
    [7, "2026-01-02", 9],
    [8, "2026-01-01", 9],
    [8, "2026-01-02", 10],
  ])
  expect(open.read("imported_visitors")).toEqual([])
  expect(await open.store.retainTotals(1, "2026-01-01", NOW)).toBe(0)
  expect(await open.store.retainTotals(2, "2026-01-01", NOW)).toBe(1)
})

test("dropping the totals of a site removes the cursors and visitors of its imports, and leaves other sites alone", async () => {
  using open = openStore()
  const cursor = { position: "{}", visits: 0, rows: 1, batches: 1 }
  for (const siteId of [1, 2]) {
    const importId = siteId + 6
    await open.store.importTotals({ siteId, importId, cursor: () => cursor }, "imported_pages", [pageRow("2026-01-01", "/")])
    await keepVisitor(open.store, siteId, importId)
  }
  expect(await open.store.dropTotals(1, NOW)).toBe(1)
  expect(open.read("imported_pages")).toEqual([])
  expect([open.store.importCursor(7, 1), open.store.countVisitors(7, 1)]).toEqual([undefined, 0])
  expect([open.store.importCursor(8, 1), open.store.countVisitors(8, 1)]).toEqual([cursor, 1])
  expect(await open.store.dropTotals(1, NOW)).toBe(0)
})

test("a sweep keeps texts that only totals refer to, and blanks them when these are dropped", async () => {
  using open = openStore()
  const view = (page: string) => ({ visitor: page, traits: NO_TRAITS, events: [event({ at: NOW - 1_000, page })], day: "2026-11-21" })
  await open.store.importVisits({ siteId: 1, importId: 8 }, [view("/visit"), view("/both")])
  await open.store.importTotals({ siteId: 1, importId: 7 }, "imported_pages", [
    pageRow("2026-01-01", "/both"),
    pageRow("2026-01-01", "/total"),
  ])
  const props: ImportedRow = { day: "2026-01-01", texts: { property: "plan", value: "pro" }, counts: { events: 1 } }
  await open.store.importTotals({ siteId: 1, importId: 7 }, "imported_custom_props", [props])
  const link: ImportedRow = {
    day: "2026-01-01",
    texts: { name: "Click", link_url: "https://a.example/", path: "/p" },
    counts: { events: 1 },
  }
  await open.store.importTotals({ siteId: 1, importId: 7 }, "imported_custom_events", [link])
  const stored = () => {
    const { dictionary } = open.snapshot()
    const key = (name: string) => dictionary("property").find(name)
    const value = (name: string, text: string) => key(name) !== undefined && dictionary(`property:${key(name)!}`).find(text) !== undefined
    const found = ["/visit", "/both", "/total"].filter((page) => dictionary("page").find(page) !== undefined)
    return [
      ...found,
      value("plan", "pro"),
      value("url", "https://a.example/"),
      value("path", "/p"),
      dictionary("name").find("Click") !== undefined,
    ]
  }
  await open.store.dropImport(1, 8, NOW)
  expect(stored()).toEqual(["/both", "/total", true, true, true, true])
  expect(open.read("imported_custom_events")).toEqual([{ importId: 7, ...link, counts: { visitors: 0, events: 1 } }])
  await open.store.dropTotals(1, NOW)
  expect(stored()).toEqual([false, false, false, false])
})

test("a batch that is interrupted before its cursor is stored leaves no rows", async () => {
  using open = openStore()
  const cursor = { position: "first", visits: 0, rows: 1, batches: 1 }
  await open.store.importTotals({ siteId: 1, importId: 7, cursor: () => cursor }, "imported_pages", [pageRow("2026-01-01", "/one")])
  // The column takes no null, so the last transaction of the batch fails after its segment was written.
  const broken = { ...cursor, position: null as unknown as string, rows: 2, batches: 2 }
  const second = [pageRow("2026-01-02", "/two")]
  await expect(open.store.importTotals({ siteId: 1, importId: 7, cursor: () => broken }, "imported_pages", second)).rejects.toThrow()
  const written = () => {
    const db = new Database(open.path, { readonly: true })
    const { n } = db.query<{ n: number }, []>("select count(*) as n from segments").get()!
    db.close()
    return n
  }
  expect(written()).toBe(2)
  for (const after of [() => {}, open.restart]) {
    after()
    expect(pages(open.read("imported_pages"))).toEqual([["2026-01-01", "/one", 1]])
    expect(open.store.importCursor(7, 1)).toEqual(cursor)
  }
  expect(written()).toBe(1)
  const next = { ...cursor, position: "second", rows: 2, batches: 2 }
  await open.store.importTotals({ siteId: 1, importId: 7, cursor: () => next }, "imported_pages", second)
  expect(pages(open.read("imported_pages"))).toEqual([
    ["2026-01-01", "/one", 1],
    ["2026-01-02", "/two", 1],
  ])
  expect(open.store.importCursor(7, 1)).toEqual(next)
})

test("merging, sealing, erasing visits and a restart leave totals unchanged", async () => {
  using open = openStore()
  for (let i = 0; i < 12; i++) {
    await open.store.importTotals({ siteId: 1, importId: 7 }, "imported_pages", [pageRow("2026-01-01", `/${i}`, i + 1)])
    await open.store.importVisits({ siteId: 1, importId: 7 }, [
      { visitor: `${i}`, traits: NO_TRAITS, events: [event({ at: NOW - 1_000 - i })], day: "2026-11-21" },
    ])
  }
  const before = open.read("imported_pages")
  expect(before).toHaveLength(12)
  await open.store.merge(NOW)
  await open.store.seal(NOW, true)
  await open.store.erase(1, (part) => new Uint8Array(part.visits).fill(1), NOW)
  await open.store.dropRetired(NOW + 60_000)
  open.restart()
  expect(open.read("imported_pages")).toEqual(before)
  expect(open.snapshot().parts.reduce((sum, { visits }) => sum + visits, 0)).toBe(0)
})

test("the size, the examination and a copy of a store include totals, and a copy knows no visitor of an import", async () => {
  using open = openStore()
  const rows = [pageRow("2026-01-01", "/one"), pageRow("2026-01-02", "/two")]
  await open.store.importTotals({ siteId: 1, importId: 7 }, "imported_pages", rows)
  await keepVisitor(open.store, 1, 7)
  const db = new Database(open.path, { readonly: true })
  expect(listSegmentUsage(db)).toMatchObject([{ site_id: 1, kind: "imported_pages", segments: 1, visits: 2, events: 0 }])
  db.close()
  expect(examineEventFile(open.path, { full: true }).faults).toEqual([])
  const copy = `${open.path}.copy`
  copyEventFile(open.path, copy)
  forgetVisitorsOfCopy(copy)
  const restored = openEventStore(copy, { now: NOW })
  expect(restored.countVisitors(7, 1)).toBe(0)
  const reader = openEventReader(copy, { cacheBytes: 1 << 20 })
  expect(pages(readRows(reader.snapshot(1, "visits", ALL), "imported_pages"))).toEqual(pages(rows))
  reader.close()
  restored.close()
})

test("an examination finds a damaged header and a damaged column of totals", async () => {
  using open = openStore()
  await open.store.importTotals({ siteId: 1, importId: 7 }, "imported_pages", [
    pageRow("2026-01-01", "/one"),
    pageRow("2026-01-02", "/two"),
  ])
  open.store.checkpoint("truncate")
  const db = new Database(open.path, { readwrite: true })
  const damage = (table: string, column: string) => {
    const row = db.query<{ id: number; value: Uint8Array }, []>(`select id, ${column} as value from ${table} limit 1`).get()!
    row.value[row.value.length - 1]! ^= 1
    db.query(`update ${table} set ${column} = ? where id = ?`).run(row.value, row.id)
    return row.id
  }
  const [header, column] = [damage("segments", "header"), damage("segment_columns", "data")]
  db.close()
  expect(examineEventFile(open.path, { full: true }).faults).toEqual([
    `the checksum of row ${header} in segments is wrong`,
    `the checksum of row ${column} in segment_columns is wrong`,
  ])
})
