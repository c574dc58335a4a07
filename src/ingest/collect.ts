/**
 * Takes events: which payload, which site, which address; then the pipeline, then the buffer. What is answered as accepted
 * is on disk.
 */
import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import type { Shield } from "../domain/shield.ts"
import type { Site, SiteDirectory } from "../domain/site.ts"
import type { EventStore } from "../store/events/events.ts"
import type { AddressList } from "./address-list.ts"
import { type BufferOptions, EventBuffer } from "./buffer.ts"
import { createCalendar } from "./calendar.ts"
import { type Candidate, candidateOf } from "./candidate.ts"
import { type AddressRanges, addressRanges, type Client, clientOf } from "./client-address.ts"
import type { RequestFacts, Sender } from "./draft.ts"
import { noteEarly, noteFrom, noteInvalid, noteWithoutSite } from "./drop-notes.ts"
import type { DropNote } from "./drop-tally.ts"
import { collectForeign, type ForeignOutcome, type Ways } from "./foreign.ts"
import type { Intake } from "./intake.ts"
import { visitorKeys } from "./keys.ts"
import type { ForeignPayload } from "./payloads/foreign.ts"
import type { Incoming } from "./payloads/incoming.ts"
import { readNative } from "./payloads/native.ts"
import { readPixel } from "./payloads/pixel.ts"
import { createPipeline } from "./pipeline.ts"
import { type PlaceFile, placeOf, watchPlaceFile } from "./places.ts"
import { createRates, type RateLimits } from "./rates.ts"
import { createRecordQueue } from "./record-queue.ts"
import { type ArrivedRecord, type NewRecord, type SenderFacts, samenessOf, senderFacts, storeRecord, storeRecords } from "./records.ts"
import { type CollectRequest, readRequest } from "./request.ts"
import { Requester } from "./requester.ts"
import type { IdentityKeys, Salts } from "./salts.ts"
import { collectFromServer, type ServerAnswer } from "./server-events.ts"
import { createShields } from "./shields.ts"
import type { SwitchedStep } from "./steps/areas.ts"
import { hostOf, targetsOf } from "./which-site.ts"

export interface CollectorOptions extends Pick<BufferOptions, "onHindrance" | "counts" | "watch"> {
  directory: SiteDirectory
  store: Pick<EventStore, "append" | "sync" | "syncNow" | "probe" | "forgetVisitors">
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
  /** Shields for all sites: the same list until it changes, then another one. */
  instanceShields?(): readonly Shield[]
  /** What areas add to events. */
  areaSteps?(): readonly SwitchedStep[]
  limits: RateLimits
  /** Told of a fault in our own code. */
  onError?(error: unknown): void
  /** Told, once, of a file of places that cannot be read. */
  onPlaceFault?(cause: string): void
  /** Told when a peer that is no trusted proxy sends forwarded headers, which then do not count. */
  onForwardedIgnored?(peer: string): void
}

export interface CollectAnswer {
  status: number
  /** Without a content type among them the body is plain text. */
  headers: Record<string, string>
  body: string
}

export interface Collector {
  /** Takes one request of a tracker. Throws AppError: `invalid_event`, `rate_limited`, `unavailable`, `storage_full`. */
  collect(request: CollectRequest): Promise<CollectAnswer>
  /**
   * Takes one request of another product's client: what became of each of its events, in their order, or what is answered
   * to a question. Throws AppError: `invalid_event` for what holds no events, `unavailable`, `storage_full`; then nothing of
   * the request was stored.
   */
  collectForeign(request: CollectRequest, payload: ForeignPayload): Promise<readonly ForeignOutcome[] | CollectAnswer>
  /** Takes events of a site's own server, of any shape; each is judged for itself. */
  collectServerEvents(site: Site, events: readonly unknown[]): Promise<ServerAnswer>
  /** What a request tells of who sent it, without who that is. */
  senderOf(request: CollectRequest): SenderFacts
  /** Whether the client's address, behind trusted proxies, is in a list. */
  comesFrom(list: AddressList, request: CollectRequest): boolean
  /** Stores a record of an area, of a request that the area answers itself. Rejects when it could not be stored. */
  record(site: Site, record: NewRecord, request: CollectRequest): Promise<void>
  /**
   * The same once the answer is on its way. Takes all it needs of the request now; what cannot be stored is counted as
   * refused, and told to nobody: at most 10,000 wait.
   */
  recordLater(site: Site, record: NewRecord, request: CollectRequest): void
  /** Resolves when what waits now is on disk, or lost. */
  recorded(): Promise<void>
  /** The client's address behind trusted proxies, for limits elsewhere; never to be kept. */
  clientAddress(peer: string | undefined, headers: Headers): string | undefined
  /** Where the client is, as a visitor's place is found but for the browser's time zone; "" is missing. Keeps no address. */
  clientPlace(peer: string | undefined, headers: Headers): { country: string; city: string }
  /** Something stored is damaged: events are refused from now on. */
  meetDamage(): void
  /** Writes what waits, now. */
  flush(): void
  /** Writes what waits and takes nothing more. */
  stop(): void
  /** Events waiting for their commit. */
  readonly depth: number
}

