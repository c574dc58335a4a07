/**
 * Takes events: which payload, which site, which address; then the pipeline, then the buffer. What is answered as accepted
 * is on disk.
 */
import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import type { Site, SiteDirectory } from "../domain/site.ts"
import type { EventStore } from "../store/events/events.ts"
import { type BufferOptions, EventBuffer } from "./buffer.ts"
import { createCalendar } from "./calendar.ts"
import { type Candidate, candidateOf } from "./candidate.ts"
import { addressRanges, type Client, clientOf } from "./client-address.ts"
import type { RequestFacts, Sender } from "./draft.ts"
import { noteEarly, noteFrom, noteWithoutSite } from "./drop-notes.ts"
import type { DropNote } from "./drop-tally.ts"
import type { Intake } from "./intake.ts"
import { visitorKeys } from "./keys.ts"
import type { Incoming } from "./payloads/incoming.ts"
import { type Reading, readNative } from "./payloads/native.ts"
import { readPixel } from "./payloads/pixel.ts"
import { createPipeline } from "./pipeline.ts"
import { type PlaceFile, watchPlaceFile } from "./places.ts"
import { createRates, type RateLimits } from "./rates.ts"
import { type CollectRequest, readRequest } from "./request.ts"
import type { IdentityKeys, Salts } from "./salts.ts"
import { collectFromServer, type ServerAnswer } from "./server-events.ts"
import { hostOf, targetsOf } from "./which-site.ts"

export interface CollectorOptions extends Pick<BufferOptions, "onHindrance"> {
  directory: SiteDirectory
  store: Pick<EventStore, "write" | "probe" | "forgetVisitors">
  salts: Salts
  identityKeys: IdentityKeys
  clock: Clock
  random(bytes: number): Uint8Array
  /** Addresses and CIDR ranges of proxies whose forwarded headers count. */
  trustedProxies: readonly string[]
  /** Header in which a trusted proxy names the visitor's country. */
  geoHeader?: string | undefined
  /** Watched until `stop`. */
  placeFile?: PlaceFile | undefined
  limits: RateLimits
  /** Told of a fault in our own code. */
  onError?(error: unknown): void
  /** Told when a peer that is no trusted proxy sends forwarded headers, which then do not count. */
  onForwardedIgnored?(peer: string): void
}

export interface CollectAnswer {
  status: number
  headers: Record<string, string>
  body: string
}

export interface Collector {
  /** Takes one request of a tracker. Throws AppError: `invalid_event`, `rate_limited`, `unavailable`, `storage_full`. */
  collect(request: CollectRequest): Promise<CollectAnswer>
  /** Takes events of a site's own server, of any shape; each is judged for itself. */
  collectServerEvents(site: Site, events: readonly unknown[]): Promise<ServerAnswer>
  /** The client's address behind trusted proxies, for limits elsewhere; never to be kept. */
  clientAddress(peer: string | undefined, headers: Headers): string | undefined
  /** Writes what waits, now. */
  flush(): void
  /** Writes what waits and takes nothing more. */
  stop(): void
  /** Events waiting for their commit. */
  readonly depth: number
}

/** Either on its way to the store, or dropped; `retryAfter` seconds when it came too fast. */
type Verdict = { candidate: Candidate } | { note: DropNote; retryAfter?: number }

interface Visit {
  incoming: Incoming
  facts: RequestFacts
  client: Client
  sender: Sender
  hostname: string
  now: number
}

/** About what an event takes in memory beside its text. */
const EVENT_BYTES = 512

