import { expect, test } from "bun:test"
import { join } from "node:path"
import { answerTask, repeatOutdated, type Task } from "../../../src/query/engine/queries.ts"
import { OutdatedSnapshot } from "../../../src/store/events/dictionary/read-dictionary.ts"
import { openEventStore } from "../../../src/store/events/events.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import { temporaryFolder } from "../../kit.ts"
import { event, NO_TRAITS } from "../../store/events/samples.ts"

const NOON = Date.parse("2026-11-21T12:00:00Z")
const LATER = NOON + 3_600_000
const DAY = "2026-11-21"
const CONTEXT = { id: 1, bounceEngagedSeconds: 0, revenueCurrency: "EUR", goals: [] }

const pages: Extract<Task, { kind: "aggregate" }> = {
  kind: "aggregate",
  query: {
    ...{ site: CONTEXT, range: { from: NOON, to: LATER }, timezone: "UTC", now: LATER, metrics: ["visitors"] },
    groupings: [{ by: "dimension", dimension: "page" }],
    order: [{ by: "metric", index: 0, descending: true }],
    ...{ offset: 0, limit: 10, fillBuckets: false },
  },
}

test("a report whose texts are erased while it runs is computed again", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  const store = openEventStore(path, { now: NOON })
  store.write(NOON, (writer) => {
    for (const [low, page] of ["/kept", "/kept", "/erased"].entries()) {
      const visitor = writer.visitor(1, DAY, { high: 1, low })
      const id = writer.openVisit(1, { rotating: visitor, visitor, visitorKind: "rotating", traits: NO_TRAITS }, DAY)
      writer.add(1, id, event({ at: NOON + low, page }), DAY)
    }
  })
  await store.seal(LATER, true)
  const reader = openEventReader(path, { cacheBytes: 1 << 20 })
  const before = reader.snapshot(1)
  await store.erase(1, (part) => Uint8Array.from(part.starts(), (start) => (start === NOON + 2 ? 1 : 0)), LATER)
  let attempts = 0
  const answer = repeatOutdated(() => answerTask(attempts++ === 0 ? before : reader.snapshot(1), pages, () => {}))
  expect(attempts).toBe(2)
  expect(answer).toMatchObject({ rows: [{ keys: ["/kept"], values: [2] }], totalRows: 1 })
  const alwaysOutdated = () => answerTask(before, pages, () => {})
  expect(() => repeatOutdated(alwaysOutdated)).toThrow(OutdatedSnapshot)
  reader.close()
  store.close()
})
