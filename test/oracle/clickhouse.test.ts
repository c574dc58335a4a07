/** The oracle over ClickHouse: the same worlds, states and random queries as over the embedded store, and equal results. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { createClickhouse } from "../../src/store/clickhouse/client.ts"
import { migrateClickhouse } from "../../src/store/clickhouse/migrate.ts"
import { type Channel, openChannel } from "../../src/store/clickhouse/read/channel.ts"
import { openClickhouseReader } from "../../src/store/clickhouse/read/reader.ts"
import type { EventReader, Snapshot } from "../../src/store/events/part.ts"
import { bySize, ORACLE_QUERIES, SEED } from "../size.ts"
import { sendDirectly } from "../store/clickhouse/chdb.ts"
import { Mirror } from "../store/clickhouse/mirror.ts"
import { hasClickhouse, startClickhouse, type TestServer } from "../store/clickhouse/server.ts"
import { checkState, checkTable, type Trial } from "./check.ts"
import { STATES_WITH_TOTALS } from "./life.ts"
import { type Random, seededRandom } from "./random.ts"
import { TIMES, type Time } from "./traffic.ts"
import { SITES } from "./values.ts"
import { World } from "./world.ts"

/** Number of worlds. Each needs half a minute, because every query is a request. */
const WORLDS = bySize({ check: 1, full: TIMES.length, release: TIMES.length })

/** A world whose visits are read from ClickHouse. */
class ClickhouseWorld extends World {
  readonly #mirror: Mirror
  readonly #remote: EventReader

  constructor(random: Random, time: Time, mirror: Mirror, channel: Channel) {
    super(random, time)
    this.#mirror = mirror
    const local: EventReader = {
      snapshot: (siteId, kind, imports, alongside) => this.reader.snapshot(siteId, kind, imports, alongside),
      rows: (...args) => this.reader.rows(...args),
      fullestSite: () => this.reader.fullestSite(),
      close() {},
    }
    this.#remote = openClickhouseReader({ channel, cacheBytes: 8 << 20, local, check() {} })
  }

  /** Brings ClickHouse to the state of the embedded store. */
  async follow(): Promise<void> {
    for (const { id } of SITES) await this.#mirror.follow(this.reader.snapshot(id, "visits", "all"))
  }

  override snapshot(siteId: number): Snapshot {
    return this.#remote.snapshot(siteId, "visits", this.shown(siteId))
  }
}

describe.skipIf(!hasClickhouse())("over ClickHouse", () => {
  let running: TestServer
  beforeAll(async () => {
    running = await startClickhouse()
  })
  afterAll(() => running[Symbol.asyncDispose]())

  /** Opens a world with a database of its own. `rewrite` changes the statements of the reader. */
  async function openWorld(
    seed: number,
    rewrite: (sql: string) => string = (sql) => sql,
  ): Promise<Trial & Disposable & { world: ClickhouseWorld }> {
    const database = `world_${seed}_${Bun.randomUUIDv7("hex").replaceAll("-", "")}`
    await running.clickhouse.run(`create database ${database}`)
    const server = { ...running.server, database }
    const clickhouse = createClickhouse(server, sendDirectly)
    await migrateClickhouse(clickhouse, { version: "1.0.0", now: 1 })
    const channel = openChannel(new URL("../store/clickhouse/network-thread.ts", import.meta.url).href, server)
    const rewritten: Channel = { ...channel, read: (sql, ...rest) => channel.read(rewrite(sql), ...rest) }
    const random = seededRandom(seed)
    const time = TIMES[seed % TIMES.length]!
    const world = new ClickhouseWorld(random, time, new Mirror(clickhouse, Math.random), rewritten)
    const close = () => {
      channel.close()
      world[Symbol.dispose]()
    }
    return { world, random, time, earlier: { tables: [], funnels: [] }, [Symbol.dispose]: close }
  }

  test.each(Array.from({ length: WORLDS }, (_, index) => SEED * 1_000 + index))(
    "agrees with the oracle in every state of the store, seed %d",
    async (seed) => {
      using opened = await openWorld(seed)
      const { world } = opened
      for (const [name, reach] of STATES_WITH_TOTALS) {
        await reach(world, opened.random)
        await world.follow()
        checkState(opened, ORACLE_QUERIES / WORLDS / STATES_WITH_TOTALS.length, `${name}, seed ${seed}`)
      }
    },
    { timeout: 600_000 },
  )

  test("a reader without `final` is found out", async () => {
    using opened = await openWorld(1, (sql) => sql.replaceAll("from visits final", "from visits"))
    opened.world.write(60)
    await opened.world.follow()
    expect(() => {
      for (let left = 100; left > 0; left--) checkTable(opened)
    }).toThrow(/"site":\d/)
  })
})
