import { edenGC, fullGC } from "bun:jsc"
import { AppError, type Fault } from "../../domain/error.ts"
import type { DropReason } from "../../domain/event.ts"
import { COLLECT } from "../../domain/limits.ts"
import type { Site } from "../../domain/site.ts"
import { type Candidate, isCandidate, type Outcome } from "../draft.ts"
import { moneyOf, type RevenueFault } from "../enrich/values.ts"
import { isDestroyed, personKind, type VisitorKeys, visitorKeys } from "../identity/identity.ts"
import type { Period } from "../identity/salt-period.ts"
import { readServerEvent, type ServerEvent } from "../payloads/server.ts"
import { serverFacts } from "../request/request.ts"
import type { Intake } from "./intake.ts"

/** Response to a request of a server. The three numbers add up to the events sent. */
export interface ServerAnswer {
  accepted: number
  rejected: { index: number; code: string; detail: string }[]
  dropped: { index: number; reason: DropReason }[]
}

const EVENT_BYTES = 1_024
/** Number of events that are in memory before their commit, unless one request has more. Others wait, as read from the connection. */
const EVENTS_AT_ONCE = 2_000
/**
 * Number of events after which young objects are collected, which takes about 2 ms, and all garbage, which takes about 12. Each event leaves
 * about ten kilobytes, and what is in use while young objects are collected survives until all are. By itself the collector would let that
 * grow to 200 MB.
 */
const EVENTS_PER_COLLECTION = 4_000
const EVENTS_PER_FULL_COLLECTION = 20_000

/** Creates the function that stores the valid events of a site's own server in one transaction (api.md section 9). */
export function createServerCollector(intake: Intake): (site: Site, sent: readonly unknown[]) => Promise<ServerAnswer> {
  const queue = createRequestQueue()
  const collectGarbage = createCollection()
  return async (site, sent) => {
    const now = intake.clock.now()
    const begin = queue.enter(sent.length)
    if (!begin) {
      for (const _ of sent) intake.counts?.add(site.id, "refused_queue")
      throw new AppError("unavailable", "Events cannot be stored for now.", { retry_after: 1 })
    }
    await begin
    const keys = requestKeys(intake)
    try {
      // A back-fill can be faster than sealing. Its requests wait, so that the memory of what is not sealed stays bounded.
      await intake.store.room()
      return await collectAll(intake, site, sent, now, keys)
    } finally {
      keys.forget(site.id)
      queue.leave(sent.length)
      collectGarbage(sent.length)
    }
  }
}

/** Creates the function that collects the garbage of events that are stored. */
function createCollection(): (events: number) => void {
  let sinceAny = 0
  let sinceFull = 0
  return (events) => {
    sinceAny += events
    sinceFull += events
    if (sinceAny < EVENTS_PER_COLLECTION) return
    sinceAny = 0
    if (sinceFull < EVENTS_PER_FULL_COLLECTION) return edenGC()
    sinceFull = 0
    fullGC()
  }
}

/**
 * Lets requests begin in order while the events of those that have begun are few enough. Those that wait have at most as many events as the
 * queue of the commits.
 */
function createRequestQueue() {
  const waiting: { events: number; begin(): void }[] = []
  let begun = 0
  let waitingEvents = 0
  function admit(): void {
    for (let next = waiting[0]; next && (begun === 0 || begun + next.events <= EVENTS_AT_ONCE); next = waiting[0]) {
      waiting.shift()
      waitingEvents -= next.events
      begun += next.events
      next.begin()
    }
  }
  return {
    /** Resolves when a request may begin, which must leave at its end. Undefined when too many wait. */
    enter(events: number): Promise<void> | undefined {
      if (waitingEvents > 0 && waitingEvents + events > COLLECT.queueEvents) return undefined
      return new Promise((begin) => {
        waiting.push({ events, begin })
        waitingEvents += events
        admit()
      })
    },
    leave(events: number): void {
      begun -= events
      admit()
    },
  }
}

async function collectAll(intake: Intake, site: Site, sent: readonly unknown[], now: number, keys: RequestKeys): Promise<ServerAnswer> {
  const cutoff = retentionCutoff(site, now)
  const answer: ServerAnswer = { accepted: 0, rejected: [], dropped: [] }
  const accepted: AcceptedEvent[] = []
  for (const [index, item] of sent.entries()) {
    const event = checked(item, site, now, cutoff)
    if ("code" in event) {
      answer.rejected.push({ index, code: event.code, detail: event.detail })
      continue
    }
    const known = keys.of(site, event, now)
    const result = prepare(intake, site, event, known instanceof Promise ? await known : known)
    if (isCandidate(result)) accepted.push({ index, candidate: result })
    else answer.dropped.push({ index, reason: result.reason! })
  }
  await storeAll(intake, accepted, answer)
  answer.dropped.sort((left, right) => left.index - right.index)
  return answer
}

/** An event that passed the site's rules, with its position in the request. */
interface AcceptedEvent {
  index: number
  candidate: Candidate
}

