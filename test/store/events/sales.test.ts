import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { join } from "node:path"
import { earlierMigrations } from "../../../scripts/reliability/earlier-migrations.ts"
import type { NewEvent } from "../../../src/domain/event.ts"
import { type EventStore, openEventStore } from "../../../src/store/events/events.ts"
import type { Part } from "../../../src/store/events/part.ts"
import { temporaryFolder } from "../../kit.ts"
import { event, NO_TRAITS } from "./samples.ts"

const NOON = Date.parse("2026-11-20T12:00:00Z")
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

const money = (amount: number) => ({ amount, currency: "EUR" })
const sold = (at: number, amount: number, orderId = ""): NewEvent =>
  event({
    at,
    name: "purchase",
    revenue: money(amount),
    props: orderId === "" ? [] : [["order_id", orderId]],
    sale: { ...money(amount), orderId, trust: "client", isRepeated: false },
  })
/** Returns an event as an earlier version stored it. */
const old = (given: NewEvent): NewEvent => {
  const { sale: _, ...rest } = given
  return rest
}

/** Stores a visit of a visitor with events, in one group commit. Returns its id. */
const visit = (store: EventStore, visitor: number, events: readonly NewEvent[], siteId = 1): number =>
  store.write(events[0]!.at, (writer) => {
    const rotating = writer.visitor(siteId, "2026-11-20", { high: 1, low: visitor })
    const id = writer.openVisit(siteId, { rotating, visitor: rotating, visitorKind: "rotating", traits: NO_TRAITS }, "2026-11-20")
    for (const one of events) writer.add(siteId, id, one, "2026-11-20")
    return id
  })

const amounts = (store: EventStore, siteId = 1) => store.salesAfter(siteId, 0, 100).map(({ amount_minor }) => amount_minor)
const all = (part: Part) => new Uint8Array(part.visits).fill(1)

test("fills the sales of a store of an earlier version from segments and the tail", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  const before = { owner: "core", migrations: earlierMigrations(5) }
  const earlier = openEventStore(path, { now: NOON, schemas: [before] })
  visit(earlier, 1, [
    event({ at: NOON - DAY }),
    old(sold(NOON - DAY + MINUTE, 1000, "A-1")),
    old(sold(NOON - DAY + 2 * MINUTE, -300, "A-1")),
  ])
  await earlier.seal(NOON, true)
  const raw = new Database(path)
  expect(raw.query("select count(*) as n from segments").get()).toEqual({ n: 1 })
  raw.close()
  visit(earlier, 2, [old(sold(NOON, 250))], 2)
  visit(earlier, 3, [event({ at: NOON }), old(sold(NOON, 75, "A-2"))])
  earlier.close()
  const store = openEventStore(path, { now: NOON })
  const sales = store.salesAfter(1, 0, 10)
  const rest = { site_id: 1, import_id: 0, currency: "EUR", name: "purchase", trust: "client" as const, is_repeated: false }
  expect(sales.map(({ import_at }) => import_at)).toEqual(sales.map(({ at }) => at))
  expect(sales.map(({ place }) => place)).toEqual(sales.map(({ sequence }) => sequence))
  expect(sales.map(({ import_at: _, place: __, ...sale }) => sale)).toEqual([
    { ...rest, sequence: 7, visit_sequence: 1, at: NOON - DAY + MINUTE, amount_minor: 1000, order_id: "A-1" },
    { ...rest, sequence: 8, visit_sequence: 1, at: NOON - DAY + 2 * MINUTE, amount_minor: -300, order_id: "A-1" },
    { ...rest, sequence: expect.any(Number), visit_sequence: 5, at: NOON, amount_minor: 75, order_id: "A-2" },
  ])
  expect(store.salesAfter(2, 0, 10)).toMatchObject([{ visit_sequence: 4, amount_minor: 250, order_id: null }])
  visit(store, 4, [sold(NOON, 1)])
  expect(amounts(store)).toEqual([1000, -300, 75, 1])
  store.close()
  const again = openEventStore(path, { now: NOON })
  expect(amounts(again)).toEqual([1000, -300, 75, 1])
  again.close()
})

