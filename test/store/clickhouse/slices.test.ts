/** The reader of ClickHouse while visits are added, changed, merged and deleted. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { join } from "node:path"
import { migrateClickhouse } from "../../../src/store/clickhouse/migrate.ts"
import { type Channel, openChannel } from "../../../src/store/clickhouse/read/channel.ts"
import { openClickhouseReader } from "../../../src/store/clickhouse/read/reader.ts"
import { ROW_COLUMNS, RowWriter } from "../../../src/store/clickhouse/row-binary.ts"
import type { VisitRow } from "../../../src/store/clickhouse/visit-row.ts"
import { openEventStore } from "../../../src/store/events/events.ts"
import type { EventReader, Snapshot } from "../../../src/store/events/part.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import { temporaryFolder } from "../../kit.ts"
import { seededRandom } from "../../oracle/random.ts"
import { bySize, SEED } from "../../size.ts"
import { DAY, HOUR, visitOf } from "./changing-visits.ts"
import { hasClickhouse, startClickhouse, type TestServer } from "./server.ts"

describe.skipIf(!hasClickhouse())("slices of ClickHouse", () => {
  let running: TestServer
  let channel: Channel
  const folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  beforeAll(async () => {
    running = await startClickhouse()
    await migrateClickhouse(running.clickhouse, { version: "1.0.0", now: 1 })
    channel = openChannel(new URL("./network-thread.ts", import.meta.url).href, running.server)
    openEventStore(path, { now: DAY }).close()
  })
  afterAll(async () => {
    channel.close()
    folder[Symbol.dispose]()
    await running[Symbol.asyncDispose]()
  })

  const openReader = (watch: (sql: string) => void = () => {}): EventReader =>
    openClickhouseReader({
      channel: {
        close() {},
        send(sql, options) {
          watch(sql)
          return channel.send(sql, options)
        },
      },
      ...{ cacheBytes: 8 << 20, check() {}, local: openEventReader(path, { cacheBytes: 1 << 20 }) },
    })
  const insert = async (rows: readonly VisitRow[], isGone = false) => {
    const writer = new RowWriter()
    for (const row of rows) isGone ? writer.addTombstone(row) : writer.add(row)
    await running.clickhouse.insert("visits", ROW_COLUMNS, writer.finish())
  }
  const visitsOf = ({ parts }: Snapshot) =>
    parts
      .flatMap((part) => {
        const [starts, sequences, durations, events] = [part.starts(), part.sequences(), part.visit("duration"), part.event("visit")]
        expect(events.length).toBe(part.events)
        return Array.from(sequences, (sequence, row) => [sequence, starts[row]!, durations[row]!])
      })
      .sort((a, b) => a[0]! - b[0]!)

  test("a reader sees what a new one sees, whatever was inserted, merged or deleted since its last query", async () => {
    const random = seededRandom(SEED)
    const reader = openReader()
    const versions = new Map<number, VisitRow>()
    let lastVisit = 0
    const newVisit = (siteId: number): VisitRow => {
      const openedAt = DAY - random.whole(0, 80) * 24 * HOUR + random.whole(0, 47) * (HOUR / 2)
      const importId = random.chance(0.2) ? 3 : 0
      return visitOf(siteId, ++lastVisit, { openedAt, startedAt: openedAt - random.whole(0, 3) * HOUR, importId, run: importId && 1 })
    }
    const steps: Record<string, () => Promise<void>> = {
      async add() {
        const rows = Array.from({ length: random.whole(1, 5) }, () => newVisit(random.chance(0.7) ? 1 : 2))
        for (const row of rows) if (row.siteId === 1) versions.set(row.visit, row)
        await insert(rows)
      },
      async change() {
        const row = random.pick([...versions.values()])
        const changed = { ...row, version: row.version + 1, duration: row.duration + 1_000, startedAt: row.startedAt - HOUR }
        versions.set(row.visit, changed)
        await insert([changed])
      },
      async hide() {
        const row = random.pick([...versions.values()])
        await insert([{ ...row, version: 1_000 }], true)
        versions.delete(row.visit)
      },
      merge: () => running.clickhouse.run("optimize table visits"),
      mergeAll: () => running.clickhouse.run("optimize table visits final"),
      async delete() {
        const { visit } = random.pick([...versions.values()])
        await running.clickhouse.run(`alter table visits delete where site_id = 1 and visit = ${visit} settings mutations_sync = 2`)
        versions.delete(visit)
      },
      deleteOthers: () => running.clickhouse.run("alter table visits delete where site_id = 2 settings mutations_sync = 2"),
      dropMonth: async () => {
        await running.clickhouse.run("alter table visits drop partition 202609")
        const isDropped = ({ openedAt }: VisitRow) => new Date(openedAt).getUTCMonth() === 8
        for (const row of [...versions.values()]) if (isDropped(row)) versions.delete(row.visit)
      },
    }
    const often = ["add", "add", "add", "change", "change", "hide", "merge", "merge"]
    await steps.add!()
    for (let round = bySize({ check: 25, full: 200, release: 1_000 }); round > 0; round--) {
      const done: string[] = []
      for (let left = random.whole(1, 3); left > 0; left--) {
        const name = random.chance(0.8) ? random.pick(often) : random.pick(Object.keys(steps))
        done.push(name)
        if (versions.size < 3) await steps.add!()
        await steps[name]!()
      }
      const expected = [...versions.values()].map(({ sequence, startedAt, duration }) => [sequence, startedAt, duration])
      expect(visitsOf(reader.snapshot(1, "visits", "all")), done.join()).toEqual(expected.sort((a, b) => a[0]! - b[0]!))
    }
    reader.close()
  }, 300_000)

  test("a query on visits that change all the time has all columns with one statement, once earlier ones have needed them", async () => {
    await insert([visitOf(5, 1), visitOf(5, 2)])
    const statements: string[] = []
    const reader = openReader((sql) => void statements.push(sql))
    const query = () => {
      const { parts, dictionary } = reader.snapshot(5)
      const pages = dictionary("page")
      const read = parts.map((part) => [...part.visit("duration"), ...part.event("page"), ...part.visit("country"), ...part.props().key])
      return { read, hasPage: pages.find("/a") !== undefined }
    }
    expect(query().hasPage).toBe(true)
    for (let version = 2; version < 6; version++) {
      await insert([visitOf(5, 2, { version, duration: version * 1_000 })])
      statements.length = 0
      const { read, hasPage } = query()
      expect([hasPage, read[0]![1]]).toEqual([true, version * 1_000])
      // The parts on disk, what the new one has, the list, and all columns. The texts of the dictionary are among them.
      expect(statements.length).toBe(4)
    }
    reader.close()
  })
})
