import { grownNumbers, grownSums } from "../filter/buffers.ts"
import type { PersonHits } from "./slice.ts"

/** Thrown when a slice has more hits than fit into memory at once. The caller evaluates smaller slices. */
export class SliceTooLarge extends Error {}

/** Called with the hits of one person in order of time, from `begin` up to, but not including, `end`. */
export type TakePerson = (person: number, at: Float64Array, amount: Float64Array, begin: number, end: number) => void

/** Collects the hits of a slice and passes them on by person, in order of time. */
export class OrderedHits {
  #person: Uint32Array = new Uint32Array(0)
  #at: Float64Array = new Float64Array(0)
  #amount: Float64Array = new Float64Array(0)
  #count = 0

  constructor(
    private readonly size: number,
    /** Number of hits that are put in order at once, for more than one person. */
    private readonly maximum: number,
    /** Whether hits have an amount. */
    private readonly hasAmount = false,
  ) {}

  /** Adds hits, with `only` those of the people it marks. Throws SliceTooLarge. */
  add({ person, at, amount, count }: PersonHits, only?: Uint8Array): void {
    const room = this.#count + count
    if (room > this.maximum && this.size > 1) throw new SliceTooLarge()
    this.#person = grownNumbers(this.#person, room)
    this.#at = grownSums(this.#at, room)
    if (this.hasAmount) this.#amount = grownSums(this.#amount, room)
    for (let i = 0; i < count; i++) {
      if (only && only[person[i]!] === 0) continue
      this.#person[this.#count] = person[i]!
      this.#at[this.#count] = at[i]!
      if (amount) this.#amount[this.#count] = amount[i]!
      this.#count++
    }
  }

  finish(take: TakePerson): void {
    const ends = this.#ends()
    const [at, amount] = [new Float64Array(this.#count), new Float64Array(this.hasAmount ? this.#count : 0)]
    // Backwards, so that the hits of a person keep their order and `ends` becomes the starts.
    for (let i = this.#count - 1; i >= 0; i--) {
      const place = --ends[this.#person[i]!]!
      at[place] = this.#at[i]!
      if (this.hasAmount) amount[place] = this.#amount[i]!
    }
    for (let person = 0, begin = 0; person < this.size; person++, begin = ends[person]!) {
      const end = ends[person + 1]!
      if (end === begin) continue
      if (!isAscending(at, begin, end)) sortByTime(at, amount, begin, end, this.hasAmount)
      take(person, at, amount, begin, end)
    }
  }

  /** Returns, for each person, the place after their last hit; one more entry for the end of all. */
  #ends(): Uint32Array {
    const ends = new Uint32Array(this.size + 1)
    for (let i = 0; i < this.#count; i++) ends[this.#person[i]!]!++
    for (let person = 1; person <= this.size; person++) ends[person]! += ends[person - 1]!
    return ends
  }
}

function isAscending(at: Float64Array, begin: number, end: number): boolean {
  for (let i = begin + 1; i < end; i++) if (at[i]! < at[i - 1]!) return false
  return true
}

function sortByTime(at: Float64Array, amount: Float64Array, begin: number, end: number, hasAmount: boolean): void {
  if (!hasAmount) return void at.subarray(begin, end).sort()
  const order = Array.from({ length: end - begin }, (_, i) => begin + i).sort((a, b) => at[a]! - at[b]!)
  const [times, amounts] = [order.map((i) => at[i]!), order.map((i) => amount[i]!)]
  at.set(times, begin)
  amount.set(amounts, begin)
}
