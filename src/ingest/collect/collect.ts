/**
 * Collects events of browsers, servers and plugins: reads the payload, finds its sites and the client address, and passes the event to
 * the pipeline. An event that was answered as accepted is on disk.
 */
import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import type { Shield } from "../../domain/shield.ts"
import type { Site, SiteDirectory } from "../../domain/site.ts"
import type { EventStore } from "../../store/events/events.ts"
import { addressRanges, type Client } from "../address/client-address.ts"
import type { BufferOptions, EventBuffer } from "../commit/buffer.ts"
import { type Candidate, isCandidate, type Outcome, type RequestFacts, type Sender } from "../draft.ts"
import { createShields } from "../enrich/shields.ts"
import { visitorKeys } from "../identity/identity.ts"
import { createCalendar, type IdentityKeys, type Salts } from "../identity/salt-period.ts"
import type { ForeignPayload, Incoming } from "../payloads/incoming.ts"
import { readNative, readPixel } from "../payloads/native.ts"
import type { SwitchedStep } from "../pipeline/areas.ts"
import { createPipeline } from "../pipeline/pipeline.ts"
import { type PlaceFile, watchPlaceFile } from "../place/place.ts"
import type { CollectRequest } from "../request/request.ts"
import { type ClientFacts, createClientFacts, type ReadSender, readOnce, senderReader } from "./clients.ts"
import { noteEarly, noteInvalid, notesWithoutSite } from "./drop-notes.ts"
import { collectForeign, EVENT_BYTES } from "./foreign.ts"
import type { Intake } from "./intake.ts"
import { createRates, type RateLimits } from "./rates.ts"
import { createRecordQueue } from "./record-queue.ts"
import { type ArrivedRecord, type NewRecord, type SenderFacts, samenessOf, senderFacts, storeRecord, storeRecords } from "./records.ts"
import { createServerCollector, type ServerAnswer } from "./server-events.ts"
import { hostOf, targetsOf } from "./which-site.ts"

export interface CollectorOptions extends Pick<BufferOptions, "onStorageProblem" | "counts" | "watch" | "shipping"> {
  directory: SiteDirectory
  store: Pick<EventStore, "append" | "sync" | "syncNow" | "probe" | "held" | "forgetVisitors" | "room">
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
  /** Shields for all sites. Returns the same list until it changes. */
  instanceShields?(): readonly Shield[]
  /** Steps that areas add to the pipeline. */
  areaSteps?(): readonly SwitchedStep[]
  limits: RateLimits
  /** Returns the number of nodes that divide the limits of sites and of the instance among them. Default: 1. */
  nodes?(): number
  /** Called for a fault in our own code. */
  onError?(error: unknown): void
  /** Called once when the geolocation file cannot be read. */
  onPlaceFault?(cause: string): void
  /** Called when a peer that is not a trusted proxy sends forwarded headers, which are ignored. */
  onForwardedIgnored?(peer: string): void
}

export interface CollectAnswer {
  status: number
  /** Without a content type the body is plain text. */
  headers: Record<string, string>
  body: string
}

/** Collects events of browsers. */
export interface EventCollector {
  /** Collects one request of a tracker. Throws AppError: `invalid_event`, `rate_limited`, `unavailable`, `storage_full`. */
  collect(request: CollectRequest): Promise<CollectAnswer>
  /**
   * Collects one request of another product's client. Returns the outcome of each event in order, or the answer to a debug request.
   * Throws AppError: `invalid_event` for a request without events, `unavailable`, `storage_full`; then nothing was stored.
   */
  collectForeign(request: CollectRequest, payload: ForeignPayload): Promise<readonly Outcome[] | CollectAnswer>
}

/** Collects events that a site's own server sends with an API key. */
export interface ServerEventCollector {
  /** Collects events of any shape. Each is accepted, rejected or dropped on its own. */
  collectServerEvents(site: Site, events: readonly unknown[]): Promise<ServerAnswer>
}