/** Either on its way to the store, or dropped; `retryAfter` seconds when it came too fast. */
export type Verdict = { candidate: Candidate } | { note: DropNote; retryAfter?: number }

/** An event that could be read, with what its request tells. */
export interface Readable {
  incoming: Incoming
  facts: RequestFacts
  client: Client
  sender: Sender
  hostname: string
  now: number
}

const NO_SHIELDS: readonly Shield[] = []
const noShields = () => NO_SHIELDS
const ignore = () => {}

/** About what an event takes in memory beside its text. */
const EVENT_BYTES = 512

export function createCollector(options: CollectorOptions): Collector {
  const { directory, placeFile, onPlaceFault = ignore } = options
  const trusted = addressRanges(options.trustedProxies)
  const buffer = new EventBuffer(options)
  const shieldsOf = createShields(options.instanceShields ?? noShields)
  const intake: Intake = { ...options, calendar: createCalendar(), pipeline: createPipeline({ ...options, placeFile, shieldsOf }), buffer }
  const seed = new DataView(options.random(4).buffer).getUint32(0)
  const judge = createJudge(intake, createRates(options.limits), seed)
  const readSender = senderReader(options, trusted)
  const requesterOf = readOnce(readSender, placeFile)
  const arrivedOf = (site: Site, record: NewRecord, request: CollectRequest): ArrivedRecord => {
    const requester = requesterOf(request)
    return { site, record, url: request.url, requester, at: options.clock.now() }
  }
  const later = createRecordQueue({
    store: (records) => storeRecords(intake, records),
    onLost: ({ site }) => options.counts?.add(site.id, "refused_queue"),
  })
  const read = createReader(intake, directory, readSender)
  const unwatch = placeFile && watchPlaceFile(placeFile, onPlaceFault)
  return {
    async collect(request) {
      const event = read(request)
      const verdicts: Verdict[] = []
      for (const target of targetsOf(directory, event.incoming.named, event.hostname)) {
        const verdict = target.site ? judge(target.site, event) : { note: noteWithoutSite("unknown_site", target.sent, event.now) }
        verdicts.push(verdict instanceof Promise ? await verdict : verdict)
      }
      if (request.headers.get("x-debug-request") === "true") return explain(verdicts, event.client)
      const { candidates, retryAfter } = sorted(buffer, verdicts)
      const bytes = request.body.length + candidates.length * EVENT_BYTES
      const outcomes = candidates.length === 0 ? [] : await buffer.store(candidates, bytes)
      if (retryAfter > 0) throw new AppError("rate_limited", "Too many events.", { retry_after: retryAfter })
      return accepted(verdicts.length - outcomes.filter((reason) => reason === undefined).length)
    },
    collectForeign: (request, payload) => collectForeign({ intake, directory, readSender, judge, explain }, request, payload),
    collectServerEvents: (site, events) => collectFromServer(intake, site, events),
    senderOf: (request) => senderFacts(requesterOf(request), seed),
    comesFrom(list, request) {
      const { address } = requesterOf(request).client
      return address !== undefined && list.has(address)
    },
    record: (site, record, request) => storeRecord(intake, arrivedOf(site, record, request)),
    recordLater: (site, record, request) => later.add(arrivedOf(site, record, request)),
    recorded: later.settled,
    clientAddress: (peer, headers) => clientOf(peer, headers.get("x-forwarded-for"), trusted).address?.text,
    clientPlace(peer, headers) {
      const { client, facts } = readRequest({ peer, headers }, { trusted, geoHeader: options.geoHeader })
      const { country } = placeOf(placeFile, client.address, facts.country)
      // A proxy names no city, and the file may have the address in another country than the proxy.
      const city = facts.country === "" && client.address && placeFile?.cityName(client.address)
      return { country, city: city || "" }
    },
    meetDamage: () => buffer.meetDamage(),
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

/** What a request tells beside its payload. The one place that decides which address counts. */
function senderReader({ geoHeader, onForwardedIgnored }: CollectorOptions, trusted: AddressRanges): Ways["readSender"] {
  return (request) => {
    const read = readRequest(request, { trusted, geoHeader })
    if (!read.client.viaProxy && request.peer !== undefined && request.headers.has("x-forwarded-for")) onForwardedIgnored?.(request.peer)
    return read
  }
}

/** For areas, which ask what sent a request and then record it: its headers are read once, and its place is looked up once. */
function readOnce(readSender: Ways["readSender"], placeFile: PlaceFile | undefined): (request: CollectRequest) => Requester {
  const known = new WeakMap<Headers, Requester>()
  return (request) => {
    let requester = known.get(request.headers)
    if (!requester) {
      requester = new Requester(readSender(request), placeFile)
      known.set(request.headers, requester)
    }
    return requester
  }
}

/** Reads a request of the tracker or of a pixel, or throws `invalid_event` and counts it. */
function createReader(intake: Intake, directory: SiteDirectory, readSender: Ways["readSender"]) {
  return (request: CollectRequest): Readable => {
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

/** Judges an event for one of its sites. Waits only for secrets that are not in memory yet. */
function createJudge(intake: Intake, rates: ReturnType<typeof createRates>, seed: number) {
  const { clock, calendar, pipeline } = intake

  return (site: Site, { incoming, facts, client, sender, hostname, now }: Readable): Verdict | Promise<Verdict> => {
    const at = now - incoming.ageMs
    const day = calendar.day(site, at)
    const retryAfter = rates.take(samenessOf(client, facts, seed), site.id, clock.monotonic())
    if (retryAfter !== undefined) {
      return { note: noteEarly("rate", site, { day, at, hostname, userAgent: facts.userAgent }), retryAfter }
    }
    const conclude = (keys: Awaited<ReturnType<typeof visitorKeys>>): Verdict => {
      const arrival = { site, incoming, sender, request: facts, at, hostname, address: client.address, keys }
      const passage = pipeline(arrival)
      return "drop" in passage ? { note: noteFrom(passage.draft, passage.drop, day) } : { candidate: candidateOf(passage.draft, day) }
    }
    const keys = visitorKeys(intake, { site, incoming, objects: facts.objects, at, now })
    return keys instanceof Promise ? keys.then(conclude) : conclude(keys)
  }
}

/** What passed is to be stored, the rest is counted. */
function sorted(buffer: EventBuffer, verdicts: readonly Verdict[]): { candidates: readonly Candidate[]; retryAfter: number } {
  const candidates: Candidate[] = []
  let retryAfter = 0
  for (const verdict of verdicts) {
    if ("candidate" in verdict) candidates.push(verdict.candidate)
    else {
      buffer.drop(verdict.note)
      retryAfter = Math.max(retryAfter, verdict.retryAfter ?? 0)
    }
  }
  return { candidates, retryAfter }
}

/** A dropped event is answered like an accepted one; the header says so to those who look. */
const accepted = (dropped: number): CollectAnswer => ({
  status: 202,
  headers: dropped === 0 ? {} : { "x-plausible-dropped": String(dropped) },
  body: "ok",
})

/** `X-Debug-Request`: nothing is stored; the answer tells which address counts and whether the event would. */
function explain(verdicts: readonly Verdict[], client: Client): CollectAnswer {
  const reason = verdicts.flatMap((verdict) => ("note" in verdict ? [verdict.note.reason] : []))[0]
  return { status: 200, headers: reason === undefined ? {} : { "x-footfall-dropped": reason }, body: client.address?.text ?? "" }
}
