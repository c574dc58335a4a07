import type { Random } from "./random.ts"
import type { World } from "./world.ts"

/** The states that a store passes through. Queries are checked in each of them. */
export const STATES: readonly [name: string, reach: (world: World, random: Random) => Promise<void>][] = [
  ["tail only", async (world) => world.write(60)],
  ["segments only", (world) => world.seal()],
  ["both", async (world) => world.write(30)],
  ["with open visits in segments", (world) => world.writeSealingOpenVisits(world.plan(40))],
  ["after merging", merged],
  ["after an erasure", erased],
  ["after a restart", async (world) => world.restart()],
]

type State = (typeof STATES)[number]

/** The same states, with imported totals from the merge on. Sums of totals do not agree with each other as those of visits do. */
export const STATES_WITH_TOTALS: readonly State[] = STATES.map(
  ([name, reach]): State => [
    name,
    async (world, random) => {
      await reach(world, random)
      if (reach !== merged) return
      await world.importTotals(3, 0)
      await world.importTotals(4, 1)
    },
  ],
)

async function merged(world: World): Promise<void> {
  await world.import(1, 10)
  await world.import(2, 10)
  world.hide(2)
  for (let i = 0; i < 9; i++) {
    await world.seal()
    world.write(5)
  }
  await world.merge()
}

async function erased(world: World, random: Random): Promise<void> {
  world.showSomeDays()
  await world.erase(random.pick(["DE", "US"]))
  await world.retain(1, world.cutoff)
  await world.retainTotals()
}
