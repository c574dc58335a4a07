import { Database } from "bun:sqlite"
import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { EventBuffer, type Shipping } from "../../src/ingest/commit/buffer.ts"
import type { StorageProblem } from "../../src/ingest/commit/storage-problems.ts"
import { recordEvent } from "../../src/ingest/commit/visits.ts"
import type { Candidate } from "../../src/ingest/draft.ts"
import { type EventStore, openEventStore } from "../../src/store/events/events.ts"
import { type FaultKind, StoreFault } from "../../src/store/events/fault.ts"
import { openEventReader } from "../../src/store/events/reader.ts"
import { fixedClock, temporaryFolder } from "../kit.ts"
import { dump } from "../store/events/dump.ts"
import { event, NO_TRAITS } from "../store/events/samples.ts"
import { NOON } from "./intake.ts"

let visitor = 0
const candidate = (more: Partial<Candidate> = {}): Candidate => ({
  siteId: 1,
  day: "2026-11-21",
  event: event({ at: Date.parse(NOON) }),
  traits: NO_TRAITS,
  identity: { current: { period: "2026-11-21", id: { high: 1, low: visitor++ } }, previous: undefined, person: undefined },
  id: "",
  counters: [],
  identifies: false,
  ...more,
})
/** An event on which our own code fails halfway through storing it. */
const broken = () => candidate({ traits: { ...NO_TRAITS, source: undefined as unknown as string }, id: `broken-${visitor}` }) // the cast causes the failure

/** Creates a buffer over a real store whose disk can be made to fail. */
function startBuffer({ shipping }: { shipping?: Shipping } = {}) {
  const folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  const clock = fixedClock(NOON)
  const store = openEventStore(path, { now: clock.now() })
  const problems: string[] = []
  const errors: unknown[] = []
  /** `held` delays the arrival of committed data on the disk; `lost` prevents it. While `moving`, commits would wait for the disk. */
  const disk: { fault?: FaultKind; writes: number; held?: Promise<void>; lost?: true; moving?: Promise<void> } = { writes: 0 }
  const checked = <T>(work: () => T): T => {
    if (disk.fault) throw new StoreFault(disk.fault, "made by the test")
    return work()
  }
  const failing: Pick<EventStore, "append" | "sync" | "syncNow" | "probe" | "held"> = {
    append: (at, work) => {
      disk.writes++
      return checked(() => store.append(at, work))
    },
    async sync() {
      await disk.held
      if (disk.lost) throw new StoreFault("fsync", "made by the test")
      return store.sync()
    },
    syncNow() {
      if (disk.lost) throw new StoreFault("fsync", "made by the test")
      store.syncNow()
    },
    probe: () => checked(() => store.probe()),
    held: () => disk.moving,
  }
  const onStorageProblem = (kind: StorageProblem, hinders: boolean) => problems.push(`${hinders ? "enter" : "leave"} ${kind}`)
  const buffer = new EventBuffer({
    ...{ record: recordEvent, store: failing, clock, onStorageProblem },
    onError: (error) => errors.push(error),
    ...(shipping && { shipping }),
  })
  return {
    buffer,
    clock,
    disk,
    path,
    problems,
    errors,
    store,
    stored() {
      const reader = openEventReader(path, { cacheBytes: 1 << 20 })
      const events = dump(reader.snapshot(1)).reduce((sum, { rows }) => sum + rows.length, 0)
      reader.close()
      return events
    },
    [Symbol.dispose]() {
      buffer.stop()
      store.close()
      folder[Symbol.dispose]()
    },
  }
}

test("simultaneous events share a commit", async () => {
  using it = startBuffer()
  const outcomes = await Promise.all(Array.from({ length: 50 }, () => it.buffer.store([candidate()], 100)))
  expect(outcomes).toEqual(Array(50).fill([undefined]))
  expect([it.disk.writes, it.stored(), it.buffer.depth]).toEqual([1, 50, 0])
})

