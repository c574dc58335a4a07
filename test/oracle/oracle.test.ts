import { expect, test } from "bun:test"
import type { Query } from "../../src/domain/query.ts"
import { aggregate } from "../../src/query/aggregate.ts"
import { funnel } from "../../src/query/funnel.ts"
import { realtime } from "../../src/query/realtime.ts"
import { realtimeAnswer } from "./current.ts"
import { difference, smaller } from "./difference.ts"
import { answer } from "./oracle.ts"
import { someFunnel, someMoment, someQuery, someSite } from "./questions.ts"
import { type Random, seededRandom } from "./random.ts"
import { funnelAnswer } from "./steps.ts"
import { TIMES, type Time } from "./traffic.ts"
import { World } from "./world.ts"

/**
 * Every metric, dimension, operator, zone and comparison against an oracle that computes them again from the plain list of
 * events: equal, not close. The store goes through its life meanwhile.
 *
 * `FOOTFALL_ORACLE_QUERIES` how many questions a run asks, `FOOTFALL_ORACLE_SEED` which.
 */
const QUERIES = Number(process.env.FOOTFALL_ORACLE_QUERIES ?? 600)
const SEED = Number(process.env.FOOTFALL_ORACLE_SEED ?? 7)
const WORLDS = Math.max(3, Math.ceil(QUERIES / 400))

const STATES: readonly [name: string, reach: (world: World, random: Random) => Promise<void>][] = [
  ["tail only", async (world) => world.write(60)],
  ["segments only", (world) => world.seal()],
  ["both", async (world) => world.write(30)],
  ["after merging", merged],
  ["after an erasure", erased],
  ["after a restart", async (world) => world.restart()],
]

async function merged(world: World): Promise<void> {
  await world.import(1, 10)
  await world.import(2, 10)
  world.hide(2, true)
  for (let i = 0; i < 9; i++) {
    await world.seal()
    world.write(5)
  }
  await world.merge()
}

async function erased(world: World, random: Random): Promise<void> {
  world.hide(2, false)
  world.hide(1, true)
  await world.erase(random.pick(["DE", "US"]))
  await world.retain(1, world.cutoff)
}

function checkQuery(world: World, query: Query): void {
  const visits = world.visits(query.site.id)
  const differs = (asked: Query) =>
    difference(
      answer(visits, asked),
      aggregate(world.snapshot(asked.site.id), asked, () => {}),
      asked,
    )
  if (differs(query) === undefined) return
  let least = query
  for (let next: Query | undefined = query; next; next = smaller(least).find((each) => differs(each) !== undefined)) least = next
  throw new Error(`${differs(least)}\n${shownQuery(least)}`)
}

const shownQuery = ({ site, range, ...asked }: Query): string =>
  JSON.stringify({ site: site.id, from: new Date(range.from), to: new Date(range.to), ...asked })

function askQuestions(world: World, random: Random, time: Time, count: number): void {
  for (let i = 0; i < count; i++)
    checkQuery(
      world,
      someQuery(random, time, (siteId) => world.visits(siteId)),
    )
  for (let i = 0; i < Math.ceil(count / 4); i++) {
    const query = someFunnel(random, time, (siteId) => world.visits(siteId))
    const expected = funnelAnswer(world.visits(query.site.id), query)
    expect(
      funnel(world.snapshot(query.site.id), query, () => {}),
      JSON.stringify(query),
    ).toEqual(expected)
  }
  for (let i = 0; i < Math.ceil(count / 10); i++) {
    const site = someSite(random)
    const query = { site, now: someMoment(random, world.visits(site.id), time), limit: random.pick([2, 50]) }
    expect(
      realtime(world.snapshot(site.id), query, () => {}),
      `${site.id} ${query.now}`,
    ).toEqual(realtimeAnswer(world.visits(site.id), query))
  }
}

test.each(Array.from({ length: WORLDS }, (_, i) => SEED * 1_000 + i))(
  "answers equal those of the oracle over every state of the store, seed %d",
  async (seed) => {
    const random = seededRandom(seed)
    const time = TIMES[seed % TIMES.length]!
    using world = new World(random, time)
    for (const [name, reach] of STATES) {
      await reach(world, random)
      try {
        askQuestions(world, random, time, Math.ceil(QUERIES / WORLDS / STATES.length))
      } catch (error) {
        throw new Error(`${name}, seed ${seed}, ${time.day}:\n${error instanceof Error ? error.message : error}`)
      }
    }
  },
  { timeout: 600_000 },
)