test("continues an interrupted fill with the next segment, those of imports included", async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, "events.db")
  const first = openEventStore(path, { now: NOON })
  for (const [day, amount] of [10, 20, 30].entries()) {
    visit(first, day, [sold(NOON - (5 - day) * DAY, amount)])
    await first.seal(NOON, true)
  }
  visit(first, 9, [sold(NOON, 40)])
  await first.importVisits({ siteId: 1, importId: 4, run: 2 }, [
    { visitor: "a", traits: NO_TRAITS, day: "2026-11-20", events: [old(sold(NOON, 50, "B"))] },
  ])
  expect(amounts(first)).toEqual([10, 20, 30, 40]) // so that none is only in the log
  first.close()
  const raw = new Database(path)
  raw.run("delete from sale_events where amount_minor > 10")
  raw.run("insert into state (key, value) values ('sales_fill', 1)")
  raw.close()
  const store = openEventStore(path, { now: NOON })
  expect(amounts(store)).toEqual([10, 20, 30, 40])
  expect(await store.showSales([{ id: 4, run: 1 }])).toBe(false)
  expect(await store.showSales([{ id: 4, run: 2 }])).toBe(true)
  expect(store.salesAfter(1, 0, 10).at(-1)).toMatchObject({ import_id: 4, amount_minor: 50, order_id: "B" })
  store.close()
})

test("removes the sales of erased visits, sealed or not, and of no others", async () => {
  using folder = temporaryFolder()
  const store = openEventStore(join(folder.path, "events.db"), { now: NOON })
  visit(store, 1, [sold(NOON - 3 * DAY, 1), sold(NOON - 3 * DAY, 2)])
  visit(store, 2, [sold(NOON - 2 * DAY, 3)])
  visit(store, 2, [sold(NOON - 2 * DAY, 4)], 2)
  await store.seal(NOON, true)
  visit(store, 1, [sold(NOON, 5)])
  visit(store, 3, [sold(NOON, 6)])
  expect(amounts(store)).toEqual([1, 2, 3, 5, 6])
  await store.retain(1, NOON - 2 * DAY - 1, NOON)
  expect(amounts(store)).toEqual([3, 5, 6])
  await store.erasePerson(1, [0], NOON)
  expect(amounts(store)).toEqual([3, 6])
  await store.erase(1, (part) => Uint8Array.from(part.starts(), (start) => (start === NOON ? 1 : 0)), NOON)
  expect(amounts(store)).toEqual([3])
  await store.erase(1, all, NOON)
  expect([amounts(store), amounts(store, 2)]).toEqual([[], [4]])
  store.close()
})

test("removes more sales than fit into one transaction", async () => {
  using folder = temporaryFolder()
  const store = openEventStore(join(folder.path, "events.db"), { now: NOON })
  const many = Array.from({ length: 5_000 }, (_, index) => sold(NOON - DAY, index))
  visit(store, 1, many)
  visit(store, 2, [sold(NOON, 7)])
  await store.erase(1, (part) => Uint8Array.from(part.starts(), (start) => (start < NOON ? 1 : 0)), NOON)
  expect(amounts(store)).toEqual([7])
  store.close()
})

test("removes the sales of a run of an import, shown or not, or of the whole import", async () => {
  using folder = temporaryFolder()
  const store = openEventStore(join(folder.path, "events.db"), { now: NOON })
  const imported = (visitor: string, amount: number) => ({
    visitor,
    traits: NO_TRAITS,
    day: "2026-11-20",
    events: [old(sold(NOON, amount, "A"))],
  })
  await store.importVisits({ siteId: 1, importId: 5 }, [imported("a", 1), imported("b", 2)])
  await store.importVisits({ siteId: 1, importId: 5, run: 2 }, [imported("c", 3)])
  await store.importVisits({ siteId: 1, importId: 6 }, [imported("d", 4)])
  await store.importVisits({ siteId: 1, importId: 6, kind: "clicks" }, [imported("d", 99)])
  expect(amounts(store)).toEqual([])
  await store.dropImport(1, 5, NOON, 2)
  expect(await store.showSales([{ id: 5, run: 2 }])).toBe(true)
  expect(await store.showSales([{ id: 5, run: 2 }])).toBe(false)
  expect(amounts(store)).toEqual([1, 2])
  await store.showSales([{ id: 6, run: 1 }])
  await store.dropImport(1, 5, NOON)
  expect(amounts(store)).toEqual([4])
  store.close()
})

