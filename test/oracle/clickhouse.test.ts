/** The oracle over ClickHouse: the same worlds, states and random queries as over the embedded store, and equal results. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { bySize, ORACLE_QUERIES, SEED } from "../size.ts"
import { hasClickhouse, startClickhouse, type TestServer } from "../store/clickhouse/server.ts"
import { checkState, checkTable } from "./check.ts"
import { openClickhouseWorld } from "./clickhouse-world.ts"
import { STATES_WITH_TOTALS } from "./life.ts"
import { TIMES } from "./traffic.ts"

/** Number of worlds. Each needs half a minute, because every query is a request. */
const WORLDS = bySize({ check: 1, full: TIMES.length, release: TIMES.length })

describe.skipIf(!hasClickhouse())("over ClickHouse", () => {
  let running: TestServer
  beforeAll(async () => {
    running = await startClickhouse()
  })
  afterAll(() => running[Symbol.asyncDispose]())

  test.each(Array.from({ length: WORLDS }, (_, index) => SEED * 1_000 + index))(
    "agrees with the oracle in every state of the store, seed %d",
    async (seed) => {
      using opened = await openClickhouseWorld(running, seed)
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
    using opened = await openClickhouseWorld(running, 1, (sql) => sql.replaceAll("from visits final", "from visits"))
    opened.world.write(60)
    await opened.world.follow()
    expect(() => {
      for (let left = 100; left > 0; left--) checkTable(opened)
    }).toThrow(/"site":\d/)
  })
})
