import type { PeopleScope, PeopleSet } from "../../domain/people.ts"
import { VISITOR_KINDS } from "../../domain/visit.ts"
import type { Snapshot } from "../../store/events/part.ts"
import type { Hits } from "./hits.ts"
import { dayOf, type LocalDays } from "./local-days.ts"

/** States of a person in a set or under a condition. `all` is their minimum, `any` their maximum. */
export const OUT = 0
export const PENDING = 1
export const IN = 2

/** People of a set, by visitor of a slice: 0 for visitors who do not count, otherwise how they are recognized. */
export type People = Uint8Array
const ROTATING = VISITOR_KINDS.indexOf("rotating") + 1
const DEVICE = VISITOR_KINDS.indexOf("device") + 1

/** Number of visitors whose first visits are read at once. */
export const SLICE_SIZE = 1 << 20

/** Visitors with consecutive ordinals. Sets are evaluated slice by slice, so that memory does not grow with the number of visitors. */
export class Slice {
  #first: Float64Array | undefined

  constructor(
    private readonly snapshot: Snapshot,
    /** Ordinal of the first visitor. All arrays count from it. */
    readonly from: number,
    readonly size: number,
    private readonly check: () => void,
  ) {}

  /** Start of each visitor's first visit; Infinity without a visit. Read on demand, because most sets do not need it. */
  get first(): Float64Array {
    this.#first ??= this.#firstStarts()
    return this.#first
  }

  /** Returns the people of a set: with a visit before its end, and with a lasting id where only those count. */
  people({ until, scope }: Pick<PeopleSet, "until" | "scope">): People {
    const people = new Uint8Array(this.size)
    for (const part of this.snapshot.parts) {
      if (part.visits === 0 || part.minStart >= until) continue
      this.check()
      const starts = part.maxStart >= until ? part.starts() : undefined
      markPeople(people, this.from, part.visit("visitor"), part.visit("visitor_kind"), part.visits, scope.identifiedOnly, starts, until)
    }
    return people
  }

  /** Returns some of the visitors, by their place in the slice. */
  part(from: number, size: number): Slice {
    return new Slice(this.snapshot, this.from + from, Math.min(size, this.size - from), this.check)
  }

  #firstStarts(): Float64Array {
    const first = new Float64Array(this.size).fill(Infinity)
    for (const part of this.snapshot.parts) {
      if (part.visits === 0) continue
      this.check()
      findFirst(first, this.from, part.visit("visitor"), part.starts(), part.visits)
    }
    return first
  }
}

/** Marks the visitors of visits. Ids of different kinds have ordinals of their own, so all visits of a visitor are of one kind. */
function markPeople(
  people: People,
  from: number,
  visitor: Uint32Array,
  kind: Uint32Array,
  visits: number,
  identifiedOnly: boolean,
  starts: Float64Array | undefined,
  until: number,
): void {
  const size = people.length
  const lowest = identifiedOnly ? ROTATING : 0
  for (let row = 0; row < visits; row++) {
    const person = (visitor[row]! - from) >>> 0
    const code = kind[row]! + 1
    if (person < size && code > lowest && (starts === undefined || starts[row]! < until)) people[person] = code
  }
}

function findFirst(first: Float64Array, from: number, visitor: Uint32Array, starts: Float64Array, visits: number): void {
  const size = first.length
  for (let row = 0; row < visits; row++) {
    const person = (visitor[row]! - from) >>> 0
    if (person < size && starts[row]! < first[person]!) first[person] = starts[row]!
  }
}

/** How long a person is recognized: from the start of the salt period of a rotating id, and until an id ends. */
export class Recognition {
  #period = 0

  constructor(
    private readonly slice: Slice,
    private readonly people: People,
    private readonly scope: PeopleScope,
  ) {}

  /** Returns the time from which the person's id was not known any more or will not be, epoch ms. */
  end(person: number): number {
    const kind = this.people[person]!
    if (kind > DEVICE) return Infinity
    if (kind === DEVICE) return this.slice.first[person]! + this.scope.deviceMs
    return this.#enter(person) ? this.scope.saltEdges[this.#period + 1]! : -Infinity
  }

