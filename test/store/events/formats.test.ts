import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { join } from "node:path"
import { openEventStore } from "../../../src/store/events/events.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import { temporaryFolder } from "../../kit.ts"
import { dump } from "./dump.ts"
import { EXAMPLE_END, writeExample } from "./example.ts"

/** Returns all visits and clicks of a store. */
function contentOf(path: string) {
  const reader = openEventReader(path, { cacheBytes: 1 << 20 })
  const content = { visits: dump(reader.snapshot(1)), clicks: dump(reader.snapshot(1, "clicks")) }
  reader.close()
  return content
}

const formatsOf = (path: string): number[] => {
  using db = new Database(path, { readonly: true })
  return db
    .query<{ format: number }, []>("select distinct format from segments where retired_at is null order by format")
    .all()
    .map(({ format }) => format)
}

test("shows a store whose segments an earlier version has written, before and after they were rewritten", async () => {
  using folder = temporaryFolder()
  const fresh = join(folder.path, "fresh.db")
  const written = openEventStore(fresh, { now: EXAMPLE_END })
  await writeExample(written)
  written.close()
  const expected = contentOf(fresh)
  expect(expected.visits.length).toBe(180)
  expect(formatsOf(fresh)).toEqual([2])

  const path = join(folder.path, "events.db")
  await Bun.write(path, Bun.gunzipSync(await Bun.file(join(import.meta.dir, "format-1.db.gz")).bytes()))
  using store = Object.assign(openEventStore(path, { now: EXAMPLE_END }), {
    [Symbol.dispose](this: { close(): void }) {
      this.close()
    },
  })
  expect(formatsOf(path)).toEqual([1])
  expect(contentOf(path)).toEqual(expected)

  // Removes the first visit of each segment, which writes all of them anew.
  const firsts = (part: { visits: number }) => Uint8Array.from({ length: part.visits }, (_, row) => (row === 0 ? 1 : 0))
  await store.erase(1, firsts, EXAMPLE_END)
  expect(formatsOf(path)).toEqual([2])
  const again = openEventStore(fresh, { now: EXAMPLE_END })
  await again.erase(1, firsts, EXAMPLE_END)
  again.close()
  const rest = contentOf(fresh)
  expect(rest.visits.length).toBe(177)
  expect(contentOf(path)).toEqual(rest)
})
