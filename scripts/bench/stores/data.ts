/** Generated traffic as whole visits, the same for every contender, with texts as ingestion would store them and daily visitors. */
import bowser from "bowser"
import { getTimezone } from "countries-and-timezones"
import type { NewEvent } from "../../../src/domain/event.ts"
import { TRAITS, VISIT_IDLE_MS, type VisitTraits } from "../../../src/domain/visit.ts"
import { generateTraffic, type TrafficEvent } from "../../../src/services/demo/data.ts"
import { DAY_MS, type Known } from "./reports.ts"

export interface BenchVisit {
  siteId: number
  /** Id of a person, or of a person on one UTC day when ids rotate daily. */
  visitor: number
  kind: "rotating" | "user"
  traits: VisitTraits
  /** In order of time. No two share a millisecond. */
  events: NewEvent[]
}

export interface DataOptions {
  /** Including engagement events. */
  events: number
  sites: number
  days: number
  seed: number
  /** End of the last day, epoch milliseconds. */
  end: number
  /** Whether people are recognized as users. By default they are new visitors every day. */
  users?: boolean
}

const HOST = "shop.example.com"

export const KNOWN: Known = {
  page: "/products/1",
  country: "DE",
  source: "Google",
  device: "Mobile",
  goals: [
    { kind: "event", match: "exact", value: "signup" },
    { kind: "page", match: "exact", value: "/thanks" },
    { kind: "page", match: "prefix", value: "/magazine/" },
  ],
  steps: [
    { kind: "page", match: "prefix", value: "/products/" },
    { kind: "page", match: "exact", value: "/cart" },
    { kind: "event", match: "exact", value: "purchase" },
  ],
}

const BATCH_EVENTS = 5_000

/** Yields batches of visits in order of time, alternating between sites. */
export function* benchData(options: DataOptions): Generator<BenchVisit[]> {
  if (options.sites === 1) return yield* batches(visitsOf(options, 1))
  const bySite = Array.from({ length: options.sites }, (_, index) => [...visitsOf(options, index + 1)])
  yield* batches(bySite.flat().sort((left, right) => left.events[0]!.at - right.events[0]!.at))
}

function* batches(visits: Iterable<BenchVisit>): Generator<BenchVisit[]> {
  let batch: BenchVisit[] = []
  let events = 0
  for (const visit of visits) {
    batch.push(visit)
    events += visit.events.length
    if (events < BATCH_EVENTS) continue
    yield batch
    batch = []
    events = 0
  }
  if (batch.length > 0) yield batch
}

/** Groups a site's events into visits by the thirty-minute rule and yields each visit when it closes. */
function* visitsOf({ events, sites, days, seed, end, users }: DataOptions, siteId: number): Generator<BenchVisit> {
  const traffic = { seed: seed + siteId, from: end - days * DAY_MS, to: end, events: Math.round(events / sites), host: HOST }
  const open = new Map<number, BenchVisit>()
  const visitors = new Visitors()
  let swept = 0
  for (const event of generateTraffic(traffic)) {
    if (event.at - swept > VISIT_IDLE_MS) {
      yield* closed(open, event.at)
      swept = event.at
    }
    let visit = open.get(event.person)
    if (visit && event.at - visit.events.at(-1)!.at > VISIT_IDLE_MS) {
      yield visit
      visit = undefined
    }
    if (!visit) {
      if (event.name === "engagement") continue // does not open a visit
      const who = users
        ? ({ visitor: event.person + 1, kind: "user" } as const)
        : ({ visitor: visitors.number(event), kind: "rotating" } as const)
      visit = { siteId, ...who, traits: traitsOf(event), events: [] }
      open.set(event.person, visit)
    }
    visit.events.push(eventOf(event, visit.events.at(-1)?.at ?? 0))
  }
  yield* open.values()
}

function* closed(open: Map<number, BenchVisit>, now: number): Generator<BenchVisit> {
  for (const [person, visit] of open) {
    if (now - visit.events.at(-1)!.at <= VISIT_IDLE_MS) continue
    open.delete(person)
    yield visit
  }
}

/** A person is a new visitor every day, as with daily salts. */
class Visitors {
  private day = 0
  private count = 0
  private readonly today = new Map<number, number>()

  number({ at, person }: TrafficEvent): number {
    const day = Math.floor(at / DAY_MS)
    if (day !== this.day) this.today.clear()
    this.day = day
    const known = this.today.get(person)
    if (known !== undefined) return known
    this.today.set(person, ++this.count)
    return this.count
  }
}

function eventOf(event: TrafficEvent, after: number): NewEvent {
  const { name, title, props = {}, revenue, engagement } = event
  return {
    at: Math.max(event.at, after + 1),
    name,
    page: event.url.slice(`https://${HOST}`.length).split("?")[0]!,
    hostname: HOST,
    title,
    interactive: name !== "engagement",
    props: Object.entries(props).map(([key, value]) => [key, String(value)] as const),
    ...(revenue && { revenue: { amount: Math.round(revenue.amount * 100), currency: revenue.currency } }),
    ...(engagement && { engagement }),
  }
}

export const NO_TRAITS = Object.fromEntries(TRAITS.map((name) => [name, ""])) as unknown as VisitTraits // every trait is listed in TRAITS

/** Computes ingestion's results once per distinct input, because the benchmark measures only the stores. */
function traitsOf({ client, referrer, url }: TrafficEvent): VisitTraits {
  return {
    ...NO_TRAITS,
    ...deviceOf(client.userAgent),
    ...arrivalOf(`${referrer} ${url.split("?")[1] ?? ""}`),
    country: countryOf(client.timezone),
    language: client.language,
    size: SIZES.find(([below]) => client.width < below)![1],
  }
}

const SIZES = [
  [576, "<576"],
  [768, "576-767"],
  [992, "768-991"],
  [1440, "992-1439"],
  [Number.POSITIVE_INFINITY, "1440+"],
] as const

const deviceOf = remembered((userAgent: string) => {
  const { browser, os, platform } = bowser.parse(userAgent)
  const kind = platform.type ?? "other"
  return {
    browser: browser.name ?? "",
    browser_version: (browser.version ?? "").split(".").slice(0, 2).join("."),
    os: os.name ?? "",
    os_version: (os.version ?? "").split(".").slice(0, 2).join("."),
    device: kind[0]!.toUpperCase() + kind.slice(1),
  }
})

const countryOf = remembered((timezone: string) => getTimezone(timezone)?.countries[0] ?? "")

const arrivalOf = remembered((text: string) => {
  const [referrer, query] = text.split(" ")
  const tags = new URLSearchParams(query)
  const host = referrer === "" ? "" : new URL(referrer!).hostname.replace(/^www\./, "")
  const source = host === "google.com" ? "Google" : (tags.get("utm_source") ?? host)
  return {
    source,
    referrer: referrer!.replace(/^https:\/\/(www\.)?/, "").replace(/\/$/, ""),
    channel: source === "" ? "Direct" : tags.has("utm_medium") ? "Paid Search" : "Organic Search",
    utm_source: tags.get("utm_source") ?? "",
    utm_medium: tags.get("utm_medium") ?? "",
    utm_campaign: tags.get("utm_campaign") ?? "",
    utm_term: tags.get("utm_term") ?? "",
    click_id_type: tags.has("gclid") ? "gclid" : "",
  }
})

function remembered<Result>(compute: (input: string) => Result): (input: string) => Result {
  const known = new Map<string, Result>()
  return (input) => {
    let result = known.get(input)
    if (result === undefined) {
      result = compute(input)
      known.set(input, result)
    }
    return result
  }
}
