import type { RetentionQuery } from "../../domain/people.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import { NumberBuffer } from "../filter/buffers.ts"
import { type CompiledFilter, compileFilter, type Mask } from "../filter/filters.ts"
import { orderedPart } from "../measure/ordered-part.ts"
import { listAll, listEventsOf, listMarked } from "../measure/row-lists.ts"
import { bucketAt } from "../parse/buckets.ts"
import { IN } from "../people/slice.ts"
import type { RetentionCells } from "./cells.ts"
import { countedVisits, keepCounted, type People, startFilter } from "./starts.ts"

const WORD = 32

/**
 * Counts a report for which the periods of a person's events suffice. Each person has a bit for the time before the first cohort (bit 0)
 * and one for each period: those with a start, and those with a return when the two can differ.
 */
export function countByPeriods(
  snapshot: Snapshot,
  query: RetentionQuery,
  people: People,
  cells: RetentionCells,
  maxBytes: number,
  check: () => void,
): void {
  const edges = bitEdges(query)
  const starts = compileFilter(snapshot, startFilter(query), query.site)
  const returns = query.filter && compileFilter(snapshot, query.returning, query.site)
  const width = Math.ceil((edges.length - 1) / WORD)
  const atOnce = Math.max(1, Math.min(snapshot.visitorLimit, Math.floor(maxBytes / (4 * width * (returns ? 2 : 1)))))
  const started = new PeriodBits(edges, width, atOnce)
  const returned = returns ? new PeriodBits(edges, width, atOnce) : started
  for (let from = 0; from < snapshot.visitorLimit; from += atOnce) {
    started.restart(from)
    if (returns) returned.restart(from)
    for (const part of snapshot.parts) {
      const isBefore = part.maxAt < edges[1]!
      if (part.events === 0 || part.minAt >= edges[edges.length - 1]! || (isBefore && query.mode === "recurring")) continue
      check()
      const ordered = orderedPart(part)
      started.mark(ordered, starts, people)
      if (returns && !isBefore) returned.mark(ordered, returns, people)
    }
    countPeople(started, returned, people, query, cells)
  }
}

/**
 * Returns the edges of the bits: the time before the first cohort, the periods that a cell can count, and with unbounded counting all
 * later ones together. Nothing after the time of the query counts.
 */
function bitEdges({ edges, cohorts, periods, counting, scope }: RetentionQuery): Float64Array {
  const until = scope.now + 1
  const counted = edges.slice(0, cohorts + periods)
  const isCut = counting === "unbounded" || counted.length < cohorts + periods || counted.at(-1)! >= until
  return Float64Array.from([Number.NEGATIVE_INFINITY, ...counted.filter((edge) => edge < until), ...(isCut ? [until] : [])])
}

/** The bits of some people, `width` words for each. */
class PeriodBits {
  /** Signed, because unsigned numbers of 32 bits are slower. */
  readonly words: Int32Array
  /** Ordinal of the first person. */
  from = 0
  private readonly visits = new NumberBuffer()
  private readonly rows = new NumberBuffer()

  constructor(
    readonly edges: Float64Array,
    readonly width: number,
    readonly people: number,
  ) {
    this.words = new Int32Array(people * width)
  }

  /** Continues with the next people. */
  restart(from: number): void {
    if (from > 0) this.words.fill(0)
    this.from = from
  }

  /** Sets the bits of the events that satisfy a filter. The part must be ordered. */
  mark(part: Part, filter: CompiledFilter, people: People): void {
    const bit = this.commonBit(part)
    if (bit === undefined && filter.hasEventConditions()) {
      const rows = this.rows.room(part.events)
      const found = keepCounted(rows, listMarked(filter.events(part), 1, rows), part, people)
      setBitsOfEvents(this, part, rows, found)
      return
    }
    const mask = countedVisits(part, filter.visits(part), people)
    if (bit === undefined) this.markByTime(part, mask)
    else if (mask === "all") setBit(this, part.visit("visitor"), part.visits, bit)
    else setMaskedBit(this, part.visit("visitor"), mask, bit)
  }

  private markByTime(part: Part, mask: Mask): void {
    const visits = this.visits.room(part.visits)
    const count = mask === "all" ? listAll(part.visits, visits) : listMarked(mask, 1, visits)
    const split = setBitsOfVisits(this, part.visit("visitor"), part.starts(), part.visit("duration"), visits, count)
    if (split === 0) return
    const rows = this.rows.room(part.events)
    const found = listEventsOf(visits, split, part.event("visit"), part.event("name"), rows)
    setBitsOfEvents(this, part, rows, found)
  }

