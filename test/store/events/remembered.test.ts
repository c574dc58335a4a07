import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { join } from "node:path"
import { openEventStore } from "../../../src/store/events/events.ts"
import type { Part } from "../../../src/store/events/part.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import type { ExemptValues, Writer } from "../../../src/store/events/writer.ts"
import { temporaryFolder } from "../../kit.ts"
import { event, NO_TRAITS } from "./samples.ts"

const NOON = Date.parse("2026-11-21T12:00:00Z")
const HOUR = 3_600_000
const DAY = "2026-11-21"

/** Opens a store in its own folder that can be stopped and restarted. */
function startStore(isExempt?: ExemptValues) {
  const folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  const open = () => {
    const store = openEventStore(path, { now: NOON })
    if (isExempt) store.exempt(isExempt)
    return store
  }
  const running = {
    path,
    store: open(),
    restart() {
      running.store.close()
      running.store = open()
    },
    [Symbol.dispose]() {
      running.store.close()
      folder[Symbol.dispose]()
    },
  }
  return running
}

function pageview(writer: Writer, at: number, given: Partial<Parameters<Writer["add"]>[2]> = {}, siteId = 1) {
  const visitor = writer.visitor(siteId, DAY, { high: 1, low: 1 })
  const id = writer.openVisit(siteId, { rotating: visitor, visitor, visitorKind: "rotating", traits: NO_TRAITS }, DAY)
  writer.add(siteId, id, event({ at, ...given }), DAY)
}

test("remembers an event id for 24 hours, across restarts, seals and hours", async () => {
  using running = startStore()
  const seen = (id: string, at: number, siteId = 1) => running.store.write(at, (writer) => writer.seen(siteId, id))
  expect(seen("aaaaaaaa", NOON)).toBe(false)
  expect(seen("aaaaaaaa", NOON)).toBe(true)
  expect(seen("aaaaaaaa", NOON, 2)).toBe(false)
  running.restart()
  expect(seen("aaaaaaaa", NOON + HOUR)).toBe(true)
  running.store.write(NOON + HOUR, (writer) => pageview(writer, NOON + HOUR))
  await running.store.seal(NOON + 2 * HOUR, true)
  expect(seen("aaaaaaaa", NOON + 2 * HOUR)).toBe(true)
  expect(seen("bbbbbbbb", NOON + 2 * HOUR)).toBe(false)
  running.restart()
  expect(seen("aaaaaaaa", NOON + 23 * HOUR)).toBe(true)
  expect(seen("bbbbbbbb", NOON + 23 * HOUR)).toBe(true)
  expect(seen("cccccccc", NOON + 23 * HOUR)).toBe(false)
  expect(seen("aaaaaaaa", NOON + 26 * HOUR)).toBe(false)
})

test("remembers ids and visitors that arrive during an erasure after a crash", async () => {
  using running = startStore()
  const arrive = (number: number) =>
    running.store.write(NOON, (writer) => {
      writer.seen(1, `event-${number}`)
      const visitor = writer.visitor(1, DAY, { high: 5, low: number })
      const id = writer.openVisit(1, { rotating: visitor, visitor, visitorKind: "rotating", traits: NO_TRAITS }, DAY)
      writer.add(1, id, event({ at: NOON }), DAY)
      return visitor
    })
  const visitors = [arrive(0)]
  let isErased = false
  const isFirst = (part: Part) => Uint8Array.from(part.visit("visitor"), (visitor) => (visitor === 0 ? 1 : 0))
  const erasing = running.store.erase(1, isFirst, NOON).then(() => {
    isErased = true
  })
  while (!isErased) {
    visitors.push(arrive(visitors.length))
    await Bun.sleep(0)
  }
  await erasing
  running.restart()
  running.store.write(NOON, (writer) => {
    for (const [number, visitor] of visitors.entries()) {
      expect(writer.seen(1, `event-${number}`)).toBe(true)
      expect(writer.findVisitor(1, DAY, { high: 5, low: number })).toBe(visitor)
    }
  })
})

