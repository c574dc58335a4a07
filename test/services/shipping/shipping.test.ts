import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { migrateClickhouse } from "../../../src/store/clickhouse/migrate.ts"
import { bySize } from "../../size.ts"
import { hasClickhouse, startClickhouse, type TestServer } from "../../store/clickhouse/server.ts"
import { Load, type NodeOptions, type RunningNode, startNode, startProxy, type Trouble } from "./nodes.ts"

/** How long load runs before and after a disturbance, in milliseconds. */
const LOAD_MS = 700
const ROUNDS = bySize({ check: 1, full: 5, release: 20 })

describe.skipIf(!hasClickhouse())("a node that ships to ClickHouse", () => {
  let running: TestServer
  const folders: string[] = []
  const nodes: RunningNode[] = []
  beforeAll(async () => {
    running = await startClickhouse()
    await migrateClickhouse(running.clickhouse, { version: "1.0.0", now: 1 })
  })
  afterEach(async () => {
    for (const node of nodes.splice(0)) await node.kill()
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
    await running.clickhouse.run("truncate table visits")
  })
  afterAll(() => running[Symbol.asyncDispose]())

  function newFolder(): string {
    const folder = mkdtempSync(join(tmpdir(), "footfall-"))
    folders.push(folder)
    return folder
  }
  async function start(options: NodeOptions = {}, folder = newFolder(), server = running.server, number = 1): Promise<RunningNode> {
    const node = await startNode(folder, number, server, options)
    nodes.push(node)
    return node
  }
  /** Returns how often ClickHouse has each amount. */
  async function stored(): Promise<Map<number, number>> {
    const sql = "select arrayJoin(`r.amount`) as amount, toUInt32(count()) as times from visits final group by amount"
    const rows = await running.clickhouse.rows<{ amount: string; times: number }>(sql)
    return new Map(rows.map(({ amount, times }) => [Number(amount), times]))
  }
  async function until(isTrue: () => Promise<boolean>): Promise<void> {
    while (!(await isTrue())) await Bun.sleep(20)
  }
  const drained = (node: RunningNode) =>
    until(async () => {
      const { records, bytes } = await node.state()
      return records === 0 && bytes === 0
    })
  /** Expects every acknowledged event once, and no event twice. */
  async function expectExact(amounts: Iterable<number>): Promise<void> {
    const found = await stored()
    expect([...amounts].filter((amount) => found.get(amount) !== 1)).toEqual([])
    expect([...found].filter(([, times]) => times > 1)).toEqual([])
  }

  test("acknowledges an event when ClickHouse has it", async () => {
    const node = await start()
    expect(await node.send([1, 2])).toEqual({ status: 202, body: { state: "shipping" } })
    await expectExact([1, 2])
  })

  test("relies on its disk while ClickHouse is stopped, and ships what it stored meanwhile", async () => {
    const node = await start({ waitMs: 300 })
    const load = new Load(node, 1)
    await Bun.sleep(LOAD_MS)
    await running.stop()
    await until(async () => (await node.state()).state === "spooling")
    const before = load.acknowledged.size
    await Bun.sleep(LOAD_MS)
    expect(load.acknowledged.size).toBeGreaterThan(before)
    await node.seal()
    await running.start()
    await until(async () => (await node.state()).state === "shipping")
    await load.stop()
    await drained(node)
    expect(load.refused).toEqual([])
    await expectExact(load.acknowledged.keys())
  })

  for (const trouble of ["late", "fails after storing"] as const satisfies readonly Trouble[])
    test(`stores every event once when an answer ${trouble === "late" ? "is late" : trouble}`, async () => {
      using proxy = startProxy(running.server)
      const node = await start({ waitMs: 300 }, newFolder(), proxy.server)
      const load = new Load(node, 1)
      await Bun.sleep(LOAD_MS)
      proxy.trouble = trouble
      await Bun.sleep(3 * LOAD_MS)
      expect((await node.state()).state).toBe("spooling")
      proxy.trouble = "none"
      await Bun.sleep(LOAD_MS)
      await load.stop()
      await drained(node)
      await expectExact(load.acknowledged.keys())
    })

  test("a node that was killed ships the rest after its start", async () => {
    const folder = newFolder()
    const acknowledged: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      using proxy = startProxy(running.server)
      const node = await start({ waitMs: 200 }, folder, proxy.server)
      const load = new Load(node, 1 + round * 1_000_000)
      await Bun.sleep(LOAD_MS)
      proxy.trouble = "unreachable"
      await Bun.sleep(LOAD_MS)
      await node.kill()
      await load.stop()
      acknowledged.push(...load.acknowledged.keys())
      expect([...load.acknowledged.values()]).toContain("spooling")
    }
    await drained(await start({}, folder))
    await expectExact(acknowledged)
  })

  test("is late from its start until ClickHouse has what was stored before, sealed visits included", async () => {
    const folder = newFolder()
    using proxy = startProxy(running.server)
    const node = await start({ waitMs: 200 }, folder, proxy.server)
    await node.send([1])
    expect((await node.state()).isLate).toBe(false)
    proxy.trouble = "refused"
    await node.send([2])
    await node.seal()
    await node.send([3])
    expect((await node.state()).isLate).toBe(false)
    await node.kill()
    const again = await start({ waitMs: 200 }, folder, proxy.server)
    expect((await again.state()).isLate).toBe(true)
    proxy.trouble = "none"
    await until(async () => !(await again.state()).isLate)
    await expectExact([1, 2, 3])
  })

  test("a node that was killed while it deleted what ClickHouse has, has lost nothing", async () => {
    const folder = newFolder()
    const acknowledged: number[] = []
    for (let round = 0; round < 2 * ROUNDS; round++) {
      const node = await start({ keepMs: -1_000, waitMs: 200 }, folder)
      const load = new Load(node, 1 + round * 1_000_000, 3)
      let isKilled = false
      const dropping = (async () => {
        while (!isKilled) {
          await node.seal().catch(() => {})
          await node.drop().catch(() => {})
        }
      })()
      await Bun.sleep(LOAD_MS + 53 * round)
      await node.kill()
      isKilled = true
      await dropping
      await load.stop()
      acknowledged.push(...load.acknowledged.keys())
    }
    const node = await start({ keepMs: -1_000 }, folder)
    await node.seal()
    await drained(node)
    await until(async () => (await node.drop()) === 0)
    await expectExact(acknowledged)
  })

  test("a killed node whose folder is gone has lost nothing that it acknowledged while it shipped", async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const folder = newFolder()
      const node = await start({}, folder, running.server, round + 1)
      const load = new Load(node, 1 + round * 1_000_000)
      await Bun.sleep(2 * LOAD_MS)
      await node.kill()
      rmSync(folder, { recursive: true })
      await load.stop()
      const shipped = [...load.acknowledged].filter(([, state]) => state === "shipping").map(([amount]) => amount)
      expect(shipped.length).toBeGreaterThan(0)
      await expectExact(shipped)
    }
  })

  test("without a spool, events are refused while ClickHouse does not confirm them", async () => {
    using proxy = startProxy(running.server)
    const node = await start({ spools: false }, newFolder(), proxy.server)
    expect((await node.send([1])).status).toBe(202)
    proxy.trouble = "unreachable"
    expect(await node.send([2])).toEqual({ status: 503, body: { code: "unavailable", retry_after: 10 } })
    expect(await node.send([3])).toEqual({ status: 503, body: { code: "unavailable", retry_after: 10 } })
    proxy.trouble = "none"
    await until(async () => (await node.state()).state === "shipping")
    expect((await node.send([4])).status).toBe(202)
    await expectExact([1, 4])
    expect((await stored()).has(3)).toBe(false)
  })

  test("refuses events while the spool is full", async () => {
    using proxy = startProxy(running.server)
    const node = await start({ spoolBytes: 1, waitMs: 200 }, newFolder(), proxy.server)
    proxy.trouble = "unreachable"
    expect(await node.send([1])).toEqual({ status: 202, body: { state: "spooling" } })
    await until(async () => (await node.state()).state === "full")
    expect(await node.send([2])).toEqual({ status: 503, body: { code: "storage_full", retry_after: 10 } })
    proxy.trouble = "none"
    await until(async () => (await node.state()).state === "shipping")
    expect((await node.send([3])).status).toBe(202)
    await expectExact([1, 3])
  })
})
