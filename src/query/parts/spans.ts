import type { Part } from "../../store/events/part.ts"
import type { VisitorBits } from "./visitor-bits.ts"

/** The visitors of some parts as bits, without the ordinals before the first and after the last of them. */
export interface Span {
  /** Position of the first word among those of all visitors. */
  from: number
  seen: Int32Array
  /** Those with several visits. */
  again: Int32Array
}

/** Maximum size of a span. Visitors of one day have ordinals next to each other; these need less than a byte a visit. */
const MAX_WORDS_PER_VISIT = 2
const MAX_SMALL_WORDS = 4_096

/** Returns the visitors of parts. The span is empty if it would be too large. */
export function spanOf(parts: readonly Part[]): Span {
  let [first, last, visits] = [Number.POSITIVE_INFINITY, 0, 0]
  for (const part of parts) {
    const [low, high] = extremes(part.visit("visitor"))
    first = Math.min(first, low)
    last = Math.max(last, high)
    visits += part.visits
  }
  const from = first >>> 5
  const words = (last >>> 5) - from + 1
  if (visits === 0 || words > Math.max(MAX_SMALL_WORDS, visits * MAX_WORDS_PER_VISIT)) return NO_SPAN
  const span = { from, seen: new Int32Array(words), again: new Int32Array(words) }
  for (const part of parts) mark(part.visit("visitor"), span)
  return span
}

const NO_SPAN: Span = { from: 0, seen: new Int32Array(0), again: new Int32Array(0) }

function extremes(visitors: Uint32Array): [low: number, high: number] {
  let low = 0xffff_ffff
  let high = 0
  for (let visit = 0; visit < visitors.length; visit++) {
    low = Math.min(low, visitors[visit]!)
    high = Math.max(high, visitors[visit]!)
  }
  return [low, high]
}

function mark(visitors: Uint32Array, { from, seen, again }: Span): void {
  for (let visit = 0; visit < visitors.length; visit++) {
    const word = (visitors[visit]! >>> 5) - from
    const bit = 1 << (visitors[visit]! & 31)
    again[word]! |= seen[word]! & bit
    seen[word]! |= bit
  }
}

/** Adds the visitors of a span as if each had one visit. */
export function markSpan({ from, seen: of }: Span, { seen, again }: VisitorBits): void {
  for (let word = 0; word < of.length; word++) {
    again[from + word]! |= seen[from + word]! & of[word]!
    seen[from + word]! |= of[word]!
  }
}

/** Returns whether visitors of a span have a bit in `again`, which is of all visitors, but none in `crossing`, which is of the span. */
export function hasOthers({ from, seen }: Span, again: Int32Array, crossing: Int32Array): boolean {
  for (let word = 0; word < seen.length; word++) if ((again[from + word]! & seen[word]! & ~crossing[word]!) !== 0) return true
  return false
}

/** Returns the bits of the visitors of a span that are in `again`, or in `crossing`, which can be empty. */
export const joinedBits = ({ from, seen }: Span, again: Int32Array, crossing: Int32Array): Int32Array =>
  seen.map((bits, word) => (bits & again[from + word]!) | (crossing[word] ?? 0))
