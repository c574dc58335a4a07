import { expect, test } from "bun:test"
import {
  type ActivePeopleQuery,
  PEOPLE_SORTS,
  type PeopleListQuery,
  type PeopleScope,
  type PeopleSet,
  type PersonFacts,
} from "../../src/domain/people.ts"
import type { SiteFacts } from "../../src/domain/query.ts"
import { activeDays } from "../../src/query/people/active-days.ts"
import { engagement } from "../../src/query/people/engagement.ts"
import { peopleList } from "../../src/query/people/people-list.ts"
import { person } from "../../src/query/people/person.ts"
import { withPeople } from "../../src/query/people/sets.ts"
import { pseudonyms } from "../../src/query/show/pseudonyms.ts"
import { bySize, SEED } from "../size.ts"
import { activeDaysAnswer, engagementAnswer, type NameOf, peopleListAnswer, personAnswer } from "./activity.ts"
import { MEMBERS } from "./conditions.ts"
import { bucketStarts, dayStart, plusDays } from "./days.ts"
import { someFilter } from "./filters.ts"
import { STATES } from "./life.ts"
import { namesOf, truths } from "./people.ts"
import { someSet } from "./people-queries.ts"
import { someSite, someZone } from "./queries.ts"
import { type Random, seededRandom } from "./random.ts"
import { TIMES, type Time } from "./traffic.ts"
import { CURRENCIES } from "./values.ts"
import { World } from "./world.ts"

const DAY = 86_400_000
const KEY = new Uint8Array(32).fill(7)
const neverStop = () => {}

/** Number of queries of each kind in all worlds together. */
const QUERIES = bySize({ check: 78, full: 1_300, release: 20_000 })
const WORLDS = TIMES.length

test.each(Array.from({ length: WORLDS }, (_, i) => SEED * 2_000 + i))(
  "answers queries on active people like the oracle in every state of the store, seed %d",
  async (seed) => {
    const random = seededRandom(seed)
    const time = TIMES[seed % TIMES.length]!
    using world = new World(random, time)
    for (const [name, reach] of STATES) {
      await reach(world, random)
      try {
        for (let left = Math.ceil(QUERIES / WORLDS / STATES.length); left > 0; left--)
          for (const check of [checkActiveDays, checkList, checkPerson, checkEngagement]) check(world, random, time)
      } catch (error) {
        throw new Error(`${name}, seed ${seed}, ${time.day}:\n${error instanceof Error ? error.message : error}`)
      }
    }
  },
  { timeout: 600_000 },
)

function checkActiveDays(world: World, random: Random, time: Time): void {
  const base = someBase(world, random, time)
  const length = random.pick([1, 2, 7, 28, 40])
  const last = plusDays(time.day, random.whole(-3, 12))
  const query = {
    ...base,
    days: dayEdges(plusDays(last, 1 - length), last, base.scope.timezone),
    previous: dayEdges(plusDays(last, 1 - 2 * length), plusDays(last, -length), base.scope.timezone),
  }
  const found = activeDays(snapshotOf(world, base.site), query, neverStop)
  expect(found, JSON.stringify(query)).toEqual(activeDaysAnswer(world.visits(base.site.id), query))
}

/** Reads a list page by page, so that every cursor between two pages is used. */
function checkList(world: World, random: Random, time: Time): void {
  const base = someBase(world, random, time)
  const visits = world.visits(base.site.id)
  const snapshot = snapshotOf(world, base.site)
  const nameOf = idsOf(world, base.site.id)
  const query: PeopleListQuery = {
    ...base,
    days: someWindow(random, time, base.scope),
    sort: random.pick(PEOPLE_SORTS),
    currency: random.pick([...CURRENCIES, "CHF"]),
    limit: random.pick([1, 2, 3, 5, 50]),
  }
  const valueIn = (one: PersonFacts) =>
    query.sort === "revenue" ? (one.revenue.find(({ currency }) => currency === query.currency)?.amount_minor ?? 0) : one[query.sort]
  for (let pages = 0; pages < 3; pages++) {
    const found = peopleList(snapshot, query, neverStop)
    expect(found, JSON.stringify({ ...query, site: base.site.id })).toEqual(peopleListAnswer(visits, query, nameOf))
    const last = found.people.at(-1)
    if (!last) return
    query.after = { value: valueIn(last), pseudonym: last.pseudonym }
  }
}

function checkPerson(world: World, random: Random, time: Time): void {
  const base = someBase(world, random, time)
  const visits = world.visits(base.site.id)
  if (visits.length === 0) return
  const nameOf = idsOf(world, base.site.id)
  const { visitor } = random.pick(visits)
  const query = { ...base, days: someWindow(random, time, base.scope), visitor: nameOf(visitor).visitor, limit: random.whole(1, 5) }
  const expected = personAnswer(visits, query, visitor, nameOf)
  const first = person(snapshotOf(world, base.site), query, neverStop)
  const found = [...first.visits]
  for (let page = first; page.hasMore; found.push(...page.visits)) {
    const { start, sequence } = found.at(-1)!
    page = person(snapshotOf(world, base.site), { ...query, before: { start, sequence } }, neverStop)
    expect(page.person).toEqual(first.person)
  }
  const shown = found.map(({ sequence: _, ...visit }) => visit)
  expect({ ...(first.person && { person: first.person }), visits: shown }, JSON.stringify(query)).toEqual(expected)
}

