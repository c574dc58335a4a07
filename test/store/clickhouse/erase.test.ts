import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { deleteHidden, type Erasure, hideVisits, partsGone } from "../../../src/store/clickhouse/erase.ts"
import { migrateClickhouse } from "../../../src/store/clickhouse/migrate.ts"
import { longTest } from "../../size.ts"
import { hasClickhouse, startClickhouse, type TestServer } from "./server.ts"
import { MINUTE, NOON, pageview, ShippingLife } from "./shipping-life.ts"

describe.skipIf(!hasClickhouse())("erasing visits on ClickHouse", () => {
  let running: TestServer
  beforeAll(async () => {
    running = await startClickhouse()
    await migrateClickhouse(running.clickhouse, { version: "1.0.0", now: 1 })
    const soon = "old_parts_lifetime = 1, merge_tree_clear_old_parts_interval_seconds = 1, cleanup_delay_period = 1"
    await running.clickhouse.run(`alter table visits modify setting ${soon}, cleanup_delay_period_random_add = 0`)
  })
  afterEach(() => running.clickhouse.run("truncate table visits"))
  afterAll(() => running[Symbol.asyncDispose]())

  const pages = async (how: "final" | "") => {
    const rows = await running.clickhouse.rows<{ page: string }>(`select entry_page as page from visits ${how} order by opened_at, version`)
    return rows.map(({ page }) => page)
  }
  /** Returns the names of all parts on disk. A rewritten part has another name. */
  const parts = async () => {
    const rows = await running.clickhouse.rows<{ name: string }>("select name from system.parts where table = 'visits'")
    return rows.map(({ name }) => name)
  }
  const visitorOf = async (page: string) => {
    const sql = "select toString(visitor) as visitor from visits final where entry_page = {page:String}"
    return Number((await running.clickhouse.rows<{ visitor: string }>(sql, { parameters: { page } }))[0]!.visitor) // it was shipped
  }

  /** Returns the visitors in all versions of a visit. */
  const visitorsOf = async (page: string) => {
    const sql = "select distinct toString(visitor) as visitor from visits where entry_page = {page:String}"
    return (await running.clickhouse.rows<{ visitor: string }>(sql, { parameters: { page } })).map(({ visitor }) => Number(visitor))
  }

  /** Ships a visit that is erased in the second of its three versions, and another one. */
  async function shipErased(life: ShippingLife): Promise<void> {
    life.store.write(NOON, (writer) => life.visit(writer, 1, pageview(NOON, "/erased")))
    life.store.write(NOON, (writer) => life.visit(writer, 2, pageview(NOON + 1, "/other")))
    await life.ship()
    life.store.write(NOON, (writer) => life.join(writer, 1, pageview(NOON + 2), { person: 1 }))
    await life.ship()
    await hideVisits(running.clickhouse, 1, { visitors: [await visitorOf("/erased")] })
    expect(await pages("final")).toEqual(["/other"])
    // The node has not erased its own copy yet, and ships another version, which is late.
    life.store.write(NOON, (writer) => life.join(writer, 1, pageview(NOON + MINUTE)))
    await life.ship()
  }

  test("an erased visit does not come back with what is shipped later", async () => {
    using life = new ShippingLife(running)
    await shipErased(life)
    for (const rows of life.inserted) await life.repeat(rows)
    expect(await pages("final")).toEqual(["/other"])
  })

  test("deletes what a visit contained, and its key only once every node has erased it", async () => {
    using life = new ShippingLife(running)
    await shipErased(life)
    const left = async () => {
      const sql = "select entry_page as page, gone from visits order by page, gone"
      return (await running.clickhouse.rows<{ page: string; gone: number }>(sql)).map(({ page, gone }) => [page, gone])
    }
    await deleteHidden(running.clickhouse, false)
    expect(await left()).toEqual([
      ["", 1],
      ["/other", 0],
    ])
    for (const rows of life.inserted) await life.repeat(rows)
    expect(await pages("final")).toEqual(["/other"])
    await deleteHidden(running.clickhouse, false)
    await deleteHidden(running.clickhouse, true)
    expect(await pages("final")).toEqual(["/other"])
    expect((await left()).every(([page]) => page === "/other")).toBe(true)
  })

  // The server deletes replaced parts within half a minute.
  longTest(
    "deletes an erased visit in all versions, and the parts that contained it",
    async () => {
      using life = new ShippingLife(running)
      await shipErased(life)
      await life.store.erasePerson(1, await visitorsOf("/erased"), NOON)
      const before = await parts()
      await partsGone(running.clickhouse, await deleteHidden(running.clickhouse, true))
      expect(new Set(await pages(""))).toEqual(new Set(["/other"]))
      expect((await parts()).filter((name) => before.includes(name))).toEqual([])
      await life.ship()
      await life.expectEqual()
    },
    180_000,
  )

  test.each<[string, Erasure, string[]]>([
    ["visits that started before the cutoff", { startedBefore: NOON + MINUTE }, ["/second"]],
    ["an import", { importId: 4 }, ["/first", "/second"]],
  ])("hides %s on one site only", async (_, erasure, rest) => {
    using life = new ShippingLife(running)
    for (const siteId of [1, 2])
      for (const [minutes, page] of [
        [0, "/first"],
        [2, "/second"],
      ] as const)
        life.store.write(NOON, (writer) => life.visit(writer, minutes, pageview(NOON + minutes * MINUTE, page), { siteId }))
    await life.ship()
    await hideVisits(running.clickhouse, 1, erasure)
    const left = await running.clickhouse.rows<{ site_id: number; page: string }>(
      "select site_id, entry_page as page from visits final order by site_id, opened_at",
    )
    expect(left).toEqual([...rest.map((page) => ({ site_id: 1, page })), ...["/first", "/second"].map((page) => ({ site_id: 2, page }))])
  })
})
