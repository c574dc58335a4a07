import { AppError } from "../domain/error.ts"
import type { NewEvent } from "../domain/event.ts"
import type { RecordKind } from "../domain/record.ts"
import type { Site } from "../domain/site.ts"
import { agentOf, NO_AGENT } from "./agent.ts"
import { type Candidate, candidateOf } from "./candidate.ts"
import type { Client } from "./client-address.ts"
import { newDraft, type RequestFacts } from "./draft.ts"
import type { VisitorKeys } from "./identity.ts"
import type { Intake } from "./intake.ts"
import { visitorKeys } from "./keys.ts"
import { firstLanguage } from "./language.ts"
import { NOTHING_SENT } from "./payloads/foreign.ts"
import type { Incoming } from "./payloads/incoming.ts"
import { isPreparing } from "./request.ts"
import type { Requester } from "./requester.ts"
import type { Shields } from "./shields.ts"
import * as values from "./steps/values.ts"
import { setVisitor } from "./steps/visitor.ts"
import { splitAddress } from "./web-address.ts"

/** What an area records of a request. */
export interface NewRecord {
  kind: RecordKind
  /** `link_click`, `pixel_open`. */
  name: string
  /** What the record is about, by key. Texts, as properties of events are. */
  props: NewEvent["props"]
  /** The request came through somebody else (a mail program, a cache): place, device, browser and system are not the visitor's. */
  proxied?: boolean
}

/** A request for which something is recorded, and when it came. */
export interface ArrivedRecord {
  site: Site
  record: NewRecord
  url: string
  requester: Requester
  /** Epoch ms. */
  at: number
}

export type RecordIntake = Pick<Intake, "buffer" | "calendar" | "clock" | "salts" | "identityKeys" | "onError">

/**
 * Stores a record of a request with the visitor it comes from: by the same input and salt as collection, so that it shares its
 * visitor with the visit that follows. No rule drops it, because areas show what is a bot. Whoever objects (DNT, GPC) is stored
 * without visitor and place. Here the address ends. Rejects when it could not be stored.
 */
export async function storeRecord(intake: RecordIntake, arrived: ArrivedRecord): Promise<void> {
  await intake.buffer.store([await readied(intake, arrived)], RECORD_BYTES)
}

/** The same of many, in one transaction. Resolves once they are stored or lost: whoever was answered is told of nothing any more. */
export async function storeRecords(intake: RecordIntake, records: readonly ArrivedRecord[]): Promise<void> {
  const ready: Candidate[] = []
  const late: Promise<void>[] = []
  for (const arrived of records) {
    try {
      const candidate = readied(intake, arrived)
      if (candidate instanceof Promise) late.push(candidate.then((one) => storeOrTell(intake, [one]), tell(intake)))
      else ready.push(candidate)
    } catch (error) {
      tell(intake)(error)
    }
  }
  // Nothing is waited for before: what is to be stored at the end of the process has no time left.
  await Promise.all([ready.length > 0 && storeOrTell(intake, ready), ...late])
}

/** A fault in our own code takes the group of a commit with it: then each is stored for itself, and only that one is lost. */
async function storeOrTell(intake: RecordIntake, candidates: readonly Candidate[]): Promise<void> {
  try {
    await intake.buffer.store(candidates, candidates.length * RECORD_BYTES)
  } catch (error) {
    if (candidates.length === 1 || error instanceof AppError) tell(intake)(error)
    else await Promise.all(candidates.map((candidate) => storeOrTell(intake, [candidate])))
  }
}

/** A store that is full or busy has counted what it refused. */
const tell =
  ({ onError }: RecordIntake) =>
  (error: unknown): void => {
    if (!(error instanceof AppError)) onError?.(error)
  }

/** Waits only for secrets that are not in memory yet: the first request of a period. */
function readied(intake: RecordIntake, arrived: ArrivedRecord): Candidate | Promise<Candidate> {
  const { site, at } = arrived
  const { objects } = arrived.requester.facts
  const incoming = incomingOf(arrived)
  const keys = visitorKeys(intake, { site, incoming, objects, at, now: intake.clock.now() })
  const conclude = (known: VisitorKeys) => recordCandidate(arrived, { incoming, keys: known, day: intake.calendar.day(site, at) })
  return keys instanceof Promise ? keys.then(conclude) : conclude(keys)
}

interface Readied {
  incoming: Incoming
  keys: VisitorKeys
  day: string
}

function recordCandidate({ site, record, requester, at }: ArrivedRecord, { incoming, keys, day }: Readied): Candidate {
  const { client, facts } = requester
  const { current } = keys
  const { address } = incoming
  const draft = newDraft(
    // A record joins no visit, so the id by the salt before finds nothing and is not made.
    {
      site,
      incoming,
      sender: "server",
      request: facts,
      at,
      hostname: address.host,
      address: client.address,
      keys: { current, previous: undefined, identity: undefined },
    },
    NO_SHIELDS,
  )
  values.setAgent(draft)
  values.setReferrer(draft)
  values.setAcquisition(draft)
  values.setLanguage(draft)
  draft.page = address.path
  draft.props = incoming.props
  setVisitor(draft)
  if (!facts.objects && !record.proxied) draft.place = requester.place
  if (record.proxied) draft.agent = NO_AGENT
  const candidate = candidateOf(draft, day)
  candidate.records = record.kind
  candidate.isNobody = facts.objects
  return candidate
}

/** About what a record takes in memory while it waits. */
const RECORD_BYTES = 1_024

/** Nothing is refused here, so no rule is ever asked. */
const NO_SHIELDS = {} as Shields

const incomingOf = ({ record: { name, props }, url, requester: { facts } }: ArrivedRecord): Incoming => ({
  ...NOTHING_SENT,
  name,
  address: splitAddress(url),
  referrer: facts.referer,
  props,
  interactive: false,
})

/** What a request tells of who sent it, without who that is. "" is missing. */
export interface SenderFacts {
  isBot: boolean
  /** Nobody has asked for it yet: a browser or a mail program only prepares it. */
  isPrefetch: boolean
  /** Some user agent is named at all. */
  hasAgent: boolean
  device: string
  browser: string
  os: string
  /** ISO 3166-1, and 3166-2. Looked up when they are asked for. */
  readonly country: string
  readonly region: string
  language: string
  /** Does not want to be followed (DNT, GPC): nothing of the above may be kept of them. */
  objects: boolean
  /** Equal for requests of one address and user agent while this process runs; means nothing anywhere else. Never to be kept. */
  sameness: number
}

export function senderFacts(requester: Requester, seed: number): SenderFacts {
  const { client, facts } = requester
  const { isBot, device, browser, os } = agentOf(facts.userAgent)
  const language = firstLanguage(facts.acceptLanguage)
  return {
    isBot,
    isPrefetch: isPreparing(facts.purpose),
    hasAgent: facts.userAgent !== "",
    device,
    browser,
    os,
    get country() {
      return requester.place.country
    },
    get region() {
      return requester.place.region
    },
    language,
    objects: facts.objects,
    sameness: samenessOf(client, facts, seed),
  }
}

/** Of one client as limits take it for one; the seed keeps it from meaning anything outside this process. */
export const samenessOf = (client: Client, { userAgent }: Pick<RequestFacts, "userAgent">, seed: number): number =>
  Bun.hash.xxHash32(userAgent, Bun.hash.xxHash32(client.address?.text ?? "", seed))
