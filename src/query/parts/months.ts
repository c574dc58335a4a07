/**
 * The closed months of a range. Segments never change, so what they contribute to a report is computed once for each month whose segments are
 * all inside the range, and is kept with the results of the worker: the next report of the same kind only adds it up, over whichever range.
 * Sums of events and visits can be added. Visitors can be in several months; those who are, or who are in a part that is read by itself, are
 * kept as a list (`crossing`), so that every number is exact.
 */
import type { Range } from "../../domain/query.ts"
import { bytesOf } from "../../store/events/bytes/packed-values.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import { VISITORS } from "../../store/events/tables/month-sums.ts"
import { findKept, keep, keepInMemory } from "./kept.ts"
import { isInside, touches } from "./ranges.ts"
import { hasOthers, joinedBits, markSpan, type Span, spanOf } from "./spans.ts"
import { ALWAYS, bitset, grownBits, markReturning, type VisitorBits } from "./visitor-bits.ts"

/** The segments whose first visits start in the same month (UTC). */
export interface Month {
  /** Differs for other segments. */
  name: string
  parts: readonly Part[]
  visitors: Span
  /** The bits of `visitors` who can also be elsewhere. */
  crossing: Int32Array
  /** Differs for other `crossing`. */
  version: string
}

interface DividedParts {
  months: readonly Month[]
  /** The parts that belong to none of them. */
  others: readonly Part[]
  /** A bit for each visitor with several visits in `others`, or who is also in a month, or in several months. */
  returning: Int32Array
}

interface MonthsQuery {
  range: Range
  /** Returns true for a part that surely contributes nothing to the report. */
  lacks(part: Part): boolean
}

/** Divides the parts of a range. Returns undefined if no month is whole. */
export function divideByMonth(snapshot: Snapshot, parts: readonly Part[], query: MonthsQuery): DividedParts | undefined {
  const { whole, others } = knownMonths(snapshot, parts, query)
  if (whole.length === 0) return undefined
  const bits = visitorBits(snapshot, whole, others)
  const months = whole.map((month): Month => ({ name: month.name, parts: month.parts, ...withCrossing(snapshot, month, bits.again) }))
  return { months, others, returning: bits.again }
}

function knownMonths(snapshot: Snapshot, parts: readonly Part[], { range, lacks }: MonthsQuery) {
  const whole = wholeMonths(snapshot.parts, range).flatMap((of) => named(snapshot, of, lacks) ?? [])
  const inMonths = new Set(whole.flatMap((month) => month.parts))
  return { whole, others: parts.filter((part) => !inMonths.has(part)) }
}

/** Size up to which the bits of segments are kept. Those of sites with millions of visitors would take the place of sums. */
const MAX_KEPT_BYTES = 1 << 20

/**
 * Finds out which visitors of a range have several visits before a report asks for it, if that can be kept, months are known, and the columns
 * of the other parts are read already. What is known of months stays as it is, because their sums depend on it.
 */
export function readVisitors(snapshot: Snapshot, range: Range, isRead: (part: Part) => boolean): void {
  const bytes = snapshot.visitorLimit / 4 // two bits for each visitor
  if (bytes > MAX_KEPT_BYTES) return
  const parts = snapshot.parts.filter((part) => touches(part, range))
  const { whole, others } = knownMonths(snapshot, parts, { range, lacks: () => true })
  if (whole.length > 0 && others.every(isRead)) visitorBits(snapshot, whole, others)
}

/** Marks the visitors of months and other parts. What segments contribute is kept, because the next report mostly reads the same. */
function visitorBits(snapshot: Snapshot, months: readonly NamedMonth[], others: readonly Part[]): VisitorBits {
  const segments = others.filter(({ id }) => id !== undefined)
  const key = `visitors ${Bun.hash([...months.map(({ name }) => name), ...segments.map(({ id }) => id)].join()).toString(36)}`
  const known = snapshot.results.get(key, ALWAYS) as VisitorBits | undefined // set below
  const bits = known ?? segmentBits(snapshot, months, segments)
  const bytes = bits.seen.byteLength + bits.again.byteLength
  if (!known && bytes <= MAX_KEPT_BYTES) snapshot.results.set(key, ALWAYS, bits, bytes)
  if (segments.length === others.length) return bits
  const all = { seen: grownBits(bits.seen, snapshot.visitorLimit), again: grownBits(bits.again, snapshot.visitorLimit) }
  for (const part of others) if (part.id === undefined) markReturning(part.visit("visitor"), all)
  return all
}

