import { expect, test } from "bun:test"
import { type Consumer, createOutbox } from "../../../src/services/jobs/outbox.ts"
import { sql } from "../../../src/store/sql.ts"
import { memoryLog, temporaryFolder } from "../../kit.ts"
import { openCatalogWith } from "../catalog-kit.ts"

const event = (name: string, n: number) => ({ event: name, organizationId: 1, siteId: 2, payload: { n } })

async function openOutbox() {
  const folder = temporaryFolder()
  const { catalog, clock } = await openCatalogWith(folder.path)
  const log = memoryLog()
  const open = (...consumers: Consumer[]) => {
    const outbox = createOutbox({ catalog, clock, log })
    for (const consumer of consumers) outbox.register(consumer)
    return outbox
  }
  const count = async () => (await catalog.get<{ n: number }>(sql`select count(*) as n from outbox`))?.n
  return {
    catalog,
    clock,
    log,
    open,
    count,
    async [Symbol.asyncDispose]() {
      await catalog.close()
      folder[Symbol.dispose]()
    },
  }
}

const recorder = (seen: unknown[], name = "a", events = ["*"]): Consumer => ({
  name,
  events,
  consume: async ({ payload }) => void seen.push(payload),
})

test("consumers receive their events after the commit, in order, and none from before they registered", async () => {
  await using store = await openOutbox()
  await store.open().writeAlone(event("goal.met", 0))
  const [all, some]: unknown[][] = [[], []]
  const outbox = store.open(recorder(all!), recorder(some!, "b", ["link.created", "goal.*"]))
  await outbox.start()
  const rolledBack = store.catalog.transaction(async (statements) => {
    await outbox.write(statements, event("goal.met", 9))
    throw new Error("made up")
  })
  await expect(rolledBack).rejects.toThrow("made up")
  await store.catalog.transaction(async (statements) => {
    await outbox.write(statements, event("goal.met", 1))
    await outbox.write(statements, event("link.deleted", 2))
    await outbox.write(statements, event("link.created", 3))
  })
  while (all!.length < 3) await Bun.sleep(1)
  await outbox.deliver()
  expect([all, some]).toEqual([
    [{ n: 1 }, { n: 2 }, { n: 3 }],
    [{ n: 1 }, { n: 3 }],
  ])
  await outbox.stop()
})

test("redelivers a failed event with increasing delays, without delaying other consumers", async () => {
  await using store = await openOutbox()
  const seen: number[] = []
  const other: unknown[] = []
  const failing: Consumer = {
    name: "failing",
    events: ["*"],
    consume: async ({ payload }) => {
      const { n } = payload as { n: number }
      seen.push(n)
      if (n === 2 && seen.length < 4) throw new Error("not yet")
    },
  }
  const outbox = store.open(failing, recorder(other))
  await outbox.start()
  await store.catalog.transaction(async (statements) => {
    for (const n of [1, 2, 3]) await outbox.write(statements, event("goal.met", n))
  })
  await outbox.deliver()
  expect([seen, other]).toEqual([
    [1, 2],
    [{ n: 1 }, { n: 2 }, { n: 3 }],
  ])
  await outbox.deliver()
  expect(seen).toEqual([1, 2])
  store.clock.advance(1_000)
  await outbox.deliver()
  expect(seen).toEqual([1, 2, 2])
  store.clock.advance(1_999)
  await outbox.deliver()
  expect(seen).toEqual([1, 2, 2])
  store.clock.advance(1)
  await outbox.deliver()
  expect(seen).toEqual([1, 2, 2, 2, 3])
  expect(store.log.lines).toHaveLength(2)
})

test("after a crash a consumer continues at its position and receives each event at least once", async () => {
  await using store = await openOutbox()
  const seen: unknown[] = []
  const first = store.open(recorder(seen))
  await first.start()
  for (let n = 1; n <= 250; n++) await first.writeAlone(event("goal.met", n))
  await first.deliver()
  await first.stop()
  await first.writeAlone(event("goal.met", 251))
  // The event was delivered, but the crash came before the position was stored.
  await store.catalog.run(sql`update outbox_cursors set last_id = 249`)
  const second = store.open(recorder(seen))
  await second.start()
  await second.deliver()
  expect(seen).toHaveLength(252)
  expect(seen.slice(-2)).toEqual([{ n: 250 }, { n: 251 }])
})

