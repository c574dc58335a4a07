import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { join } from "node:path"
import { repeatOutdated } from "../../../src/query/engine/queries.ts"
import { migrateClickhouse } from "../../../src/store/clickhouse/migrate.ts"
import { type Channel, openChannel, type ReadOptions } from "../../../src/store/clickhouse/read/channel.ts"
import { readBlocks } from "../../../src/store/clickhouse/read/native.ts"
import { openClickhouseReader } from "../../../src/store/clickhouse/read/reader.ts"
import { ROW_COLUMNS, RowWriter } from "../../../src/store/clickhouse/row-binary.ts"
import type { VisitRow } from "../../../src/store/clickhouse/visit-row.ts"
import { OutdatedSnapshot } from "../../../src/store/events/dictionary/read-dictionary.ts"
import { openEventStore } from "../../../src/store/events/events.ts"
import type { EventReader, Part, Snapshot } from "../../../src/store/events/part.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import { temporaryFolder } from "../../kit.ts"
import { importOn } from "../../visible-imports.ts"
import { DAY, HOUR, visitOf } from "./changing-visits.ts"
import { hasClickhouse, startClickhouse, type TestServer } from "./server.ts"

describe.skipIf(!hasClickhouse())("the reader of ClickHouse", () => {
  let running: TestServer
  let channel: Channel
  const readers: EventReader[] = []
  const folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  beforeAll(async () => {
    running = await startClickhouse()
    await migrateClickhouse(running.clickhouse, { version: "1.0.0", now: 1 })
    channel = openChannel(new URL("./network-thread.ts", import.meta.url).href, running.server)
    openEventStore(path, { now: DAY }).close()
  })
  afterAll(async () => {
    for (const reader of readers) reader.close()
    channel.close()
    folder[Symbol.dispose]()
    await running[Symbol.asyncDispose]()
  })

  const insert = async (rows: readonly VisitRow[]) => {
    const writer = new RowWriter()
    for (const row of rows) writer.add(row)
    await running.clickhouse.insert("visits", ROW_COLUMNS, writer.finish())
  }
  /** Opens a reader whose statements `watch` sees before they are sent. */
  const openReader = (watch: (sql: string, options: ReadOptions) => void = () => {}, cacheBytes = 8 << 20) => {
    const watched: Channel = {
      close() {},
      send(sql, options) {
        watch(sql, options)
        return channel.send(sql, options)
      },
    }
    const reader = openClickhouseReader({
      ...{ channel: watched, cacheBytes, check() {} },
      local: openEventReader(path, { cacheBytes: 1 << 20 }),
    })
    readers.push(reader)
    return reader
  }
  const sequencesOf = (parts: readonly Part[]) => parts.flatMap((part) => [...part.sequences()]).sort((a, b) => a - b)
  const durationsOf = ({ parts }: Snapshot) => parts.flatMap((part) => [...part.visit("duration")])

  test("reads records alongside visits, and numbers the visitors of both alike", async () => {
    await insert([visitOf(1, 1), visitOf(1, 2), visitOf(1, 3, { kind: "clicks", visitor: 2n << 40n }), visitOf(1, 4, { kind: "opens" })])
    const reader = openReader()
    const snapshot = reader.snapshot(1, "visits", [], { alongside: "clicks" })
    expect([sequencesOf(snapshot.parts), sequencesOf(snapshot.alongside!)]).toEqual([[1, 2], [3]])
    const [visits, clicks] = [snapshot.parts[0]!, snapshot.alongside![0]!]
    expect(clicks.visit("visitor")[0]).toBe(visits.visit("visitor")[1]!)
    expect(snapshot.visitorLimit).toBeGreaterThan(Math.max(...visits.visit("visitor")))
    expect(sequencesOf(reader.snapshot(1, "opens").parts)).toEqual([4])
  })

  test("shows imports on their visible days and up to their visible run", async () => {
    const nextDay = { openedAt: DAY + 25 * HOUR, startedAt: DAY + 25 * HOUR }
    await insert([
      visitOf(2, 1),
      visitOf(2, 2, { importId: 5, run: 1 }),
      visitOf(2, 3, { importId: 5, run: 1, ...nextDay }),
      visitOf(2, 4, { importId: 5, run: 2 }),
      visitOf(2, 5, { importId: 6, run: 1 }),
    ])
    const reader = openReader()
    const shown = { ...importOn(5, "UTC", ["2026-11-20", "2026-11-20"]), run: 1 }
    expect(sequencesOf(reader.snapshot(2, "visits").parts)).toEqual([1])
    expect(sequencesOf(reader.snapshot(2, "visits", [shown]).parts)).toEqual([1, 2])
    expect(sequencesOf(reader.snapshot(2, "visits", "all").parts)).toEqual([1, 2, 3, 4, 5])
  })

  test("a dictionary has all texts before the columns are read", async () => {
    await insert(['"', "'; drop table visits", "\\N", "{key:String}"].map((key, at) => withProperty(visitOf(3, at + 1), key)))
    const reader = openReader()
    const snapshot = reader.snapshot(3)
    const keys = snapshot.dictionary("property")
    const { size } = keys
    expect(size).toBe(5)
    for (const key of ['"', "'; drop table visits", "\\N", "{key:String}"]) {
      const values = snapshot.dictionary(`property:${keys.find(key)!}`)
      expect([values.size, values.find(`value of ${key}`)]).toEqual([2, 1])
    }
    const { key, value } = snapshot.parts[0]!.props()
    expect([...key].map((number, at) => snapshot.dictionary(`property:${number}`).text(value[at]!)).sort()).toEqual(
      ['"', "'; drop table visits", "\\N", "{key:String}"].map((text) => `value of ${text}`).sort(),
    )
    expect(keys.size).toBe(size)
  })

  test("repeats a query whose visits changed while it ran, and then reads them at one moment", async () => {
    await insert([visitOf(4, 1), visitOf(4, 2)])
    // Each statement about columns is preceded by a change, as on a busy site.
    const reader = openReader((sql) => {
      if (sql.includes(" as sizes")) channel.send(CHANGE, { settings: { readonly: 0 } }).receive(() => {})
    })
    let attempts = 0
    const durations = repeatOutdated(() => {
      attempts++
      return durationsOf(reader.snapshot(4))
    })
    expect([attempts, durations]).toEqual([2, [500, 2_500]])
  })

  test("a changed visit is never mixed with its former version", async () => {
    await insert([visitOf(5, 1)])
    const reader = openReader()
    const [part] = reader.snapshot(5).parts
    expect([...part!.starts()]).toEqual([DAY + HOUR + 1])
    await insert([visitOf(5, 1, { version: 2, startedAt: DAY })])
    expect(() => part!.visit("country")).toThrow(OutdatedSnapshot)
    expect(reader.snapshot(5).parts.map((next) => [next.minStart, [...next.starts()]])).toEqual([[DAY, [DAY]]])
  })

  test("unchanged months and columns are not read again", async () => {
    await insert([visitOf(6, 1), visitOf(6, 2)])
    const statements: string[] = []
    const reader = openReader((sql) => void statements.push(sql))
    const statementsOfRead = () => {
      durationsOf(reader.snapshot(6))
      return statements.splice(0).length
    }
    const [first, again] = [statementsOfRead(), statementsOfRead()]
    const afterOthers: number[] = []
    for (const visit of [1, 2]) {
      await insert([visitOf(60, visit)])
      afterOthers.push(statementsOfRead())
    }
    await running.clickhouse.run("alter table visits delete where site_id = 6 settings mutations_sync = 2")
    const deleted = durationsOf(reader.snapshot(6))
    // The parts on disk, the list and the columns; the parts only; then also what the new part has of the site.
    expect([first, again, ...afterOthers, deleted]).toEqual([3, 1, 2, 2, []])
  })

  test("an erased visit stays hidden when its month is merged into one part", async () => {
    await insert([visitOf(8, 1), visitOf(8, 2)])
    const tombstone = new RowWriter()
    tombstone.addTombstone({ ...visitOf(8, 1), version: 9 })
    await running.clickhouse.insert("visits", ROW_COLUMNS, tombstone.finish())
    const reader = openReader()
    const pairs = () => [sequencesOf(reader.snapshot(8).parts), [...reader.snapshot(8).parts[0]!.visit("duration")]]
    expect(pairs()).toEqual([[2], [500]])
    await running.clickhouse.run("optimize table visits final")
    const [{ rows, parts }] = (await running.clickhouse.rows(
      "select toUInt32(count()) as rows, toUInt32(uniqExact(_part)) as parts from visits where site_id = 8",
    )) as [{ rows: number; parts: number }]
    // The tombstone is still there.
    expect([rows, parts, ...pairs()]).toEqual([2, 1, [2], [500]])
  })

  test("a visit is open for half an hour after its last event arrived, unless it was closed before", async () => {
    await insert([visitOf(9, 1), visitOf(9, 2, { closed: true })])
    const [part] = openReader().snapshot(9).parts
    const arrivedAt = DAY + HOUR + 3_000
    const openAt = (now: number) => [0, 1].map((row) => part!.isOpen(row, now))
    expect([openAt(arrivedAt + HOUR / 2), openAt(arrivedAt + HOUR / 2 + 2_000)]).toEqual([
      [true, false],
      [false, false],
    ])
  })

  test.each([
    [
      "one by one in a small cache",
      8 << 20,
      [
        [0, 0],
        [0, 0, 1, 2],
        [0, 0, 1, 2, 3],
        [0, 0, 1, 2, 3, 4],
      ],
    ],
    [
      "several with one statement in a large cache",
      64 << 20,
      [
        [0, 0],
        [0, 0, 1, 4],
        [0, 0, 1, 4],
        [0, 0, 1, 4],
      ],
    ],
  ])("a query that goes through slices in order gets the next ones before it needs them, %s", async (_, cacheBytes, expected) => {
    const days = 6
    await running.clickhouse.run("alter table visits delete where site_id = 7 settings mutations_sync = 2")
    await running.clickhouse.run(LARGE_DAYS, { parameters: { day: DAY, days } })
    const asked: number[] = []
    const watch = (sql: string, { parameters }: ReadOptions) => {
      if (sql.includes(" as sizes")) asked.push((Number(parameters!.from) - DAY) / (24 * HOUR))
    }
    const reader = openReader(watch, cacheBytes)
    const { parts } = reader.snapshot(7)
    expect(parts.map(({ events }) => events)).toEqual(Array(days).fill(100_000))
    const askedAfter = parts.slice(0, 4).map((part) => {
      expect([...part.starts(), part.event("offset").length]).toEqual([part.minStart, 100_000])
      return [...asked]
    })
    // The first slice tells which units the query reads.
    expect(askedAfter).toEqual(expected)
    const last = reader.snapshot(7).parts.map((part) => [part.sequences()[0], part.event("offset").at(-1), part.event("visit").at(-1)])
    expect(last).toEqual(Array.from({ length: days }, (_, day) => [day + 1, 99_999, 0]))
  })

  test("slices that are read together have their own rows, whatever the parts on disk, and none of a slice that changed", async () => {
    const days = 6
    // Visits of all days in each of several parts, so that the rows of an answer come part by part.
    for (let part = 0; part < 5; part++)
      await insert(
        Array.from({ length: 60 }, (_, at) => {
          const openedAt = DAY + ((at * 7 + part) % days) * 24 * HOUR + ((at * 11) % 5) * HOUR
          const more = { openedAt, startedAt: openedAt - (at % 3) * HOUR, sequence: at * 5 + part + 1 }
          return withProperty(visitOf(10, at * 5 + part + 1, more), `key ${at % 4}`)
        }),
      )
    // Slices of their own.
    await running.clickhouse.run(FILL_DAYS, { parameters: { day: DAY, days } })
    const contentOf = (reader: EventReader) => {
      const { parts, dictionary } = reader.snapshot(10)
      return parts.map((part) => {
        const [rows, { row, key, value }] = [part.event("visit"), part.props()]
        const texts = Array.from(
          key,
          (number, at) => `${dictionary("property").text(number)} ${dictionary(`property:${number}`).text(value[at]!)}`,
        )
        const ofRows = Array.from(row, (event, at) => [part.sequences()[rows[event]!], part.event("offset")[event], texts[at]])
        return [[...part.sequences()], [...part.starts()], [...rows].filter((_, at) => at % 1_000 === 0), ofRows]
      })
    }
    const [alone, together] = [contentOf(openReader(() => {}, 1 << 20)), contentOf(openReader(() => {}, 256 << 20))]
    expect(alone.length).toBe(days)
    expect(together).toEqual(alone)
    const starts = alone.flatMap((part) => part[1] as number[])
    expect(starts.length).toBe(300 + days)
    const changing = openReader(() => {}, 256 << 20)
    const { parts } = changing.snapshot(10)
    parts[0]!.starts()
    await insert([visitOf(10, 1_000, { openedAt: DAY + 3 * 24 * HOUR, startedAt: DAY + 3 * 24 * HOUR })])
    expect(() => parts[1]!.starts()).toThrow(OutdatedSnapshot)
    expect(sequencesOf(changing.snapshot(10).parts)).toContain(1_000)
  })

  test("the server shows nothing of other sites to a statement that does not name its site", async () => {
    await insert([visitOf(11, 1), visitOf(11, 2), withProperty(visitOf(12, 3), "secret"), visitOf(12, 4, { kind: "clicks" })])
    const contentOf = (change: (sql: string, options: ReadOptions) => [string, ReadOptions]) => {
      const changing: Channel = { close() {}, send: (sql, options) => channel.send(...change(sql, options)) }
      const local = openEventReader(path, { cacheBytes: 1 << 20 })
      const reader = openClickhouseReader({ channel: changing, cacheBytes: 8 << 20, check() {}, local })
      const snapshot = reader.snapshot(11, "visits", "all", { alongside: "clicks" })
      const keys = snapshot.dictionary("property")
      const found = [
        sequencesOf(snapshot.parts),
        sequencesOf(snapshot.alongside!),
        Array.from({ length: keys.size }, (_, id) => keys.text(id)),
      ]
      local.close()
      return found
    }
    const withoutSite = (sql: string) => sql.replaceAll("site_id = {site:UInt32}", "1")
    const expected = [[1, 2], [], ["", "plan"]]
    expect(contentOf((sql, options) => [sql, options])).toEqual(expected)
    expect(contentOf((sql, options) => [withoutSite(sql), options])).toEqual(expected)
    // Without the second condition, the other site is there.
    const found = contentOf((sql, { settings: { additional_table_filters: _, ...settings } = {}, ...options }) => [
      withoutSite(sql),
      { ...options, settings },
    ])
    expect(found[0]).toContain(3)
    expect(found[1]).toContain(4)
    expect(found[2]).toContain("secret")
  })

  test("queries are read-only, because the server ends only such ones when their request is closed", () => {
    const sql = "select toUInt32(getSetting('readonly')) as value"
    const [block] = readBlocks(channel.send(sql, {}).receive(() => {}))
    expect([...(block!.columns.get("value")!.values as Uint32Array)]).toEqual([2])
  })

  test("a cancelled query closes its request", async () => {
    const arrived = new Int32Array(new SharedArrayBuffer(4))
    const silent = new Worker(URL.createObjectURL(new Blob([SILENT_SERVER], { type: "text/javascript" })))
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    const port = await new Promise<number>((begun) => {
      silent.onmessage = ({ data }) => (data === "closed" ? resolve() : begun(data))
      silent.postMessage(arrived)
    })
    const url = new URL("./network-thread.ts", import.meta.url).href
    const waiting = openChannel(url, { ...running.server, url: `http://127.0.0.1:${port}` })
    const check = () => {
      if (Atomics.load(arrived, 0) === 1) throw new Error("The query was cancelled")
    }
    expect(() => waiting.send("select 1", {}).receive(check)).toThrow("The query was cancelled")
    await closed
    waiting.close()
    silent.terminate()
  })

  test("every query has limits of time and memory, and ClickHouse ends one that exceeds them", () => {
    const limits = new Set<string>()
    const reader = openReader((_, { settings }) => limits.add(`${settings!.max_execution_time} s, ${settings!.max_memory_usage} bytes`))
    durationsOf(reader.snapshot(1))
    expect([...limits]).toEqual(["15 s, 4294967296 bytes"])
    const read = (settings: Readonly<Record<string, number>>) =>
      channel.send("select count() as x from numbers(1000000000000) where sipHash64(number) = 1", { settings }).receive(() => {})
    expect(() => read({ max_execution_time: 1 })).toThrow("Code: 159")
    expect(() =>
      channel
        .send("select groupArray(number) as x from numbers(100000000)", { settings: { max_memory_usage: 1_000_000 } })
        .receive(() => {}),
    ).toThrow("Code: 241")
  })
})