const databaseIn = (folder: string) => join(folder, "events.db")

/** Returns how many sales are in the table. */
function stored(path: string): number {
  using raw = new Database(path, { readonly: true })
  return raw.query<{ n: number }, []>("select count(*) as n from sale_events").get()!.n
}

const firstsOf = (store: EventStore) =>
  store.salesAfter(1, 0, 100).map(({ amount_minor, visit_sequence }) => [amount_minor, visit_sequence])

/** Adds an event to a visit. */
const addTo = (store: EventStore, visitId: number, added: NewEvent): void =>
  store.write(NOON, (writer) => {
    // The traits of an earlier event replace those of the visit.
    writer.add(1, visitId, added, "2026-11-20", NO_TRAITS)
  })

test("writes sales from the log into their table when they are read, once", () => {
  using folder = temporaryFolder()
  const path = databaseIn(folder.path)
  const first = openEventStore(path, { now: NOON })
  visit(first, 1, [sold(NOON, 1, "A")])
  visit(first, 2, [{ ...sold(NOON, -2), name: "refund", sale: { ...money(-2), orderId: "", trust: "server", isRepeated: true } }])
  expect(stored(path)).toBe(0)
  first.close()
  const second = openEventStore(path, { now: NOON })
  const facts = { site_id: 1, import_id: 0, currency: "EUR" }
  expect(second.salesAfter(1, 0, 100)).toMatchObject([
    { ...facts, sequence: 1, visit_sequence: 1, amount_minor: 1, order_id: "A", name: "purchase", trust: "client", is_repeated: false },
    { ...facts, sequence: 2, visit_sequence: 2, amount_minor: -2, order_id: null, name: "refund", trust: "server", is_repeated: true },
  ])
  expect(stored(path)).toBe(2)
  visit(second, 3, [sold(NOON, 3)])
  expect(stored(path)).toBe(2)
  second.close()
  const third = openEventStore(path, { now: NOON })
  expect(amounts(third)).toEqual([1, -2, 3])
  third.close()
})

test("writes sales into their table once 500 of them are in the log", () => {
  using folder = temporaryFolder()
  const path = databaseIn(folder.path)
  const store = openEventStore(path, { now: NOON })
  const many = (from: number, count: number) => Array.from({ length: count }, (_, place) => sold(NOON, from + place))
  visit(store, 1, many(0, 499))
  expect(stored(path)).toBe(0)
  visit(store, 2, many(499, 1))
  expect(stored(path)).toBe(500)
  visit(store, 3, many(500, 1))
  expect(stored(path)).toBe(500)
  store.close()
  const again = openEventStore(path, { now: NOON })
  expect(again.salesAfter(1, 0, 1_000).map(({ amount_minor }) => amount_minor)).toEqual(Array.from({ length: 501 }, (_, amount) => amount))
  again.close()
})

test("sales in the log follow their visit to an earlier first event, also after a restart", () => {
  using folder = temporaryFolder()
  const path = databaseIn(folder.path)
  let store = openEventStore(path, { now: NOON })
  const early = visit(store, 1, [sold(NOON, 1)])
  expect(firstsOf(store)).toEqual([[1, 1]])
  const late = visit(store, 2, [event({ at: NOON }), sold(NOON, 2)])
  for (const id of [early, late]) addTo(store, id, event({ at: NOON - MINUTE }))
  store.close()
  store = openEventStore(path, { now: NOON })
  addTo(store, late, event({ at: NOON - 2 * MINUTE }))
  expect(firstsOf(store)).toEqual([
    [1, 4],
    [2, 6],
  ])
  addTo(store, late, event({ at: NOON - 3 * MINUTE }))
  store.close()
  store = openEventStore(path, { now: NOON })
  expect(firstsOf(store)).toEqual([
    [1, 4],
    [2, 7],
  ])
  store.close()
})

