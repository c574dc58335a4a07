import { test } from "bun:test"
import { ORACLE_QUERIES, SEED } from "../size.ts"
import {
  checkAgain,
  checkComparison,
  checkFunnel,
  checkImported,
  checkPeriods,
  checkRealtime,
  checkRows,
  checkTable,
  checkVisits,
  type Trial,
} from "./check.ts"
import { STATES_WITH_TOTALS } from "./life.ts"
import { seededRandom } from "./random.ts"
import { TIMES } from "./traffic.ts"
import { World } from "./world.ts"

/**
 * Compares every metric, dimension, operator, zone and comparison with an oracle that recomputes them from the plain list of
 * events. The results must be equal, not close, in every state of the store.
 */
/** Number of worlds: one for each of the times, more in a run with many queries. */
const WORLDS = Math.max(TIMES.length, Math.ceil(ORACLE_QUERIES / 400))

/** Checks and how often each runs per table. */
const CHECKS: readonly [check: (trial: Trial) => void, often: number][] = [
  [checkTable, 1],
  [checkAgain, 0.5],
  [checkImported, 1],
  [checkFunnel, 0.5],
  [checkRealtime, 0.25],
  [checkRows, 0.1],
  [checkVisits, 0.25],
  [checkComparison, 0.1],
  [checkPeriods, 0.05],
]

test.each(Array.from({ length: WORLDS }, (_, i) => SEED * 1_000 + i))(
  "agrees with the oracle in every state of the store, seed %d",
  async (seed) => {
    const random = seededRandom(seed)
    const time = TIMES[seed % TIMES.length]!
    using world = new World(random, time)
    const earlier: Trial["earlier"] = { tables: [], funnels: [] }
    for (const [name, reach] of STATES_WITH_TOTALS) {
      await reach(world, random)
      try {
        for (const [check, often] of CHECKS) {
          for (let left = Math.ceil((often * ORACLE_QUERIES) / WORLDS / STATES_WITH_TOTALS.length); left > 0; left--)
            check({ world, random, time, earlier })
        }
      } catch (error) {
        throw new Error(`${name}, seed ${seed}, ${time.day}:\n${error instanceof Error ? error.message : error}`)
      }
    }
  },
  { timeout: 600_000 },
)