test("events wait for a second engine, and records whose requests were answered only for the disk", async () => {
  const engine = Promise.withResolvers<void>()
  using it = startBuffer({ shipping: { refusal: () => undefined, acknowledge: () => engine.promise } })
  let isAcknowledged = false
  const waiting = it.buffer.store([candidate()], 1).finally(() => (isAcknowledged = true))
  expect(await it.buffer.store([candidate()], 1, true)).toEqual([undefined])
  expect([it.disk.writes, it.stored(), isAcknowledged]).toEqual([1, 2, false])
  engine.resolve()
  expect(await waiting).toEqual([undefined])
})

test("two hundred events are committed without a delay", async () => {
  using it = startBuffer()
  for (let sent = 0; sent < 199; sent++) void it.buffer.store([candidate()], 100)
  expect([it.buffer.depth, it.disk.writes]).toEqual([199, 0])
  const last = it.buffer.store([candidate()], 100)
  expect([it.disk.writes, it.stored()]).toEqual([1, 200])
  expect(await last).toEqual([undefined])
  expect(it.buffer.depth).toBe(0)
})

test("events wait while the last pages of the log are moved, and a stop does not", async () => {
  using it = startBuffer()
  const { promise, resolve } = Promise.withResolvers<void>()
  it.disk.moving = promise
  const waiting = [it.buffer.store([candidate()], 1), it.buffer.store([candidate()], 1)]
  await Bun.sleep(20)
  it.buffer.commit()
  expect([it.disk.writes, it.buffer.depth]).toEqual([0, 2])
  delete it.disk.moving
  resolve()
  expect(await Promise.all(waiting)).toEqual([[undefined], [undefined]])
  expect([it.disk.writes, it.stored()]).toEqual([1, 2])
  it.disk.moving = new Promise(() => {})
  const last = it.buffer.store([candidate()], 1)
  it.buffer.stop()
  expect([await last, it.stored()]).toEqual([[undefined], 3])
})

describe("a commit that is not yet on disk", () => {
  /** Commits one event that is not yet on disk. */
  async function committed(it: ReturnType<typeof startBuffer>) {
    const { promise, resolve } = Promise.withResolvers<void>()
    it.disk.held = promise
    const outcomes: string[] = []
    const send = (name: string) =>
      it.buffer.store([candidate()], 1).then(
        () => void outcomes.push(name),
        ({ code }: { code: string }) => void outcomes.push(`${name} ${code}`),
      )
    const first = send("first")
    await Bun.sleep(20)
    expect([it.stored(), it.buffer.depth, outcomes]).toEqual([1, 1, []])
    return { send, outcomes, first, arrive: resolve }
  }

  test("is acknowledged once it is durable, and later events form the next group", async () => {
    using it = startBuffer()
    const { send, outcomes, first, arrive } = await committed(it)
    const more = [send("second"), send("third")]
    await Bun.sleep(20)
    expect([it.disk.writes, outcomes]).toEqual([1, []])
    arrive()
    await Promise.all([first, ...more])
    expect([it.disk.writes, outcomes, it.stored(), it.buffer.depth]).toEqual([2, ["first", "second", "third"], 3, 0])
  })

  test("can be followed by a commit on demand, each acknowledged once it is durable", async () => {
    using it = startBuffer()
    const { send, outcomes, first, arrive } = await committed(it)
    const second = send("second")
    it.buffer.commit()
    expect([it.disk.writes, it.stored(), outcomes]).toEqual([2, 2, []])
    arrive()
    await first
    expect(outcomes).toEqual(["first"])
    await second
    expect([outcomes, it.buffer.depth]).toEqual([["first", "second"], 0])
  })

  test("is waited for by whoever commits on demand, until all events are acknowledged", async () => {
    using it = startBuffer()
    expect(it.buffer.commit()).toBeUndefined()
    const { send, outcomes, arrive } = await committed(it)
    void send("second")
    let isSettled = false
    const settled = it.buffer.commit()!.then(() => {
      isSettled = true
    })
    await Bun.sleep(20)
    expect([isSettled, outcomes]).toEqual([false, []])
    arrive()
    await settled
    expect([outcomes, it.buffer.depth, it.buffer.commit()]).toEqual([["first", "second"], 0, undefined])
  })

  test("is waited for no longer than until the disk has failed", async () => {
    using it = startBuffer()
    const { send, outcomes, arrive } = await committed(it)
    void send("second")
    const settled = it.buffer.commit()!
    it.disk.lost = true
    arrive()
    await settled
    expect([outcomes, it.buffer.depth]).toEqual([["first unavailable", "second unavailable"], 0])
  })

  test("that is lost also fails the commits after it", async () => {
    using it = startBuffer()
    const { send, outcomes, first, arrive } = await committed(it)
    const second = send("second")
    it.buffer.commit()
    it.disk.lost = true
    arrive()
    await Promise.all([first, second])
    expect([outcomes, it.problems, it.buffer.depth]).toEqual([["first unavailable", "second unavailable"], ["enter fsync"], 0])
  })

  test("is awaited when the buffer stops", async () => {
    using it = startBuffer()
    const { send, outcomes, first } = await committed(it)
    const second = send("second")
    it.buffer.stop()
    await Promise.all([first, second])
    expect([outcomes, it.disk.writes]).toEqual([["first", "second"], 2])
  })

  test.each([["while nobody waits"], ["while a stop waits"]])("that is lost acknowledges no event, %s", async (when) => {
    using it = startBuffer()
    const { send, outcomes, first, arrive } = await committed(it)
    it.disk.lost = true
    const second = send("second")
    if (when === "while a stop waits") it.buffer.stop()
    arrive()
    await Promise.all([first, second])
    expect([outcomes, it.problems, it.buffer.depth]).toEqual([["first unavailable", "second unavailable"], ["enter fsync"], 0])
    await expect(it.buffer.store([candidate()], 1)).rejects.toMatchObject({ code: "unavailable", members: { retry_after: 10 } })
  })
})

