import { AppError } from "../../domain/error.ts"
import type { NewEvent } from "../../domain/event.ts"
import { ANONYMOUS, type RecordKind } from "../../domain/record.ts"
import type { Site } from "../../domain/site.ts"
import type { Client } from "../address/client-address.ts"
import { type Candidate, type RequestFacts, traitsOf } from "../draft.ts"
import { acquisitionOf, firstLanguage, foreignReferrer } from "../enrich/values.ts"
import { type VisitorKeys, visitorKeys } from "../identity/identity.ts"
import { rotatingIds } from "../identity/visitor.ts"
import { NOTHING_SENT } from "../payloads/incoming.ts"
import { NOWHERE } from "../place/place.ts"
import { NO_AGENT } from "../request/agent.ts"
import { isPreparing, type Requester } from "../request/request.ts"
import { splitAddress } from "../request/web-address.ts"
import type { Intake } from "./intake.ts"

/** A record that an area stores for a request. */
export interface NewRecord {
  kind: RecordKind
  /** `link_click`, `pixel_open`. */
  name: string
  /** Properties of the record. Values are texts, as for events. */
  props: NewEvent["props"]
  /** Whether the request came through a mail program or cache, so that place, device, browser and system are not the visitor's. */
  proxied?: boolean
}

/** A record with the request that it was made for, and the time of the request. */
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
 * visitor with the visit that follows. No rule drops it, because areas report bots themselves. A visitor who objects (DNT, GPC) is
 * stored without identity and place, and the record is marked as anonymous. The client address is not passed on. Rejects when it could not be stored.
 */
export async function storeRecord(intake: RecordIntake, arrived: ArrivedRecord): Promise<void> {
  await intake.buffer.store([await prepareRecord(intake, arrived)], RECORD_BYTES)
}

/** Stores many records in one transaction. Resolves once they are stored or lost. Their requests are already answered, so it never rejects. */
export async function storeRecords(intake: RecordIntake, records: readonly ArrivedRecord[]): Promise<void> {
  const ready: Candidate[] = []
  const late: Promise<void>[] = []
  for (const arrived of records) {
    try {
      const candidate = prepareRecord(intake, arrived)
      if (candidate instanceof Promise) late.push(candidate.then((one) => storeOrReport(intake, [one]), report(intake)))
      else ready.push(candidate)
    } catch (error) {
      report(intake)(error)
    }
  }
  // Nothing is awaited before this point, because records that are stored at the end of the process have no time left.
  await Promise.all([ready.length > 0 && storeOrReport(intake, ready), ...late])
}

/** Stores records. When a fault in our own code fails the group, each is stored on its own, so that only the faulty one is lost. */
async function storeOrReport(intake: RecordIntake, candidates: readonly Candidate[]): Promise<void> {
  try {
    await intake.buffer.store(candidates, candidates.length * RECORD_BYTES, true)
  } catch (error) {
    if (candidates.length === 1 || error instanceof AppError) report(intake)(error)
    else await Promise.all(candidates.map((candidate) => storeOrReport(intake, [candidate])))
  }
}

/** Reports a fault. An AppError is not reported, because the buffer has counted the refused records. */
const report =
  ({ onError }: RecordIntake) =>
  (error: unknown): void => {
    if (!(error instanceof AppError)) onError?.(error)
  }

/** Prepares a record. Asynchronous only while secrets are not in memory yet: for the first request of a period. */
function prepareRecord(intake: RecordIntake, arrived: ArrivedRecord): Candidate | Promise<Candidate> {
  const { site, at, requester } = arrived
  const { objects } = requester.facts
  const keys = visitorKeys(intake, { site, incoming: NOTHING_SENT, objects, at, now: intake.clock.now() })
  const day = intake.calendar.day(site, at)
  return keys instanceof Promise ? keys.then((known) => recordCandidate(arrived, known, day)) : recordCandidate(arrived, keys, day)
}

function recordCandidate({ site, record, url, requester, at }: ArrivedRecord, { current }: VisitorKeys, day: string): Candidate {
  const { client, facts } = requester
  const { name, kind, props, proxied } = record
  const { objects, userAgent } = facts
  const { host, path, query } = splitAddress(url)
  const referrer = foreignReferrer(facts.referer, { hostname: host, hosts: site.hosts })
  const [id] = rotatingIds([current.salt], { siteId: site.id, address: client.address?.bytes, userAgent })
  return {
    siteId: site.id,
    day,
    event: {
      at,
      name,
      page: path,
      hostname: host,
      title: "",
      interactive: false,
      props: objects ? [...props, [ANONYMOUS, "1"]] : props,
    },
    traits: traitsOf({
      acquisition: acquisitionOf(query, referrer),
      referrer,
      place: objects || proxied ? NOWHERE : requester.place,
      agent: proxied || userAgent === "" ? NO_AGENT : requester.agent,
      size: "",
      language: firstLanguage(facts.acceptLanguage),
    }),
    // A record joins no visit, so the id by the previous salt is not needed.
    identity: { current: { period: current.period, id: id! }, previous: undefined, person: undefined },
    id: "",
    counters: [],
    identifies: false,
    records: kind,
    isAnonymous: objects,
  }
}

/** Approximate memory of a waiting record. */
const RECORD_BYTES = 1_024

/** Facts about the sender of a request that do not identify the sender. "" is missing. */
export interface SenderFacts {
  isBot: boolean
  /** Whether a browser or mail program only prefetches it. */
  isPrefetch: boolean
  /** Whether the request has a user agent. */
  hasAgent: boolean
  device: string
  browser: string
  os: string
  /** ISO 3166-1 and 3166-2 codes, looked up at first use. */
  readonly country: string
  readonly region: string
  language: string
  /** Whether the visitor objects to tracking (DNT, GPC). Then none of these facts may be stored. */
  objects: boolean
  /** Equal for requests with the same address and user agent while this process runs. Must never be stored. */
  sameness: number
}

export function senderFacts(requester: Requester, seed: number): SenderFacts {
  const { client, facts, agent } = requester
  const { isBot, device, browser, os } = agent
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
    language: firstLanguage(facts.acceptLanguage),
    objects: facts.objects,
    sameness: samenessOf(client, facts, seed),
  }
}

/** Returns a hash by which rate limits recognize a client. The seed makes it meaningless outside this process. */
export const samenessOf = (client: Client, { userAgent }: Pick<RequestFacts, "userAgent">, seed: number): number =>
  Bun.hash.xxHash32(userAgent, Bun.hash.xxHash32(client.address?.text ?? "", seed))
