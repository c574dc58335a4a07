/** Two nodes that ship their visits to one database, compared with the oracle, which knows the events of both. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import type { FunnelQuery, Query, Row, Table } from "../../src/domain/query.ts"
import { funnel } from "../../src/query/funnel/funnel.ts"
import { aggregate } from "../../src/query/measure/aggregate.ts"
import { type Clickhouse, createClickhouse } from "../../src/store/clickhouse/client.ts"
import { migrateClickhouse } from "../../src/store/clickhouse/migrate.ts"
import { openChannel } from "../../src/store/clickhouse/read/channel.ts"
import { openClickhouseReader } from "../../src/store/clickhouse/read/reader.ts"
import { ROW_COLUMNS } from "../../src/store/clickhouse/row-binary.ts"
import { ChangeReader } from "../../src/store/clickhouse/ship/changes.ts"
import { Shipper } from "../../src/store/clickhouse/ship/shipper.ts"
import { openEventReader } from "../../src/store/events/reader.ts"
import { sharedSequence } from "../../src/store/events/spool/sequences.ts"
import { bySize, SEED } from "../size.ts"
import { sendDirectly } from "../store/clickhouse/chdb.ts"
import { hasClickhouse, startClickhouse, type TestServer } from "../store/clickhouse/server.ts"
import { checkState, type Trial } from "./check.ts"
import { answer } from "./oracle.ts"
import { someFunnel, someQuery } from "./queries.ts"
import { type Random, seededRandom } from "./random.ts"
import { isCounted, type RawVisit } from "./raw.ts"
import { funnelAnswer } from "./steps.ts"
import { FEW, type PlannedVisit, planVisits, TIMES, type Time } from "./traffic.ts"
import { siteKey, World } from "./world.ts"

/** Number of tables in all states of a world. */
const TABLES = bySize({ check: 30, full: 200, release: 2_000 })

/** The store of a node, whose visits are shipped as in production. */
class NodeWorld extends World {
  readonly #number: number
  readonly #changes: ChangeReader
  readonly #shipper: Shipper

