import type { Clock } from "../../domain/clock.ts"
import type { Collector } from "../../ingest/collect/collect.ts"
import type { Instance } from "../instance/instance.ts"
import type { Report } from "../runtime/control.ts"
import { generateTraffic, type TrafficEvent, type TrafficOptions } from "./data.ts"

/** A clock that can be set to the time of invented traffic, so that it takes the way of real traffic. */
export interface ReplayClock extends Clock {
  set(at: number): void
  /** From now on the real time again. */
  end(): void
}

export function replayClock(real: Clock): ReplayClock {
  let at: number | undefined
  return {
    now: () => at ?? real.now(),
    // Limits per second count invented seconds.
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
}

export interface ReplayOptions {
  /** All over the same time. */
  sites: readonly SiteTraffic[]
  clock: ReplayClock
  collector: Pick<Collector, "collect" | "flush">
  instance: Pick<Instance, "events" | "salts">
  report: Report
}

const DAY = 86_400_000
/** As many as one commit takes at once. */
const GROUP = 200
/** All of a group arrive at its end; longer, and visits would seem to have paused for half an hour. */
const GROUP_MS = 15 * 60_000

/**
 * Sends invented traffic through the collector, at the times it would have come: with visits, salts and seals as they would
 * have been. The clock stays where the traffic ends.
 */
export async function replayTraffic(options: ReplayOptions): Promise<number> {
  const { sites, clock, collector, instance, report } = options
  const total = sites.reduce((sum, { events }) => sum + events, 0)
  let sent = 0
  let night = sites[0]!.from + DAY
  for (const group of groupsOf(together(sites))) {
    const answers = Promise.all(group.map(({ event, trackingId }) => send(event, trackingId, options)))
    collector.flush()
    await answers
    sent += group.length
    if (clock.now() < night) continue
    await upkeep(instance, clock.now())
    report({ what: "making traffic up", done: sent, total })
    night = clock.now() + DAY
  }
  await upkeep(instance, clock.now())
  return sent
}

interface SiteEvent {
  event: TrafficEvent
  trackingId: string
}

/** The events of all sites in order of time. */
function* together(sites: readonly SiteTraffic[]): Generator<SiteEvent> {
  const streams = sites.map((site) => ({
    events: generateTraffic(site),
    trackingId: site.trackingId,
    next: undefined as TrafficEvent | undefined,
  }))
  const advance = (stream: (typeof streams)[number]) => {
    const { done, value } = stream.events.next()
    stream.next = done ? undefined : value
  }
  for (const stream of streams) advance(stream)
  for (;;) {
    let first: (typeof streams)[number] | undefined
    for (const stream of streams) if (stream.next && !(first?.next && first.next.at <= stream.next.at)) first = stream
    if (!first?.next) return
    yield { event: first.next, trackingId: first.trackingId }
    advance(first)
  }
}

/** Groups of events that share a commit. */
function* groupsOf(traffic: Iterable<SiteEvent>): Generator<SiteEvent[]> {
  let group: SiteEvent[] = []
  for (const next of traffic) {
    const isFull = group.length === GROUP || (group[0] !== undefined && next.event.at - group[0].event.at > GROUP_MS)
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

function send(event: TrafficEvent, trackingId: string, { clock, collector }: ReplayOptions) {
  const { client } = event
  clock.set(event.at)
  return collector.collect({
    method: "POST",
    url: "http://localhost/api/event",
    headers: new Headers({ "user-agent": client.userAgent, "accept-language": client.language }),
    body: new TextEncoder().encode(JSON.stringify(payloadOf(event, trackingId))),
    peer: client.address,
  })
}

/** As the tracker sends it. */
const payloadOf = ({ name, url, title, referrer, props, revenue, engagement, client }: TrafficEvent, trackingId: string) => ({
  n: name,
  u: url,
  d: trackingId,
  r: referrer || null,
  t: title,
  l: client.language,
  tz: client.timezone,
  w: client.width,
  ...(props && { p: props }),
  ...(revenue && { $: { currency: revenue.currency, amount: revenue.amount } }),
  ...(engagement && { e: engagement.engagedMs, sd: engagement.scrollDepth }),
})
