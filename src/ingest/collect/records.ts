import { AppError } from "../../domain/error.ts"
import type { NewEvent } from "../../domain/event.ts"
import { ANONYMOUS, type RecordKind } from "../../domain/record.ts"
import type { Site } from "../../domain/site.ts"
import type { VisitTraits } from "../../domain/visit.ts"
import type { Client } from "../address/client-address.ts"
import { type Acquisition, type Candidate, type RequestFacts, traitsOf } from "../draft.ts"
import type { Referrer } from "../enrich/referrer.ts"
import { acquisitionOf, firstLanguage, foreignReferrer } from "../enrich/values.ts"
import { type VisitorKeys, visitorKeys } from "../identity/identity.ts"
import { identityOf } from "../identity/visitor.ts"
import { NOTHING_SENT } from "../payloads/incoming.ts"
import { NOWHERE, type Place } from "../place/place.ts"
import { type Agent, NO_AGENT } from "../request/agent.ts"
import { isPreparing, type Requester } from "../request/request.ts"
import { splitAddress, type WebAddress } from "../request/web-address.ts"
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
  await intake.buffer.store([await new RecordGroup(intake).prepare(arrived)], RECORD_BYTES)
}

/** Stores many records in one transaction. Resolves once they are stored or lost. Their requests are already answered, so it never rejects. */
export async function storeRecords(intake: RecordIntake, records: readonly ArrivedRecord[]): Promise<void> {
  const ready: Candidate[] = []
  const late: Promise<void>[] = []
  const group = new RecordGroup(intake)
  for (const arrived of records) {
    try {
      const candidate = group.prepare(arrived)
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

/** Maximum number of different traits that are kept for one user agent. */
const MAX_SHARED_TRAITS = 32

/**
 * Prepares records that are stored together. What many of them have in common is computed once: the keys of a moment, the parts of a URL, and
 * the traits of visitors with the same browser, language, place and referrer.
 */
class RecordGroup {
  readonly #intake: RecordIntake
  readonly #traits = new Map<Agent, SharedTraits[]>()
  #moment: Moment | undefined
  #url = ""
  #address = splitAddress("")

  constructor(intake: RecordIntake) {
    this.#intake = intake
  }

  /** Returns a record ready for the store. Asynchronous only while secrets are not in memory yet: for the first request of a period. */
  prepare(arrived: ArrivedRecord): Candidate | Promise<Candidate> {
    const { site, at } = arrived
    const moment = this.#moment
    if (moment?.site === site && moment.at === at) return this.#candidate(arrived, moment.keys, moment.day)
    const keys = visitorKeys(this.#intake, { site, incoming: NOTHING_SENT, objects: true, at, now: this.#intake.clock.now() })
    const day = this.#intake.calendar.day(site, at)
    if (keys instanceof Promise) return keys.then((known) => this.#candidate(arrived, known, day))
    this.#moment = { site, at, keys, day }
    return this.#candidate(arrived, keys, day)
  }

  #candidate({ site, record, url, requester, at }: ArrivedRecord, { current }: VisitorKeys, day: string): Candidate {
    const { client, facts } = requester
    const { name, kind, props, proxied } = record
    const { objects, userAgent } = facts
    const { host, path, query } = this.#addressOf(url)
    const referrer = foreignReferrer(facts.referer, { hostname: host, hosts: site.hosts })
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
      traits: this.#traitsOf(
        acquisitionOf(query, referrer),
        referrer,
        objects || proxied ? NOWHERE : requester.place,
        proxied || userAgent === "" ? NO_AGENT : requester.agent,
        firstLanguage(facts.acceptLanguage),
      ),
      // A record joins no visit, so the id by the previous salt is not needed.
      identity: identityOf({ current, previous: undefined }, { siteId: site.id, address: client.address?.bytes, userAgent }),
      id: "",
      counters: NO_COUNTERS,
      identifies: false,
      records: kind,
      isAnonymous: objects,
    }
  }

  /** Splits a URL. Clicks of one link usually have the same. */
  #addressOf(url: string): WebAddress {
    if (url !== this.#url) {
      this.#address = splitAddress(url)
      this.#url = url
    }
    return this.#address
  }

  /**
   * Returns the traits of a visitor, the same object for equal ones, because the store then finds their numbers once. Agents, referrers and
   * acquisitions are memoized, so equal ones are the same.
   */
  #traitsOf(acquisition: Acquisition, referrer: Referrer, place: Place, agent: Agent, language: string): VisitTraits {
    let ofAgent = this.#traits.get(agent)
    if (!ofAgent) {
      ofAgent = []
      this.#traits.set(agent, ofAgent)
    }
    for (const known of ofAgent)
      if (known.language === language && known.referrer === referrer && known.acquisition === acquisition && isSame(known.place, place))
        return known.traits
    const traits = traitsOf({ acquisition, referrer, place, agent, size: "", language })
    if (ofAgent.length < MAX_SHARED_TRAITS) ofAgent.push({ acquisition, referrer, place, language, traits })
    return traits
  }
}

const isSame = (left: Place, right: Place): boolean =>
  left === right || (left.country === right.country && left.region === right.region && left.city === right.city)

/** What all records of a site at one moment have in common. */
interface Moment {
  site: Site
  at: number
  keys: VisitorKeys
  day: string
}

interface SharedTraits {
  acquisition: Acquisition
  referrer: Referrer
  place: Place
  language: string
  traits: VisitTraits
}

const NO_COUNTERS: Candidate["counters"] = []

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
  /** ISO 3166-1 and 3166-2 codes. */
  country: string
  region: string
  language: string
  /** Whether the visitor objects to tracking (DNT, GPC). Then none of these facts may be stored. */
  objects: boolean
  /** Equal for requests with the same address and user agent while this process runs. Must never be stored. */
  sameness: number
}

export function senderFacts(requester: Requester, seed: number): SenderFacts {
  const { client, facts, agent } = requester
  const { isBot, device, browser, os } = agent
  const { country, region } = requester.place
  return {
    isBot,
    isPrefetch: isPreparing(facts.purpose),
    hasAgent: facts.userAgent !== "",
    device,
    browser,
    os,
    country,
    region,
    language: firstLanguage(facts.acceptLanguage),
    objects: facts.objects,
    sameness: samenessOf(client, facts, seed),
  }
}

/** Returns a hash by which rate limits recognize a client. The seed makes it meaningless outside this process. */
export const samenessOf = (client: Client, { userAgent }: Pick<RequestFacts, "userAgent">, seed: number): number =>
  Bun.hash.xxHash32(userAgent, Bun.hash.xxHash32(client.address?.text ?? "", seed))
