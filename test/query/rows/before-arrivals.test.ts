import { expect, test } from "bun:test"
import { join } from "node:path"
import { exportRows } from "../../../src/query/rows/export-rows.ts"
import { type EventStore, openEventStore } from "../../../src/store/events/events.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import { temporaryFolder } from "../../kit.ts"
import { event, NO_TRAITS } from "../../store/events/samples.ts"

/**
 * An incremental export of a store that the version before the column `arrival` has written. It has two segments with visits to /first and
 * /third, the latter an hour later; in its log, a visit to /late whose event was sent two hours late, and one to /open; and an import.
 */

const STORE = join(import.meta.dir, "before-arrivals.db.gz")
const MINUTE = 60_000
const NOON = Date.parse("2026-11-20T12:00:00Z")
const SITE = { id: 1, bounceEngagedSeconds: 0, revenueCurrency: "EUR", goals: [] }

/** Exports the visits whose last event arrived in a range of minutes after noon. Returns their pages. */
function exported(path: string, from: number, to: number): string[] {
  const reader = openEventReader(path, { cacheBytes: 1 << 20 })
  const range = { from: 0, to: NOON * 2 }
  const arrived = { from: NOON + from * MINUTE, to: NOON + to * MINUTE }
  const query = { site: SITE, range, of: "visits", format: "ndjson", siteKey: new Uint8Array(32), arrived } as const
  const { rows } = exportRows(reader.snapshot(1), query, undefined, () => {})
  reader.close()
  const lines = new TextDecoder().decode(rows).split("\n").filter(Boolean)
  return lines.map((line) => (JSON.parse(line) as { entry_page: string }).entry_page).sort()
}

function record(store: EventStore, at: number, page: string): void {
  store.write(at, (writer) => {
    const ordinal = writer.visitor(1, "2026-11-20", { high: 0, low: 9 })
    const visitor = { rotating: ordinal, visitor: ordinal, visitorKind: "rotating", traits: NO_TRAITS } as const
    writer.add(1, writer.openVisit(1, visitor, "2026-11-20"), event({ at, page }), "2026-11-20")
  })
}

test("contains each visit of an older store once, before and after its segments were merged with new ones", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  await Bun.write(path, Bun.gunzipSync(await Bun.file(STORE).bytes()))
  const now = NOON + 240 * MINUTE
  const store = openEventStore(path, { now })
  expect(exported(path, -2_000, 209)).toEqual(["/first", "/first", "/late", "/open", "/third"])
  // Visits of old segments count as arrived when they started. The log knows when its events arrived.
  expect(exported(path, 62, 209)).toEqual(["/late", "/open"])

  record(store, NOON + 245 * MINUTE, "/new")
  await store.seal(NOON + 300 * MINUTE, true)
  await store.merge(NOON + 300 * MINUTE)
  expect(exported(path, 209, 300)).toEqual(["/new"])
  expect(exported(path, 62, 300)).toEqual(["/late", "/new", "/open"])
  expect(exported(path, -2_000, 300)).toEqual(["/first", "/first", "/late", "/new", "/open", "/third"])
  store.close()
})