/**
 * Stores events in the order of their times, so that the visits of a backfill do not depend on the order in which the events were
 * sent: of two pageviews around midnight, only the later one looks for the visit of the other.
 */
async function storeAll({ buffer }: Intake, accepted: readonly AcceptedEvent[], answer: ServerAnswer): Promise<void> {
  if (accepted.length === 0) return
  const inOrder = accepted.toSorted((a, b) => a.candidate.event.at - b.candidate.event.at)
  const candidates = inOrder.map(({ candidate }) => candidate)
  for (const [at, reason] of (await buffer.store(candidates, candidates.length * EVENT_BYTES)).entries()) {
    if (reason) answer.dropped.push({ index: inOrder[at]!.index, reason })
    else answer.accepted++
  }
}

type Checked = ServerEvent & { at: number }

/** Returns the event with its time, or its first fault. */
function checked(item: unknown, site: Site, now: number, cutoff: number): Checked | Fault {
  const event = readServerEvent(item)
  if ("code" in event) return event
  const at = momentOf(event, now)
  return retentionFault(at, cutoff) ?? revenueFault(event, site) ?? { ...event, at }
}

/** Returns the time of an event. A timestamp more than a minute in the future counts as now, because the clock of the sender is wrong. */
const momentOf = ({ timestamp }: ServerEvent, now: number): number =>
  timestamp === undefined || timestamp > now + COLLECT.futureMs ? now : timestamp

/** Returns local midnight of today − `retention_days`. Earlier visits are deleted or soon will be. */
function retentionCutoff(site: Site, now: number): number {
  if (site.retention_days === null) return 0
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(site.timezone).toPlainDate()
  return today.subtract({ days: site.retention_days }).toZonedDateTime(site.timezone).epochMilliseconds
}

const retentionFault = (at: number, cutoff: number): Fault | undefined =>
  at < cutoff
    ? { pointer: "/timestamp", code: "beyond_retention", detail: "timestamp is older than the retention period of the site." }
    : undefined

const SAYS: Readonly<Record<RevenueFault, string>> = {
  invalid_currency: "must have a current ISO 4217 currency code, such as EUR",
  invalid_amount: "must have an amount in major units, as a number or decimal string",
  too_many_decimals: "has more decimal places than its currency",
}

function revenueFault({ incoming }: ServerEvent, site: Site): Fault | undefined {
  const money = incoming.revenue && moneyOf(incoming.revenue, site.revenue_currency)
  return typeof money === "string" ? { pointer: "/revenue", code: money, detail: `revenue ${SAYS[money]}.` } : undefined
}

/** Runs the pipeline on an event, and counts it when it is dropped. */
function prepare(intake: Intake, site: Site, { incoming, ip, userAgent, at }: Checked, keys: VisitorKeys): Candidate | Outcome {
  const request = serverFacts(userAgent)
  const arrival = { site, incoming, sender: "server", request, at, hostname: incoming.address.host, address: ip, keys } as const
  const result = intake.prepare(arrival, intake.calendar.day(site, at))
  if (!isCandidate(result)) for (const note of result.notes ?? []) intake.buffer.drop(note)
  return result
}

/**
 * Creates the keys of one request. A period whose salt is destroyed, current or previous, gets a random salt under a name of
 * this request: visitors merge inside the request, also over midnight, and never with others. The names are stored nowhere.
 */
function requestKeys(intake: Intake) {
  const request = `~${Buffer.from(intake.random(16)).toString("hex")}`
  const salts = new Map<string, Uint8Array>()
  /** The keys by period, of events that identify no one. */
  const anonymous = new Map<string, VisitorKeys>()
  const instead = ({ name }: Period): VisitorKeys["current"] => {
    const period = `${request} ${name}`
    const salt = salts.get(period) ?? intake.random(32)
    salts.set(period, salt)
    return { period, salt }
  }
  return {
    /** Returns the keys of an event. Asynchronous only while secrets are not in memory yet. */
    of(site: Site, { incoming, at }: Pick<Checked, "incoming" | "at">, now: number): VisitorKeys | Promise<VisitorKeys> {
      const { current, previous } = intake.calendar.periods(site, at)
      const isAnonymous = personKind(site, incoming, false) === undefined
      const known = isAnonymous ? anonymous.get(current.name) : undefined
      if (known) return known
      const complete = (stored: VisitorKeys): VisitorKeys => {
        const keys = {
          ...stored,
          current: isDestroyed(current, now) ? instead(current) : stored.current,
          previous: stored.previous ?? instead(previous),
        }
        if (isAnonymous) anonymous.set(current.name, keys)
        return keys
      }
      const stored = visitorKeys(intake, { site, incoming, objects: false, at, now })
      return stored instanceof Promise ? stored.then(complete) : complete(stored)
    },
    /** Destroys the lookup of visitors by the request's own salts. */
    forget(siteId: number): void {
      for (const period of salts.keys()) intake.store.forgetVisitors(siteId, period)
    },
  }
}
type RequestKeys = ReturnType<typeof requestKeys>
