import type { Clock } from "../../domain/clock.ts"
import type { Collector } from "../../ingest/collect/collect.ts"
import type { Instance } from "../instance/instance.ts"
import type { Report } from "../runtime/control.ts"
import { generateTraffic, type TrafficEvent, type TrafficOptions } from "./data.ts"
import { vitalsOf } from "./vitals.ts"

/** A clock that can be set to the time of generated traffic, so that it is processed like real traffic. */
export interface ReplayClock extends Clock {
  set(at: number): void
  /** Returns to the real time. */
  end(): void
}

export function replayClock(real: Clock): ReplayClock {
  let at: number | undefined
  return {
    now: () => at ?? real.now(),
    // Rate limits have to use the generated time too.
    monotonic: () => at ?? real.monotonic(),
    set(to) {
      at = to
    },
    end() {
      at = undefined
    },
  }
}

/** The traffic of one site. */
export interface SiteTraffic extends TrafficOptions {
  trackingId: string
  /** Whether page loads are measured, as with `data-vitals`. Default: false. */
  hasVitals?: boolean
  /** How many of ten visitors are signed in, so that the site knows their user ids. Default: 0. */
  signedIn?: number
}

/** A request that arrives during the traffic. */
export interface ReplayedRequest {
  /** UTC epoch milliseconds. */
  at: number
  send(): Promise<unknown>
}

export interface ReplayOptions {
  /** The sites, all with the same range. */
  sites: readonly SiteTraffic[]
  /** Other requests, each list in order of time. Those outside the range of the sites are not sent. */
  requests?: readonly Iterable<ReplayedRequest>[]
  clock: ReplayClock
  collector: Pick<Collector, "collect" | "flush">
  instance: Pick<Instance, "events" | "salts">
  report: Report
}

const DAY = 86_400_000
/** Number of events in a group, which is that of one commit. */
const GROUP = 200
/** Maximum time span of a group. All its events arrive at its end, so a longer one would split visits after half an hour of inactivity. */
const GROUP_MS = 15 * 60_000

/**
 * Sends generated traffic through the collector at the times of its events, so that visits, salts and columnar segments are those of
 * real traffic. The clock stays at the end of the traffic.
 */
export async function replayTraffic(options: ReplayOptions): Promise<number> {
  const { sites, clock, collector, instance, report } = options
  const total = sites.reduce((sum, { events }) => sum + events, 0)
  let sent = 0
  const { from, to } = sites[0]!
  let night = from + DAY
  for (const group of groupsOf(mergedTraffic(options))) {
    const answers = Promise.all(
      group.map(({ at, send, isEvent }) => {
        clock.set(at)
        if (isEvent) sent++
        return at >= from && at < to && send()
      }),
    )
    collector.flush()
    await answers
    if (clock.now() < night) continue
    await upkeep(instance, clock.now())
    report({ what: "generating traffic", done: sent, total })
    night = clock.now() + DAY
  }
  await upkeep(instance, clock.now())
  return sent
}

interface Arrival extends ReplayedRequest {
  /** Whether it is an event of a site. */
  isEvent: boolean
}

/** Merges the events of all sites and the other requests in order of time. */
function* mergedTraffic(options: ReplayOptions): Generator<Arrival> {
  const { sites, requests = [] } = options
  const streams = [...sites.map((site) => eventsOf(site, options)), ...requests.map(othersIn)].map((arrivals) => ({
    arrivals,
    next: undefined as Arrival | undefined,
  }))
  const advance = (stream: (typeof streams)[number]) => {
    const { done, value } = stream.arrivals.next()
    stream.next = done ? undefined : value
  }
  for (const stream of streams) advance(stream)
  for (;;) {
    let first: (typeof streams)[number] | undefined
    for (const stream of streams) if (stream.next && !(first?.next && first.next.at <= stream.next.at)) first = stream
    if (!first?.next) return
    yield first.next
    advance(first)
  }
}

function* eventsOf(site: SiteTraffic, options: ReplayOptions): Generator<Arrival> {
  for (const event of generateTraffic(site)) {
    yield { at: event.at, isEvent: true, send: () => send(event, payloadOf(event, site), options) }
    const vitals = site.hasVitals && event.name === "pageview" ? vitalsOf(event) : undefined
    if (vitals) {
      const payload = { n: "vitals", u: event.url, d: site.trackingId, f: vitals }
      yield { at: event.at, isEvent: false, send: () => send(event, payload, options) }
    }
  }
}

function* othersIn(requests: Iterable<ReplayedRequest>): Generator<Arrival> {
  for (const request of requests) yield { ...request, isEvent: false }
}

/** Yields groups of arrivals that share a commit. */
function* groupsOf(traffic: Iterable<Arrival>): Generator<Arrival[]> {
  let group: Arrival[] = []
  for (const next of traffic) {
    const isFull = group.length === GROUP || (group[0] !== undefined && next.at - group[0].at > GROUP_MS)
    if (isFull) {
      yield group
      group = []
    }
    group.push(next)
  }
  if (group.length > 0) yield group
}

async function upkeep({ events, salts }: Pick<Instance, "events" | "salts">, now: number): Promise<void> {
  await events.seal(now)
  await salts.destroy(now, (siteId, period) => events.forgetVisitors(siteId, period))
  events.checkpoint("passive")
}

function send({ client }: TrafficEvent, payload: object, { collector }: ReplayOptions) {
  return collector.collect({
    method: "POST",
    url: "http://localhost/api/event",
    headers: new Headers({ "user-agent": client.userAgent, "accept-language": client.language }),
    body: new TextEncoder().encode(JSON.stringify(payload)),
    peer: client.address,
  })
}

/** Returns the payload of the tracker. */
const payloadOf = (
  { name, url, title, referrer, props, revenue, engagement, client, person }: TrafficEvent,
  { trackingId, signedIn = 0 }: SiteTraffic,
) => ({
  n: name,
  u: url,
  d: trackingId,
  r: referrer || null,
  t: title,
  l: client.language,
  tz: client.timezone,
  w: client.width,
  ...(person % 10 < signedIn && { x: `customer-${person}` }),
  ...(props && { p: props }),
  ...(revenue && { $: { currency: revenue.currency, amount: revenue.amount } }),
  ...(engagement && { e: engagement.engagedMs, sd: engagement.scrollDepth }),
})
