import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { openEventStore } from "../../../src/store/events/events.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import { temporaryFolder } from "../../kit.ts"
import { event, NO_TRAITS } from "./samples.ts"

const NOON = Date.parse("2026-11-21T12:00:00Z")

function withStore(path: string, work?: (store: ReturnType<typeof openEventStore>) => void) {
  const store = openEventStore(path, { now: NOON })
  work?.(store)
  store.close()
}

function change(path: string, sql: string) {
  const db = new Database(path)
  db.run(sql)
  db.close()
}

const pageview = (store: ReturnType<typeof openEventStore>) =>
  store.write(NOON, (writer) => {
    const visitor = writer.visitor(1, "2026-11-21", { high: 1, low: 1 })
    const id = writer.openVisit(1, { rotating: visitor, visitor, visitorKind: "rotating", traits: NO_TRAITS }, "2026-11-21")
    writer.add(1, id, event({ at: NOON }), "2026-11-21")
    writer.add(1, id, event({ at: NOON + 5, page: "/b" }), "2026-11-21")
  })

test.each([
  ["another program's database", (path: string) => change(path, "create table theirs (id integer)"), { reason: "foreign" }],
  ["a file that is not a database", (path: string) => writeFileSync(path, "x".repeat(8192)), { kind: "damaged" }],
  [
    "a store of a newer version",
    (path: string) => {
      withStore(path)
      change(path, "insert into migrations (owner, name, version, applied_at) values ('core', '9999_later', '9.0.0', 1)")
    },
    { reason: "newer" },
  ],
  [
    "a damaged log",
    (path: string) => {
      withStore(path, pageview)
      change(path, "update log set record = x'0102030405060708090a'")
    },
    { kind: "damaged" },
  ],
])("does not open %s", (_, prepare, expected) => {
  using folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  prepare(path)
  let thrown: unknown
  try {
    withStore(path)
  } catch (error) {
    thrown = error
  }
  expect(thrown).toMatchObject(expected)
})

test.each([
  ["a damaged column", "update segment_columns set data = cast(substr(data, 1, length(data) - 1) || x'00' as blob)"],
  ["a missing column", "delete from segment_columns"],
  ["a damaged header", "update segments set header = x'0102030405060708090a'"],
])("reports %s to a reader instead of wrong numbers", async (_, damage) => {
  using folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  const store = openEventStore(path, { now: NOON })
  pageview(store)
  await store.seal(NOON + 3_600_000, true)
  store.close()
  change(path, damage)
  const reader = openEventReader(path, { cacheBytes: 1 << 20 })
  const part = reader.snapshot(1).parts[0]!
  expect(() => part.event("page")).toThrow(expect.objectContaining({ kind: "damaged" }))
  reader.close()
})

test("waits for a lock that a reader holds briefly", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  const store = openEventStore(path, { now: NOON })
  const flag = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(new URL("./brief-lock.ts", import.meta.url))
  const next = () => new Promise<unknown>((resolve) => worker.addEventListener("message", ({ data }) => resolve(data), { once: true }))
  worker.postMessage({ path, flag })
  expect(await next()).toBe("held")
  const freed = next()
  Atomics.store(flag, 0, 1)
  Atomics.notify(flag, 0)
  expect(() => pageview(store)).not.toThrow()
  expect(await freed).toBe("free")
  worker.terminate()
  store.close()
})

test("reports a lock of another program and continues when it is released", () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  const store = openEventStore(path, { now: NOON })
  const other = new Database(path)
  other.run("begin immediate")
  expect(() => pageview(store)).toThrow(expect.objectContaining({ kind: "locked" }))
  other.run("rollback")
  other.close()
  pageview(store)
  const reader = openEventReader(path, { cacheBytes: 1 << 20 })
  expect(reader.snapshot(1).parts[0]!.events).toBe(2)
  reader.close()
  store.close()
})
