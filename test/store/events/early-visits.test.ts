import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { join } from "node:path"
import { type EventStore, openEventStore } from "../../../src/store/events/events.ts"
import type { Part } from "../../../src/store/events/part.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import type { Writer } from "../../../src/store/events/writer.ts"
import { temporaryFolder } from "../../kit.ts"
import { dump } from "./dump.ts"
import { event, NO_TRAITS } from "./samples.ts"

const NOON = Date.parse("2026-11-21T12:00:00Z")
const MINUTE = 60_000
const DAY = "2026-11-21"
/** So small that every seal moves open visits. */
const TAIL_BYTES = 1

const visitorOf = (writer: Writer, low: number) => writer.visitor(1, DAY, { high: 1, low })

function openVisit(writer: Writer, at: number, low: number): void {
  const rotating = visitorOf(writer, low)
  const id = writer.openVisit(1, { rotating, visitor: rotating, visitorKind: "rotating", traits: NO_TRAITS }, DAY)
  writer.add(1, id, event({ at, page: "/entry", props: [["plan", "free"]] }), DAY)
}

/** Continues the open visit of a visitor. Returns false when there is none. */
function continueVisit(writer: Writer, at: number, low: number): boolean {
  const open = writer.findOpenVisit(1, visitorOf(writer, low), undefined, () => true)
  if (!open) return false
  writer.add(1, open.id, event({ at, page: "/exit", revenue: { amount: 5, currency: "EUR" } }), DAY)
  return true
}

interface Opened extends Disposable {
  store: EventStore
  path: string
  restart(): void
  visits(): ReturnType<typeof dump>
}

function open(): Opened {
  const folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  const options = { now: NOON, tailBytes: TAIL_BYTES }
  const opened = {
    path,
    store: openEventStore(path, options),
    restart() {
      opened.store.close()
      opened.store = openEventStore(path, options)
    },
    visits() {
      const reader = openEventReader(path, { cacheBytes: 1 << 20 })
      const visits = dump(reader.snapshot(1))
      reader.close()
      return visits
    },
    [Symbol.dispose]() {
      opened.store.close()
      folder[Symbol.dispose]()
    },
  }
  return opened
}

test("an open visit that was sealed is continued as if it had never been sealed", async () => {
  const lives = [open(), open()]
  for (const [index, life] of lives.entries()) {
    life.store.write(NOON, (writer) => {
      for (let low = 0; low < 5; low++) openVisit(writer, NOON + low, low)
    })
    if (index === 1) {
      await life.store.seal(NOON)
      expect(life.store.facts()).toMatchObject({ segments: 1, hotRows: 0 })
    }
    life.store.write(NOON + MINUTE, (writer) => expect(continueVisit(writer, NOON + MINUTE, 3)).toBe(true))
    if (index === 1) expect(life.store.facts()).toMatchObject({ segments: 1, hotRows: 2 })
  }
  const [kept, sealed] = lives.map((life) => life.visits())
  // A visit that is taken back takes a sequence for its id.
  const content = (visits: typeof kept) => visits!.map(({ first: _, ...visit }) => visit)
  expect(content(sealed)).toEqual(content(kept))
  for (const life of lives) life[Symbol.dispose]()
})

test("an open visit that was sealed is found until 30 minutes after its last arrival, also after a restart", async () => {
  using life = open()
  life.store.write(NOON, (writer) => {
    openVisit(writer, NOON, 1)
    openVisit(writer, NOON, 2)
    openVisit(writer, NOON, 3)
  })
  await life.store.seal(NOON)
  life.restart()
  life.store.write(NOON + 30 * MINUTE, (writer) => expect(continueVisit(writer, NOON, 1)).toBe(true))
  life.restart()
  life.store.write(NOON + 30 * MINUTE + 1, (writer) => {
    expect(continueVisit(writer, NOON, 2)).toBe(false)
    // The arrival of the last event counts, and not that of the visit.
    expect(continueVisit(writer, NOON, 1)).toBe(true)
  })
  const byVisitor = life.visits().sort((a, b) => a.visitor - b.visitor)
  expect(byVisitor.map(({ pageviews }) => pageviews)).toEqual([3, 1, 1])
})

test("a visit that is only identified stays open as long as without it", async () => {
  using life = open()
  life.store.write(NOON, (writer) => openVisit(writer, NOON, 1))
  await life.store.seal(NOON)
  life.store.write(NOON + 20 * MINUTE, (writer) => {
    const { id } = writer.findOpenVisit(1, visitorOf(writer, 1), undefined, () => true)!
    writer.identify(1, id, writer.person(1, { high: 7, low: 1 }, "user"), "user")
  })
  life.restart()
  life.store.write(NOON + 31 * MINUTE, (writer) => expect(continueVisit(writer, NOON, 1)).toBe(false))
  expect(life.visits()).toMatchObject([{ kind: 2, pageviews: 1 }])
})

test("an event that arrives during the seal continues its visit", async () => {
  using life = open()
  life.store.write(NOON, (writer) => {
    for (let low = 0; low < 300; low++) openVisit(writer, NOON + low, low)
  })
  const sealing = life.store.seal(NOON)
  let next = 0
  let isOver = false
  void sealing.finally(() => {
    isOver = true
  })
  while (!isOver) {
    life.store.write(NOON + MINUTE, (writer) => expect(continueVisit(writer, NOON + MINUTE, next++ % 300)).toBe(true))
    await Bun.sleep(0)
  }
  await sealing
  const views = () => life.visits().map(({ pageviews }) => pageviews)
  expect(views()).toHaveLength(300)
  expect(views().reduce((sum, count) => sum + count, 0)).toBe(300 + next)
  life.restart()
  expect(views().reduce((sum, count) => sum + count, 0)).toBe(300 + next)
})

