import { expect, test } from "bun:test"
import { type Dimension, dimensionFacts } from "../../src/domain/dimension.ts"
import type { Filter } from "../../src/domain/filter.ts"
import type { MembersResult, PeopleSet } from "../../src/domain/people.ts"
import type { Query, Table } from "../../src/domain/query.ts"
import { answerTask } from "../../src/query/engine/queries.ts"
import { PeopleSets, peopleStates } from "../../src/query/people/sets.ts"
import { pseudonyms } from "../../src/query/show/pseudonyms.ts"
import type { Snapshot } from "../../src/store/events/part.ts"
import { bySize, SEED } from "../size.ts"
import { coverageOf } from "./activity.ts"
import { MEMBERS, shownIn } from "./conditions.ts"
import { difference } from "./difference.ts"
import { ALL_DIMENSIONS } from "./filters.ts"
import { STATES } from "./life.ts"
import { answer } from "./oracle.ts"
import { type Known, namesOf, type Truth, truths } from "./people.ts"
import { someSet } from "./people-queries.ts"
import { someQuery, someRange, someSite } from "./queries.ts"
import { type Random, seededRandom } from "./random.ts"
import { type RawVisit, startOf } from "./raw.ts"
import { TIMES, type Time } from "./traffic.ts"
import { World } from "./world.ts"

/** Number of random sets, each of them also as a filter of a report. */
const SETS = bySize({ check: 260, full: 5_000, release: 40_000 })
const WORLDS = Math.max(TIMES.length, Math.ceil(SETS / 500))

const neverStop = () => {}
const NO_RESULTS = { get: () => undefined, set: () => {} }
const TRUTHS: readonly Truth[] = ["out", "undecided", "in"]

test.each(Array.from({ length: WORLDS }, (_, i) => SEED * 1_000 + i))(
  "finds the same people as a reading of all visits of everyone, and the same report on them, seed %d",
  async (seed) => {
    const random = seededRandom(seed)
    const time = TIMES[seed % TIMES.length]!
    using world = new World(random, time)
    for (const [name, reach] of STATES) {
      await reach(world, random)
      try {
        for (let left = Math.ceil(SETS / WORLDS / STATES.length); left > 0; left--) checkSet(world, random, time)
      } catch (error) {
        throw new Error(`${name}, seed ${seed}, ${time.day}:\n${error instanceof Error ? error.message : error}`)
      }
    }
  },
  { timeout: 600_000 },
)

function checkSet(world: World, random: Random, time: Time): void {
  const site = someSite(random)
  const [visits, snapshot] = [world.visits(site.id), world.snapshot(site.id)]
  if (visits.length === 0) return
  const known = { visits, names: namesOf(snapshot, visits) }
  const set = someSet({ random, time, site, visits, snapshot })
  const expected = truths(known, set)
  expect(found(known, peopleStates(snapshot, set, neverStop)), described(set)).toEqual(named(expected))
  const limits = { people: random.pick([1, 3, 7]), orderedHits: random.pick([1, 5]), keptHits: random.pick([0, 1, 20]) }
  const inPieces = new PeopleSets({ ...snapshot, results: NO_RESULTS }, neverStop, limits).statesOf(set)
  expect(found(known, inPieces), described(set)).toEqual(named(expected))
  checkEvaluation(known, snapshot, set, random, time)
  checkReport(world, random, time, set, expected)
}

const named = (expected: ReadonlyMap<string, Truth>) => [...expected].filter(([, truth]) => truth !== "out").sort()
const found = ({ names }: Known, states: Uint8Array) =>
  [...names]
    .map(([ordinal, name]) => [name, TRUTHS[states[ordinal]!]!] as const)
    .filter(([, truth]) => truth !== "out")
    .sort()

const described = (set: PeopleSet) => JSON.stringify(set, (name, value) => (name === "site" || name === "siteKey" ? undefined : value), 1)

