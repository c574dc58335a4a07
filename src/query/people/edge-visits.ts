import type { Part, Snapshot } from "../../store/events/part.ts"
import { grownNumbers } from "../filter/buffers.ts"
import type { Slice } from "./slice.ts"

/** Finds the first or the last visit of each person of a slice, by start and then by sequence. */
export class EdgeVisits {
  readonly #starts: Float64Array
  /** By person, the number of the visit over all parts, counted from 1. */
  readonly #numbers: Uint32Array
  /** Number of visits in the parts before each part. */
  readonly #before: number[] = []

  /** `until`: only visits that start before it. */
  constructor(
    private readonly snapshot: Snapshot,
    private readonly slice: Slice,
    private readonly edge: "first" | "last",
    until: number,
    private readonly check: () => void,
  ) {
    this.#starts = edge === "first" ? slice.first : new Float64Array(slice.size).fill(-Infinity)
    this.#numbers = new Uint32Array(slice.size)
    let before = 0
    for (const part of snapshot.parts) {
      check()
      this.#before.push(before)
      if (part.visits > 0) this.#find(part, before, until)
      before += part.visits
    }
  }

  /** Passes on the visits of a part, by row, with their people: the first `count` of each. Overwritten for the next part. */
  each(take: (part: Part, rows: Uint32Array, people: Uint32Array, count: number) => void): void {
    const { from, size } = this.slice
    let [rows, people]: [Uint32Array, Uint32Array] = [new Uint32Array(0), new Uint32Array(0)]
    this.snapshot.parts.forEach((part, index) => {
      if (part.visits === 0) return
      this.check()
      rows = grownNumbers(rows, part.visits)
      people = grownNumbers(people, part.visits)
      const visitor = part.visit("visitor")
      const before = this.#before[index]!
      let count = 0
      for (let row = 0; row < part.visits; row++) {
        const person = (visitor[row]! - from) >>> 0
        if (person >= size || this.#numbers[person] !== before + row + 1) continue
        rows[count] = row
        people[count++] = person
      }
      if (count > 0) take(part, rows, people, count)
    })
  }

  #find(part: Part, before: number, until: number): void {
    const { from, size } = this.slice
    const [visitor, starts, edges] = [part.visit("visitor"), part.starts(), this.#starts]
    for (let row = 0; row < part.visits; row++) {
      const person = (visitor[row]! - from) >>> 0
      const start = starts[row]!
      if (person >= size || start >= until) continue
      if (this.edge === "first" ? start > edges[person]! : start < edges[person]!) continue
      const known = this.#numbers[person]!
      if (known !== 0 && start === edges[person] && this.#isBefore(part, row, known - 1) !== (this.edge === "first")) continue
      edges[person] = start
      this.#numbers[person] = before + row + 1
    }
  }

  /** Compares sequences. They are read on demand, because visits with equal starts are rare. */
  #isBefore(part: Part, row: number, number: number): boolean {
    const index = this.#before.findLastIndex((before) => before <= number)
    return part.sequences()[row]! < this.snapshot.parts[index]!.sequences()[number - this.#before[index]!]!
  }
}