test("remembers and forgets ids in tables like those in the log", async () => {
  using running = startStore()
  const meet = (low: number) =>
    running.store.write(NOON, (writer) => [writer.seen(1, `event-${low}`), writer.visitor(1, DAY, { high: 9, low })])
  const state = (key: string) => {
    using db = new Database(running.path, { readonly: true })
    return db.query<{ value: number }, [string]>("select value from state where key = ?").get(key)?.value
  }
  running.store.write(NOON, (writer) => pageview(writer, NOON))
  expect([meet(2), meet(3)]).toEqual([
    [false, 1],
    [false, 2],
  ])
  const storeIds = () => running.store.erase(2, (part) => new Uint8Array(part.visits), NOON)
  await storeIds()
  expect([state("ids_floor"), state("log_floor")]).toEqual([3, undefined])
  expect(meet(4)).toEqual([false, 3])
  running.restart()
  expect([meet(2), meet(3), meet(4), meet(5)]).toEqual([
    [true, 1],
    [true, 2],
    [true, 3],
    [false, 4],
  ])
  expect(running.store.write(NOON, (writer) => writer.findOpenVisit(1, 0, undefined, () => true)?.visitor)).toBe(0)
  await storeIds()
  running.restart()
  await running.store.forgetVisitors(1, DAY)
  expect([state("ids_floor"), state("log_floor")]).toEqual([5, 5])
  running.restart()
  expect(meet(2)).toEqual([true, 5])
})

test("remembers an event id when the clock is set back into an earlier hour", async () => {
  using running = startStore()
  const arrive = (id: string, at: number) =>
    running.store.write(at, (writer) => {
      if (writer.seen(1, id)) return true
      pageview(writer, at)
      return false
    })
  expect(arrive("before-1", NOON)).toBe(false)
  await running.store.seal(NOON + HOUR, true)
  expect(arrive("before-2", NOON)).toBe(false)
  await running.store.seal(NOON + HOUR, true)
  expect([arrive("before-1", NOON), arrive("before-2", NOON)]).toEqual([true, true])
  running.restart()
  expect([arrive("before-1", NOON), arrive("before-2", NOON)]).toEqual([true, true])
})

test("seals visits although the clock was temporarily a day ahead", async () => {
  using running = startStore()
  for (const at of [NOON, NOON + 24 * HOUR, NOON + 1, NOON + 2])
    running.store.write(at, (writer) => {
      const visitor = writer.visitor(1, DAY, { high: 3, low: at - NOON })
      const id = writer.openVisit(1, { rotating: visitor, visitor, visitorKind: "rotating", traits: NO_TRAITS }, DAY)
      writer.add(1, id, event({ at }), DAY)
    })
  await running.store.seal(NOON + HOUR, true)
  const reader = openEventReader(running.path, { cacheBytes: 1 << 20 })
  const { parts } = reader.snapshot(1)
  expect(parts.map(({ visits }) => visits)).toEqual([4])
  expect(parts[0]!.order()).toBeNull()
  reader.close()
})

test("caps the engaged time of a visit at the maximum of its column", () => {
  using running = startStore()
  running.store.write(NOON, (writer) => {
    pageview(writer, NOON)
    const visit = writer.findOpenVisit(1, 0, undefined, () => true)!
    for (let report = 0; report < 2; report++)
      writer.add(1, visit.id, event({ at: NOON, name: "engagement", engagement: { engagedMs: 2_500_000_000 } }), DAY)
  })
  const reader = openEventReader(running.path, { cacheBytes: 1 << 20 })
  expect([...reader.snapshot(1).parts[0]!.visit("engaged")]).toEqual([4_294_967_295])
  reader.close()
})

test("deletes old tables of event ids completely", async () => {
  using running = startStore()
  for (const hours of [0, 1, 30]) {
    running.store.write(NOON + hours * HOUR, (writer) => {
      writer.seen(1, `event-${hours}`)
      pageview(writer, NOON + hours * HOUR)
    })
    await running.store.seal(NOON + hours * HOUR + HOUR, true)
  }
  const db = new Database(running.path, { readonly: true })
  const tables = db.query<{ name: string }, []>("select name from sqlite_schema where name glob 'event_ids_*'").all()
  db.close()
  expect(tables).toEqual([{ name: `event_ids_${NOON / HOUR + 30}` }])
})

