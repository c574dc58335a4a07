import { expect, test } from "bun:test"
import { join } from "node:path"
import { openEventStore } from "../../../src/store/events/events.ts"
import type { Writer } from "../../../src/store/events/writer.ts"
import { temporaryFolder } from "../../kit.ts"
import { event, NO_TRAITS } from "./samples.ts"

const NOON = Date.parse("2026-11-21T12:00:00Z")
const MINUTE = 60_000
const DAY = "2026-11-21"

function visit(writer: Writer, at: number, low: number): void {
  const rotating = writer.visitor(1, DAY, { high: 1, low })
  const id = writer.openVisit(1, { rotating, visitor: rotating, visitorKind: "rotating", traits: NO_TRAITS }, DAY)
  writer.add(1, id, event({ at }), DAY)
}

test("keeps the age of unsealed visits across seals, erasures and restarts", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  let store = openEventStore(path, { now: NOON })
  expect(store.oldestUnsealedAt()).toBeUndefined()
  store.write(NOON, (writer) => visit(writer, NOON, 1))
  store.write(NOON + 40 * MINUTE, (writer) => visit(writer, NOON + 40 * MINUTE, 2))
  store.write(NOON + 41 * MINUTE, (writer) => visit(writer, NOON + 41 * MINUTE, 3))
  expect(store.oldestUnsealedAt()).toBe(NOON)
  // The first visit moves to a columnar segment; the others may continue.
  await store.seal(NOON + 50 * MINUTE, true)
  expect(store.oldestUnsealedAt()).toBe(NOON + 40 * MINUTE)
  // An erasure rewrites the log: the rest becomes one record and keeps its age.
  await store.erase(
    1,
    (part) => Uint8Array.from({ length: part.visits }, (_, row) => (part.visits === 2 && row === 0 ? 1 : 0)),
    NOON + 51 * MINUTE,
  )
  expect(store.oldestUnsealedAt()).toBe(NOON + 41 * MINUTE)
  store.close()
  store = openEventStore(path, { now: NOON + 52 * MINUTE })
  expect(store.oldestUnsealedAt()).toBe(NOON + 41 * MINUTE)
  store.close()
})