test("stores the events of a request together", async () => {
  using it = startBuffer()
  await Promise.all([
    it.buffer.store(
      Array.from({ length: 1_000 }, () => candidate()),
      1_000,
    ),
    it.buffer.store([candidate()], 10),
  ])
  expect([it.disk.writes, it.stored()]).toEqual([2, 1_001])
})

test("an event that fails on its own fails only its request, which is not stored in part", async () => {
  using it = startBuffer()
  const results = await Promise.allSettled([
    it.buffer.store([candidate({ id: "event-01" })], 1),
    it.buffer.store([candidate({ id: "event-02" }), broken()], 1),
    it.buffer.store([candidate({ id: "event-03" })], 1),
  ])
  expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"])
  expect([it.stored(), it.errors.length, it.buffer.depth]).toEqual([2, 1, 0])
  // The request can be repeated, because none of it was stored.
  expect(await it.buffer.store([candidate({ id: "event-02" })], 1)).toEqual([undefined])
})

describe("a full queue", () => {
  test("of 20,000 events answers 503 with Retry-After 1", async () => {
    using it = startBuffer()
    it.disk.fault = "locked"
    const waiting = Array.from({ length: 100 }, () =>
      it.buffer.store(
        Array.from({ length: 200 }, () => candidate()),
        10,
      ),
    )
    expect(it.buffer.depth).toBe(20_000)
    await expect(it.buffer.store([candidate()], 10)).rejects.toMatchObject({ code: "unavailable", members: { retry_after: 1 } })
    expect(it.problems).toEqual(["enter queue_full"])
    delete it.disk.fault
    it.buffer.flush()
    expect((await Promise.all(waiting)).flat().length).toBe(20_000)
    expect(it.problems).toEqual(["enter queue_full", "leave queue_full"])
  })

  test("of 16 MiB answers 503", async () => {
    using it = startBuffer()
    it.disk.fault = "locked"
    const first = it.buffer.store([candidate()], 16 << 20)
    await expect(it.buffer.store([candidate()], 1)).rejects.toMatchObject({ code: "unavailable" })
    delete it.disk.fault
    it.buffer.flush()
    expect(await first).toEqual([undefined])
  })
})