/** Stores records of areas, such as clicks and opens. */
export interface RecordCollector {
  /** Returns facts about the sender of a request that do not identify the sender. */
  senderOf(request: CollectRequest): SenderFacts
  /**
   * Stores a record of a request that the area answers itself. Resolves once it is on disk, together with all records that were added
   * before. Rejects when it could not be stored.
   */
  record(site: Site, record: NewRecord, request: CollectRequest): Promise<void>
  /**
   * Stores a record after its request is answered; it is committed within 20 ms. Reads everything it needs of the request at once.
   * Returns a promise when 1,000 answered records are not on disk yet: then the answer waits up to 100 ms for room. A record that finds
   * no room, or that the store refuses, is counted as refused.
   */
  recordLater(site: Site, record: NewRecord, request: CollectRequest): Promise<void> | undefined
  /** Resolves when all waiting records are on disk or lost. */
  recorded(): Promise<void>
}

/** Starts and stops writing. */
export interface CollectorLifecycle {
  /** Reports damage in the store: events are refused from now on. */
  meetDamage(): void
  /**
   * Commits all waiting events without waiting for the disk. They are acknowledged once they are there: then the returned promise resolves.
   * Undefined when there are none.
   */
  commit(): Promise<void> | undefined
  /** Writes all waiting events at once. */
  flush(): void
  /** Writes all waiting events and refuses new ones. */
  stop(): void
  /** Number of events that wait for their commit. */
  readonly depth: number
}

export interface Collector extends EventCollector, ServerEventCollector, RecordCollector, ClientFacts, CollectorLifecycle {}

/** An event that could be read, with the facts of its request. */
export interface ReadEvent {
  incoming: Incoming
  facts: RequestFacts
  client: Client
  sender: Sender
  hostname: string
  now: number
}

/** Processes an event for one of its sites. Asynchronous only while secrets are not in memory yet. */
export type Judge = (site: Site, event: ReadEvent) => Candidate | Outcome | Promise<Candidate | Outcome>

const NO_SHIELDS: readonly Shield[] = []
const noShields = () => NO_SHIELDS
const ignore = () => {}

export function createCollector(options: CollectorOptions): Collector {
  const { directory, placeFile, geoHeader, onPlaceFault = ignore } = options
  const trusted = addressRanges(options.trustedProxies)
  const shieldsOf = createShields(options.instanceShields ?? noShields)
  const pipeline = createPipeline({ ...options, placeFile, shieldsOf })
  const intake: Intake = { ...options, ...pipeline, calendar: createCalendar() }
  const { buffer } = pipeline
  const seed = new DataView(options.random(4).buffer).getUint32(0)
  const readSender = senderReader(options, trusted)
  const requesterOf = readOnce(readSender, placeFile)
  const arrivedOf = (site: Site, record: NewRecord, request: CollectRequest): ArrivedRecord => {
    const requester = requesterOf(request)
    return { site, record, url: request.url, requester, at: options.clock.now() }
  }
  const later = createRecordQueue({
    store: (records) => storeRecords(intake, records),
    commit: () => buffer.commit(),
    onLost: ({ site }) => options.counts?.add(site.id, "refused_queue"),
    now: () => options.clock.monotonic(),
  })
  const unwatch = placeFile && watchPlaceFile(placeFile, onPlaceFault)
  return {
    ...createEventCollector(intake, directory, readSender, createJudge(intake, createRates(options.limits, options.nodes), seed)),
    collectServerEvents: createServerCollector(intake),
    senderOf: (request) => senderFacts(requesterOf(request), seed),
    record(site, record, request) {
      later.drain()
      return storeRecord(intake, arrivedOf(site, record, request))
    },
    recordLater: (site, record, request) => later.add(arrivedOf(site, record, request)),
    recorded: later.settled,
    ...createClientFacts({ trusted, geoHeader, placeFile, requesterOf }),
    meetDamage: () => buffer.meetDamage(),
    commit: () => buffer.commit(),
    flush: () => buffer.flush(),
    stop() {
      unwatch?.()
      later.drain()
      buffer.stop()
    },
    get depth() {
      return buffer.depth
    },
  }
}