function checkEngagement(world: World, random: Random, time: Time): void {
  const base = someBase(world, random, time)
  const { timezone } = base.scope
  const interval = random.pick(["day", "day", "week", "month"] as const)
  const from = plusDays(time.day, random.whole(-6, 1))
  const to = dayStart(plusDays(from, random.pick([1, 2, 4, 9, 20, 45])), timezone)
  const starts = bucketStarts({ from: dayStart(plusDays(from, -40), timezone), to }, interval, timezone)
  const first = starts.findLastIndex((start) => start <= dayStart(from, timezone))
  const earlier = bucketStarts({ from: starts[first]! - 32 * DAY, to: starts[first]! }, "day", timezone).slice(-28)
  const query = {
    ...base,
    scope: { ...base.scope, now: random.chance(0.7) ? to + 20 * DAY : random.whole(starts[first]!, to) },
    edges: [...starts.slice(first - 1), to],
    days: [...earlier, ...bucketStarts({ from: starts[first]!, to }, "day", timezone), to],
    ...(random.chance(0.2) && { daysOnly: true }),
  }
  const found = engagement(snapshotOf(world, base.site), query, neverStop)
  expect(found, JSON.stringify(query)).toEqual(engagementAnswer(world.visits(base.site.id), query))
}

/** Returns what all queries have in common. */
function someBase(world: World, random: Random, time: Time): ActivePeopleQuery {
  const site = someSite(random)
  const scope = someScope(random, time, site)
  const visits = world.visits(site.id)
  const among = visits.length > 0 && random.chance(0.3) && someMembers(world, random, time, scope)
  return { site, scope, ...(random.chance(0.5) && { filter: someFilter(random, site) }), ...(among && { among }) }
}

/** Returns a scope whose salt periods last for some days each. */
function someScope(random: Random, time: Time, site: SiteFacts): PeopleScope {
  const timezone = someZone(random, time)
  const saltEdges = [plusDays(time.day, -60)]
  while (saltEdges.at(-1)! < plusDays(time.day, 60)) saltEdges.push(plusDays(saltEdges.at(-1)!, random.pick([1, 1, 7, 30])))
  return {
    site,
    timezone,
    now: dayStart(plusDays(time.day, 30), timezone),
    identifiedOnly: random.chance(0.4),
    saltEdges: saltEdges.map((day) => dayStart(day, timezone)),
    deviceMs: random.pick([1, DAY, 2 * DAY, 180 * DAY]),
    siteKey: KEY,
  }
}

/** Returns a set of people, and notes its members for the oracle. */
function someMembers(world: World, random: Random, time: Time, scope: PeopleScope): PeopleSet {
  const { site } = scope
  const [visits, snapshot] = [world.visits(site.id), world.snapshot(site.id)]
  const set = someSet({ random, time, site, visits, snapshot }, scope)
  const members = [...truths({ visits, names: namesOf(snapshot, visits) }, set)].filter(([, truth]) => truth === "in")
  MEMBERS.set(set.key, new Set(members.map(([visitor]) => visitor)))
  return set
}

/** Returns the edges of the local days. Days that the zone skipped have none. */
const dayEdges = (from: string, to: string, timezone: string): number[] => [
  ...bucketStarts({ from: dayStart(from, timezone), to: dayStart(plusDays(to, 1), timezone) }, "day", timezone),
  dayStart(plusDays(to, 1), timezone),
]

/** Returns a window of days, sometimes as one piece. */
function someWindow(random: Random, { day }: Time, { timezone }: PeopleScope): number[] {
  const last = plusDays(day, random.pick([-2, -1, 0, 1, 2, 3, 8, 12]))
  const edges = dayEdges(plusDays(last, 1 - random.pick([1, 1, 2, 3, 7, 28, 40])), last, timezone)
  return random.chance(0.2) ? [edges[0]!, edges.at(-1)!] : edges
}

/** Returns the names that the engine has for the visitors of the oracle. */
function idsOf(world: World, siteId: number): NameOf {
  const names = namesOf(world.snapshot(siteId), world.visits(siteId))
  const numbers = new Map([...names].map(([number, visitor]) => [visitor, number]))
  return (visitor) => {
    const number = numbers.get(visitor)!
    return { visitor: number, pseudonym: pseudonyms(KEY, "visitor")([number])[0]! }
  }
}

const snapshotOf = (world: World, { id }: { id: number }) => withPeople(world.snapshot(id), neverStop)
