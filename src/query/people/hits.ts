import type { PeopleScope, PeopleTest } from "../../domain/people.ts"
import type { Range, SiteFacts } from "../../domain/query.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import { grownNumbers, grownSums } from "../filter/buffers.ts"
import { type CompiledFilter, compileFilter, type Mask } from "../filter/filters.ts"
import { isCounted } from "../filter/masks.ts"
import { directRows, type EventRows } from "./direct-rows.ts"

/** Moments at which visitors did what a condition looks at: events, visit starts, or events with revenue. In no order. */
export interface Hits {
  visitor: Uint32Array
  at: Float64Array
  /** Revenue in minor units. Undefined for anything else. */
  amount: Float64Array | undefined
  count: number
}

/** Finds the hits of a condition, in batches that are overwritten by the next one. */
export interface HitSource {
  each(take: (hits: Hits) => void): void
}

/** A condition that looks at single moments. */
export type MomentTest = Extract<PeopleTest, { of: "events" | "visits" | "active_days" | "revenue" }>

const BATCH_HITS = 65_536

/**
 * Creates the hits of the tests of one or several sets. Tests that look at the same are read once: `want` announces what will be read,
 * and `source` reads it.
 */
export class HitSources {
  readonly #sources = new Map<string, { test: MomentTest; scope: PeopleScope; span: Range; uses: number; source?: HitSource }>()

  constructor(
    private readonly snapshot: Snapshot,
    /** Number of hits of a test that are kept for further passes. Beyond it the parts are read again. */
    private readonly keptHits: number,
    private readonly check: () => void,
  ) {}

  want(test: MomentTest, scope: PeopleScope, span: Range): void {
    const key = keyOf(test, scope)
    const known = this.#sources.get(key)
    if (!known) this.#sources.set(key, { test, scope, span, uses: 1 })
    else {
      known.uses++
      known.span = { from: Math.min(known.span.from, span.from), to: Math.max(known.span.to, span.to) }
    }
  }

  /** Returns the hits of a test that was announced. `passes` is the number of times that each use reads them. */
  source(test: MomentTest, scope: PeopleScope, passes: number): HitSource {
    const known = this.#sources.get(keyOf(test, scope))
    if (!known) throw new Error("Hits are read that were not announced")
    const { span, uses } = known
    known.source ??= hitsOf(this.snapshot, test, scope, span, { keptHits: uses * passes > 1 ? this.keptHits : 0, check: this.check })
    return known.source
  }
}

/** Visits and active days are the same hits. */
function keyOf(test: MomentTest, { site }: PeopleScope): string {
  const of = test.of === "active_days" ? "visits" : test.of
  return JSON.stringify([of, test.of === "revenue" ? test.currency : "", test.filter ?? null, site])
}

function hitsOf(
  snapshot: Snapshot,
  test: MomentTest,
  { site }: PeopleScope,
  span: Range,
  { keptHits, check }: { keptHits: number; check: () => void },
): HitSource {
  const filter = compileFilter(snapshot, test.filter, site)
  const read = readerOf(snapshot, test, site, filter, span)
  const parts = snapshot.parts.filter((part) => isInSpan(part, test, span))
  const readAll = (take: (hits: Hits) => void) => {
    for (const part of parts) {
      check()
      const hits = read(part)
      if (hits.count > 0) take(hits)
    }
  }
  // Without a filter, the hits are columns already.
  return keptHits > 0 && test.filter ? new KeptHits(readAll, keptHits) : { each: readAll }
}

function isInSpan(part: Part, { of }: MomentTest, { from, to }: Range): boolean {
  if (part.visits === 0) return false
  return of === "events" || of === "revenue" ? part.maxAt >= from && part.minAt < to : part.maxStart >= from && part.minStart < to
}

function readerOf(snapshot: Snapshot, test: MomentTest, site: SiteFacts, filter: CompiledFilter, span: Range): (part: Part) => Hits {
  const out = new HitBuffer(test.of === "revenue")
  switch (test.of) {
    case "events": {
      const direct = directRows(snapshot, test.filter, site)
      return (part) => (direct ? rowHits(part, direct(part), span, out) : eventHits(part, filter.events(part), span, out))
    }
    case "visits":
    case "active_days":
      return (part) => visitHits(part, filter.visits(part), out)
    case "revenue": {
      const currency = snapshot.dictionary("currency").find(test.currency)
      return (part) => revenueHits(part, filter.rows(part), currency, span, out)
    }
  }
}

/** Arrays for the hits of one part, reused for the next one. */
class HitBuffer implements Hits {
  visitor: Uint32Array = new Uint32Array(0)
  at: Float64Array = new Float64Array(0)
  amount: Float64Array | undefined
  count = 0

  constructor(private readonly hasAmount: boolean) {}

  /** Empties the buffer and makes room for a number of hits. */
  begin(hits: number): void {
    this.count = 0
    this.visitor = grownNumbers(this.visitor, hits)
    this.at = grownSums(this.at, hits)
    if (this.hasAmount) this.amount = grownSums(this.amount ?? new Float64Array(0), hits)
  }
}

