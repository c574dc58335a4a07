import type { PeopleCondition, PeopleGroup, PeopleSet } from "../../domain/people.ts"
import type { PeopleStates, Snapshot } from "../../store/events/part.ts"
import { evaluateCondition, type Outcome } from "./conditions.ts"
import { type Evaluation, type EvaluationLimits, isMomentTest, spanOf } from "./evaluation.ts"
import { HitSources } from "./hits.ts"
import { dayOf, type LocalDays, localDays } from "./local-days.ts"
import { SliceTooLarge } from "./ordered-hits.ts"
import { IN, OUT, type People, SLICE_SIZE, Slice } from "./slice.ts"
import { ordinalsOf, storedOrdinals } from "./stored.ts"

const DAY_MS = 86_400_000

/** A slice takes about 30 MB, the hits in order 64 MB at most, and those of a test that are kept 24 MB, or 40 MB with revenue. */
const LIMITS: EvaluationLimits = { people: SLICE_SIZE, orderedHits: 2 << 20, keptHits: 2 << 20 }

/** Adds the evaluation of sets to a snapshot, for filters that name people. A query evaluates each set at most once. */
export function withPeople(snapshot: Snapshot, check: () => void): Snapshot {
  const sets = new PeopleSets(snapshot, check)
  return { ...snapshot, people: (set) => sets.statesOf(set) }
}

/** Returns the state of each visitor in a set. `check` is called between parts. */
export const peopleStates = (snapshot: Snapshot, set: PeopleSet, check: () => void): PeopleStates =>
  snapshot.people?.(set) ?? new PeopleSets(snapshot, check).statesOf(set)

/** States, with the times of a query between which they hold: undecided people may be decided by time alone. */
interface KnownStates {
  states: PeopleStates
  from: number
  to: number
}

/**
 * The sets of people of one query. Their states stay in the memory of the worker until the data changes. They are computed for some
 * visitors at a time, with one pass over the parts for each condition.
 */
export class PeopleSets {
  readonly #snapshot: Snapshot
  readonly #check: () => void
  /** Start of the first visit; Infinity without visits. */
  readonly #dataFrom: number
  /** What this query has used. The memory of the worker may be too small for it. */
  readonly #used = new Map<string, KnownStates>()

