import { grownNumbers, grownSums } from "./buffer.ts"

/** Events of one visitor in order of time, in arrays that are used again for the next one. */
export class Trail {
  at: Float64Array = new Float64Array(64)
  marks: Uint32Array = new Uint32Array(64)
  count = 0
  /** All marks together. */
  union = 0

  push(at: number, mark: number): void {
    if (this.count === this.at.length) {
      this.at = grownSums(this.at, this.count + 1)
      this.marks = grownNumbers(this.marks, this.count + 1)
    }
    this.at[this.count] = at
    this.marks[this.count++] = mark
    this.union |= mark
  }

  clear(): void {
    this.count = 0
    this.union = 0
  }
}

/** Visits whose visitors have others, with their marked events, until all visits of a visitor are known. */
export class KeptVisits {
  private visits = 0
  private visitor: Uint32Array = new Uint32Array(1024)
  private sequence: Float64Array = new Float64Array(1024)
  /** Where each visit's events begin; those of the next visit follow. */
  private begin: Uint32Array = new Uint32Array(1024)
  private readonly events = new Trail()

  keep(visitor: number, sequence: number, trail: Trail): void {
    this.visitor = grownNumbers(this.visitor, this.visits + 1)
    this.sequence = grownSums(this.sequence, this.visits + 1)
    this.begin = grownNumbers(this.begin, this.visits + 2)
    this.visitor[this.visits] = visitor
    this.sequence[this.visits] = sequence
    for (let i = 0; i < trail.count; i++) this.events.push(trail.at[i]!, trail.marks[i]!)
    this.begin[++this.visits] = this.events.count
  }

  /** The visits of each visitor that `states` marks as `wanted`; its marks are used up. The list is good until the next one. */
  *byVisitor(states: Uint8Array, wanted: number): Generator<readonly number[]> {
    const next = new Uint32Array(this.visits)
    const first = this.linkByVisitor(states, wanted, next)
    const list: number[] = []
    for (let visit = 0; visit < this.visits; visit++) {
      const visitor = this.visitor[visit]!
      if (states[visitor] !== wanted) continue
      states[visitor] = 0
      list.length = 0
      for (let link = first[visitor]!; link > 0; link = next[link - 1]!) list.push(link - 1)
      yield list
    }
  }

  /** Puts the events of a visitor's visits into a trail, ordered by time and, at equal times, by the visits' sequence. */
  load(visits: readonly number[], trail: Trail): void {
    trail.clear()
    const ordered = [...visits].sort((a, b) => this.startOf(a) - this.startOf(b) || this.sequence[a]! - this.sequence[b]!)
    const apart = ordered.every((visit, i) => i === 0 || this.startOf(visit) > this.endOf(ordered[i - 1]!))
    if (apart) for (const visit of ordered) this.append(visit, trail)
    else this.appendMerged(ordered, trail)
  }

  /** Links count from 1, 0 ends a list. Backwards, so that lists run forwards. */
  private linkByVisitor(states: Uint8Array, wanted: number, next: Uint32Array): Uint32Array {
    const first = new Uint32Array(states.length)
    for (let visit = this.visits - 1; visit >= 0; visit--) {
      const visitor = this.visitor[visit]!
      if (states[visitor] !== wanted) continue
      next[visit] = first[visitor]!
      first[visitor] = visit + 1
    }
    return first
  }

  private append(visit: number, trail: Trail): void {
    for (let i = this.begin[visit]!; i < this.begin[visit + 1]!; i++) trail.push(this.events.at[i]!, this.events.marks[i]!)
  }

  /** Visits of one visitor that lie at the same time: rare. Within a visit the events are in order already. */
  private appendMerged(visits: readonly number[], trail: Trail): void {
    const events = visits.flatMap((visit) =>
      Array.from({ length: this.begin[visit + 1]! - this.begin[visit]! }, (_, i) => ({
        event: this.begin[visit]! + i,
        sequence: this.sequence[visit]!,
      })),
    )
    const at = (entry: { event: number }) => this.events.at[entry.event]!
    events.sort((a, b) => at(a) - at(b) || a.sequence - b.sequence)
    for (const { event } of events) trail.push(this.events.at[event]!, this.events.marks[event]!)
  }

  private startOf(visit: number): number {
    return this.events.at[this.begin[visit]!]!
  }

  private endOf(visit: number): number {
    return this.events.at[this.begin[visit + 1]! - 1]!
  }
}
