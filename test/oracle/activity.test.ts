import { expect, test } from "bun:test"
import { type ActivePeopleQuery, PEOPLE_SORTS, type PeopleListQuery, type PeopleScope, type PersonFacts } from "../../src/domain/people.ts"
import { activeDays } from "../../src/query/people/active-days.ts"
import { engagement } from "../../src/query/people/engagement.ts"
import { peopleList } from "../../src/query/people/people-list.ts"
import { person } from "../../src/query/people/person.ts"
import { pseudonyms } from "../../src/query/show/pseudonyms.ts"
import { rowBatches } from "../query/engine/row-batches.ts"
import { bySize, SEED } from "../size.ts"
import { activeDaysAnswer, engagementAnswer, type NameOf, peopleListAnswer, personAnswer } from "./activity.ts"
import { bucketStarts, dayStart, plusDays } from "./days.ts"
import { someFilter } from "./filters.ts"
import { STATES } from "./life.ts"
import { someSite, someZone } from "./queries.ts"
import { type Random, seededRandom } from "./random.ts"
import { startOf } from "./raw.ts"
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
  const base = someBase(random, time)
  const length = random.pick([1, 2, 7, 28, 40])
  const last = plusDays(time.day, random.whole(-3, 12))
  const query = {
    ...base,
    days: dayEdges(plusDays(last, 1 - length), last, base.scope.timezone),
    previous: dayEdges(plusDays(last, 1 - 2 * length), plusDays(last, -length), base.scope.timezone),
  }
  const found = activeDays(world.snapshot(base.site.id), query, neverStop)
  expect(found, JSON.stringify(query)).toEqual(activeDaysAnswer(world.visits(base.site.id), query))
}

/** Reads a list page by page, so that every cursor between two pages is used. */
function checkList(world: World, random: Random, time: Time): void {
  const base = someBase(random, time)
  const visits = world.visits(base.site.id)
  const snapshot = world.snapshot(base.site.id)
  const nameOf = namesOf(world, base.site.id)
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
  const base = someBase(random, time)
  const visits = world.visits(base.site.id)
  if (visits.length === 0) return
  const nameOf = namesOf(world, base.site.id)
  const { visitor } = random.pick(visits)
  const query = { ...base, days: someWindow(random, time, base.scope), ordinal: nameOf(visitor).ordinal, limit: random.whole(1, 5) }
  const expected = personAnswer(visits, query, visitor, nameOf)
  const first = person(world.snapshot(base.site.id), query, neverStop)
  const found = [...first.visits]
  for (let page = first; page.hasMore; found.push(...page.visits)) {
    const { start, sequence } = found.at(-1)!
    page = person(world.snapshot(base.site.id), { ...query, before: { start, sequence } }, neverStop)
    expect(page.person).toEqual(first.person)
  }
  const shown = found.map(({ sequence: _, ...visit }) => visit)
  expect({ ...(first.person && { person: first.person }), visits: shown }, JSON.stringify(query)).toEqual(expected)
}

function checkEngagement(world: World, random: Random, time: Time): void {
  const base = someBase(random, time)
  const { timezone } = base.scope
  const interval = random.pick(["day", "day", "week", "month"] as const)
  const from = plusDays(time.day, random.whole(-6, 1))
  const to = dayStart(plusDays(from, random.pick([1, 2, 4, 9, 20, 45])), timezone)
  const starts = bucketStarts({ from: dayStart(plusDays(from, -40), timezone), to }, interval, timezone)
  const first = starts.findLastIndex((start) => start <= dayStart(from, timezone))
  const earlier = bucketStarts({ from: starts[first]! - 32 * DAY, to: starts[first]! }, "day", timezone).slice(-28)
  const query = {
    ...base,
    edges: [...starts.slice(first - 1), to],
    days: [...earlier, ...bucketStarts({ from: starts[first]!, to }, "day", timezone), to],
    ...(random.chance(0.2) && { daysOnly: true }),
  }
  query.scope.now = random.chance(0.7) ? to + 20 * DAY : random.whole(starts[first]!, to)
  const found = engagement(world.snapshot(base.site.id), query, neverStop)
  expect(found, JSON.stringify(query)).toEqual(engagementAnswer(world.visits(base.site.id), query))
}

/** Returns what all queries have in common. Salt periods last for some days each. */
function someBase(random: Random, time: Time): ActivePeopleQuery & { scope: PeopleScope } {
  const site = someSite(random)
  const timezone = someZone(random, time)
  const saltEdges = [plusDays(time.day, -60)]
  while (saltEdges.at(-1)! < plusDays(time.day, 60)) saltEdges.push(plusDays(saltEdges.at(-1)!, random.pick([1, 1, 7, 30])))
  return {
    site,
    scope: {
      site,
      timezone,
      now: dayStart(plusDays(time.day, 30), timezone),
      identifiedOnly: random.chance(0.4),
      saltEdges: saltEdges.map((day) => dayStart(day, timezone)),
      deviceMs: random.pick([1, DAY, 2 * DAY, 180 * DAY]),
      siteKey: KEY,
    },
    ...(random.chance(0.5) && { filter: someFilter(random, site) }),
  }
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

/** Returns the names of the visitors. The oracle knows them as texts, so the visits of both sides are paired in their order. */
function namesOf(world: World, siteId: number): NameOf {
  const everything = { site: { id: siteId, bounceEngagedSeconds: 0, revenueCurrency: "EUR", goals: [] }, range: { from: 0, to: 1e15 } }
  const rows = [...rowBatches(world.snapshot(siteId), everything)].flat()
  rows.sort((a, b) => a.started_at - b.started_at || a.sequence - b.sequence)
  const visits = world.visits(siteId).sort((a, b) => startOf(a) - startOf(b) || a.sequence - b.sequence)
  const ordinals = new Map(visits.map(({ visitor }, i) => [visitor, rows[i]!.visitor]))
  expect(visits.map(({ visitor }) => ordinals.get(visitor)!)).toEqual(rows.map(({ visitor }) => visitor))
  return (visitor) => {
    const ordinal = ordinals.get(visitor)!
    return { ordinal, pseudonym: pseudonyms(KEY, "visitor")([ordinal])[0]! }
  }
}
