import { test } from "bun:test"
import { ORACLE_QUERIES, SEED } from "../size.ts"
import { checkComparison, checkFunnel, checkPeriods, checkRealtime, checkRows, checkTable, type ReportOptions } from "./check.ts"
import { STATES } from "./life.ts"
import { seededRandom } from "./random.ts"
import { TIMES } from "./traffic.ts"
import { World } from "./world.ts"

/**
 * Every metric, dimension, operator, zone and comparison against an oracle that computes them again from the plain list of
 * events: equal, not close. The store goes through its life meanwhile.
 */
/** One for each of the times, more when many questions are asked. */
const WORLDS = Math.max(TIMES.length, Math.ceil(ORACLE_QUERIES / 400))

/** What is asked for each table. */
const CHECKS: readonly [check: (asking: ReportOptions) => void, often: number][] = [
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
          for (let left = Math.ceil((often * ORACLE_QUERIES) / WORLDS / STATES.length); left > 0; left--) check({ world, random, time })
        }
      } catch (error) {
        throw new Error(`${name}, seed ${seed}, ${time.day}:\n${error instanceof Error ? error.message : error}`)
      }
    }
  },
  { timeout: 600_000 },
)