function createEventCollector(intake: Intake, directory: SiteDirectory, readSender: ReadSender, judge: Judge): EventCollector {
  const { buffer } = intake
  const read = createReader(intake, directory, readSender)
  return {
    async collect(request) {
      const event = read(request)
      const results: (Candidate | Outcome)[] = []
      for (const target of targetsOf(directory, event.incoming.named, event.hostname)) {
        const result = target.site ? judge(target.site, event) : notesWithoutSite(intake, target, event)
        results.push(result instanceof Promise ? await result : result)
      }
      if (request.headers.get("x-debug-request") === "true") return explain(results, event.client)
      const { candidates, retryAfter } = countDrops(buffer, results)
      const bytes = request.body.length + candidates.length * EVENT_BYTES
      const reasons = candidates.length === 0 ? [] : await buffer.store(candidates, bytes)
      if (retryAfter > 0) throw new AppError("rate_limited", "Too many events.", { retry_after: retryAfter })
      return accepted(results.length - reasons.filter((reason) => reason === undefined).length)
    },
    collectForeign: (request, payload) => collectForeign({ intake, directory, readSender, judge, explain }, request, payload),
  }
}

/** Creates the reader of requests of the tracker and the pixel. It throws `invalid_event`, after counting it, for invalid ones. */
function createReader(intake: Intake, directory: SiteDirectory, readSender: ReadSender) {
  return (request: CollectRequest): ReadEvent => {
    const { client, facts } = readSender(request)
    const sender = isPixel(request.url) ? "pixel" : "script"
    const reading = sender === "pixel" ? readPixel(request.url, facts.referer) : readNative(request.body)
    const now = intake.clock.now()
    if ("incoming" in reading) return { incoming: reading.incoming, facts, client, sender, hostname: hostOf(reading.incoming, facts), now }
    const targets = reading.named.length === 0 ? [] : targetsOf(directory, reading.named, "")
    intake.buffer.drop(noteInvalid(intake, targets, facts.userAgent, now))
    throw new AppError("invalid_event", "The event is not valid.", { errors: reading.faults.slice(0, 20) })
  }
}

const isPixel = (url: string): boolean => /^[^?#]*\/p\.gif(?:[?#]|$)/.test(url)

/** Creates the function that checks the rate limits of an event and runs the pipeline. */
function createJudge(intake: Intake, rates: ReturnType<typeof createRates>, seed: number): Judge {
  const { clock, calendar, prepare } = intake
  return (site, { incoming, facts, client, sender, hostname, now }) => {
    const at = now - incoming.ageMs
    const day = calendar.day(site, at)
    const retryAfter = rates.take(samenessOf(client, facts, seed), site.id, clock.monotonic())
    if (retryAfter !== undefined) {
      return { reason: "rate", retryAfter, notes: [noteEarly("rate", site, { day, at, hostname, userAgent: facts.userAgent })] }
    }
    const conclude = (keys: Awaited<ReturnType<typeof visitorKeys>>) =>
      prepare({ site, incoming, sender, request: facts, at, hostname, address: client.address, keys }, day)
    const keys = visitorKeys(intake, { site, incoming, objects: facts.objects, at, now })
    return keys instanceof Promise ? keys.then(conclude) : conclude(keys)
  }
}

/** Counts the drops and returns the events to store. `retryAfter` is 0 unless a rate limit was exceeded. */
function countDrops(
  buffer: EventBuffer,
  results: readonly (Candidate | Outcome)[],
): { candidates: readonly Candidate[]; retryAfter: number } {
  const candidates: Candidate[] = []
  let retryAfter = 0
  for (const result of results) {
    if (isCandidate(result)) candidates.push(result)
    else {
      for (const note of result.notes ?? []) buffer.drop(note)
      retryAfter = Math.max(retryAfter, result.retryAfter ?? 0)
    }
  }
  return { candidates, retryAfter }
}

/** Returns the answer to an accepted request. Dropped events are answered alike; only the header reveals them. */
const accepted = (dropped: number): CollectAnswer => ({
  status: 202,
  headers: dropped === 0 ? {} : { "x-plausible-dropped": String(dropped) },
  body: "ok",
})

/** Answers a debug request (`X-Debug-Request`): nothing is stored. The answer contains the client address that was used and the first drop reason. */
function explain(results: readonly (Candidate | Outcome)[], client: Client): CollectAnswer {
  const reason = results.flatMap((result) => (isCandidate(result) || result.reason === undefined ? [] : [result.reason]))[0]
  return { status: 200, headers: reason === undefined ? {} : { "x-footfall-dropped": reason }, body: client.address?.text ?? "" }
}