export function createCollector(options: CollectorOptions): Collector {
  const { clock, directory, store, limits, onForwardedIgnored } = options
  const trusted = addressRanges(options.trustedProxies)
  const headersRead = { trusted, geoHeader: options.geoHeader }
  const buffer = new EventBuffer(options)
  const onFault = (message: string) => options.onError?.(new Error(`The place file cannot be read: ${message}`))
  const unwatch = options.placeFile && watchPlaceFile(options.placeFile, onFault)
  const intake: Intake = {
    ...options,
    calendar: createCalendar(),
    pipeline: createPipeline({ placeFile: options.placeFile }),
    buffer,
    store,
  }
  const judge = createJudge(intake, createRates(limits), new DataView(options.random(4).buffer).getUint32(0))

  async function collect(request: CollectRequest): Promise<CollectAnswer> {
    const { client, facts } = readRequest(request, headersRead)
    if (!client.viaProxy && request.peer !== undefined && request.headers.has("x-forwarded-for")) onForwardedIgnored?.(request.peer)
    const sender = isPixel(request.url) ? "pixel" : "script"
    const reading = sender === "pixel" ? readPixel(request.url, facts.referer) : readNative(request.body)
    const now = clock.now()
    if ("faults" in reading) throw refusal(reading, facts, now)
    const { incoming } = reading
    const visit = { incoming, facts, client, sender, hostname: hostOf(incoming, facts), now } as const
    const verdicts: Verdict[] = []
    for (const target of targetsOf(directory, incoming.named, visit.hostname)) {
      const verdict = target.site ? judge(target.site, visit) : { note: noteWithoutSite("unknown_site", target.sent, now) }
      verdicts.push(verdict instanceof Promise ? await verdict : verdict)
    }
    return request.headers.get("x-debug-request") === "true" ? explain(verdicts, client) : settle(verdicts, request.body.length)
  }

  function refusal({ faults, named }: Extract<Reading, { faults: unknown }>, facts: RequestFacts, now: number): AppError {
    const site = named.length === 0 ? undefined : targetsOf(directory, named, "").find((target) => target.site)?.site
    const day = site && intake.calendar.day(site, now)
    const early = { day: day ?? "", at: now, hostname: "", userAgent: facts.userAgent }
    buffer.drop(site ? noteEarly("invalid", site, early) : noteWithoutSite("invalid", named.join(","), now))
    return new AppError("invalid_event", "The event is not valid.", { errors: faults.slice(0, 20) })
  }

  async function settle(verdicts: readonly Verdict[], bodyBytes: number): Promise<CollectAnswer> {
    const candidates: Candidate[] = []
    let dropped = 0
    let retryAfter = 0
    for (const verdict of verdicts) {
      if ("candidate" in verdict) candidates.push(verdict.candidate)
      else {
        buffer.drop(verdict.note)
        dropped++
        retryAfter = Math.max(retryAfter, verdict.retryAfter ?? 0)
      }
    }
    if (candidates.length > 0) {
      const outcomes = await buffer.store(candidates, bodyBytes + candidates.length * EVENT_BYTES)
      for (const outcome of outcomes) if (outcome) dropped++
    }
    if (retryAfter > 0) throw new AppError("rate_limited", "Too many events.", { retry_after: retryAfter })
    return accepted(dropped)
  }

  return {
    collect,
    collectServerEvents: (site, events) => collectFromServer(intake, site, events),
    clientAddress: (peer, headers) => clientOf(peer, headers.get("x-forwarded-for"), trusted).address?.text,
    flush: () => buffer.flush(),
    stop() {
      unwatch?.()
      buffer.stop()
    },
    get depth() {
      return buffer.depth
    },
  }
}

const isPixel = (url: string): boolean => /^[^?#]*\/p\.gif(?:[?#]|$)/.test(url)

/** Judges an event for one of its sites. Waits only for secrets that are not in memory yet. */
function createJudge(intake: Intake, rates: ReturnType<typeof createRates>, seed: number) {
  const { clock, calendar, pipeline } = intake

  return (site: Site, visit: Visit): Verdict | Promise<Verdict> => {
    const { incoming, facts, client, hostname, now } = visit
    const at = now - incoming.ageMs
    const day = calendar.day(site, at)
    const sender = Bun.hash.xxHash32(`${client.address?.text} ${facts.userAgent}`, seed)
    const retryAfter = rates.take(sender, site.id, clock.monotonic())
    if (retryAfter !== undefined) {
      return { note: noteEarly("rate", site, { day, at, hostname, userAgent: facts.userAgent }), retryAfter }
    }
    const conclude = (keys: Awaited<ReturnType<typeof visitorKeys>>): Verdict => {
      const arrival = { site, incoming, sender: visit.sender, request: facts, at, hostname, address: client.address, keys }
      const passage = pipeline(arrival)
      return "drop" in passage ? { note: noteFrom(passage.draft, passage.drop, day) } : { candidate: candidateOf(passage.draft, day) }
    }
    const keys = visitorKeys(intake, { site, incoming, objects: facts.objects, at, now })
    return keys instanceof Promise ? keys.then(conclude) : conclude(keys)
  }
}

/** A dropped event is answered like an accepted one; the header says so to those who look. */
const accepted = (dropped: number): CollectAnswer => ({
  status: 202,
  headers: dropped === 0 ? TEXT : { ...TEXT, "x-plausible-dropped": String(dropped) },
  body: "ok",
})

/** `X-Debug-Request`: nothing is stored; the answer tells which address counts and whether the event would. */
function explain(verdicts: readonly Verdict[], client: Client): CollectAnswer {
  const reason = verdicts.flatMap((verdict) => ("note" in verdict ? [verdict.note.reason] : []))[0]
  return { status: 200, headers: reason === undefined ? TEXT : { ...TEXT, "x-footfall-dropped": reason }, body: client.address?.text ?? "" }
}

const TEXT = { "content-type": "text/plain; charset=utf-8" }
