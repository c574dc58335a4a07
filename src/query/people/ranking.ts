import type { VisitorNumbers } from "../../store/events/part.ts"
import { halvesOfNumbers, pseudonymHalves, pseudonyms } from "../show/pseudonyms.ts"

/** Numbers by which people are ordered. */
export interface PeopleOrder {
  /** By ordinal. */
  values: Uint16Array | Uint32Array | Float64Array
  /** Value of those who do not belong to the list, less than all others. */
  none: number
}

interface RankingOptions {
  siteKey: Uint8Array
  visitors: VisitorNumbers
  /** Maximum number of people. */
  limit: number
  /** Value and pseudonym of the person before the first one. */
  after?: { value: number; pseudonym: string } | undefined
  check: () => void
}

/**
 * Returns the people with the highest values as ordinals, ties by pseudonym, ascending. Pseudonyms are computed only for the people that
 * are returned and for those who share the value of the first or last of them.
 */
export function ranked({ values, none }: PeopleOrder, { siteKey, visitors, limit, after, check }: RankingOptions): number[] {
  const tiedWith = (value: number, room: number, pseudonym?: string): number[] => {
    const first = new FirstPseudonyms({ siteKey, visitors, check }, room, pseudonym)
    if (value > none) addPeopleWith(values, value, first)
    return first.finish()
  }
  const tied = after ? tiedWith(after.value, limit, after.pseudonym) : []
  const room = limit - tied.length
  if (room === 0) return tied
  const below = after?.value ?? Number.POSITIVE_INFINITY
  const lowest = lowestOfHighest(values, room, { above: none, below })
  const higher = peopleBetween(values, { above: lowest, below })
  const names = new Map(pseudonyms(siteKey, "visitor")(higher.map(visitors.number)).map((name, i) => [higher[i]!, name]))
  const byName = (a: number, b: number) => (names.get(a)! < names.get(b)! ? -1 : 1)
  higher.sort((a, b) => values[b]! - values[a]! || byName(a, b))
  return [...tied, ...higher, ...tiedWith(lowest, room - higher.length)]
}

/** Returns the number of people in a list. */
export function peopleIn({ values, none }: PeopleOrder): number {
  let count = 0
  for (let person = 0; person < values.length; person++) if (values[person]! > none) count++
  return count
}

interface Bounds {
  above: number
  below: number
}

function peopleBetween(values: PeopleOrder["values"], { above, below }: Bounds): number[] {
  const found: number[] = []
  for (let person = 0; person < values.length; person++) {
    if (values[person]! > above && values[person]! < below) found.push(person)
  }
  return found
}

function addPeopleWith(values: PeopleOrder["values"], value: number, to: FirstPseudonyms): void {
  for (let person = 0; person < values.length; person++) if (values[person] === value) to.add(person)
}

/** Returns the lowest of the `size` highest values between two bounds, or the lower bound when there are fewer. */
function lowestOfHighest(values: PeopleOrder["values"], size: number, { above, below }: Bounds): number {
  const heap = new Float64Array(size).fill(above)
  for (let person = 0; person < values.length; person++) {
    const value = values[person]!
    if (value > heap[0]! && value < below) replaceLowest(heap, value)
  }
  return heap[0]!
}

/** Replaces the lowest value of a heap. */
function replaceLowest(heap: Float64Array, value: number): void {
  let place = 0
  for (let child = 1; child < heap.length; child = 2 * place + 1) {
    if (child + 1 < heap.length && heap[child + 1]! < heap[child]!) child++
    if (heap[child]! >= value) break
    heap[place] = heap[child]!
    place = child
  }
  heap[place] = value
}

/** Number of people whose pseudonyms are computed at once. */
const BATCH = 8_192
/** Number of batches after which the garbage collector is called: it underestimates the buffers of the encryption, a megabyte each. */
const COLLECT_AFTER = 8

/** Keeps the people with the lowest pseudonyms after a given one. */
class FirstPseudonyms {
  private readonly convert: ReturnType<typeof pseudonymHalves>
  private readonly batch = new Uint32Array(BATCH)
  private waiting = 0
  private batches = 0
  /** In order of their pseudonyms. */
  private readonly kept: { ordinal: number; left: number; right: number }[] = []
  private readonly after: { left: number; right: number }

  constructor(
    private readonly options: Pick<RankingOptions, "siteKey" | "visitors" | "check">,
    private readonly size: number,
    after: string | undefined,
  ) {
    this.convert = pseudonymHalves(options.siteKey, "visitor")
    this.after = after === undefined ? { left: -1, right: -1 } : halvesOf(after)
  }

  add(ordinal: number): void {
    this.batch[this.waiting++] = ordinal
    if (this.waiting === BATCH) this.flush()
  }

  /** Returns the ordinals. */
  finish(): number[] {
    this.flush()
    return this.kept.map(({ ordinal }) => ordinal)
  }

  private flush(): void {
    const { visitors, check } = this.options
    check()
    const { left, right } = halvesOfNumbers(Float64Array.from(this.batch.subarray(0, this.waiting), visitors.number))
    this.convert(left, right)
    for (let i = 0; i < this.waiting; i++) {
      const found = { ordinal: this.batch[i]!, left: left[i]!, right: right[i]! }
      const last = this.kept.length < this.size ? undefined : this.kept.at(-1)!
      if (compare(found, this.after) > 0 && (!last || compare(found, last) < 0)) this.keep(found)
    }
    this.waiting = 0
    if (++this.batches % COLLECT_AFTER === 0) Bun.gc(true)
  }

  private keep(found: FirstPseudonyms["kept"][number]): void {
    const place = this.kept.findLastIndex((other) => compare(other, found) < 0) + 1
    this.kept.splice(place, 0, found)
    if (this.kept.length > this.size) this.kept.pop()
  }
}

interface Halves {
  left: number
  right: number
}

const compare = (a: Halves, b: Halves): number => a.left - b.left || a.right - b.right

const halvesOf = (pseudonym: string): Halves => ({
  left: Number.parseInt(pseudonym.slice(0, 8), 16),
  right: Number.parseInt(pseudonym.slice(8), 16),
})
