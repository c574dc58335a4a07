/** Nodes that are live at the same time, on one catalog, one ClickHouse and one server of the rows. */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test"
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { startInstance, type TestInstance, temporaryFolder } from "../kit.ts"
import { hasClickhouse, startClickhouse, type TestServer } from "../store/clickhouse/server.ts"

setDefaultTimeout(240_000)

const view = (page: string, more: object = {}) => ({ n: "pageview", u: `https://shop.example${page}`, d: "shop.example", ...more })

async function summary({ api, statsKey }: TestInstance, metrics = "visitors,pageviews"): Promise<unknown> {
  const { body } = await api.get(`/api/public/v1/sites/1/stats/summary?period=today&metrics=${metrics}`, statsKey)
  return (body as { metrics: unknown }).metrics
}

describe.skipIf(!hasClickhouse())("live nodes", () => {
  let running: TestServer
  beforeAll(async () => {
    running = await startClickhouse()
  })
  afterEach(async () => {
    for (const table of ["visits", "totals"]) await running.clickhouse.run(`truncate table ${table}`)
  })
  afterAll(() => running[Symbol.asyncDispose]())

  const first = (settings: Record<string, string> = {}) => startInstance({ clickhouse: running.server, hasRowServer: true, settings })
  const second = (joining: TestInstance) => startInstance({ clickhouse: running.server, joining })
  const count = async (condition: string): Promise<number> => {
    const [row] = await running.clickhouse.rows<{ n: string }>(`select toString(count()) as n from visits final where ${condition}`)
    return Number(row!.n) // a count is always one row
  }

  test("answer alike with the events of both", async () => {
    await using one = await first()
    await using two = await second(one)
    expect([one, two].map(({ app }) => app.instance.nodes!.own)).toEqual([1, 2])
    expect(await one.collect(view("/a"), { address: "198.51.100.1" })).toMatchObject({ status: 202 })
    expect(await two.collect(view("/b"), { address: "198.51.100.2" })).toMatchObject({ status: 202 })
    expect(await two.collect(view("/c"), { address: "198.51.100.2" })).toMatchObject({ status: 202 })
    for (const node of [one, two]) expect(await summary(node)).toEqual({ visitors: 2, pageviews: 3 })
  })

  test("are refused without the same server of the rows", async () => {
    await using alone = await startInstance({ clickhouse: running.server })
    await expect(second(alone)).rejects.toMatchObject({
      exit: "inUse",
      message: expect.stringContaining("Several nodes need FOOTFALL_ROWS_URL"),
    })
    const withRows = () => startInstance({ clickhouse: running.server, joining: alone, hasRowServer: true })
    await expect(withRows()).rejects.toMatchObject({
      exit: "inUse",
      message: expect.stringContaining("without FOOTFALL_ROWS_URL. Stop it"),
    })
    expect(await alone.collect(view("/"))).toMatchObject({ status: 202 })
    await alone.stop()
    await using next = await withRows()
    expect(next.app.instance.nodes!.live()).toEqual([2])
  })

  test("are refused with another secret key, which also cannot be rotated in a folder", async () => {
    await using one = await first()
    using folder = temporaryFolder()
    writeFileSync(join(folder.path, "secret.key"), `${Buffer.alloc(32, 9).toString("base64")}\n`, { mode: 0o600 })
    const other = startInstance({ clickhouse: running.server, joining: one, dataDir: folder.path })
    await expect(other).rejects.toMatchObject({ exit: "configuration", message: expect.stringContaining("FOOTFALL_SECRET_KEY") })
    await using two = await second(one)
    const { keyRotation } = two.app.instance
    await expect(keyRotation.rotate({ kind: "cli", label: "test" } as never)).rejects.toMatchObject({ exit: "usage" })
  })

  test("ship nothing after their lease is over, and what they accepted meanwhile once they have it again", async () => {
    await using one = await first({ ack_wait: "100" })
    const { lease, shipped } = one.app.instance
    await lease!.renew()
    one.clock.advance(30_001)
    const sending = one.collect(view("/late"))
    await Bun.sleep(500)
    one.clock.advance(100)
    expect(await sending).toMatchObject({ status: 202 })
    expect(shipped!.shipping.state).toBe("spooling")
    expect(await count("1")).toBe(0)
    await lease!.renew()
    while ((await count("1")) === 0) await Bun.sleep(100)
    expect(await summary(one)).toEqual({ visitors: 1, pageviews: 1 })
  })
})
