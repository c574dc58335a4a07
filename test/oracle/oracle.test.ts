import { test } from "bun:test"
import { ORACLE_QUERIES, SEED } from "../size.ts"
import { checkState, type Trial } from "./check.ts"
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

test.each(Array.from({ length: WORLDS }, (_, i) => SEED * 1_000 + i))(
  "agrees with the oracle in every state of the store, seed %d",
  async (seed) => {
    const random = seededRandom(seed)
    const time = TIMES[seed % TIMES.length]!
    using world = new World(random, time)
    const earlier: Trial["earlier"] = { tables: [], funnels: [] }
    for (const [name, reach] of STATES_WITH_TOTALS) {
      await reach(world, random)
      checkState({ world, random, time, earlier }, ORACLE_QUERIES / WORLDS / STATES_WITH_TOTALS.length, `${name}, seed ${seed}`)
    }
  },
  { timeout: 600_000 },
)
