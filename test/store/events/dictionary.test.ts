import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { join } from "node:path"
import fc from "fast-check"
import { ColumnCache } from "../../../src/store/events/cache.ts"
import { openDatabase } from "../../../src/store/events/database.ts"
import { Interner } from "../../../src/store/events/dictionary/interner.ts"
import { OutdatedSnapshot, ReadDictionary, TextBlocks } from "../../../src/store/events/dictionary/read-dictionary.ts"
import { Uses } from "../../../src/store/events/dictionary/uses.ts"
import { type EventStore, openEventStore } from "../../../src/store/events/events.ts"
import type { Part } from "../../../src/store/events/part.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import { temporaryFolder } from "../../kit.ts"
import { event, NO_TRAITS } from "./samples.ts"

const NOON = Date.parse("2026-11-21T12:00:00Z")
const LATER = NOON + 3_600_000
const DAY = "2026-11-21"

test("gives each text one number, however little memory there is for texts", () => {
  using folder = temporaryFolder()
  const db = openDatabase(join(folder.path, "events.db"), { now: NOON, version: "" })
  const limited = new Interner(db, () => true, new Uses(), 2_000)
  const numbers = new Map<string, number>()
  const texts = fc.sample(fc.tuple(fc.constantFrom(1, 2), fc.constantFrom("page", "title", "name"), fc.integer({ min: 0, max: 300 })), {
    numRuns: 5_000,
    seed: 7,
  })
  db.run("begin")
  for (const [siteId, name, number] of texts) {
    // The dictionary of names has fixed texts.
    const text = name === "name" && number === 0 ? "pageview" : `${name} ${number}`
    const given = limited.number(siteId, name as "page", text, DAY, () => {})
    const key = `${siteId} ${name} ${text}`
    expect(given).toBe(numbers.get(key) ?? given)
    numbers.set(key, given)
  }
  expect(numbers.size).toBeGreaterThan(1_000)
  const stored = db.query<{ n: number }, []>("select count(*) as n from dictionary").get()!.n
  // Two fixed texts, one for each site.
  expect(stored).toBe(numbers.size - 2)
  db.close()
})

/** Opens a dictionary of pages with `count` texts and a cache of `bytes`. */
function openPages(folder: string, count: number, bytes: number) {
  const db = openDatabase(join(folder, "events.db"), { now: NOON, version: "" })
  const insert = db.query("insert into dictionary (site_id, name, id, value) values (1, 'page', ?, ?)")
  const add = db.transaction((from: number, to: number) => {
    for (let id = from; id <= to; id++) insert.run(id, `/page/${id}`)
  })
  add(1, count)
  const cache = new ColumnCache(bytes)
  const pages = new ReadDictionary(db, new TextBlocks(cache), { siteId: 1, name: "page", epoch: 0 })
  return { db, cache, pages, add }
}

test("reads the texts of a dictionary that is larger than its memory", () => {
  using folder = temporaryFolder()
  const { db, pages } = openPages(folder.path, 100_000, 1 << 20)
  expect(pages.size).toBe(100_001)
  for (const id of [1, 100_000, 255, 256, 99_999, 1]) expect(pages.text(id)).toBe(`/page/${id}`)
  let wrong = 0
  for (let id = 1; id < pages.size; id++) if (pages.text(id) !== `/page/${id}`) wrong++
  expect(wrong).toBe(0)
  expect(pages.text(0)).toBe("")
  expect(pages.text(100_001)).toBe("")
  expect(pages.find("/page/77777")).toBe(77_777)
  expect(pages.find("/page/100001")).toBeUndefined()
  db.close()
})

test("texts take their memory from the cache of columns", () => {
  using folder = temporaryFolder()
  const { db, cache, pages } = openPages(folder.path, 20_000, 4 << 20)
  cache.set("a column", new Uint32Array(900_000))
  expect(cache.get("a column")).toBeDefined()
  for (let id = 1; id < pages.size; id += 200) pages.text(id)
  expect(cache.get("a column")).toBeUndefined()
  db.close()
})

test("reads texts that were added after the last block was read", () => {
  using folder = temporaryFolder()
  const { db, pages, add } = openPages(folder.path, 300, 1 << 20)
  expect(pages.text(300)).toBe("/page/300")
  add(301, 600)
  expect(pages.text(301)).toBe("")
  pages.follow()
  expect(pages.text(301)).toBe("/page/301")
  expect(pages.text(600)).toBe("/page/600")
  db.close()
})

