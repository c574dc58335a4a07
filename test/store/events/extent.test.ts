import { expect, test } from "bun:test"
import { join } from "node:path"
import { openEventStore } from "../../../src/store/events/events.ts"
import { temporaryFolder } from "../../kit.ts"
import { event, NO_TRAITS } from "./samples.ts"

test("a store begins with its first visit, and has no beginning once everything is erased", async () => {
  using folder = temporaryFolder()
  const NOON = Date.parse("2026-11-21T12:00:00Z")
  const store = openEventStore(join(folder.path, "events.db"), { now: NOON })
  expect(store.firstAt(1)).toBeUndefined()
  store.write(NOON, (writer) => {
    const rotating = writer.visitor(1, "2026-11-21", { high: 1, low: 1 })
    const id = writer.openVisit(1, { rotating, visitor: rotating, visitorKind: "rotating", traits: NO_TRAITS }, "2026-11-21")
    writer.add(1, id, event({ at: NOON }), "2026-11-21")
  })
  expect([store.firstAt(1), store.lastAt(1)]).toEqual([NOON, NOON])
  await store.eraseSite(1, NOON)
  expect([store.firstAt(1), store.lastAt(1)]).toEqual([undefined, undefined])
  store.close()
})
