import { PAGEVIEW } from "../../domain/dimension.ts"
import type { PeopleScope, PersonFacts } from "../../domain/people.ts"
import type { Range } from "../../domain/query.ts"
import { compareCodePoints } from "../../domain/text.ts"
import { VISITOR_KINDS } from "../../domain/visit.ts"
import { firstAtLeast } from "../../store/events/bytes/ascending.ts"
import type { Part, Snapshot } from "../../store/events/part.ts"
import { orderedPart } from "../measure/ordered-part.ts"
import { keepStarts } from "../measure/row-lists.ts"
import { bucketAt, bucketsOf } from "../parse/buckets.ts"
import { eventsOf } from "../rows/rows.ts"
import { pseudonyms } from "../show/pseudonyms.ts"
import { ALWAYS, type PeopleVisits, touches, type VisitRows } from "./visits.ts"

/** Number of pages in `top_pages`. */
const TOP_PAGES = 3

interface FactsQuery {
  scope: PeopleScope
  /** Starts of the local days of the window, and its end. */
  days: readonly number[]
}

/** What is counted for one person. */
interface Tally {
  kind: number
  firstSeen: number
  lastSeen: number
  visits: number
  events: number
  pageviews: number
  /** By day of the window. */
  isActive: Uint8Array
  streak: number
  /** Sums in minor units by dictionary number of the currency. */
  revenue: Map<number, number>
  /** Pageviews by dictionary number of the page. */
  pages: Map<number, number>
}

/**
 * Returns the facts of a few people, such as those on a page of a list, in the same order. People without a visit are left out. Reads the
 * visits of everyone, but only the events of these people.
 */
export function factsOf(
  snapshot: Snapshot,
  visits: PeopleVisits,
  { scope, days }: FactsQuery,
  ordinals: readonly number[],
  check: () => void,
): PersonFacts[] {
  const edges = Float64Array.from(days)
  const tallies = ordinals.map(() => newTally(edges.length - 1))
  readChosen(visits, ordinals, ALWAYS, check, (part, own, slotOf) => {
    addSeen(part, own, tallies, slotOf)
    own.count = keepStarts(own.rows, own.count, part.starts(), { from: edges[0]!, to: edges.at(-1)! })
    visits.keepActive(part, own)
    if (own.count > 0) addActivity(part, own, edges, tallies, slotOf)
  })
  addStreaks(visits, scope, edges[0]!, ordinals, tallies, check)
  const numbers = ordinals.map(snapshot.visitors.number)
  const names = pseudonyms(scope.siteKey, "visitor")(numbers)
  const [pages, currencies] = [snapshot.dictionary("page"), snapshot.dictionary("currency")]
  return tallies.flatMap((tally, i): PersonFacts[] => {
    if (tally.lastSeen === Number.NEGATIVE_INFINITY) return []
    const revenue = Array.from(tally.revenue, ([id, amount_minor]) => ({ currency: currencies.text(id), amount_minor }))
    const viewed = Array.from(tally.pages, ([id, views]) => ({ page: pages.text(id), views }))
    return [
      {
        visitor: numbers[i]!,
        pseudonym: names[i]!,
        kind: VISITOR_KINDS[tally.kind]!,
        active_days: sum(tally.isActive),
        streak: tally.streak,
        visits: tally.visits,
        events: tally.events,
        pageviews: tally.pageviews,
        revenue: revenue.sort((a, b) => compareCodePoints(a.currency, b.currency)),
        first_seen: tally.firstSeen,
        last_seen: tally.lastSeen,
        top_pages: viewed
          .sort((a, b) => b.views - a.views || compareCodePoints(a.page, b.page))
          .slice(0, TOP_PAGES)
          .map(({ page }) => page),
      },
    ]
  })
}

const newTally = (days: number): Tally => ({
  kind: 0,
  firstSeen: Number.POSITIVE_INFINITY,
  lastSeen: Number.NEGATIVE_INFINITY,
  visits: 0,
  events: 0,
  pageviews: 0,
  isActive: new Uint8Array(days),
  streak: 0,
  revenue: new Map(),
  pages: new Map(),
})

const sum = (numbers: Uint8Array): number => numbers.reduce((total, number) => total + number, 0)

/**
 * Calls `read` with the visits of the chosen people that start in a range, part by part. The list may be changed. `slotOf` returns the
 * index of a visit's person among the ordinals.
 */