describe("a full disk", () => {
  test("answers 503 storage_full immediately, and events are accepted again once there is space", async () => {
    using it = startBuffer()
    it.disk.fault = "full"
    await expect(it.buffer.store([candidate()], 1)).rejects.toMatchObject({ code: "storage_full", members: { retry_after: 10 } })
    const { writes } = it.disk
    await expect(it.buffer.store([candidate()], 1)).rejects.toMatchObject({ code: "storage_full" })
    expect(it.disk.writes).toBe(writes)
    delete it.disk.fault
    await Bun.sleep(2_100)
    expect(await it.buffer.store([candidate()], 1)).toEqual([undefined])
    expect([it.stored(), it.problems]).toEqual([1, ["enter full", "leave full"]])
  })
})

describe("a locked file", () => {
  test("by another program is awaited without blocking", async () => {
    using it = startBuffer()
    const other = new Database(it.path)
    other.run("begin immediate")
    const waiting = it.buffer.store([candidate()], 1)
    const race = await Promise.race([waiting, Bun.sleep(30).then(() => "the loop runs on")])
    expect(race).toBe("the loop runs on")
    other.run("rollback")
    other.close()
    expect(await waiting).toEqual([undefined])
    expect(it.problems).toEqual([])
  })

  test("fails events after five seconds, and recovery is noticed without an event", async () => {
    using it = startBuffer()
    it.disk.fault = "locked"
    const waiting = it.buffer.store([candidate()], 1)
    await Bun.sleep(10)
    it.clock.advance(5_000)
    await expect(waiting).rejects.toMatchObject({ code: "unavailable", members: { retry_after: 5 } })
    delete it.disk.fault
    await Bun.sleep(120)
    expect(it.problems).toEqual(["enter locked", "leave locked"])
    expect(await it.buffer.store([candidate()], 1)).toEqual([undefined])
  })
})

test.each([
  ["damaged", 10],
  ["fsync", 10],
  ["io", 1],
] as const)("a store with the fault %s answers 503", async (fault, retry_after) => {
  using it = startBuffer()
  it.disk.fault = fault
  await expect(it.buffer.store([candidate()], 1)).rejects.toMatchObject({ code: "unavailable", members: { retry_after } })
  expect(it.problems).toEqual([`enter ${fault}`])
})

test("reports each I/O error", async () => {
  using it = startBuffer()
  it.disk.fault = "io"
  for (let time = 0; time < 3; time++) await expect(it.buffer.store([candidate()], 1)).rejects.toMatchObject({ code: "unavailable" })
  expect(it.problems).toEqual(["enter io", "enter io", "enter io"])
})

test("stores drops without an event, and keeps them through a fault", async () => {
  using it = startBuffer()
  it.buffer.drop({ siteId: 1, day: "2026-11-21", reason: "bot" })
  await Bun.sleep(150)
  expect(it.store.drops(1, "2026-11-21", "2026-11-21")).toMatchObject([{ reason: "bot", count: 1 }])
  it.disk.fault = "full"
  await expect(it.buffer.store([candidate()], 1)).rejects.toMatchObject({ code: "storage_full" })
  it.buffer.drop({ siteId: 1, day: "2026-11-21", reason: "bot" })
  delete it.disk.fault
  await Bun.sleep(2_100)
  await it.buffer.store([candidate()], 1)
  expect(it.store.drops(1, "2026-11-21", "2026-11-21")).toMatchObject([{ reason: "bot", count: 2 }])
})

test("stores thousands of drops in one commit", () => {
  using it = startBuffer()
  for (let sent = 0; sent < 12_000; sent++) it.buffer.drop({ siteId: 1, day: "2026-11-21", reason: sent % 2 ? "bot" : "spam" })
  it.buffer.flush()
  expect(it.disk.writes).toBe(1)
  expect(it.store.drops(1, "2026-11-21", "2026-11-21").map(({ reason, count }) => [reason, count])).toEqual([
    ["bot", 6_000],
    ["spam", 6_000],
  ])
})

test("stores the queued events on stop and accepts no more", async () => {
  using it = startBuffer()
  const waiting = it.buffer.store([candidate()], 1)
  it.buffer.stop()
  expect(await waiting).toEqual([undefined])
  await expect(it.buffer.store([candidate()], 1)).rejects.toMatchObject({ code: "unavailable" })
  expect(it.stored()).toBe(1)
})
