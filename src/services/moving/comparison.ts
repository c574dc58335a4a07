/** Compares the visits of two engines, one by one: what makes a move complete. */
import type { SegmentKind } from "../../store/events/bytes/lanes.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"

/** The store of the node, and the reader of the second engine. */
interface BothSnapshots {
  own: Snapshot
  remote: Snapshot
  /** Returns the sequence outside the store of the node. */
  shared(sequence: number): number
}

/** How the visits of a site and kind differ. */
export interface Comparison {
  visits: number
  events: number
  /** Number of visits that only one side has, or that are different on the two. */
  missing: number
  additional: number
  differing: number
  /** Start of the first such visit, epoch ms. */
  firstAt: number | undefined
  /** For each part of the second engine, by place: its visits that the store of the node does not have, 1 in the mask. */
  additionalIn: Map<number, Uint8Array>
}

/** Figures of a visit that must be equal. Dictionaries and visitors have other numbers on each side. */
const FIGURES = ["visitor_kind", "duration", "pageviews", "events", "interactive", "engaged", "arrival"] as const

/** The numbers of the visitors of a site on the second engine, by ordinal in the store of the node. */
export class VisitorPairs {
  #numbers = new Float64Array(1024).fill(Number.NaN)
  /** Number of visits that gave a visitor a second number. */
  conflicts = 0