  constructor(
    snapshot: Snapshot,
    check: () => void,
    private readonly limits: EvaluationLimits = LIMITS,
  ) {
    this.#snapshot = { ...snapshot, people: (set) => this.statesOf(set) }
    this.#check = check
    this.#dataFrom = this.#snapshot.parts.reduce(
      (first, { minStart, visits }) => (visits > 0 ? Math.min(first, minStart) : first),
      Infinity,
    )
  }

  statesOf(set: PeopleSet): PeopleStates {
    return this.#known(set).states
  }

  #known(set: PeopleSet): KnownStates {
    const key = keyOf(set)
    const known = this.#used.get(key) ?? this.#remembered(key, set.scope.now) ?? this.#computed(set, key)
    this.#used.set(key, known)
    return known
  }

  #remembered(key: string, now: number): KnownStates | undefined {
    const known = this.#snapshot.results.get(key, this.#version) as KnownStates | undefined // #computed sets it
    return known && now >= known.from && now < known.to ? known : undefined
  }

  #computed(set: PeopleSet, key: string): KnownStates {
    const states = new Uint8Array(this.#snapshot.visitorLimit)
    const validity = this.evaluate([set], (_, { from }, found) => states.set(found, from))
    const known = { states, ...validity }
    this.#snapshot.results.set(key, this.#version, known, states.byteLength + 2 * key.length)
    return known
  }

  get #version(): string {
    const { sealed, tail } = this.#snapshot.version
    return `${sealed} ${tail}`
  }

  /**
   * Evaluates sets for one slice of visitors after another. Conditions of several sets that look at the same read it once. `take` receives
   * the states of each set, by index. Returns the times of a query between which the states hold.
   */
  evaluate(sets: readonly PeopleSet[], take: (index: number, slice: Slice, states: Uint8Array) => void): { from: number; to: number } {
    const validity = { from: -Infinity, to: Infinity }
    const { visitorLimit } = this.#snapshot
    // Sets that name people need few arrays.
    const people = sets.some(({ members }) => members.by === "group") ? this.limits.people : 4 * this.limits.people
    if (this.#dataFrom === Infinity) return validity
    const sources = new HitSources(this.#snapshot, this.limits.keptHits, this.#check)
    const evaluations = sets.map((set) => this.#prepare(set, sources, Math.ceil(visitorLimit / people), validity))
    for (let from = 0; from < visitorLimit; from += people) {
      const slice = new Slice(this.#snapshot, from, Math.min(people, visitorLimit - from), this.#check)
      evaluations.forEach((evaluation, index) => {
        take(index, slice, this.#evaluateSlice(evaluation, slice))
      })
    }
    return validity
  }

  #prepare(set: PeopleSet, sources: HitSources, passes: number, validity: { from: number; to: number }): Evaluation {
    const { scope, until } = set
    const asOf = Math.min(scope.now, until)
    const conditions = conditionsOf(set)
    for (const condition of conditions)
      if (isMomentTest(condition.test)) sources.want(condition.test, scope, spanOf(condition, until, this.#dataFrom))
    const days = conditions.flatMap(({ window }) =>
      window && !("range" in window) ? ["after" in window ? window.days : window.afterFirstSeen] : [],
    )
    const needsDays = days.length > 0 || conditions.some(({ test }) => test.of === "active_days")
    const last = until + (Math.max(0, ...days) + 2) * DAY_MS
    const local = needsDays ? localDays(scope.timezone, Math.min(this.#dataFrom, asOf), last) : NO_DAYS
    const narrow = (from: number, to: number) => {
      validity.from = Math.max(validity.from, from)
      validity.to = Math.min(validity.to, to)
    }
    if (days.length > 0)
      narrow(asOf, asOf === until ? Infinity : Math.min(local.edges[dayOf(local, asOf) + 1]!, nextEdge(scope.saltEdges, asOf)))
    return {
      snapshot: this.#snapshot,
      set,
      asOf,
      dataFrom: this.#dataFrom,
      local,
      sources,
      limits: this.limits,
      passes,
      statesOf: (inner) => {
        const { states, from, to } = this.#known(inner)
        narrow(from, to)
        return states
      },
      mayChangeAt: (at) => narrow(-Infinity, asOf === until ? Infinity : at),
      check: this.#check,
    }
  }

  /** Evaluates a set for a slice, or for its quarters where that takes too much memory. */
  #evaluateSlice(evaluation: Evaluation, slice: Slice): Uint8Array {
    try {
      return this.#evaluateSet(evaluation, slice)
    } catch (error) {
      if (!(error instanceof SliceTooLarge)) throw error
    }
    const states = new Uint8Array(slice.size)
    const size = Math.ceil(slice.size / 4)
    for (let from = 0; from < slice.size; from += size) states.set(this.#evaluateSlice(evaluation, slice.part(from, size)), from)
    return states
  }

  #evaluateSet(evaluation: Evaluation, slice: Slice): Uint8Array {
    const { members, scope } = evaluation.set
    const people = slice.people(evaluation.set)
    if (members.by === "group") return evaluateGroup(evaluation, slice, people, members.group)
    const ordinals =
      members.by === "visitors"
        ? ordinalsOf(this.#snapshot, members.visitors)
        : storedOrdinals(this.#snapshot, members, scope.siteKey, this.#check)
    const states = new Uint8Array(slice.size)
    for (let i = 0; i < ordinals.length; i++) {
      const person = (ordinals[i]! - slice.from) >>> 0
      if (person < slice.size && people[person] !== 0) states[person] = IN
    }
    return states
  }
}

const NO_DAYS: LocalDays = { edges: new Float64Array(0), existing: new Uint32Array(0) }

const nextEdge = (edges: readonly number[], at: number): number => edges.find((edge) => edge > at) ?? Infinity

/** Evaluates a group for some people of a slice. Conditions are not evaluated for people who are decided already. */
function evaluateGroup(evaluation: Evaluation, slice: Slice, people: People, { match, conditions }: PeopleGroup): Uint8Array {
  const isAll = match === "all"
  const states = new Uint8Array(slice.size)
  if (isAll) for (let person = 0; person < slice.size; person++) states[person] = people[person] === 0 ? OUT : IN
  const open = people.slice()
  const before: Outcome[] = []
  conditions.forEach((member, index) => {
    const refers = (other: PeopleCondition | PeopleGroup) =>
      "test" in other && other.window !== undefined && "after" in other.window && other.window.after === index
    const outcome =
      "test" in member
        ? evaluateCondition(evaluation, slice, open, { condition: member, before, isReferred: conditions.some(refers) })
        : { states: evaluateGroup(evaluation, slice, open, member) }
    before.push(outcome)
    join(states, open, outcome.states, isAll)
  })
  return states
}

/** Joins a member of a group: `all` is false once one is, `any` true once one is; otherwise an undecided member leaves the person undecided. */
function join(states: Uint8Array, open: Uint8Array, others: Uint8Array, isAll: boolean): void {
  const decisive = isAll ? OUT : IN
  for (let person = 0; person < states.length; person++) {
    if (open[person] === 0) continue
    const other = others[person]!
    if (isAll ? other < states[person]! : other > states[person]!) states[person] = other
    if (other === decisive) open[person] = 0
  }
}

function conditionsOf({ members }: PeopleSet): PeopleCondition[] {
  const inGroup = (group: PeopleGroup): PeopleCondition[] =>
    group.conditions.flatMap((member) => ("test" in member ? [member] : inGroup(member)))
  return members.by === "group" ? inGroup(members.group) : []
}

/** Returns a text that two sets share only when they are equal over the same data, at whatever time of the query. */
function keyOf(set: PeopleSet): string {
  return `people ${JSON.stringify(set, (name, value: unknown) => {
    if (name === "saltEdges" && Array.isArray(value)) return Bun.hash(Float64Array.from(value)).toString(36)
    if (name === "visitors" && value instanceof Float64Array) return `${value.length} ${Bun.hash(value).toString(36)}`
    return (name === "now" && typeof value === "number") || value instanceof Uint8Array ? undefined : value
  })}`
}