/** Writes visits with a page of their own and one that all share. Every third belongs to a person. */
function writeVisits(store: EventStore, count: number): void {
  store.write(NOON, (writer) => {
    for (let number = 0; number < count; number++) {
      const rotating = writer.visitor(1, DAY, { high: 1, low: number })
      const isPerson = number % 3 === 0
      const visitor = isPerson ? writer.person(1, { high: 2, low: number }, "user") : rotating
      const traits = { ...NO_TRAITS, source: `Source ${number % 7}`, city: `City ${number}` }
      const id = writer.openVisit(1, { rotating, visitor, visitorKind: isPerson ? "user" : "rotating", traits }, DAY)
      const props = [[`key ${number % 5}`, `value ${number}`] as const, ["order_id", `order ${number}`] as const]
      writer.add(1, id, event({ at: NOON + number, page: `/own/${number}`, title: "Shared", props }), DAY)
      writer.add(1, id, event({ at: NOON + number + 1, page: "/shared", name: `event ${number % 4}` }), DAY)
    }
  })
}

/** Returns the texts in the table that are not blanked, and those that the visits of the store refer to. */
function textsOf(path: string) {
  const db = new Database(path, { readonly: true })
  const sql = "select name || ' ' || value as text from dictionary where value <> '' order by text"
  const stored = db.query<{ text: string }, []>(sql).all().map(({ text }) => text) // biome-ignore format: one statement
  db.close()
  const reader = openEventReader(path, { cacheBytes: 1 << 20 })
  const { parts, dictionary } = reader.snapshot(1)
  const referred = new Set<string>()
  const add = (name: Parameters<typeof dictionary>[0], numbers: Uint32Array) => {
    for (const number of numbers)
      if (number > 0 && dictionary(name).text(number) !== "") referred.add(`${name} ${dictionary(name).text(number)}`)
  }
  for (const part of parts) {
    for (const trait of ["source", "city"] as const) add(trait, part.visit(trait))
    for (const column of ["page", "title", "hostname"] as const) add(column, part.event(column))
    for (const number of part.event("name")) if (number > 3) add("name", Uint32Array.of(number))
    const { key, value } = part.props()
    add("property", key)
    for (let at = 0; at < key.length; at++) add(`property:${key[at]!}`, Uint32Array.of(value[at]!))
  }
  reader.close()
  return { stored, referred: [...referred].sort() }
}

test.each([
  ["from segments", true],
  ["from the tail", false],
])("an erasure %s blanks exactly the texts that no visit refers to", async (_, isSealed) => {
  using folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  const store = openEventStore(path, { now: NOON })
  writeVisits(store, 300)
  if (isSealed) await store.seal(LATER, true)
  const byNumber = (isChosen: (number: number) => boolean) => (part: Part) =>
    Uint8Array.from(part.starts(), (start) => (isChosen(start - NOON) ? 1 : 0))
  // The last visits of one source, with keys and names that other visits have too.
  expect(
    await store.erase(
      1,
      byNumber((number) => number % 7 === 3),
      LATER,
    ),
  ).toBe(43)
  const after = textsOf(path)
  expect(after.stored).toEqual(after.referred)
  expect(after.stored).not.toContain("source Source 3")
  expect(after.stored).toContain("page /shared")
  expect(await store.erase(1, () => Uint8Array.from({ length: 257 }, () => 1), LATER)).toBe(257)
  expect(textsOf(path).stored).toEqual([])
  store.close()
})

test("a snapshot from before an erasure gives no blanked text instead of the erased one", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  const store = openEventStore(path, { now: NOON })
  writeVisits(store, 10)
  await store.seal(LATER, true)
  const reader = openEventReader(path, { cacheBytes: 1 << 20 })
  const pages = reader.snapshot(1).dictionary("page")
  await store.erase(1, (part) => Uint8Array.from(part.starts(), () => 1), LATER)
  expect(() => pages.text(1)).toThrow(OutdatedSnapshot)
  expect(reader.snapshot(1).dictionary("page").text(1)).toBe("")
  reader.close()
  store.close()
})