  add(ordinal: number, number: number): void {
    if (ordinal >= this.#numbers.length) {
      const longer = new Float64Array(Math.max(ordinal + 1, this.#numbers.length * 2)).fill(Number.NaN)
      longer.set(this.#numbers)
      this.#numbers = longer
    }
    const known = this.#numbers[ordinal]!
    if (Number.isNaN(known)) this.#numbers[ordinal] = number
    else if (known !== number) this.conflicts++
  }

  number(ordinal: number): number | undefined {
    const number = this.#numbers[ordinal]
    return number === undefined || Number.isNaN(number) ? undefined : number
  }

  /** Returns the pairs in the order of the numbers. */
  sorted(): { numbers: Float64Array; ordinals: Uint32Array } {
    const ordinals = Uint32Array.from(this.#numbers.keys()).filter((ordinal) => this.number(ordinal) !== undefined)
    ordinals.sort((a, b) => this.#numbers[a]! - this.#numbers[b]!)
    return { ordinals, numbers: Float64Array.from(ordinals, (ordinal) => this.#numbers[ordinal]!) }
  }

  /** Returns whether two visitors of the node are one on the second engine. */
  hasDuplicates(): boolean {
    const { numbers } = this.sorted()
    return numbers.some((number, at) => at > 0 && number === numbers[at - 1])
  }
}

/** Time between two windows: the visits of a window are in memory at once. */
const WINDOW_MS = 30 * 86_400_000

/** Compares the visits of a site and kind. `pairs` receives the visitors. Gives other work a turn between windows. */
export async function compareVisits({ own, remote, shared }: BothSnapshots, pairs: VisitorPairs): Promise<Comparison> {
  const found: Comparison = { visits: 0, events: 0, missing: 0, additional: 0, differing: 0, firstAt: undefined, additionalIn: new Map() }
  const parts = [...own.parts, ...remote.parts]
  const end = Math.max(...parts.map(({ maxStart }) => maxStart))
  for (let from = Math.min(...parts.map(({ minStart }) => minStart)); from <= end; from += WINDOW_MS) {
    const range = { from, to: from + WINDOW_MS }
    compareWindow(new Window(own, range, shared), new Window(remote, range), pairs, found)
    await Bun.sleep(0)
  }
  return found
}

interface Range {
  from: number
  to: number
}

/** The columns of a part that are compared. */
interface Columns {
  /** Place of the part in its snapshot. */
  place: number
  importId: number
  visits: number
  starts: Float64Array
  figures: readonly Uint32Array[]
  events: Uint32Array
  visitors: Uint32Array
}

const columnsOf = (part: Part, place: number): Columns => ({
  ...{ place, importId: part.importId, visits: part.visits, starts: part.starts() },
  figures: FIGURES.map((name) => part.visit(name)),
  events: part.visit("events"),
  visitors: part.visit("visitor"),
})

interface Visit {
  of: Columns
  row: number
}

/** The visits of a snapshot that start in a range, by sequence. */
class Window {
  readonly #parts: Columns[] = []
  /** By visit: its part among the above, its row, and its sequence. */
  readonly #partOf: number[] = []
  readonly #rows: number[] = []
  readonly #sequences: number[] = []
  readonly #order: Uint32Array
  readonly visitors: Snapshot["visitors"]

  constructor({ parts, visitors }: Snapshot, { from, to }: Range, shared = (sequence: number) => sequence) {
    this.visitors = visitors
    parts.forEach((part, place) => {
      if (part.minStart >= to || part.maxStart < from) return
      const [columns, sequences] = [columnsOf(part, place), part.sequences()]
      this.#parts.push(columns)
      for (let row = 0; row < part.visits; row++) {
        const start = columns.starts[row]!
        if (start < from || start >= to) continue
        this.#partOf.push(this.#parts.length - 1)
        this.#rows.push(row)
        this.#sequences.push(shared(sequences[row]!))
      }
    })
    const bySequence = this.#sequences
    this.#order = Uint32Array.from(bySequence.keys()).sort((a, b) => bySequence[a]! - bySequence[b]!)
  }

  get size(): number {
    return this.#order.length
  }

  sequence(at: number): number {
    return this.#sequences[this.#order[at]!]!
  }

  visit(at: number): Visit {
    const place = this.#order[at]!
    return { of: this.#parts[this.#partOf[place]!]!, row: this.#rows[place]! }
  }
}

function compareWindow(own: Window, remote: Window, pairs: VisitorPairs, found: Comparison): void {
  const note = ({ of, row }: Visit) => {
    found.firstAt = Math.min(found.firstAt ?? Number.POSITIVE_INFINITY, of.starts[row]!)
  }
  let [left, right] = [0, 0]
  while (left < own.size || right < remote.size) {
    const isOwn = left < own.size && (right === remote.size || own.sequence(left) <= remote.sequence(right))
    const isRemote = right < remote.size && (left === own.size || remote.sequence(right) <= own.sequence(left))
    const [ofOwn, ofRemote] = [isOwn ? own.visit(left++) : undefined, isRemote ? remote.visit(right++) : undefined]
    if (ofOwn && ofRemote) {
      found.visits++
      found.events += ofOwn.of.events[ofOwn.row]!
      if (!areEqual(ofOwn, ofRemote)) {
        found.differing++
        note(ofOwn)
      }
      pairs.add(ofOwn.of.visitors[ofOwn.row]!, remote.visitors.number(ofRemote.of.visitors[ofRemote.row]!))
    } else if (ofOwn) {
      found.missing++
      note(ofOwn)
    } else if (ofRemote) {
      found.additional++
      note(ofRemote)
      const { place, visits } = ofRemote.of
      const mask = found.additionalIn.get(place) ?? new Uint8Array(visits)
      mask[ofRemote.row] = 1
      found.additionalIn.set(place, mask)
    }
  }
}

const areEqual = (own: Visit, remote: Visit): boolean =>
  own.of.starts[own.row] === remote.of.starts[remote.row] &&
  own.of.importId === remote.of.importId &&
  own.of.figures.every((column, at) => column[own.row] === remote.of.figures[at]![remote.row])

/** Returns a description of a difference for the operator, or undefined without one. */
export function differenceText(
  siteId: number,
  kind: SegmentKind,
  { missing, additional, differing, firstAt }: Comparison,
): string | undefined {
  if (missing + additional + differing === 0) return undefined
  const day = new Date(firstAt!).toISOString().slice(0, 10) // set with the first difference
  return `${kind} of site ${siteId}, from ${day}: ${missing} are not on ClickHouse, ${additional} only there, ${differing} different`
}
