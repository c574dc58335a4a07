import { type Person, personOf } from "./people.ts"
import { type Random, seededRandom } from "./random.ts"
import { type Arrival, arrivals, generateVisit, type Shop, shopOf } from "./shop.ts"

/** An event of generated traffic, as a browser would send it. */
export interface TrafficEvent {
  /** UTC epoch milliseconds, ascending. */
  at: number
  /** Identifies the person. */
  person: number
  client: Person
  /** `pageview`, `engagement` or the name of a custom event. */
  name: string
  url: string
  title: string
  /** Referring URL; "" without one. */
  referrer: string
  props?: Readonly<Record<string, string | number>>
  revenue?: { amount: number; currency: string }
  engagement?: { engagedMs: number; scrollDepth: number }
}

export interface TrafficOptions {
  /** Seed of the random numbers. Equal options give equal events. */
  seed: number
  /** Epoch milliseconds, half-open. */
  from: number
  to: number
  /** Number of events, including engagement. */
  events: number
  host: string
  currency?: string
  /** Whether the site has a shop. Otherwise it has the magazine only. Default: true. */
  sells?: boolean
  /** Whether orders have ids, customers abroad pay in their own currency, and some orders are refunded. Default: false. */
  hasOrders?: boolean
  /** Whether people return for months, instead of days. Default: false. */
  isLoyal?: boolean
}

const DAY = 86_400_000
const HOUR = 3_600_000

/**
 * Generates the traffic of a shop with a magazine: weekdays are busier than weekends, phones are used in the evening, traffic grows
 * slowly, each month has a campaign, and some people return or order. Only one day is in memory at a time.
 */
export function* generateTraffic(options: TrafficOptions): Generator<TrafficEvent> {
  const random = seededRandom(options.seed)
  const shop = shopOf(options)
  const days = daysOf(options)
  const people = crowd(random, options)
  let made = 0
  let open: TrafficEvent[] = []
  for (const { start, end, upTo } of days) {
    while (made + open.length < upTo) open.push(...visit(options, random, shop, people(), start, end).filter(({ at }) => at < options.to))
    open.sort((left, right) => left.at - right.at)
    const later = open.findIndex(({ at }) => at >= end)
    const ready = later < 0 ? open : open.slice(0, later)
    open = later < 0 ? [] : open.slice(later)
    for (const event of ready) if (made++ < options.events) yield event
  }
}

/** Returns the days of the range with the cumulative number of events at the end of each day. */
function daysOf({ from, to, events }: TrafficOptions): { start: number; end: number; upTo: number }[] {
  const starts: number[] = []
  for (let start = from; start < to; start = Math.floor(start / DAY + 1) * DAY) starts.push(start)
  const ends = starts.map((start) => Math.min(to, Math.floor(start / DAY + 1) * DAY))
  const weights = starts.map((start, day) => ((ends[day]! - start) / DAY) * weekday(start) * (1 + (0.6 * day) / starts.length))
  const whole = weights.reduce((sum, weight) => sum + weight, 0)
  let sum = 0
  return starts.map((start, day) => {
    sum += weights[day]!
    return { start, end: ends[day]!, upTo: Math.round((events * sum) / whole) }
  })
}

const WEEK = [0.72, 1.08, 1.15, 1.12, 1.08, 1, 0.68]
const weekday = (at: number): number => WEEK[new Date(at).getUTCDay()]!

/** Creates the function that chooses the next person: often one of a few regulars, sometimes an earlier visitor, mostly a new one. */
function crowd(random: Random, { events, isLoyal = false }: TrafficOptions): () => number {
  const regulars = Math.max(3, Math.round(events / 2_000))
  let known = regulars
  /** Number of new people since the first visit of someone who returns: the fewer, the likelier. */
  const since = () => (isLoyal ? Math.floor(known * random.next() ** 3) : random.below(Math.min(known, regulars * 8)))
  return () => {
    if (random.chance(0.12)) return random.below(regulars)
    if (random.chance(isLoyal ? 0.35 : 0.22)) return Math.max(0, known - 1 - since())
    return known++
  }
}

/** Relative number of visits by local hour. */
const HOURS = [3, 2, 1, 1, 1, 2, 4, 7, 10, 12, 13, 12, 11, 12, 12, 12, 11, 10, 9, 10, 11, 10, 8, 5]

function visit(options: TrafficOptions, random: Random, shop: Shop, person: number, from: number, to: number): TrafficEvent[] {
  const client = personOf(options.seed, person)
  const at = momentFor(random, client, from, to)
  const arrival = random.weighted<Arrival>(arrivals(new Date(at)))
  return [...generateVisit(random, shop, { person, client, at, arrival })]
}

function momentFor(random: Random, { offset, mobile }: Person, from: number, to: number): number {
  for (let tries = 0; tries < 50; tries++) {
    const at = from + random.below(to - from)
    const hour = Math.floor((((at / HOUR + offset) % 24) + 24) % 24)
    const weight = HOURS[hour]! + (mobile && hour >= 19 ? 4 : 0)
    if (random.below(17) < weight) return at
  }
  return from
}