  /** Returns whether a person was or will be recognized throughout a time, which an empty one requires of no one. */
  covers(person: number, from: number, to: number): boolean {
    if (from >= to) return true
    if (to > this.end(person)) return false
    return this.people[person] !== ROTATING || from >= this.scope.saltEdges[this.#period]!
  }

  /** Finds the salt period of the first visit. Ordinals follow the order of appearance, so it is mostly that of the person before. */
  #enter(person: number): boolean {
    const { saltEdges } = this.scope
    const at = this.slice.first[person]!
    if (at >= saltEdges[this.#period]! && at < saltEdges[this.#period + 1]!) return true
    let [low, high] = [0, saltEdges.length - 1]
    if (!(at >= saltEdges[low]! && at < saltEdges[high]!)) return false
    while (high - low > 1) {
      const middle = (low + high) >>> 1
      if (saltEdges[middle]! <= at) low = middle
      else high = middle
    }
    this.#period = low
    return true
  }
}

/** The window of a condition: the same for everyone, or by person with the moment at which it begins. */
export type Window = AbsoluteWindow | RelativeWindow

export interface AbsoluteWindow {
  isRelative: false
  from: number
  to: number
}

export interface RelativeWindow {
  isRelative: true
  /** By person; Infinity without a reference. */
  from: Float64Array
  to: Float64Array
}

/** Returns the window from each person's moment until the end of the local day a number of days later. Moments may be Infinity. */
export function windowAfter(moments: Float64Array, people: People, days: number, local: LocalDays): RelativeWindow {
  const to = new Float64Array(moments.length)
  for (let person = 0; person < moments.length; person++) {
    const at = moments[person]!
    if (people[person] !== 0 && at < Infinity) to[person] = local.edges[dayOf(local, at) + days + 1]!
  }
  return { isRelative: true, from: moments, to }
}

/** The hits of a slice that lie in a window, by person. */
export interface PersonHits {
  person: Uint32Array
  at: Float64Array
  amount: Float64Array | undefined
  count: number
}

/** Chooses the hits of the people of a slice in a window. The result is overwritten by the next call. */
export class HitChoice {
  readonly #out: PersonHits = { person: new Uint32Array(0), at: new Float64Array(0), amount: undefined, count: 0 }

  constructor(
    private readonly slice: Slice,
    /** Those whose hits matter. */
    private readonly people: People,
    private readonly window: Window,
    /** End of the set, beyond which a window that begins at a person's own moment may reach. */
    private readonly until: number,
  ) {}

  choose(hits: Hits): PersonHits {
    const out = this.#out
    if (out.person.length < hits.count) {
      out.person = new Uint32Array(hits.count)
      out.at = new Float64Array(hits.count)
      if (hits.amount) out.amount = new Float64Array(hits.count)
    }
    out.count = this.window.isRelative
      ? chooseRelative(hits, this.slice, this.people, this.window.from, this.window.to, this.until, out)
      : chooseAbsolute(hits, this.slice, this.people, this.window.from, this.window.to, out)
    return out
  }
}

function chooseAbsolute(
  { visitor, at, amount, count }: Hits,
  slice: Slice,
  people: People,
  from: number,
  to: number,
  out: PersonHits,
): number {
  const { person: chosenPeople, at: times, amount: amounts } = out
  const { from: lowest, size } = slice
  let chosen = 0
  for (let i = 0; i < count; i++) {
    const person = (visitor[i]! - lowest) >>> 0
    const time = at[i]!
    if (person >= size || people[person] === 0 || time < from || time >= to) continue
    chosenPeople[chosen] = person
    times[chosen] = time
    if (amount) amounts![chosen] = amount[i]!
    chosen++
  }
  return chosen
}

function chooseRelative(
  { visitor, at, amount, count }: Hits,
  slice: Slice,
  people: People,
  from: Float64Array,
  to: Float64Array,
  until: number,
  out: PersonHits,
): number {
  const { person: chosenPeople, at: times, amount: amounts } = out
  const { from: lowest, size } = slice
  let chosen = 0
  for (let i = 0; i < count; i++) {
    const person = (visitor[i]! - lowest) >>> 0
    const time = at[i]!
    if (person >= size || people[person] === 0 || time < from[person]! || time >= to[person]! || time >= until) continue
    chosenPeople[chosen] = person
    times[chosen] = time
    if (amount) amounts![chosen] = amount[i]!
    chosen++
  }
  return chosen
}