function eventHits(part: Part, mask: Uint8Array, span: Range, out: HitBuffer): Hits {
  out.begin(0)
  // The other columns are not needed for a part without a chosen event.
  if (!mask.includes(1)) return out
  out.begin(part.events)
  const columns = { visit: part.event("visit"), offset: part.event("offset"), starts: part.starts(), visitor: part.visit("visitor") }
  out.count = gatherEvents(mask, columns, span, out.visitor, out.at)
  return out
}

interface EventColumns {
  visit: Uint32Array
  offset: Uint32Array
  starts: Float64Array
  visitor: Uint32Array
}

function gatherEvents(
  mask: Uint8Array,
  { visit, offset, starts, visitor }: EventColumns,
  { from, to }: Range,
  visitors: Uint32Array,
  times: Float64Array,
): number {
  let count = 0
  for (let row = 0; row < mask.length; row++) {
    if (mask[row] === 0) continue
    const of = visit[row]!
    const at = starts[of]! + offset[row]!
    if (at < from || at >= to) continue
    visitors[count] = visitor[of]!
    times[count++] = at
  }
  return count
}

function rowHits(part: Part, { rows, count }: EventRows, { from, to }: Range, out: HitBuffer): Hits {
  out.begin(count)
  if (count === 0) return out
  const [visit, offset, starts, visitor] = [part.event("visit"), part.event("offset"), part.starts(), part.visit("visitor")]
  const { visitor: visitors, at: times } = out
  let chosen = 0
  for (let i = 0; i < count; i++) {
    const of = visit[rows[i]!]!
    const at = starts[of]! + offset[rows[i]!]!
    if (at < from || at >= to) continue
    visitors[chosen] = visitor[of]!
    times[chosen++] = at
  }
  out.count = chosen
  return out
}

function visitHits(part: Part, mask: Mask, out: HitBuffer): Hits {
  const [visitor, starts] = [part.visit("visitor"), part.starts()]
  if (mask === "all") return { visitor, at: starts, amount: undefined, count: part.visits }
  out.begin(part.visits)
  let count = 0
  for (let row = 0; row < part.visits; row++) {
    out.visitor[count] = visitor[row]!
    out.at[count] = starts[row]!
    count += mask[row]!
  }
  out.count = count
  return out
}

function revenueHits(part: Part, mask: Mask, currency: number | undefined, { from, to }: Range, out: HitBuffer): Hits {
  const revenue = part.revenue()
  out.begin(revenue.row.length)
  if (currency === undefined || revenue.row.length === 0) return out
  const [visit, offset, name] = [part.event("visit"), part.event("offset"), part.event("name")]
  const [starts, visitor, amounts] = [part.starts(), part.visit("visitor"), out.amount!]
  for (let i = 0; i < revenue.row.length; i++) {
    const row = revenue.row[i]!
    if (revenue.currency[i] !== currency || isCounted(name[row]!) === 0 || (mask !== "all" && mask[row] === 0)) continue
    const of = visit[row]!
    const at = starts[of]! + offset[row]!
    if (at < from || at >= to) continue
    out.visitor[out.count] = visitor[of]!
    out.at[out.count] = at
    amounts[out.count++] = revenue.amount[i]!
  }
  return out
}

/** Hits that are copied when they are first read. If there are too many, the parts are read again each time. */
class KeptHits implements HitSource {
  #state: "unread" | "kept" | "too many" = "unread"
  #kept: Hits = { visitor: new Uint32Array(0), at: new Float64Array(0), amount: undefined, count: 0 }

  constructor(
    private readonly readAll: (take: (hits: Hits) => void) => void,
    private readonly maximum: number,
  ) {}

  each(take: (hits: Hits) => void): void {
    if (this.#state === "kept") this.#eachKept(take)
    else if (this.#state === "too many") this.readAll(take)
    else this.#readFirst(take)
  }

  #readFirst(take: (hits: Hits) => void): void {
    let fits = true
    this.readAll((hits) => {
      fits &&= this.#kept.count + hits.count <= this.maximum
      if (fits) this.#keep(hits)
      take(hits)
    })
    this.#state = fits ? "kept" : "too many"
    if (!fits) this.#kept = { visitor: new Uint32Array(0), at: new Float64Array(0), amount: undefined, count: 0 }
  }

  #keep({ visitor, at, amount, count }: Hits): void {
    const kept = this.#kept
    const total = kept.count + count
    kept.visitor = grownNumbers(kept.visitor, total)
    kept.at = grownSums(kept.at, total)
    kept.visitor.set(visitor.subarray(0, count), kept.count)
    kept.at.set(at.subarray(0, count), kept.count)
    if (amount) {
      kept.amount = grownSums(kept.amount ?? new Float64Array(0), total)
      kept.amount.set(amount.subarray(0, count), kept.count)
    }
    kept.count = total
  }

  #eachKept(take: (hits: Hits) => void): void {
    const { visitor, at, amount, count } = this.#kept
    for (let from = 0; from < count; from += BATCH_HITS) {
      const to = Math.min(count, from + BATCH_HITS)
      take({ visitor: visitor.subarray(from, to), at: at.subarray(from, to), amount: amount?.subarray(from, to), count: to - from })
    }
  }
}
