import { expect, test } from "bun:test"
import type { PeopleSet } from "../../src/domain/people.ts"
import { peopleStates } from "../../src/query/people/sets.ts"
import { ColumnCache } from "../../src/store/events/cache.ts"
import type { Snapshot } from "../../src/store/events/part.ts"
import { Results } from "../../src/store/events/results.ts"
import { bySize, SEED } from "../size.ts"
import { STATES } from "./life.ts"
import { someSet } from "./people-queries.ts"
import { type Random, seededRandom } from "./random.ts"
import { TIMES } from "./traffic.ts"
import { SITES } from "./values.ts"
import { World } from "./world.ts"

const WORLDS = bySize({ check: 1, full: 26, release: 200 })
const SITE = SITES[0]!
const HOUR = 3_600_000
const neverStop = () => {}

test.each(Array.from({ length: WORLDS }, (_, i) => SEED * 3_000 + i))(
  "remembers the people of a set only until data or time change them, seed %d",
  async (seed) => {
    const random = seededRandom(seed)
    const time = TIMES[seed % TIMES.length]!
    using world = new World(random, time)
    const sets: PeopleSet[] = []
    const compare = (context: string) => {
      for (const set of sets) compareStates(world, set, context)
    }
    for (const [name, reach] of STATES) {
      await reach(world, random)
      const [visits, snapshot] = [world.visits(SITE.id), world.snapshot(SITE.id)]
      for (let left = 4; left > 0; left--) {
        const set = someSet({ random, time, site: SITE, visits, snapshot })
        // A query has one time, also for the sets that its sets refer to.
        sets.push(atTime(set, set.scope.now))
      }
      compare(name)
      world.write(1)
      compare(`${name}, with one more visit`)
      if (name === "after merging") changeImports(world, compare)
      await world.seal()
      compare(`${name}, sealed`)
      for (const set of sets.slice(-4)) passTime(world, random, set, name)
    }
  },
  { timeout: 600_000 },
)

/** Compares the states that are remembered for a set with those that are computed from nothing. */
function compareStates(world: World, set: PeopleSet, context: string): void {
  const snapshot = world.snapshot(SITE.id)
  const forgetful: Snapshot = { ...snapshot, results: new Results(0, new ColumnCache(0)) }
  const described = JSON.stringify(set, (name, value) => (name === "site" || name === "siteKey" ? undefined : value))
  const [remembered, computed] = [peopleStates(snapshot, set, neverStop), peopleStates(forgetful, set, neverStop)]
  expect(remembered, `${context}: ${described}`).toEqual(computed)
}

function changeImports(world: World, compare: (context: string) => void): void {
  world.hide(1)
  compare("with a hidden import")
  world.show(2)
  compare("with another import")
  world.showSomeDays()
  compare("with some days of the imports")
}

/** Evaluates a set at later and later times, or backwards. Nothing is stored after the first one. */
function passTime(world: World, random: Random, set: PeopleSet, context: string): void {
  let now = Math.max(...world.visits(SITE.id).flatMap(({ events }) => events.map(({ at }) => at))) + 1
  const times = Array.from({ length: 6 }, () => {
    now += random.pick([1 / 60, 1, 2, 12, 24, 48]) * HOUR
    return now
  })
  for (const each of random.chance(0.3) ? times.reverse() : times) compareStates(world, atTime(set, each), `${context} at ${each}`)
}

/** Returns a set, and those that it refers to, at another time of the query. */
function atTime(set: PeopleSet, now: number): PeopleSet {
  const replaced = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replaced)
    if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, name === "now" ? now : replaced(inner)]))
  }
  return replaced(set) as PeopleSet // a copy
}