test("visits that change at the end of a seal are found after a restart", async () => {
  using life = open()
  const count = 9_000
  life.store.write(NOON, (writer) => {
    for (let low = 0; low < count; low++) openVisit(writer, NOON + low, low)
  })
  const views = new Array<number>(count).fill(1)
  let next = 0
  let isOver = false
  const sealing = life.store.seal(NOON).finally(() => {
    isOver = true
  })
  const continueSome = () =>
    life.store.append(NOON + MINUTE, (writer) => {
      for (let left = 20; left > 0; left--, next += 7_919) {
        views[next % count]!++
        expect(continueVisit(writer, NOON + MINUTE, next % count)).toBe(true)
      }
    })
  for (; !isOver; await Bun.sleep(0)) continueSome()
  await sealing
  continueSome()
  life.restart()
  continueSome()
  const found = new Array<number>(count).fill(0)
  const reader = openEventReader(life.path, { cacheBytes: 1 << 20 })
  for (const part of reader.snapshot(1).parts) {
    const [visitors, pageviews] = [part.visit("visitor"), part.visit("pageviews")]
    for (let visit = 0; visit < part.visits; visit++) found[visitors[visit]!]! += pageviews[visit]!
  }
  reader.close()
  expect(found).toEqual(views)
})

test("open visits above the limit leave the tail while events arrive, and every event is counted once", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  const store = openEventStore(path, { now: NOON, tailBytes: 1 << 20 })
  let sealing = Promise.resolve()
  store.onSealDue(() => {
    sealing = store.seal(NOON)
    return sealing
  })
  const views: number[] = []
  for (let commit = 0; commit < 100; commit++) {
    store.append(NOON, (writer) => {
      for (let left = 100; left > 0; left--) {
        openVisit(writer, NOON, views.length)
        views.push(1)
        // A visitor of long ago, whose visit is probably in a segment.
        const old = (Math.imul(views.length, 0x9e37_79b1) >>> 0) % Math.ceil(views.length / 2)
        expect(continueVisit(writer, NOON, old)).toBe(true)
        views[old]!++
      }
    })
    await Bun.sleep(0)
    // So that the test doesn't depend on the speed of the disk.
    if (store.facts().hotRows > 8_000) await sealing
  }
  await sealing
  await store.seal(NOON)
  expect(store.facts().segments).toBeGreaterThan(1)
  expect(store.facts().hotRows).toBeLessThan(8_000)
  const found = new Array<number>(views.length).fill(0)
  const reader = openEventReader(path, { cacheBytes: 1 << 20 })
  for (const part of reader.snapshot(1).parts) {
    const [visitors, pageviews] = [part.visit("visitor"), part.visit("pageviews")]
    for (let visit = 0; visit < part.visits; visit++) found[visitors[visit]!]! += pageviews[visit]!
  }
  reader.close()
  store.close()
  expect(found).toEqual(views)
})

test("an erased visit is not taken back, and leaves no trace in its segment", async () => {
  using life = open()
  life.store.write(NOON, (writer) => {
    openVisit(writer, NOON, 1)
    openVisit(writer, NOON, 2)
    openVisit(writer, NOON, 3)
  })
  await life.store.seal(NOON)
  // The second visit continues in the tail; its segment still contains it.
  life.store.write(NOON + MINUTE, (writer) => continueVisit(writer, NOON + MINUTE, 2))
  const gone = [0, 1]
  const choose = (part: Part) => Uint8Array.from(part.visit("visitor"), (visitor) => Number(gone.includes(visitor)))
  expect(await life.store.erase(1, choose, NOON)).toBe(2)
  expect(storedVisits(life.path)).toBe(1)
  life.store.write(NOON + 2 * MINUTE, (writer) => {
    expect(continueVisit(writer, NOON, 1)).toBe(false)
    expect(continueVisit(writer, NOON, 2)).toBe(false)
    expect(continueVisit(writer, NOON, 3)).toBe(true)
  })
  expect(life.visits()).toMatchObject([{ visitor: 2, pageviews: 2 }])
})

/** Returns the number of visits in the segments, those that were taken back included. */
function storedVisits(path: string): number {
  const db = new Database(path, { readonly: true })
  const { n } = db.query<{ n: number }, []>("select sum(visits) as n from segments where retired_at is null").get()!
  db.close()
  return n
}

test("segments lose the visits that were taken back once all others are closed, and are merged", async () => {
  using life = open()
  for (let round = 0; round < 9; round++) {
    life.store.write(NOON, (writer) => {
      openVisit(writer, NOON + round, 2 * round)
      openVisit(writer, NOON + round, 2 * round + 1)
    })
    await life.store.seal(NOON)
    life.store.write(NOON, (writer) => continueVisit(writer, NOON + MINUTE, 2 * round))
  }
  const before = life.visits()
  expect(before).toHaveLength(18)
  await life.store.merge(NOON + 10 * MINUTE)
  // Open visits keep their segments.
  expect(life.store.facts().segments).toBe(9)
  await life.store.merge(NOON + 31 * MINUTE)
  await life.store.seal(NOON + 31 * MINUTE, true)
  expect(life.store.facts()).toMatchObject({ hotRows: 0 })
  await life.store.merge(NOON + 62 * MINUTE)
  expect(storedVisits(life.path)).toBe(18)
  expect(life.visits()).toEqual(before)
})
