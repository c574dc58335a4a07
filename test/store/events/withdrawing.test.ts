import { expect, test } from "bun:test"
import { join } from "node:path"
import { recordEvent } from "../../../src/ingest/commit/visits.ts"
import { type EventStore, openEventStore } from "../../../src/store/events/events.ts"
import { openEventReader } from "../../../src/store/events/reader.ts"
import { temporaryFolder } from "../../kit.ts"
import { bySize, SEED } from "../../size.ts"
import { dump } from "./dump.ts"
import { event, NO_TRAITS } from "./samples.ts"

const NOON = Date.parse("2026-11-20T12:00:00Z")
const DAY = "2026-11-20"
const siteKey = async (siteId: number) => new Uint8Array(32).fill(siteId)

const ROUNDS = bySize({ check: 10, full: 60, release: 1_000 })

interface Sent {
  id: string
  visitor: number
  at: number
  name: string
  amount: number
}

function record(store: EventStore, group: readonly Sent[]): void {
  store.append(NOON, (writer) => {
    for (const { id, visitor, at, name, amount } of group)
      recordEvent(writer, {
        ...{ siteId: 1, day: DAY, traits: NO_TRAITS, id, counters: [], identifies: false },
        event: event({
          ...{ at, name, page: `/${at}` },
          ...(amount > 0 && {
            revenue: { amount, currency: "EUR" },
            sale: { amount, currency: "EUR", orderId: `${amount}`, trust: "client", isRepeated: false },
          }),
        }),
        identity: { current: { period: DAY, id: { high: 1, low: visitor } }, previous: undefined, person: undefined },
      })
  })
}

/** Opens a store that ships as a node. */
async function openShipping(path: string): Promise<EventStore> {
  const store = openEventStore(path, { now: NOON })
  store.beginShipping(7, siteKey)
  await store.shareEventIds(async () => 5)
  return store
}

/** The visits of a store without what depends on the numbers of events and visitors, and its sales. */
function contentOf(store: EventStore, path: string) {
  const reader = openEventReader(path, { cacheBytes: 1 << 20 })
  const visits = dump(reader.snapshot(1, "visits", "all")).map(({ visitor: _, first: __, ...visit }) => JSON.stringify(visit))
  const firsts = new Map(dump(reader.snapshot(1, "visits", "all")).map(({ first, start }) => [first, start]))
  reader.close()
  store.confirmShipped(store.lastRecord(), [], NOON)
  const sales = store
    .salesAfter(1, 0, 1_000)
    .map(({ order_id, visit_sequence }) => [order_id, firsts.get(Math.floor(visit_sequence / 256))])
  return { visits: visits.sort(), sales: sales.sort() }
}

test("a log without some of its last events is that of a store that has never got them", async () => {
  let state = SEED
  const random = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 8) % below
  }
  for (let round = 0; round < ROUNDS; round++) {
    using folder = temporaryFolder()
    const [path, without] = [join(folder.path, "events.db"), join(folder.path, "without.db")]
    let store = await openShipping(path)
    const other = await openShipping(without)
    const groups: Sent[][] = Array.from({ length: 2 + random(5) }, (_, group) =>
      Array.from({ length: 1 + random(4) }, (_, place) => ({
        id: random(4) === 0 ? "" : `${group} ${place}`,
        visitor: random(4),
        at: NOON - random(600) * 1_000,
        name: ["pageview", "pageview", "Signup", "engagement"][random(4)]!,
        amount: random(4) === 0 ? 1_000 * group + place + 1 : 0,
      })),
    )
    const confirmed = random(groups.length)
    for (const [at, group] of groups.entries()) {
      record(store, group)
      if (at + 1 === confirmed) store.confirmShipped(store.lastRecord(), [], NOON)
    }
    store.close()
    store = await openShipping(path)
    const last = groups.slice(confirmed).flat()
    // An engagement report needs an open visit, which may not be there without the chosen events.
    const hasReports = new Set(groups.flat().flatMap(({ name, visitor }) => (name === "engagement" ? [visitor] : [])))
    const chosen = new Set(last.filter(({ id, visitor }) => id !== "" && !hasReports.has(visitor) && random(2) === 0).map(({ id }) => id))
    const ids = new Set([...chosen].map((id) => JSON.stringify(hashOf(other, id))))
    const next = store.nextSequence()
    const former = await store.withdraw((id) => ids.has(JSON.stringify(id)))
    expect(former).toHaveLength(chosen.size)
    expect(store.nextSequence()).toBe(next)
    expect(await store.withdraw((id) => ids.has(JSON.stringify(id)))).toEqual([])
    for (const group of groups)
      record(
        other,
        group.filter(({ id }) => !chosen.has(id)),
      )
    store.close()
    store = await openShipping(path)
    expect(store.nextSequence()).toBe(next)
    expect(contentOf(store, path)).toEqual(contentOf(other, without))
    // What was taken out is still known.
    record(
      store,
      groups.flat().filter(({ id }) => chosen.has(id)),
    )
    expect(contentOf(store, path)).toEqual(contentOf(other, without))
    store.close()
    other.close()
  }
})

const hashOf = (store: EventStore, id: string) => store.unknownEventId(1, id, NOON)
