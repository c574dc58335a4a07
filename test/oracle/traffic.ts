import type { NewEvent, Vitals } from "../../src/domain/event.ts"
import { TRAITS, type VisitorKind, type VisitTraits } from "../../src/domain/visit.ts"
import { dayStart, plusDays } from "./days.ts"
import type { Random } from "./random.ts"
import { CURRENCIES, HOSTS, NAMES, PAGES, PROPERTIES, TITLES, TRAIT_VALUES } from "./values.ts"

const MINUTE = 60_000

/** Days around clock changes or the end of a year, month or week. */
export const TIMES: readonly { day: string; zones: readonly string[] }[] = [
  { day: "2026-10-25", zones: ["Europe/Berlin", "UTC", "Africa/Casablanca"] },
  { day: "2026-03-29", zones: ["Europe/Berlin", "Asia/Kathmandu", "Africa/Casablanca"] },
  { day: "2026-11-01", zones: ["America/New_York", "America/St_Johns", "America/Havana"] },
  { day: "2026-03-08", zones: ["America/New_York", "America/St_Johns", "America/Havana"] },
  { day: "2026-10-04", zones: ["Australia/Lord_Howe", "Asia/Kathmandu", "UTC"] },
  { day: "2026-04-05", zones: ["Australia/Lord_Howe", "Europe/Berlin", "Pacific/Chatham"] },
  { day: "2011-12-30", zones: ["Pacific/Apia", "UTC", "Asia/Kathmandu"] },
  { day: "2018-11-04", zones: ["America/Sao_Paulo", "America/New_York", "Asia/Kathmandu"] },
  { day: "2018-02-18", zones: ["America/Sao_Paulo", "Asia/Kathmandu", "UTC"] },
  { day: "2026-02-15", zones: ["Africa/Casablanca", "UTC", "America/New_York"] },
  { day: "2026-03-22", zones: ["Africa/Casablanca", "Europe/Berlin", "Pacific/Apia"] },
  { day: "2027-01-01", zones: ["Europe/Berlin", "Pacific/Apia", "America/St_Johns"] },
  { day: "2024-02-29", zones: ["Europe/Berlin", "UTC", "Asia/Kathmandu"] },
]
export type Time = (typeof TIMES)[number]

/** A visit to be written. Its first event opens it; the others arrive in this order, some with an earlier time. */
export interface PlannedVisit {
  siteId: number
  /** Number of the rotating id. */
  rotating: number
  /** There are fewer persons than rotating ids, so the visits of several ids belong to one person. */
  person: number
  kind: VisitorKind
  /** Index of the event from which on the visit belongs to its person; never with `rotating`. */
  identifiedAt: number
  /** Traits of the opening event, and those that an earlier event brings. */
  traits: VisitTraits
  earlierTraits: VisitTraits
  events: NewEvent[]
}

/** Returns the midnights and clock changes from some days before to some days after. */
export const edgesAround = ({ day, zones }: Time): number[] =>
  zones.flatMap((zone) => [-3, -1, 0, 1, 2].map((days) => dayStart(plusDays(day, days), zone)))

/** Plans visits of the given number of people: a few who return, or a crowd with as many pages. */
export function planVisits(random: Random, time: Time, count: number, people: number): PlannedVisit[] {
  return Array.from({ length: count }, () => planVisit(random, time, people))
}

export const FEW = 12

