import { expect, test } from "bun:test"
import { ORACLE_QUERIES, SEED } from "../size.ts"
import { checkFunnel, checkRealtime, checkRows, checkTable } from "./check.ts"
import { seededRandom } from "./random.ts"
import { TIMES } from "./traffic.ts"
import { World } from "./world.ts"

/**
 * The same comparison with many visitors and pages, which fill blocks and whole segments. A release run covers more than one
 * full segment.
 */
const VISITS = ORACLE_QUERIES < 5_000 ? 3_000 : 21_000
const TABLES = ORACLE_QUERIES < 5_000 ? 10 : 5
const PEOPLE = VISITS / 2

test(
  `agrees with the oracle for many visitors, seed ${SEED}`,
  async () => {
    const random = seededRandom(SEED)
    const time = TIMES[SEED % TIMES.length]!
    using world = new World(random, time)
    const trial = { world, random, time, earlier: { tables: [], funnels: [] } }
    const checkAll = () => {
      for (let left = TABLES; left > 0; left--) checkTable(trial)
      for (const check of [checkFunnel, checkRealtime, checkRows]) check(trial)
    }
    world.write(VISITS, PEOPLE)
    await world.seal()
    checkAll()
    for (let i = 0; i < 9; i++) {
      world.write(VISITS / 30, PEOPLE)
      await world.seal()
    }
    world.write(VISITS / 30, PEOPLE)
    checkAll()
    await world.merge()
    await world.erase("DE")
    world.restart()
    checkAll()
    expect(world.visits(1).length).toBeGreaterThan(VISITS / 2)
  },
  { timeout: 600_000 },
)
