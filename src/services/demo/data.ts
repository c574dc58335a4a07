import { type Person, personOf } from "./people.ts"
import { type Random, seededRandom } from "./random.ts"
import { type Arrival, arrivals, type Shop, shopOf, wander } from "./shop.ts"

/** One event of invented traffic, as a browser would send it. */
export interface TrafficEvent {
  /** UTC epoch milliseconds, never falling from one event to the next. */
  at: number
  /** The same number is the same person. */
  person: number
  client: Person
  /** `pageview`, `engagement` or the name of a custom event. */
  name: string
  url: string
  title: string
  /** Address the visitor came from; "" without one. */
  referrer: string
  props?: Readonly<Record<string, string | number>>
  revenue?: { amount: number; currency: string }
  engagement?: { engagedMs: number; scrollDepth: number }
}

export interface TrafficOptions {
  /** The same options give the same events. */
  seed: number
  /** Epoch milliseconds, half-open. */
  from: number
  to: number
  /** How many events, engagement included. */
  events: number
  host: string
  currency?: string
}

const DAY = 86_400_000
const HOUR = 3_600_000

/**
 * A shop with a magazine: weekdays busier than weekends, evenings on the phone, slow growth, a campaign each month, people
 * who come back, and an order now and then. One day is in memory at a time.
 */
export function* generateTraffic(options: TrafficOptions): Generator<TrafficEvent> {
  const random = seededRandom(options.seed)
  const shop = shopOf(options.host, options.currency ?? "EUR")
  const days = daysOf(options)
  const people = crowd(random, options.events)
  let made = 0
  let open: TrafficEvent[] = []
  for (const { start, end, upTo } of days) {
    while (made + open.length < upTo) open.push(...visit(options, random, shop, people(), start, end))
    open.sort((left, right) => left.at - right.at)
    const later = open.findIndex(({ at }) => at >= end)
    const ready = later < 0 ? open : open.slice(0, later)
    open = later < 0 ? [] : open.slice(later)
    for (const event of ready) if (made++ < options.events && event.at < options.to) yield event
  }
}

/** The days of the range with the number of events that are due by the end of each. */
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

/** Who comes next: a few regulars often, someone of the last weeks sometimes, mostly somebody new. */
function crowd(random: Random, events: number): () => number {
  const regulars = Math.max(3, Math.round(events / 2_000))
  let known = regulars
  return () => {
    if (random.chance(0.12)) return random.below(regulars)
    if (random.chance(0.22)) return Math.max(0, known - 1 - random.below(Math.min(known, regulars * 8)))
    return known++
  }
}

/** Visits of people by the hour of their own day. */
const HOURS = [3, 2, 1, 1, 1, 2, 4, 7, 10, 12, 13, 12, 11, 12, 12, 12, 11, 10, 9, 10, 11, 10, 8, 5]

function visit(options: TrafficOptions, random: Random, shop: Shop, person: number, from: number, to: number): TrafficEvent[] {
  const client = personOf(options.seed, person)
  const at = momentFor(random, client, from, to)
  const arrival = random.weighted<Arrival>(arrivals(new Date(at)))
  return [...wander(random, shop, { person, client, at, arrival })]
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
