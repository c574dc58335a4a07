import { test } from "bun:test"
import { type Asking, checkComparison, checkFunnel, checkPeriods, checkRealtime, checkRows, checkTable } from "./check.ts"
import { STATES } from "./life.ts"
import { seededRandom } from "./random.ts"
import { TIMES } from "./traffic.ts"
import { World } from "./world.ts"

/**
 * Every metric, dimension, operator, zone and comparison against an oracle that computes them again from the plain list of
 * events: equal, not close. The store goes through its life meanwhile.
 *
 * `FOOTFALL_TEST_ORACLE_QUERIES` how many tables a run asks for, beside them funnels, realtime, rows and comparisons;
 * `FOOTFALL_TEST_ORACLE_SEED` which.
 */
const QUERIES = Number(process.env.FOOTFALL_TEST_ORACLE_QUERIES ?? 600)
const SEED = Number(process.env.FOOTFALL_TEST_ORACLE_SEED ?? 7)
/** One for each of the times, more when many questions are asked. */
const WORLDS = Math.max(TIMES.length, Math.ceil(QUERIES / 400))

/** What is asked for each table. */
const CHECKS: readonly [check: (asking: Asking) => void, often: number][] = [
  [checkTable, 1],
  [checkFunnel, 0.5],
  [checkRealtime, 0.25],
  [checkRows, 0.1],
  [checkComparison, 0.1],
  [checkPeriods, 0.05],
]

test.each(Array.from({ length: WORLDS }, (_, i) => SEED * 1_000 + i))(
  "answers equal those of the oracle over every state of the store, seed %d",
  async (seed) => {
    const random = seededRandom(seed)
    const time = TIMES[seed % TIMES.length]!
    using world = new World(random, time)
    for (const [name, reach] of STATES) {
      await reach(world, random)
      try {
        for (const [check, often] of CHECKS) {
          for (let left = Math.ceil((often * QUERIES) / WORLDS / STATES.length); left > 0; left--) check({ world, random, time })
        }
      } catch (error) {
        throw new Error(`${name}, seed ${seed}, ${time.day}:\n${error instanceof Error ? error.message : error}`)
      }
    }
  },
  { timeout: 600_000 },
)