test("keeps the ordinals of visitors across seals and restarts until their period is forgotten", async () => {
  using running = startStore()
  const ordinal = (low: number, period = DAY) => running.store.write(NOON, (writer) => writer.visitor(1, period, { high: 9, low }))
  expect([ordinal(1), ordinal(2), ordinal(1), ordinal(1, "2026-11-22")]).toEqual([0, 1, 0, 2])
  running.store.write(NOON, (writer) => pageview(writer, NOON))
  running.restart()
  expect([ordinal(1), ordinal(2), ordinal(3)]).toEqual([0, 1, 4])
  await running.store.seal(NOON + HOUR, true)
  running.restart()
  expect([ordinal(1), ordinal(3), ordinal(4)]).toEqual([0, 4, 5])
  await running.store.forgetVisitors(1, DAY)
  running.restart()
  expect([ordinal(1), ordinal(1, "2026-11-22")]).toEqual([6, 2])
})

test("forgets the visitors of a period in the log and keeps their visits", async () => {
  using running = startStore()
  running.store.write(NOON, (writer) => {
    writer.seen(1, "aaaaaaaa")
    pageview(writer, NOON)
  })
  await running.store.forgetVisitors(1, DAY)
  const find = () => running.store.write(NOON, (writer) => writer.findVisitor(1, DAY, { high: 1, low: 1 }))
  expect(find()).toBeUndefined()
  running.restart()
  expect(find()).toBeUndefined()
  expect(
    running.store.write(NOON, (writer) => [writer.findOpenVisit(1, 0, undefined, () => true)?.visitor, writer.seen(1, "aaaaaaaa")]),
  ).toEqual([0, true])
})

test("forgets the period of a single request even when nothing can be written", () => {
  using running = startStore()
  const find = () => running.store.write(NOON, (writer) => writer.findVisitor(1, "~request", { high: 1, low: 1 }))
  running.store.write(NOON, (writer) => writer.visitor(1, "~request", { high: 1, low: 1 }))
  expect(find()).toBe(0)
  const other = new Database(running.path)
  other.run("begin immediate")
  running.store.forgetVisitors(1, "~request")
  other.close()
  expect(find()).toBeUndefined()
})

test("writes the period of a single request to no file", () => {
  using running = startStore()
  const ordinal = () => running.store.write(NOON, (writer) => writer.visitor(1, "~request", { high: 1, low: 1 }))
  expect([ordinal(), ordinal()]).toEqual([0, 0])
  running.restart()
  expect(ordinal()).toBe(1)
})

test("stores new values beyond the daily limit as one value and counts them", () => {
  using running = startStore((_, dictionary, text) => dictionary === "hostname" && text === "kept.example")
  running.store.write(NOON, (writer) => {
    for (let host = 0; host < 205; host++) pageview(writer, NOON, { hostname: `h${host}.example` })
  })
  running.restart()
  running.store.write(NOON, (writer) => {
    pageview(writer, NOON, { hostname: "one-more.example" })
    pageview(writer, NOON, { hostname: "kept.example" })
    pageview(writer, NOON, { hostname: "h7.example" })
  })
  const reader = openEventReader(running.path, { cacheBytes: 1 << 20 })
  const { parts, dictionary } = reader.snapshot(1)
  const hosts = [...parts[0]!.event("hostname")].map((id) => dictionary("hostname").text(id))
  reader.close()
  expect(hosts.slice(198)).toEqual(["h198.example", "h199.example", ...Array(5).fill("(other)"), "(other)", "kept.example", "h7.example"])
  expect(running.store.drops(1, DAY, DAY)).toEqual([{ day: DAY, reason: "cardinality", entry: "", count: 6 }])
})