  constructor(random: Random, time: Time, number: number, clickhouse: Clickhouse) {
    super(random, time, number)
    this.#number = number
    this.#changes = new ChangeReader(this.path, number)
    this.#shipper = new Shipper({
      ...{ reader: this.#changes, node: number, siteKey, clock: { monotonic: () => this.now } },
      insert: (rows) => clickhouse.insert("visits", ROW_COLUMNS, rows),
      shipTotals: async () => {},
      onConfirmed: ({ position, segments }) => this.store.confirmShipped(position, segments, this.now),
      onFault: (error) => expect(error).toBeUndefined(),
    })
  }

  async ship(): Promise<void> {
    this.#shipper.synced(this.store.lastRecord())
    while (await this.#shipper.ship());
  }

  /** Returns the visits with the sequences by which all nodes know them. */
  override visits(siteId: number): RawVisit[] {
    const shared = (sequence: number) => sharedSequence(sequence + 1, this.#number)
    return super.visits(siteId).map((visit) => ({ ...visit, sequence: shared(visit.sequence) }))
  }

  override [Symbol.dispose](): void {
    this.#changes.close()
    super[Symbol.dispose]()
  }
}

/** Opens two nodes with a database of their own, and a reader of it. */
async function openNodes(running: TestServer, seed: number) {
  const random = seededRandom(seed)
  const time = TIMES[seed % TIMES.length]!
  const database = `nodes_${seed}_${Bun.randomUUIDv7("hex").replaceAll("-", "")}`
  await running.clickhouse.run(`create database ${database}`)
  const server = { ...running.server, database }
  const clickhouse = createClickhouse(server, sendDirectly)
  await migrateClickhouse(clickhouse, { version: "1.0.0", now: 1 })
  await clickhouse.run("system stop merges visits")
  const nodes = [new NodeWorld(random, time, 1, clickhouse), new NodeWorld(random, time, 2, clickhouse)] as const
  const channel = openChannel(new URL("../store/clickhouse/network-thread.ts", import.meta.url).href, server)
  const local = openEventReader(nodes[0].path, { cacheBytes: 1 << 20 })
  const reader = openClickhouseReader({ channel, cacheBytes: 8 << 20, local, check() {} })
  return {
    ...{ random, time, nodes },
    world: {
      visits: (siteId: number) => nodes.flatMap((node) => node.visits(siteId)),
      imports: () => [],
      snapshot: (siteId: number) => reader.snapshot(siteId),
    },
    async ship() {
      for (const node of nodes) await node.ship()
    },
    [Symbol.dispose]() {
      reader.close()
      for (const node of nodes) node[Symbol.dispose]()
    },
  }
}
type Nodes = Awaited<ReturnType<typeof openNodes>>

/** The states that the stores pass through. `share` returns the share of each node of some visits. */
const STATES: readonly [name: string, reach: (nodes: Nodes["nodes"], share: (count: number) => PlannedVisit[][]) => Promise<void>][] = [
  ["tails only", writeAll(60)],
  ["segments only", ([one, two]) => one.seal().then(() => two.seal())],
  ["a segment and a tail", writeAll(30)],
  [
    "open visits in segments",
    async (nodes, share) => {
      const shares = share(40)
      for (const [at, node] of nodes.entries()) await node.writeSealingOpenVisits(shares[at]!)
    },
  ],
  ["after a restart", async (nodes) => nodes.forEach((node) => void node.restart())],
]

function writeAll(count: number): (typeof STATES)[number][1] {
  return async (nodes, share) => {
    const shares = share(count)
    nodes.forEach((node, at) => void node.writeVisits(shares[at]!))
  }
}

/** Splits visits as round robin does: the first event of each goes to one node, the next to the other. Only events that can open a visit are left. */
function splitByTurns(plans: readonly PlannedVisit[]): PlannedVisit[][] {
  return [0, 1].map((node) =>
    plans.flatMap((plan) => {
      const events = plan.events.filter(isCounted).filter((_, at) => at % 2 === node)
      return events.length === 0 ? [] : [{ ...plan, events }]
    }),
  )
}

/** Metrics and dimensions that read no figure of a whole visit. */
const UNSPLIT_METRICS = ["visitors", "pageviews", "events", "total_revenue", "average_revenue"] as const
const UNSPLIT_DIMENSIONS: readonly string[] = ["page", "event", "hostname", "title", "property"]

function unsplitQuery(random: Random, time: Time, visits: (siteId: number) => readonly RawVisit[]): Query {
  const { filter: _, anyEvent: __, ...query } = someQuery(random, time, visits)
  const groupings = query.groupings.filter((grouping) => grouping.by === "time" || UNSPLIT_DIMENSIONS.includes(grouping.dimension))
  const metrics = ["visitors", ...random.some(UNSPLIT_METRICS.slice(1), 0, 3)] as Query["metrics"]
  return { ...query, metrics, groupings, order: [], limit: 10_000, offset: 0, fillBuckets: false }
}

/** Returns a table without the rows that only the visits of a bucket have, because the parts of a visit start at other times. */
function withoutStarts({ rows, otherCurrencies }: Table): { rows: Row[]; otherCurrencies: readonly string[] } {
  return { rows: rows.filter(({ keys, values }) => keys.length === 0 || values[0] !== 0), otherCurrencies }
}

function unsplitFunnel(random: Random, time: Time, visits: (siteId: number) => readonly RawVisit[]): FunnelQuery {
  const { filter: _, ...query } = someFunnel(random, time, visits)
  return query
}

describe.skipIf(!hasClickhouse())("two nodes", () => {
  let running: TestServer
  beforeAll(async () => {
    running = await startClickhouse()
  })
  afterAll(() => running[Symbol.asyncDispose]())

  const SEEDS = Array.from({ length: bySize({ check: 1, full: 4, release: TIMES.length }) }, (_, at) => SEED * 1_000 + at)

  test.each(SEEDS)(
    "agree with the oracle when visitors are routed by address, seed %d",
    async (seed) => {
      using opened = await openNodes(running, seed)
      const { random, time, nodes } = opened
      const earlier: Trial["earlier"] = { tables: [], funnels: [] }
      const share = (count: number) => {
        const plans = planVisits(random, time, count, FEW)
        return [0, 1].map((node) => plans.filter(({ rotating }) => rotating % 2 === node))
      }
      for (const [name, reach] of STATES) {
        await reach(nodes, share)
        await opened.ship()
        checkState({ ...opened, earlier }, TABLES / SEEDS.length / STATES.length, `${name}, seed ${seed}`)
      }
    },
    600_000,
  )

  test.each(SEEDS)(
    "agree with the oracle in visitors, events and funnels when requests are sent to them by turns, seed %d",
    async (seed) => {
      using opened = await openNodes(running, seed)
      const { random, time, nodes, world } = opened
      /** The visits as one process would have them. */
      using whole = new World(random, time)
      const used = new Set<number>()
      // Of events with equal times, the order of their visits decides, and visits are opened in another order on two nodes.
      const apart = (at: number) => {
        let free = at
        while (used.has(free)) free++
        used.add(free)
        return free
      }
      const share = (count: number) => {
        const plans = planVisits(random, time, count, FEW).map((plan) => ({
          // An identification reaches one node only. The first event of each part repeats it, as the tracker does with each event.
          ...{ ...plan, identifiedAt: 0 },
          events: plan.events.filter(isCounted).map((event) => ({ ...event, at: apart(event.at) })),
        }))
        whole.writeVisits(plans)
        return splitByTurns(plans)
      }
      const visits = (siteId: number) => whole.visits(siteId)
      for (const [name, reach] of STATES) {
        await reach(nodes, share)
        await opened.ship()
        for (let left = TABLES / SEEDS.length / STATES.length; left > 0; left--) {
          const query = unsplitQuery(random, time, visits)
          const context = `${name}, seed ${seed}: ${JSON.stringify(query)}`
          const found = aggregate(world.snapshot(query.site.id), query, () => {})
          expect(withoutStarts(found), context).toEqual(withoutStarts(answer(visits(query.site.id), query)))
          const steps = unsplitFunnel(random, time, visits)
          expect(
            funnel(world.snapshot(steps.site.id), steps, () => {}),
            `${name}, seed ${seed}: ${JSON.stringify(steps)}`,
          ).toEqual(funnelAnswer(visits(steps.site.id), steps))
        }
        // The test detects an error only if visits are split.
        expect(world.visits(1).length).toBeGreaterThan(visits(1).length)
      }
    },
    600_000,
  )
})