test("a failed commit leaves no sale, and none is lost when the log is replaced", async () => {
  using folder = temporaryFolder()
  const path = databaseIn(folder.path)
  let store = openEventStore(path, { now: NOON })
  visit(store, 1, [sold(NOON, 1)])
  const failing = () =>
    store.write(NOON, (writer) => {
      const rotating = writer.visitor(1, "2026-11-20", { high: 1, low: 2 })
      const id = writer.openVisit(1, { rotating, visitor: rotating, visitorKind: "rotating", traits: NO_TRAITS }, "2026-11-20")
      writer.add(1, id, sold(NOON, 99), "2026-11-20")
      throw new Error("broken on purpose")
    })
  expect(failing).toThrow("broken on purpose")
  visit(store, 3, [sold(NOON, 2)])
  await store.seal(NOON + DAY, true)
  expect(stored(path)).toBe(2)
  visit(store, 4, [sold(NOON, 3)])
  await store.forgetVisitors(1, "2026-11-20")
  store.close()
  store = openEventStore(path, { now: NOON })
  expect(amounts(store)).toEqual([1, 2, 3])
  store.close()
})

test("removes the sales of visits whose sales are only in the log", async () => {
  using folder = temporaryFolder()
  const path = databaseIn(folder.path)
  let store = openEventStore(path, { now: NOON })
  visit(store, 1, [sold(NOON - DAY, 1), sold(NOON - DAY, 2)])
  visit(store, 2, [sold(NOON, 3)])
  await store.erase(1, (part) => Uint8Array.from(part.starts(), (start) => (start < NOON ? 1 : 0)), NOON)
  store.close()
  store = openEventStore(path, { now: NOON })
  expect(amounts(store)).toEqual([3])
  visit(store, 3, [sold(NOON, 4)])
  await store.forgetSales(1, [4])
  store.close()
  store = openEventStore(path, { now: NOON })
  expect(amounts(store)).toEqual([3])
  store.close()
})

test("lists sales by sequence as they are, also right after they were listed in order", async () => {
  using folder = temporaryFolder()
  const store = openEventStore(databaseIn(folder.path), { now: NOON })
  const moving = visit(store, 1, [sold(NOON, 1)])
  visit(store, 2, [sold(NOON + MINUTE, 2)])
  visit(store, 3, [sold(NOON, 3)], 2)
  const list = (...sequences: number[]) =>
    store.salesBySequence(1, sequences).map(({ sequence, visit_sequence }) => [sequence, visit_sequence])
  expect(amounts(store)).toEqual([1, 2])
  expect(list(2, 1, 2)).toEqual([
    [1, 1],
    [2, 2],
  ])
  expect(list(3, 4)).toEqual([])
  addTo(store, moving, event({ at: NOON - MINUTE }))
  expect(list(1, 2)).toEqual([
    [1, 4],
    [2, 2],
  ])
  expect(amounts(store)).toEqual([1, 2])
  await store.erase(1, (part) => Uint8Array.from(part.starts(), (start) => (start > NOON ? 1 : 0)), NOON)
  expect(list(1, 2)).toEqual([[1, 4]])
  store.close()
})

test("lists the sales of an import between those that were stored before and after it was shown", async () => {
  using folder = temporaryFolder()
  const store = openEventStore(databaseIn(folder.path), { now: NOON })
  visit(store, 1, [sold(NOON, 1)])
  expect(amounts(store)).toEqual([1])
  visit(store, 2, [sold(NOON, 2)])
  const imported = [old(sold(NOON - DAY, 3, "A"))]
  await store.importVisits({ siteId: 1, importId: 5 }, [{ visitor: "a", traits: NO_TRAITS, day: "2026-11-19", events: imported }])
  visit(store, 3, [sold(NOON, 4)])
  await store.showSales([{ id: 5, run: 1 }])
  visit(store, 4, [sold(NOON, 5)])
  const listed = () => store.salesAfter(1, 1, 100).map(({ amount_minor }) => amount_minor)
  expect(listed()).toEqual([2, 4, 3, 5])
  visit(store, 5, [sold(NOON, 6)])
  expect(listed()).toEqual([2, 4, 3, 5, 6])
  const shown = store.salesAfter(1, 1, 100).find(({ import_id: id }) => id === 5)!
  expect(store.salesBySequence(1, [shown.sequence])).toEqual([shown])
  const [, last] = store.salesAfter(1, shown.sequence, 100)
  expect(last).toMatchObject({ amount_minor: 6, import_id: 0, visit_sequence: last!.sequence })
  expect(store.salesBySequence(1, [last!.sequence])).toEqual([last!])
  expect(store.salesAfter(1, last!.sequence, 100)).toEqual([])
  store.close()
})