/** The program of a server that never answers. It says when a request arrives, and when it is closed. */
const SILENT_SERVER = `self.onmessage = ({ data: arrived }) => {
  const { port } = Bun.serve({ port: 0, hostname: "127.0.0.1", idleTimeout: 0, fetch: (request) => new Promise(() => {
    request.signal.addEventListener("abort", () => self.postMessage("closed"))
    Atomics.store(arrived, 0, 1)
  }) })
  self.postMessage(port)
}`

/** Writes one visit of site 7 with 100,000 events on each of some days. */
const LARGE_DAYS = `insert into visits
    (site_id, kind, opened_at, visit, version, started_at, sequence, \`e.offset\`, \`e.name\`, \`e.page\`, \`e.hostname\`, \`e.title\`, \`e.interactive\`)
  select 7, 'visits', {day:Int64} + number * 86400000, number + 1, 1, {day:Int64} + number * 86400000, number + 1, range(100000),
    arrayWithConstant(100000, 'pageview'), arrayWithConstant(100000, '/a'), arrayWithConstant(100000, 'a.com'), arrayWithConstant(100000, ''),
    arrayWithConstant(100000, 0) from numbers({days:UInt8})`

/** The same for site 10, with visits that begin at the end of each day. */
const FILL_DAYS = LARGE_DAYS.replace("select 7", "select 10")
  .replaceAll("+ number * 86400000", "+ number * 86400000 + 86000000")
  .replaceAll("number + 1", "number + 500")

/** Makes a visit of site 4 a second longer. */
const CHANGE = `insert into visits
  select * replace(version + 1 as version, duration + 1000 as duration) from visits final where site_id = 4 and visit = 2`

function withProperty(row: VisitRow, key: string): VisitRow {
  return { ...row, steps: row.steps.map((step, at) => ({ ...step, props: at === 0 ? [] : [[key, `value of ${key}`] as const] })) }
}