  /** Returns the bit of all events of a part, or undefined if they have several. */
  private commonBit({ minAt, maxAt }: Part): number | undefined {
    const bit = bucketAt(this.edges, minAt)
    return maxAt < this.edges[bit + 1]! ? bit : undefined
  }
}

function setBit({ words, width, from, people }: PeriodBits, visitor: Uint32Array, visits: number, bit: number): void {
  const word = bit >>> 5
  const mark = 1 << (bit & 31)
  for (let visit = 0; visit < visits; visit++) {
    const person = visitor[visit]! - from
    if (person >= 0 && person < people) words[person * width + word]! |= mark
  }
}

function setMaskedBit({ words, width, from, people }: PeriodBits, visitor: Uint32Array, mask: Uint8Array, bit: number): void {
  const word = bit >>> 5
  const mark = 1 << (bit & 31)
  for (let visit = 0; visit < mask.length; visit++) {
    const person = visitor[visit]! - from
    if (person >= 0 && person < people) words[person * width + word]! |= mark & -mask[visit]!
  }
}

/** Sets the bits of the visits whose counted events have the same bit. Keeps the others in the list, and returns their number. */
function setBitsOfVisits(
  { words, width, from, people, edges }: PeriodBits,
  visitor: Uint32Array,
  starts: Float64Array,
  duration: Uint32Array,
  visits: Uint32Array,
  count: number,
): number {
  const end = edges[edges.length - 1]!
  let bit = 0
  let split = 0
  for (let i = 0; i < count; i++) {
    const visit = visits[i]!
    const person = visitor[visit]! - from
    const start = starts[visit]!
    if (person < 0 || person >= people || start >= end) continue
    if (start < edges[bit]! || start >= edges[bit + 1]!) bit = bucketAt(edges, start)
    if (start + duration[visit]! < edges[bit + 1]!) words[person * width + (bit >>> 5)]! |= 1 << (bit & 31)
    else visits[split++] = visit
  }
  return split
}

function setBitsOfEvents({ words, width, from, people, edges }: PeriodBits, part: Part, rows: Uint32Array, count: number): void {
  const [visit, offset, visitor, starts] = [part.event("visit"), part.event("offset"), part.visit("visitor"), part.starts()]
  const end = edges[edges.length - 1]!
  let bit = 0
  for (let i = 0; i < count; i++) {
    const row = rows[i]!
    const person = visitor[visit[row]!]! - from
    const at = starts[visit[row]!]! + offset[row]!
    if (person < 0 || person >= people || at >= end) continue
    if (at < edges[bit]! || at >= edges[bit + 1]!) bit = bucketAt(edges, at)
    words[person * width + (bit >>> 5)]! |= 1 << (bit & 31)
  }
}

/** Counts some people by their bits. */
function countPeople(
  { words, width, from, people }: PeriodBits,
  returned: PeriodBits,
  { states, limit }: People,
  query: RetentionQuery,
  cells: RetentionCells,
): void {
  const isFirst = query.mode === "first_time"
  const end = Math.min(people, limit - from)
  for (let person = 0; person < end; person++) {
    const place = person * width
    if ((states && states[from + person] !== IN) || (isFirst && (words[place]! & 1) === 1)) continue
    let bit = nextBit(words, place, width, 1)
    for (; bit !== NONE && bit <= query.cohorts; bit = isFirst ? NONE : nextBit(words, place, width, bit + 1))
      countReturns(returned.words, place, width, bit, query, cells)
  }
}

/** Counts a person who starts in the period of a bit, and the returns in that period and later. */
function countReturns(
  words: Int32Array,
  place: number,
  width: number,
  bit: number,
  { counting, periods }: RetentionQuery,
  cells: RetentionCells,
): void {
  const cohort = bit - 1
  cells.addPerson(cohort)
  cells.addReturn(cohort, 0)
  if (counting === "unbounded") {
    cells.addReturns(cohort, 1, lastBit(words, place, width) - bit)
    return
  }
  for (
    let next = nextBit(words, place, width, bit + 1);
    next !== NONE && next - bit < periods;
    next = nextBit(words, place, width, next + 1)
  )
    cells.addReturn(cohort, next - bit)
}

const NONE = -1

/** Returns the first set bit of a person from `bit` on. */
function nextBit(words: Int32Array, place: number, width: number, bit: number): number {
  let word = bit >>> 5
  if (word >= width) return NONE
  let rest = words[place + word]! & (-1 << (bit & 31))
  while (rest === 0) {
    if (++word === width) return NONE
    rest = words[place + word]!
  }
  return word * WORD + 31 - Math.clz32(rest & -rest)
}

function lastBit(words: Int32Array, place: number, width: number): number {
  for (let word = width - 1; word >= 0; word--) if (words[place + word] !== 0) return word * WORD + 31 - Math.clz32(words[place + word]!)
  return NONE
}
