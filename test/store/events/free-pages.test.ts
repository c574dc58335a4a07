import { expect, test } from "bun:test"
import { statSync } from "node:fs"
import { join } from "node:path"
import { examineEventFile } from "../../../src/store/events/copy.ts"
import { openEventStore } from "../../../src/store/events/events.ts"
import { sparePages } from "../../../src/store/events/upkeep/free-pages.ts"
import { raw } from "../../../src/store/sql.ts"
import { temporaryFolder } from "../../kit.ts"

const NOW = Date.parse("2026-11-21T12:00:00Z")
const ROW = new Uint8Array(100_000).fill(7)

test("a file shrinks to a share of free pages without a vacuum", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  const store = openEventStore(path, { now: NOW })
  const bytes = () => {
    store.checkpoint("truncate")
    return statSync(path).size
  }
  store.rows((rows) => {
    rows.run(raw("create table sample_rows (id integer primary key, data blob)"))
    rows.runEach(
      "insert into sample_rows (data) values (?)",
      Array.from({ length: 300 }, () => [ROW]),
    )
  })
  const full = bytes()
  store.rows((rows) => rows.run(raw("delete from sample_rows where id % 3 > 0")))
  expect(bytes()).toBe(full)
  await store.returnFreePages()
  expect(bytes()).toBeLessThan(full / 2)
  store.close()
  expect(examineEventFile(path, { full: true }).faults).toEqual([])
})

test("keeps free pages for the log: an eighth of the file, from 2 to 16 MiB", () => {
  expect(sparePages(100)).toBe(512)
  expect(sparePages(8_000)).toBe(1_000)
  expect(sparePages(4_000_000)).toBe(4_096)
})
