import { expect, test } from "bun:test"
import { dimensionFacts } from "../../../src/domain/dimension.ts"
import type { PeopleSet, RetentionQuery } from "../../../src/domain/people.ts"
import type { SiteFacts } from "../../../src/domain/query.ts"
import { withPeople } from "../../../src/query/people/sets.ts"
import { retention } from "../../../src/query/retention/retention.ts"
import { coverageOf } from "../../oracle/activity.ts"
import { MEMBERS } from "../../oracle/conditions.ts"
import { dayStart, plusDays, weekday } from "../../oracle/days.ts"
import { ALL_DIMENSIONS, someFilter } from "../../oracle/filters.ts"
import { STATES } from "../../oracle/life.ts"
import { namesOf, truths } from "../../oracle/people.ts"
import { someSet } from "../../oracle/people-queries.ts"
import { someSite, someZone } from "../../oracle/queries.ts"
import { type Random, seededRandom } from "../../oracle/random.ts"
import { retentionRows } from "../../oracle/retention.ts"
import { TIMES, type Time } from "../../oracle/traffic.ts"
import { World } from "../../oracle/world.ts"
import { bySize, SEED } from "../../size.ts"

const QUERIES = bySize({ check: 150, full: 5_000, release: 50_000 })
const HOUR = 3_600_000
const VISIT_DIMENSIONS = ALL_DIMENSIONS.filter((name) => dimensionFacts(name).level === "visit")
const neverStop = () => {}

test.each(Array.from({ length: TIMES.length }, (_, i) => SEED * 1_000 + i))(
  "counts cohorts as an oracle that reads every event of every person, seed %d",
  async (seed) => {
    const random = seededRandom(seed)
    const time = TIMES[seed % TIMES.length]!
    using world = new World(random, time)
    for (const [name, reach] of STATES) {
      await reach(world, random)
      for (let left = Math.ceil(QUERIES / TIMES.length / STATES.length); left > 0; left--) {
        const query = someRetention(world, random, time)
        // Several passes over the parts, with a few people each, give the same numbers.
        const limits = random.pick([undefined, { bitBytes: random.whole(1, 64), events: random.whole(1, 60) }])
        const { rows, coverage } = retention(withPeople(world.snapshot(query.site.id), neverStop), query, neverStop, limits)
        const context = `${name}, ${time.day}, ${JSON.stringify({ ...query, site: query.site.id })}`
        const visits = world.visits(query.site.id)
        expect(rows, context).toEqual(retentionRows(visits, query))
        expect(coverage, context).toEqual(coverageOf(visits, query.scope, [query.edges[0]!, query.edges[query.cohorts]!]))
      }
    }
  },
  { timeout: 600_000 },
)

function someRetention(world: World, random: Random, time: Time): RetentionQuery {
  const site = someSite(random)
  const timezone = someZone(random, time)
  const interval = random.pick(["hour", "day", "day", "day", "week", "month"] as const)
  const now = dayStart(plusDays(time.day, random.pick([-1, 0, 1, 3, 40])), timezone) + random.whole(0, 24) * HOUR
  const saltEdges = Array.from({ length: 20 }, (_, i) => dayStart(plusDays(time.day, (i - 10) * 4), timezone))
  const edges = someEdges(random, time, interval, timezone, now)
  const cohorts = random.whole(1, Math.min(40, edges.length - 1))
  const start = random.chance(0.4) ? someFilter(random, site) : undefined
  const returning = random.chance(0.5) ? start : random.chance(0.5) ? someFilter(random, site) : undefined
  const returnCount = random.pick([1, 1, 1, 2, 3])
  const set = random.chance(0.3) ? someMembers(world, random, time, site) : undefined
  const filter = random.pick([undefined, undefined, someFilter(random, site), set && ({ op: "people", set } as const)])
  const mode = random.pick(["first_time", "recurring"] as const)
  return {
    site,
    scope: {
      ...{ site, timezone, now, identifiedOnly: random.chance(0.4), saltEdges, deviceMs: random.pick([24, 50, 180 * 24]) * HOUR },
      siteKey: new Uint8Array(16),
    },
    ...(start && { start }),
    ...(filter && { filter }),
    ...(returning && { returning }),
    returnCount,
    isSame: start === returning && returnCount === 1,
    ...{ edges, cohorts, periods: random.pick([1, 2, 5, 12, 40, 90]), mode },
    firstEver: mode === "first_time" && random.chance(0.3),
    counting: random.pick(["exact", "unbounded"]),
    elapsed: interval === "day" && random.chance(0.4),
    ...(set && random.chance(0.7) && { among: set }),
    ...(random.chance(0.3) && { breakdown: random.pick(VISIT_DIMENSIONS) }),
  }
}

/** Returns a set of people, and notes its members for the oracle. */
function someMembers(world: World, random: Random, time: Time, site: SiteFacts): PeopleSet | undefined {
  const [visits, snapshot] = [world.visits(site.id), world.snapshot(site.id)]
  if (visits.length === 0) return undefined
  const set = someSet({ random, time, site, visits, snapshot })
  const members = [...truths({ visits, names: namesOf(snapshot, visits) }, set)].filter(([, truth]) => truth === "in")
  MEMBERS.set(set.key, new Set(members.map(([visitor]) => visitor)))
  return set
}

/** Returns the starts of periods from some days before or after the first visits until after the query. */
function someEdges(random: Random, { day }: Time, interval: "hour" | "day" | "week" | "month", timezone: string, now: number): number[] {
  const first = plusDays(day, random.whole(-6, 2))
  const from = interval === "month" ? `${first.slice(0, 7)}-01` : interval === "week" ? plusDays(first, 1 - weekday(first)) : first
  const edges = [dayStart(from, timezone)]
  const isEnough = () => edges.length > 1 && edges.at(-1)! > now
  for (let step = 1; !isEnough(); step++) {
    if (interval === "hour") edges.push(edges[0]! + step * random.pick([1, 1, 1, 2]) * HOUR)
    else edges.push(dayStart(stepped(from, interval, step), timezone))
  }
  return edges.sort((a, b) => a - b)
}

function stepped(from: string, interval: "day" | "week" | "month", step: number): string {
  if (interval !== "month") return plusDays(from, step * (interval === "week" ? 7 : 1))
  const months = Number(from.slice(0, 4)) * 12 + Number(from.slice(5, 7)) - 1 + step
  return `${String(Math.floor(months / 12)).padStart(4, "0")}-${String((months % 12) + 1).padStart(2, "0")}-01`
}
