import { createClickhouse } from "../../src/store/clickhouse/client.ts"
import { migrateClickhouse } from "../../src/store/clickhouse/migrate.ts"
import { type Channel, openChannel } from "../../src/store/clickhouse/read/channel.ts"
import { openClickhouseReader } from "../../src/store/clickhouse/read/reader.ts"
import { ChangeReader } from "../../src/store/clickhouse/ship/changes.ts"
import { TotalsShipper } from "../../src/store/clickhouse/ship/totals.ts"
import type { EventReader, Snapshot } from "../../src/store/events/part.ts"
import { sendDirectly } from "../store/clickhouse/chdb.ts"
import { Mirror, visitorValue } from "../store/clickhouse/mirror.ts"
import type { TestServer } from "../store/clickhouse/server.ts"
import type { Trial } from "./check.ts"
import { type Random, seededRandom } from "./random.ts"
import { TIMES, type Time } from "./traffic.ts"
import { SITES } from "./values.ts"
import { World } from "./world.ts"

/** A world whose visits are read from ClickHouse. */
class ClickhouseWorld extends World {
  readonly #mirror: Mirror
  readonly #remote: EventReader
  readonly #changes: ChangeReader
  readonly #totals: TotalsShipper

  constructor(random: Random, time: Time, mirror: Mirror, channel: Channel) {
    super(random, time)
    this.#mirror = mirror
    this.#changes = new ChangeReader(this.path, 1)
    this.#totals = new TotalsShipper({ reader: this.#changes, clickhouse: mirror.clickhouse, node: 1 })
    const local: EventReader = {
      snapshot: (...args) => this.reader.snapshot(...args),
      rows: (...args) => this.reader.rows(...args),
      fullestSite: () => this.reader.fullestSite(),
      own: () => local,
      close() {},
    }
    this.#remote = openClickhouseReader({ channel, cacheBytes: 8 << 20, local, check() {} })
  }

  override [Symbol.dispose](): void {
    this.#changes.close()
    super[Symbol.dispose]()
  }

  /** Brings ClickHouse to the state of the embedded store. */
  async follow(): Promise<void> {
    for (const { id } of SITES) await this.#mirror.follow(this.reader.snapshot(id, "visits", "all"))
    await this.#totals.ship()
  }

  override snapshot(siteId: number): Snapshot {
    return this.#remote.snapshot(siteId, "visits", this.shown(siteId))
  }

  /** Returns a snapshot of the embedded store in which visitors have the numbers that they have on ClickHouse. */
  embeddedSnapshot(siteId: number): Snapshot {
    const snapshot = super.snapshot(siteId)
    const number = (ordinal: number) => this.visitorOf(siteId, ordinal)
    const ordinals = new Map(Array.from({ length: snapshot.visitorLimit }, (_, ordinal) => [number(ordinal), ordinal]))
    return { ...snapshot, visitors: { number, ordinal: (number) => ordinals.get(number) } }
  }

  /** Returns the number on ClickHouse of a visitor, given by the ordinal in the embedded store. */
  visitorOf(siteId: number, ordinal: number): number {
    return Number(visitorValue(siteId, ordinal))
  }
}

export interface ClickhouseTrial extends Trial, Disposable {
  world: ClickhouseWorld
}

/** Opens a world with a database of its own. `rewrite` changes the statements of the reader. */
export async function openClickhouseWorld(
  running: TestServer,
  seed: number,
  rewrite: (sql: string) => string = (sql) => sql,
): Promise<ClickhouseTrial> {
  const database = `world_${seed}_${Bun.randomUUIDv7("hex").replaceAll("-", "")}`
  await running.clickhouse.run(`create database ${database}`)
  const server = { ...running.server, database }
  const clickhouse = createClickhouse(server, sendDirectly)
  await migrateClickhouse(clickhouse, { version: "1.0.0", now: 1 })
  // Former versions stay beside the latest ones.
  await clickhouse.run("system stop merges visits")
  const channel = openChannel(new URL("../store/clickhouse/network-thread.ts", import.meta.url).href, server)
  const rewritten: Channel = { ...channel, send: (sql, options) => channel.send(rewrite(sql), options) }
  const random = seededRandom(seed)
  const time = TIMES[seed % TIMES.length]!
  const world = new ClickhouseWorld(random, time, new Mirror(clickhouse, Math.random), rewritten)
  const close = () => {
    channel.close()
    world[Symbol.dispose]()
  }
  return { world, random, time, earlier: { tables: [], funnels: [] }, [Symbol.dispose]: close }
}