function planVisit(random: Random, time: Time, people: number): PlannedVisit {
  const start = random.pick(edgesAround(time)) + random.pick([-20, -10, -5, -1, 0, 0, 1, 60, 119, 150, 180, 400, 900]) * MINUTE
  const length = random.pick([1, 1, 2, 3, 4, 6, 9])
  const times = walk(random, start + (random.chance(0.3) ? random.whole(-5_000, 5_000) : 0), length)
  const planned = times.map((at) => planEvent(random, at, people))
  const opening = planned.findIndex(isOpening)
  const events = opening === -1 ? [asPageview(planned[0]!), ...planned.slice(1)] : inArrivalOrder(random, planned, opening)
  const rotating = random.whole(0, people - 1)
  const kind = random.pick(["rotating", "rotating", "rotating", "user", "device"] as const)
  return {
    siteId: random.pick([1, 1, 1, 1, 1, 2, 2, 3]),
    rotating,
    person: rotating % Math.ceil(people * 0.4),
    kind,
    identifiedAt: random.chance(0.5) ? 0 : random.whole(0, events.length - 1),
    traits: planTraits(random),
    earlierTraits: planTraits(random),
    events,
  }
}

const isOpening = ({ name }: NewEvent) => name !== "engagement" && name !== "vitals"

/** Returns an engagement or vitals event as a pageview, because those never begin a visit. */
export function asPageview(event: NewEvent): NewEvent {
  const { engagement: _, vitals: __, ...rest } = event
  return isOpening(event) ? event : { ...rest, name: "pageview" }
}

/** Orders events mostly by time. Some arrive late, and a few of them are earlier than the visit's start. */
function inArrivalOrder(random: Random, events: readonly NewEvent[], opening: number): NewEvent[] {
  const others = events.filter((_, i) => i !== opening)
  const isLate = random.chance(0.25)
  return [events[opening]!, ...(isLate ? random.shuffled(others) : others)]
}

function walk(random: Random, start: number, length: number): number[] {
  const times = [start]
  while (times.length < length) times.push(times.at(-1)! + random.pick([0, 0, 1, 999, 5_000, 5_000, MINUTE, 4 * MINUTE, 29 * MINUTE]))
  return times
}

function planEvent(random: Random, at: number, people: number): NewEvent {
  const name = random.pick(["pageview", "pageview", "pageview", "pageview", "engagement", "engagement", "vitals", "custom", "custom"])
  const place = { at, page: random.pick(PAGES), hostname: random.pick(HOSTS), title: random.pick(TITLES) }
  if (random.chance(0.5)) place.page = random.pick(PAGES.slice(0, 4))
  // Fewer than the store keeps per day.
  if (people > FEW && random.chance(0.3)) place.page = `/p/${random.whole(1, Math.min(people, 9_000))}`
  if (name === "engagement") return { ...place, name, interactive: true, props: [], engagement: planEngagement(random) }
  if (name === "vitals") return { ...place, name, interactive: true, props: [], vitals: planVitals(random) }
  return {
    ...place,
    name: name === "custom" ? random.pick(NAMES) : name,
    interactive: random.chance(0.7),
    props: random.some(Object.entries(PROPERTIES), 0, 3).map(([key, values]) => [key, random.pick(values)]),
    ...(random.chance(0.25) && { revenue: { amount: planAmount(random), currency: random.pick(CURRENCIES) } }),
  }
}

const planAmount = (random: Random) => random.pick([0, 1, 999, 12_345, -500, -1, random.whole(-9_999, 99_999), 1e12])

const planEngagement = (random: Random): NonNullable<NewEvent["engagement"]> => ({
  engagedMs: random.pick([0, 499, 500, 1_500, 9_999, 10_000, random.whole(0, 60_000)]),
  ...(random.chance(0.75) && { scrollDepth: random.pick([0, 1, 49, 50, 75, 99, 100, random.whole(0, 100)]) }),
})

function planVitals(random: Random): Vitals {
  const measured = random.some(["lcp", "inp", "fcp", "ttfb", "cls"] as const, 1, 5)
  return Object.fromEntries(measured.map((name) => [name, name === "cls" ? random.whole(0, 500) / 1000 : random.whole(0, 4_000)]))
}

function planTraits(random: Random): VisitTraits {
  const traits = TRAITS.map((trait) => [trait, random.pick(TRAIT_VALUES[trait])])
  return Object.fromEntries(traits) as VisitTraits // an entry for each trait
}
