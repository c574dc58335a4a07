import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { migrateClickhouse } from "../../../src/store/clickhouse/migrate.ts"
import { seededRandom } from "../../oracle/random.ts"
import { bySize } from "../../size.ts"
import { event, NO_TRAITS } from "../events/samples.ts"
import { hasClickhouse, startClickhouse, type TestServer } from "./server.ts"
import { DAY, MINUTE, NOON, pageview, ShippingLife } from "./shipping-life.ts"

describe.skipIf(!hasClickhouse())("shipping visits to ClickHouse", () => {
  let running: TestServer
  beforeAll(async () => {
    running = await startClickhouse()
    await migrateClickhouse(running.clickhouse, { version: "1.0.0", now: 1 })
  })
  afterEach(() => running.clickhouse.run("truncate table visits"))
  afterAll(() => running[Symbol.asyncDispose]())

  const versions = async () =>
    (await running.clickhouse.rows<{ rows: number }>("select toUInt32(count()) as rows from visits")).map(({ rows }) => rows)[0]

  test("a changed visit is one more version of its row", async () => {
    using life = new ShippingLife(running)
    life.store.write(NOON, (writer) => life.visit(writer, 1, pageview(NOON)))
    await life.ship()
    life.store.write(NOON + 1, (writer) => life.join(writer, 1, pageview(NOON + 1_000, "/next"), { person: 3 }))
    await life.ship()
    await life.ship()
    expect(await versions()).toBe(2)
    await life.expectEqual()
  })

  test("a late event that moves the start, and an early seal, leave the key of the row as it is", async () => {
    using life = new ShippingLife({ ...running, tailBytes: 1 })
    life.store.write(NOON, (writer) => life.visit(writer, 1, pageview(NOON)))
    await life.ship()
    life.store.write(NOON, (writer) => life.join(writer, 1, pageview(NOON - MINUTE, "/first"), { country: "DE" }))
    life.fate = () => "lost"
    expect(await life.ship()).toBe(false)
    await life.store.seal(NOON)
    life.restart()
    life.fate = () => "stored"
    await life.ship()
    await life.expectEqual()
    life.store.write(NOON + MINUTE, (writer) => life.join(writer, 1, pageview(NOON - 2 * MINUTE, "/earlier still")))
    await life.ship()
    await life.expectEqual()
    await life.store.seal(NOON + MINUTE)
    life.restart()
    await life.ship()
    await life.expectEqual()
  })

  test("open visits that an embedded store has sealed early keep one row when events join them after the move", async () => {
    using life = new ShippingLife({ ...running, tailBytes: 1, isEmbedded: true })
    life.store.write(NOON, (writer) => life.visit(writer, 1, pageview(NOON)))
    life.store.write(NOON, (writer) => life.visit(writer, 2, pageview(NOON)))
    life.store.write(NOON, (writer) => life.join(writer, 1, pageview(NOON - MINUTE, "/first"), { country: "DE", person: 3 }))
    await life.store.seal(NOON)
    expect(life.store.holding()).toBe("local")
    life.move()
    expect(life.store.holding()).toBe("moving")
    await life.ship()
    await life.expectEqual()
    life.store.write(NOON + MINUTE, (writer) => life.join(writer, 1, pageview(NOON + MINUTE)))
    await life.ship()
    await life.expectEqual()
    life.store.completeMove(() => {})
    expect(life.store.holding()).toBe("shipped")
    life.store.endShipping()
    expect(life.store.holding()).toBe("local")
  })

  test("visits that were sealed after they were shipped are not shipped again", async () => {
    using life = new ShippingLife(running)
    for (let low = 0; low < 20; low++) life.store.write(NOON, (writer) => life.visit(writer, low, pageview(NOON)))
    await life.ship()
    await life.store.seal(NOON + 40 * MINUTE, true)
    await life.ship()
    expect(await versions()).toBe(20)
    expect(life.store.unshipped()).toEqual({ records: 0, bytes: 0 })
  })

  test("visits that were sealed before they were shipped come from their segments, with their visitors", async () => {
    using life = new ShippingLife(running)
    life.fate = () => "lost"
    for (let low = 0; low < 5; low++) life.store.write(NOON, (writer) => life.visit(writer, low, pageview(NOON)))
    await life.ship()
    await life.store.seal(NOON + 40 * MINUTE, true)
    await life.destroySalt()
    life.restart()
    life.fate = () => "stored"
    expect(life.store.unshipped().bytes).toBeGreaterThan(0)
    await life.ship()
    await life.expectEqual()
    expect(life.store.unshipped()).toEqual({ records: 0, bytes: 0 })
  })

  test("two nodes compute the same value for a visitor", async () => {
    using one = new ShippingLife(running)
    using two = new ShippingLife(running)
    two.store.write(NOON, (writer) => two.visit(writer, 99, pageview(NOON)))
    for (const life of [one, two]) life.store.write(NOON, (writer) => life.visit(writer, 5, pageview(NOON, `/${life === one}`)))
    for (const life of [one, two]) life.store.write(NOON, (writer) => life.join(writer, 5, pageview(NOON + 1), { person: 8 }))
    await one.ship()
    const first = await running.clickhouse.rows("select opener, visitor from visits final where pageviews = 2")
    await running.clickhouse.run("truncate table visits")
    await two.ship()
    expect(await running.clickhouse.rows("select opener, visitor from visits final where pageviews = 2")).toEqual(first)
  })

  test("a visit that closes with its request is shipped as closed, others are open until their time is over or they are sealed", async () => {
    using life = new ShippingLife(running)
    const closed = async () =>
      (await running.clickhouse.rows<{ closed: number }>("select closed from visits final order by visit")).map((row) => row.closed)
    life.store.write(NOON, (writer) => {
      life.visit(writer, 1, pageview(NOON))
      const rotating = writer.visitor(1, DAY, { high: 0, low: 2 })
      const visit = { rotating, visitor: rotating, visitorKind: "rotating", traits: NO_TRAITS, isComplete: true } as const
      writer.add(1, writer.openVisit(1, visit, DAY), pageview(NOON - 90 * MINUTE), DAY)
    })
    await life.ship()
    expect(await closed()).toEqual([0, 1])
    life.store.write(NOON, (writer) => life.visit(writer, 3, pageview(NOON)))
    life.fate = () => "lost"
    await life.ship()
    await life.store.seal(NOON + 40 * MINUTE, true)
    life.restart()
    life.fate = () => "stored"
    await life.ship()
    // What was sealed before it was shipped comes from its segment.
    expect(await closed()).toEqual([1, 1, 1])
  })

  test("a large visit is shipped every ten seconds", async () => {
    using life = new ShippingLife(running)
    life.store.write(NOON, (writer) => life.visit(writer, 1, pageview(NOON)))
    for (let at = 0; at < 600; at++) life.store.write(NOON, (writer) => life.join(writer, 1, pageview(NOON + at)))
    await life.ship()
    await life.expectEqual()
    for (const [seconds, count] of [
      [1, 1],
      [5, 1],
      [9, 1],
      [11, 2],
    ] as const) {
      life.now = NOON + seconds * 1_000
      life.store.write(life.now, (writer) => life.join(writer, 1, pageview(life.now)))
      await life.ship()
      expect(await versions()).toBe(count)
    }
    await life.expectEqual()
    expect(life.store.unshipped().records).toBe(0)
  })

  test("segments are kept until the engine has had them for a while", async () => {
    using life = new ShippingLife(running)
    life.store.write(NOON, (writer) => life.visit(writer, 1, pageview(NOON)))
    await life.store.seal(NOON + 40 * MINUTE, true)
    await life.store.dropShipped(NOON + 90 * MINUTE, NOON)
    expect(life.store.facts().segments).toBe(1)
    life.now = NOON + 60 * MINUTE
    await life.ship()
    await life.store.dropShipped(NOON + 60 * MINUTE, life.now)
    expect(life.store.facts().segments).toBe(1)
    await life.store.dropShipped(NOON + 61 * MINUTE, life.now)
    expect(life.store.facts().segments).toBe(0)
    expect(await versions()).toBe(1)
  })

  test("records are kept until they are counted", async () => {
    using life = new ShippingLife(running)
    for (const click of [1, 2])
      life.store.write(NOON, (writer) => {
        const clicked = event({ at: NOON, name: "link_click", props: [["url", `/${click}`]] })
        writer.record(1, "clicks", { visitor: undefined, traits: NO_TRAITS, event: clicked }, DAY)
      })
    const last = life.store.nextSequence() >> 8
    await life.ship()
    await life.store.seal(NOON + 40 * MINUTE, true)
    await life.ship()
    const later = NOON + 90 * MINUTE
    for (const [sequence, left] of [
      [undefined, 1],
      [last - 2, 1],
      [last - 1, 0],
    ] as const) {
      if (sequence !== undefined) life.store.counted(1, "clicks", sequence)
      await life.store.dropShipped(later, later)
      expect(life.store.facts().segments).toBe(left)
    }
    expect(life.store.firstAt(1, "clicks")).toBe(NOON)
  })

  for (let seed = 1; seed <= bySize({ check: 4, full: 20, release: 100 }); seed++)
    test(`random traffic, seals, restarts and failed inserts end in the same visits (seed ${seed})`, async () => {
      const random = seededRandom(seed)
      using life = new ShippingLife({ ...running, ...(random.chance(0.5) && { tailBytes: 1 }) })
      life.fate = () => random.pick(["stored", "stored", "lost", "unanswered"])
      for (let step = 0; step < 150; step++) {
        const low = random.whole(0, 9)
        const at = life.now + random.whole(-20, 0) * MINUTE
        const page = random.pick(["/", "/a", "/ä"])
        const act = random.whole(0, 99)
        if (act < 25)
          life.store.write(life.now, (writer) => life.visit(writer, low, pageview(at, page), { country: random.pick(["DE", ""]) }))
        else if (act < 50)
          life.store.write(life.now, (writer) => {
            const sale = { ...pageview(at, page), name: "Sale", props: [["plan", page]] as const, revenue: { amount: -5, currency: "EUR" } }
            life.join(writer, low, random.chance(0.5) ? sale : pageview(at, page), { person: random.pick([0, 0, 1, 2]), country: "FR" })
          })
        else if (act < 55)
          life.store.write(life.now, (writer) => {
            const click = event({ at, name: "link_click", props: [["url", page]] })
            writer.record(1, "clicks", { visitor: undefined, traits: NO_TRAITS, event: click }, DAY)
          })
        else if (act < 75) await life.ship()
        else if (act < 82) life.now += random.whole(1, 40) * MINUTE
        else if (act < 90) await life.store.seal(life.now, random.chance(0.7))
        else if (act < 92) await life.store.merge(life.now)
        else if (act < 94) await life.destroySalt()
        else if (act < 96) life.startShipping()
        else if (act < 98) life.restart()
        else if (life.inserted.length > 0) await life.repeat(random.pick(life.inserted))
      }
      life.fate = () => "stored"
      life.now += 60 * MINUTE
      expect(await life.ship()).toBe(true)
      for (const rows of life.inserted.toReversed().slice(0, 20)) await life.repeat(rows)
      await life.expectEqual()
      await life.expectEqual(1, "clicks")
      expect(life.store.unshipped().records).toBe(0)
    })
})
