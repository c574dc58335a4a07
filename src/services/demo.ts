import type { Clock } from "../domain/clock.ts"
import type { Collector } from "../ingest/collect.ts"
import type { Report } from "./control.ts"
import { generateTraffic, type TrafficEvent, type TrafficOptions } from "./demo-data.ts"
import type { Instance } from "./instance.ts"

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

export interface ReplayOptions extends TrafficOptions {
  trackingId: string
  clock: ReplayClock
  collector: Pick<Collector, "collect">
  instance: Pick<Instance, "events" | "salts">
  report: Report
}

const HOUR = 3_600_000
const DAY = 24 * HOUR
/** As many as one commit takes at once. */
const GROUP = 200

/**
 * Sends invented traffic through the collector, at the times it would have come: with visits, salts and seals as they would
 * have been. The clock stays where the traffic ends.
 */
export async function replayTraffic(options: ReplayOptions): Promise<number> {
  const { clock, instance, report } = options
  let sent = 0
  let night = options.from + DAY
  for (const group of groupsOf(generateTraffic(options))) {
    await Promise.all(group.map((event) => send(event, options)))
    sent += group.length
    if (clock.now() < night) continue
    await upkeep(instance, clock.now())
    report({ what: "making traffic up", done: sent, total: options.events })
    night = clock.now() + DAY
  }
  await upkeep(instance, clock.now())
  return sent
}

/** Groups of events that share a commit: at most an hour of traffic. */
function* groupsOf(traffic: Iterable<TrafficEvent>): Generator<TrafficEvent[]> {
  let group: TrafficEvent[] = []
  for (const event of traffic) {
    const isFull = group.length === GROUP || (group[0] !== undefined && event.at - group[0].at > HOUR)
    if (isFull) {
      yield group
      group = []
    }
    group.push(event)
  }
  if (group.length > 0) yield group
}

async function upkeep({ events, salts }: Pick<Instance, "events" | "salts">, now: number): Promise<void> {
  await events.seal(now)
  await salts.destroy(now, (siteId, period) => events.forgetVisitors(siteId, period))
  events.checkpoint("passive")
}

function send(event: TrafficEvent, { clock, collector, trackingId }: ReplayOptions) {
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