function segmentBits({ visitorLimit }: Snapshot, months: readonly NamedMonth[], segments: readonly Part[]): VisitorBits {
  const bits = { seen: bitset(visitorLimit), again: bitset(visitorLimit) }
  for (const { facts } of months) markSpan(facts.visitors, bits)
  for (const part of segments) markReturning(part.visit("visitor"), bits)
  return bits
}

function wholeMonths(parts: readonly Part[], range: Range): Part[][] {
  const stored = parts.filter(({ id, events }) => id !== undefined && events > 0)
  const months = Map.groupBy(stored, ({ minStart }) => monthOf(new Date(minStart)))
  return [...months.values()].filter((of) => of.every((part) => isInside(part, range, "event") && isInside(part, range, "visit")))
}

/** Returns the number of a date's month, counted from the year 0 (UTC). */
const monthOf = (date: Date): number => date.getUTCFullYear() * 12 + date.getUTCMonth()

/**
 * Reads the stored sums of months into the results of the worker, the newest month first, in steps of one month. Ends when they take more
 * than a number of bytes.
 */
export function* readMonths(snapshot: Snapshot, bytes: number): Generator<void> {
  const months = wholeMonths(snapshot.parts, { from: Number.NEGATIVE_INFINITY, to: Number.POSITIVE_INFINITY })
  let left = bytes
  for (const parts of months.reverse()) {
    const month = { name: nameOf(parts), parts }
    const facts = findKept(snapshot, month, VISITORS) as VisitorFacts | undefined // set below
    if (!facts) continue
    left -= bytesOf(facts)
    for (const name of snapshot.sums?.names(month.name) ?? []) {
      if (left <= 0) return
      left -= bytesOf(findKept(snapshot, { ...month, version: facts.version }, name))
    }
    yield
  }
}

/** What is kept of the visitors of a month. */
interface VisitorFacts {
  visitors: Span
  crossing: Int32Array
  version: string
  /** How often visitors of the month have come back since. */
  changes: number
}

interface NamedMonth {
  name: string
  parts: readonly Part[]
  facts: VisitorFacts
}

/**
 * Returns a month with what is known of its visitors. Undefined when these are spread over too many ordinals, as those of people who come
 * back for years, and while they are not known and the report can do without reading some of them.
 */
function named(snapshot: Snapshot, parts: readonly Part[], lacks: (part: Part) => boolean): NamedMonth | undefined {
  const name = nameOf(parts)
  let facts = findKept(snapshot, { name, parts }, VISITORS) as VisitorFacts | undefined // set here and below
  if (!facts) {
    if (parts.some(lacks)) return undefined
    facts = { visitors: spanOf(parts), crossing: new Int32Array(0), version: "", changes: 0 }
    keepInMemory(snapshot, { name, parts }, VISITORS, facts)
  }
  return facts.visitors.seen.length === 0 ? undefined : { name, parts, facts }
}

const nameOf = (parts: readonly Part[]): string => Bun.hash(parts.map(({ id }) => id).join()).toString(36)

/** Number of times that visitors of a month may come back until it is expected that all of them can. */
const MAX_CHANGES = 3

/** Adds the visitors of a month who are now also elsewhere to those who were. */
function withCrossing(snapshot: Snapshot, { facts, ...month }: NamedMonth, again: Int32Array): VisitorFacts {
  const { visitors, crossing } = facts
  if (facts.version !== "" && !hasOthers(visitors, again, crossing)) return facts
  const changes = facts.changes + 1
  const grown = changes > MAX_CHANGES ? visitors.seen : joinedBits(visitors, again, crossing)
  return keep(snapshot, month, VISITORS, { visitors, crossing: grown, version: Bun.hash(grown).toString(36), changes })
}
