import { expect, test } from "bun:test"
import { ORACLE_QUERIES, SEED } from "../size.ts"
import { checkFunnel, checkRealtime, checkRows, checkTable } from "./check.ts"
import { seededRandom } from "./random.ts"
import { TIMES } from "./traffic.ts"
import { World } from "./world.ts"

/**
 * The same where there are many visitors and pages: what is kept in blocks, and segments that are full, come only with
 * size. A release run asks over more than one full segment.
 */
const VISITS = ORACLE_QUERIES < 5_000 ? 3_000 : 21_000
const TABLES = ORACLE_QUERIES < 5_000 ? 10 : 5
const PEOPLE = VISITS / 2

test(
  `answers equal those of the oracle over a crowd, seed ${SEED}`,
  async () => {
    const random = seededRandom(SEED)
    const time = TIMES[SEED % TIMES.length]!
    using world = new World(random, time)
    const asking = { world, random, time }
    const ask = () => {
      for (let left = TABLES; left > 0; left--) checkTable(asking)
      for (const check of [checkFunnel, checkRealtime, checkRows]) check(asking)
    }
    world.write(VISITS, PEOPLE)
    await world.seal()
    ask()
    for (let i = 0; i < 9; i++) {
      world.write(VISITS / 30, PEOPLE)
      await world.seal()
    }
    world.write(VISITS / 30, PEOPLE)
    ask()
    await world.merge()
    await world.erase("DE")
    world.restart()
    ask()
    expect(world.visits(1).length).toBeGreaterThan(VISITS / 2)
  },
  { timeout: 600_000 },
)