export function readChosen(
  visits: PeopleVisits,
  ordinals: readonly number[],
  range: Range,
  check: () => void,
  read: (part: Part, own: VisitRows, slotOf: (visit: number) => number) => void,
): void {
  const slots = new Map(ordinals.map((ordinal, slot) => [ordinal, slot]))
  const isChosen = new Uint8Array(visits.limit)
  for (const ordinal of ordinals) isChosen[ordinal] = 1
  for (const part of visits.parts) {
    if (!touches(part, range)) continue
    check()
    const own = visits.known(part, range)
    const visitor = part.visit("visitor")
    own.count = keepChosen(own.rows, own.count, visitor, isChosen)
    if (own.count > 0) read(part, own, (visit) => slots.get(visitor[visit]!)!)
  }
}

function keepChosen(rows: Uint32Array, count: number, visitor: Uint32Array, isChosen: Uint8Array): number {
  let kept = 0
  for (let i = 0; i < count; i++) {
    const row = rows[i]!
    if (isChosen[visitor[row]!] === 1) rows[kept++] = row
  }
  return kept
}

type SlotOf = (visit: number) => number

/** Adds what looks at all stored data. A person was last seen at the last pageview or custom event. */
function addSeen(part: Part, { rows, count }: VisitRows, tallies: readonly Tally[], slotOf: SlotOf): void {
  const [starts, duration, kind] = [part.starts(), part.visit("duration"), part.visit("visitor_kind")]
  for (let i = 0; i < count; i++) {
    const visit = rows[i]!
    const tally = tallies[slotOf(visit)]!
    tally.kind = Math.max(tally.kind, kind[visit]!)
    tally.firstSeen = Math.min(tally.firstSeen, starts[visit]!)
    tally.lastSeen = Math.max(tally.lastSeen, starts[visit]! + duration[visit]!)
  }
}

/** Adds the visits of the window that make a person active, with all of their events. */
function addActivity(unordered: Part, { rows, count }: VisitRows, edges: Float64Array, tallies: readonly Tally[], slotOf: SlotOf): void {
  const part = orderedPart(unordered)
  const [starts, events, pageviews] = [part.starts(), part.visit("events"), part.visit("pageviews")]
  const [name, page, revenue] = [part.event("name"), part.event("page"), part.revenue()]
  for (let i = 0; i < count; i++) {
    const visit = rows[i]!
    const tally = tallies[slotOf(visit)]!
    tally.visits++
    tally.events += events[visit]!
    tally.pageviews += pageviews[visit]!
    tally.isActive[bucketAt(edges, starts[visit]!)] = 1
    const { from, to } = eventsOf(part, visit)
    for (let row = from; row < to; row++) if (name[row] === PAGEVIEW && page[row] !== 0) add(tally.pages, page[row]!, 1)
    for (let at = firstAtLeast(revenue.row, from); at < revenue.row.length && revenue.row[at]! < to; at++)
      add(tally.revenue, revenue.currency[at]!, revenue.amount[at]!)
  }
}

function add(sums: Map<number, number>, key: number, value: number): void {
  sums.set(key, (sums.get(key) ?? 0) + value)
}

/** Counts the active days up to the end of the window. The streak of a person who was active on all of its days can begin before it. */
function addStreaks(
  visits: PeopleVisits,
  { timezone }: PeopleScope,
  begin: number,
  ordinals: readonly number[],
  tallies: readonly Tally[],
  check: () => void,
): void {
  for (const tally of tallies) tally.streak = lastRun(tally.isActive)
  const longer = ordinals.flatMap((ordinal, i) =>
    tallies[i]!.streak === tallies[i]!.isActive.length ? [{ ordinal, tally: tallies[i]! }] : [],
  )
  const from = visits.parts.reduce((first, { minStart }) => Math.min(first, minStart), begin)
  if (longer.length === 0 || from === begin) return
  const range = { from, to: begin }
  const { edges } = bucketsOf(range, "day", timezone)
  const wasActive = longer.map(() => new Uint8Array(edges.length - 1))
  const chosen = longer.map(({ ordinal }) => ordinal)
  readChosen(visits, chosen, range, check, (part, own, slotOf) => {
    visits.keepActive(part, own)
    const starts = part.starts()
    for (let i = 0; i < own.count; i++) wasActive[slotOf(own.rows[i]!)]![bucketAt(edges, starts[own.rows[i]!]!)] = 1
  })
  for (const [i, { tally }] of longer.entries()) tally.streak += lastRun(wasActive[i]!)
}

/** Returns the number of set days up to the last one. */
const lastRun = (days: Uint8Array): number => days.length - 1 - days.lastIndexOf(0)