test("stores the position of a consumer once per delivery, up to an event that failed", async () => {
  await using store = await openOutbox()
  const positions: (number | undefined)[] = []
  const position = async () => (await store.catalog.get<{ last_id: number }>(sql`select last_id from outbox_cursors`))?.last_id
  const outbox = store.open({
    name: "a",
    events: ["*"],
    consume: async (row) => {
      positions.push(await position())
      if ((row.payload as { n: number }).n === 4) throw new Error("not yet")
    },
  })
  await outbox.start()
  await store.catalog.transaction((statements) => outbox.write(statements, ...[1, 2, 3, 4, 5].map((n) => event("goal.met", n))))
  await outbox.deliver()
  expect([positions.slice(0, 4), await position()]).toEqual([[0, 0, 0, 0], 3])
})

test("a disabled consumer receives nothing, and the waiting events once it is enabled", async () => {
  await using store = await openOutbox()
  const seen: unknown[] = []
  let isOn = false
  const outbox = store.open({ ...recorder(seen), isOn: () => isOn })
  await outbox.start()
  await outbox.writeAlone(event("goal.met", 1))
  await outbox.deliver()
  expect(seen).toEqual([])
  isOn = true
  await outbox.deliver()
  expect(seen).toEqual([{ n: 1 }])
})

test("knows whether an enabled consumer names an event", async () => {
  await using store = await openOutbox()
  let isOn = true
  const outbox = store.open(recorder([], "all"), { ...recorder([], "goals", ["goal.met"]), isOn: () => isOn })
  const known = () => ["goal.met", "site.created"].map((name) => outbox.hasConsumer(name))
  expect(known()).toEqual([true, false])
  isOn = false
  expect(known()).toEqual([false, false])
})

test("knows whether a consumer wants an event of a place, also one that is disabled now", async () => {
  await using store = await openOutbox()
  const ofSite: Consumer = {
    ...recorder([], "of site 2", ["*"]),
    concerned: async (rows) =>
      rows.filter(({ event, site_id, organization_id }) => event === "sale" && site_id === 2 && organization_id === 1),
  }
  const outbox = store.open(recorder([], "goals", ["goal.*"]), { ...ofSite, isOn: () => false })
  const wanted = (event: string, siteId?: number) => outbox.isWanted({ event, organizationId: 1, ...(siteId !== undefined && { siteId }) })
  expect([await wanted("goal.met", 1), await wanted("goal.met")]).toEqual([true, true])
  expect([await wanted("sale", 2), await wanted("sale", 3), await wanted("sale"), await wanted("refund", 2)]).toEqual([
    ...[true, false, false, false],
  ])
  expect(await store.open().isWanted({ event: "goal.met", organizationId: 1 })).toBe(false)
})

test("deletes rows after a month, once all enabled consumers have received them", async () => {
  await using store = await openOutbox()
  const slow: Consumer = { name: "slow", events: ["*"], consume: () => Promise.reject(new Error("not yet")) }
  const outbox = store.open(recorder([]), slow, { ...recorder([], "off"), isOn: () => false })
  await outbox.start()
  await outbox.writeAlone(event("goal.met", 1))
  await outbox.deliver()
  store.clock.advance(31 * 86_400_000)
  await outbox.writeAlone(event("goal.met", 2))
  await outbox.forgetOld()
  expect(await store.count()).toBe(2)
  slow.consume = async () => {}
  // The second event was refused as well, after which its consumer is left alone for two seconds.
  await outbox.deliver()
  store.clock.advance(2_000)
  await outbox.deliver()
  await outbox.forgetOld()
  expect(await store.count()).toBe(1)
})

test("rejects two consumers with the same name", async () => {
  await using store = await openOutbox()
  expect(() => store.open(recorder([]), recorder([]))).toThrow("Two consumers have the name a")
})

test("a consumer that decides about many events at once receives only those it is concerned with, also after a failure", async () => {
  await using store = await openOutbox()
  const [seen, slices]: unknown[][] = [[], []]
  let failures = 1
  const consumer: Consumer = {
    ...{ name: "choosy", events: ["goal.*"] },
    async concerned(rows) {
      slices!.push(rows.length)
      return rows.filter(({ payload }) => (payload as { n: number }).n % 100 === 7)
    },
    async consume({ payload }) {
      const { n } = payload as { n: number }
      if (n === 107 && failures-- > 0) throw new Error("made up")
      seen!.push(n)
    },
  }
  const outbox = store.open(consumer)
  await outbox.start()
  await store.catalog.transaction((statements) =>
    outbox.write(statements, ...Array.from({ length: 250 }, (_, n) => event("goal.met", n)), event("link.created", 7)),
  )
  await outbox.deliver()
  expect(seen).toEqual([7])
  store.clock.advance(1_000)
  await outbox.deliver()
  expect(seen).toEqual([7, 107, 207])
  expect(slices!.length).toBeLessThanOrEqual(6)
  await outbox.stop()
})