test("numbers properties that records share by their site, and counts every discarded one", () => {
  using running = startStore()
  const shared = event({
    at: NOON,
    props: [
      ["key1", "y"],
      ["beyond", "x"],
    ],
  })
  running.store.write(NOON, (writer) => {
    for (let key = 0; key < 100; key++) pageview(writer, NOON, { props: [[`key${key}`, "x"]] })
    for (const siteId of [1, 2, 1, 2, 1]) writer.record(siteId, "clicks", { visitor: undefined, traits: NO_TRAITS, event: shared }, DAY)
  })
  const reader = openEventReader(running.path, { cacheBytes: 1 << 20 })
  const valuesOf = (siteId: number) => {
    const { parts, dictionary } = reader.snapshot(siteId, "clicks")
    const { key, value } = parts[0]!.props()
    const nameOf = (id: number) => dictionary("property").text(id)
    return Array.from(key, (id, at) => `${nameOf(id)}=${dictionary(`property:${id}`).text(value[at]!)}`)
  }
  const [limited, free] = [valuesOf(1), valuesOf(2)]
  reader.close()
  expect(limited).toEqual(["key1=y", "key1=y", "key1=y"])
  expect(free).toEqual(["key1=y", "beyond=x", "key1=y", "beyond=x"])
  expect(running.store.drops(1, DAY, DAY)).toEqual([{ day: DAY, reason: "cardinality", entry: "", count: 3 }])
  expect(running.store.drops(2, DAY, DAY)).toEqual([])
})

test("discards property keys beyond the limit", () => {
  using running = startStore()
  running.store.write(NOON, (writer) => {
    for (let key = 0; key < 102; key++) pageview(writer, NOON, { props: [[`key${key}`, "x"]] })
  })
  const reader = openEventReader(running.path, { cacheBytes: 1 << 20 })
  const { row } = reader.snapshot(1).parts[0]!.props()
  reader.close()
  expect(row.length).toBe(100)
})

test("counts drops by reason and by up to 100 entries", () => {
  using running = startStore()
  running.store.write(NOON, (writer) => {
    for (let host = 0; host < 102; host++) writer.drop(1, DAY, "host", `h${host}`)
    writer.drop(1, DAY, "bot")
  })
  running.store.write(NOON, (writer) => writer.drop(1, DAY, "host", "h3"))
  const rows = running.store.drops(1, DAY, DAY)
  expect(rows.length).toBe(103)
  expect(rows.slice(0, 4)).toEqual([
    { day: DAY, reason: "bot", entry: "", count: 1 },
    { day: DAY, reason: "host", entry: "", count: 103 },
    { day: DAY, reason: "host", entry: "(other)", count: 2 },
    { day: DAY, reason: "host", entry: "h3", count: 2 },
  ])
  running.store.forgetDays("2026-11-22")
  expect(running.store.drops(1, DAY, DAY)).toEqual([])
})

test("keeps the last 100 dropped events of a site", () => {
  using running = startStore()
  const sample = (at: number) => ({ at, reason: "bot" as const, hostname: "a.example", page: "/", browser: "curl", country: "" })
  for (let at = 0; at < 130; at++) running.store.write(NOON, (writer) => writer.sample(1, sample(at)))
  expect(running.store.dropSamples(1).map(({ at }) => at)).toEqual(Array.from({ length: 100 }, (_, index) => 129 - index))
})

test("rolls back a failed commit in memory and on disk", () => {
  using running = startStore()
  const write = (fails: boolean) =>
    running.store.write(NOON, (writer) => {
      const known = writer.seen(1, "aaaaaaaa")
      pageview(writer, NOON, { page: "/failed" })
      if (fails) throw new Error("disk on fire")
      return known
    })
  expect(() => write(true)).toThrow("disk on fire")
  expect(write(false)).toBe(false)
  const reader = openEventReader(running.path, { cacheBytes: 1 << 20 })
  expect(reader.snapshot(1).parts.map(({ visits, events }) => ({ visits, events }))).toEqual([{ visits: 1, events: 1 }])
  reader.close()
})
