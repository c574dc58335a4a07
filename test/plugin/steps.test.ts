import { expect, test } from "bun:test"
import { join } from "node:path"
import { EventBuffer } from "../../src/ingest/commit/buffer.ts"
import { recordEvent } from "../../src/ingest/commit/visits.ts"
import type { Candidate } from "../../src/ingest/draft.ts"
import { rowWriter } from "../../src/plugin/host/own-rows.ts"
import { openEventStore } from "../../src/store/events/events.ts"
import { fixedClock, temporaryFolder } from "../kit.ts"
import { event, NO_TRAITS } from "../store/events/samples.ts"

/** Long work on rows in steps, while events arrive. */
const NOON = "2026-11-21T12:00:00Z"

const candidate: Candidate = {
  siteId: 1,
  day: "2026-11-21",
  event: event({ at: Date.parse(NOON) }),
  traits: NO_TRAITS,
  identity: { current: { period: "2026-11-21", id: { high: 1, low: 1 } }, previous: undefined, person: undefined },
  id: "",
  counters: [],
  identifies: false,
}

/** A real store with a buffer of events and a writer of rows. `moving` is the work of the thread that moves the log. */
function startSteps({ moving, disk }: { moving?: () => Promise<void>; disk?: Promise<void> } = {}) {
  const folder = temporaryFolder()
  const clock = fixedClock(NOON)
  const store = openEventStore(join(folder.path, "events.db"), {
    now: clock.now(),
    moveLog: async (_, beforeLast) => {
      beforeLast?.()
      await moving?.()
      return null
    },
  })
  store.rows(({ run }) => run({ text: "create table steps (n integer) strict", values: [] }))
  const sync = async () => {
    await disk
    return store.sync()
  }
  const buffer = new EventBuffer({ record: recordEvent, store: { ...store, sync }, clock })
  return {
    ...{ store, buffer, rows: rowWriter({ events: store, collector: buffer, rowServer: undefined }) },
    [Symbol.dispose]() {
      buffer.stop()
      store.close()
      folder[Symbol.dispose]()
    },
  }
}

const insert = (n: number) => ({ text: "insert into steps (n) values (?)", values: [n] })

test("a pause commits the events that have arrived, and they are answered", async () => {
  using it = startSteps()
  let isAnswered = false
  void it.buffer.store([candidate], 1).then(() => {
    isAnswered = true
  })
  expect(it.store.facts().hotRows).toBe(0)
  const pause = it.rows.pause()
  while (!isAnswered) await it.rows.pause()
  await pause
  expect([it.buffer.depth, it.store.facts().hotRows]).toEqual([0, 1])
})

test("a pause ends although the disk does not answer", async () => {
  using it = startSteps({ disk: new Promise(() => {}) })
  const stored = it.buffer.store([candidate], 1)
  for (let step = 0; step < 3; step++) {
    await it.rows.append(({ run }) => run(insert(step)))
    await it.rows.pause()
  }
  expect(it.buffer.depth).toBe(1)
  it.buffer.stop()
  expect(await stored).toEqual([undefined])
})

test("steps wait while the last pages of the log are moved", async () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  using it = startSteps({ moving: () => promise })
  await it.rows.append(({ run }) => run(insert(1)))
  const moved = it.store.moveLog("all")
  let isWritten = false
  const step = it.rows
    .append(({ run }) => run(insert(2)))
    .then(() => {
      isWritten = true
    })
  await it.rows.pause()
  await Bun.sleep(10)
  expect(isWritten).toBe(false)
  resolve()
  await Promise.all([moved, step])
  expect(isWritten).toBe(true)
})