function checkEvaluation(known: Known, snapshot: Snapshot, set: PeopleSet, random: Random, time: Time): void {
  const { site, timezone } = set.scope
  const range = someRange(random, time, timezone, known.visits)
  const comparedTo = { ...set, key: "compared", until: set.until - 86_400_000 }
  const breakdown = random.some(
    ALL_DIMENSIONS.filter((dimension) => dimensionFacts(dimension).level === "visit"),
    0,
    3,
  )
  const query = { site, set, range, comparedTo, earlier: [comparedTo, set], breakdown }
  const [one, other] = [truths(known, set), truths(known, comparedTo)]
  const isIn = (all: ReadonlyMap<string, Truth>) => (name: string) => all.get(name) === "in"
  const [mine, theirs] = [[...one.keys()].filter(isIn(one)), [...other.keys()].filter(isIn(other))]
  const lastVisits = new Map([...one.keys()].map((name) => [name, lastVisit(known.visits, set, name)]))
  expect(answerTask(snapshot, { kind: "evaluate", query }, neverStop), described(set)).toEqual({
    size: mine.length,
    pending: [...one.values()].filter((truth) => truth === "undecided").length,
    total: one.size,
    coverage: coverageOf(known.visits, set.scope, [range.from, range.to]),
    earlier: [theirs.length, mine.length],
    compared: { size: theirs.length, people: mine.filter(isIn(other)).length },
    breakdown: breakdown.map((dimension) => {
      const valueIn = (name: string) => valueAt(lastVisits.get(name)!, dimension)
      const values = [...new Set(mine.map(valueIn))].map((value) => {
        const count = (names: readonly string[]) => names.filter((name) => valueIn(name) === value).length
        return { value: value || null, people: count(mine), total: count([...one.keys()]) }
      })
      const text = (value: string | null) => value ?? ""
      return values.sort((a, b) => b.people - a.people || b.total - a.total || (text(a.value) < text(b.value) ? -1 : 1))
    }),
  })
  const ordinals = [...known.names]
    .filter(([, name]) => one.get(name) === "in")
    .map(([ordinal]) => ordinal)
    .sort((a, b) => a - b)
  const [after, limit] = [random.pick([-1, ...ordinals]), random.whole(1, 4)]
  const batch = answerTask(snapshot, { kind: "members", query: { site, set, after, limit } }, neverStop) as MembersResult
  const expected = ordinals.filter((ordinal) => ordinal > after).slice(0, limit)
  expect([batch.count, batch.last]).toEqual([expected.length, expected.at(-1) ?? after])
  const names = pseudonyms(set.scope.siteKey, "visitor")(expected).sort()
  expect(Buffer.from(batch.visitors).toString("hex")).toBe(names.join(""))
}

function lastVisit(visits: readonly RawVisit[], { until }: PeopleSet, name: string): RawVisit {
  const own = visits.filter((visit) => visit.visitor === name && startOf(visit) < until)
  return own.toSorted((a, b) => startOf(b) - startOf(a) || b.sequence - a.sequence)[0]!
}

const valueAt = (visit: RawVisit, dimension: Dimension): string => shownIn({ dimension }, visit.events[0]!, visit)

/** Checks a report with the set somewhere in its filter. */
function checkReport(world: World, random: Random, time: Time, set: PeopleSet, expected: ReadonlyMap<string, Truth>): void {
  MEMBERS.set(set.key, new Set([...expected].filter(([, truth]) => truth === "in").map(([name]) => name)))
  const { filter, ...query } = { ...someQuery(random, time, (siteId) => world.visits(siteId)), site: set.scope.site }
  const leaf = random.pick([
    { op: "people", set },
    { op: "not", filter: { op: "people", set } },
  ] as const)
  const both = filter ? [filter, leaf] : [leaf]
  const tree = random.pick([
    { op: random.pick(["and", "or"] as const), filters: random.shuffled(both) },
    { op: "has_done", filter: { op: "and", filters: both } },
  ] as const)
  const asked: Query = { ...query, filter: hasInner(filter) ? { op: "and", filters: both } : tree }
  const actual = answerTask(world.snapshot(set.scope.site.id), { kind: "aggregate", query: asked }, neverStop)
  const { id } = set.scope.site
  const differs = difference(answer(world.visits(id), asked, world.imports(id)), actual as Table, asked)
  if (differs !== undefined) throw new Error(`${differs}\n${described(set)}\n${JSON.stringify(asked.filter)}`)
}

/** Reports whether a filter has a `has_done`, which cannot be inside another one. */
const hasInner = (filter: Filter | undefined): boolean => JSON.stringify(filter ?? {}).includes('"has_done"')
