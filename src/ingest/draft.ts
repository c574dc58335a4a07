import type { Fault } from "../domain/error.ts"
import type { Counter, DropReason, NewEvent, NewSale } from "../domain/event.ts"
import type { RecordKind } from "../domain/record.ts"
import type { Site } from "../domain/site.ts"
import type { VisitTraits } from "../domain/visit.ts"
import type { DropSample } from "../store/events/writer.ts"
import type { ClientAddress } from "./address/client-address.ts"
import type { DropNote } from "./commit/outcomes.ts"
import { NO_REFERRER, type Referrer } from "./enrich/referrer.ts"
import type { Shields } from "./enrich/shields.ts"
import type { Identity, VisitorKeys } from "./identity/identity.ts"
import type { Incoming } from "./payloads/incoming.ts"
import { NOWHERE, type Place } from "./place/place.ts"
import { type Agent, NO_AGENT } from "./request/agent.ts"

/** Facts of a request other than its body. A missing text is "". */
export interface RequestFacts {
  /** At most 512 characters. */
  userAgent: string
  acceptLanguage: string
  origin: string
  referer: string
  /** `Sec-Purpose`, `Purpose` and `X-Moz`. */
  purpose: string
  fetchDestination: string
  /** `Sec-GPC: 1` or `DNT: 1`. */
  objects: boolean
  /** Country code from a trusted proxy. */
  country: string
}

/** Sender of an event: the script, the pixel of a page without scripts, or a server with an API key, which is trusted. */
export type Sender = "script" | "pixel" | "server"

/**
 * An event on its way through the pipeline. The steps modify it, because a copy per step would take as long as the steps
 * themselves.
 */
export interface Draft {
  readonly site: Site
  readonly incoming: Incoming
  readonly sender: Sender
  readonly request: RequestFacts
  /** Epoch ms. */
  readonly at: number
  readonly hostname: string
  /** Undefined once the visitor is set. */
  address: ClientAddress | undefined
  readonly keys: VisitorKeys
  readonly shields: Shields
  agent: Agent
  /** Never the site itself. */
  referrer: Referrer
  page: string
  place: Place
  title: string
  props: NewEvent["props"]
  revenue: NewEvent["revenue"]
  acquisition: Acquisition
  language: string
  size: string
  identity: Identity | undefined
  counters: readonly Counter[]
}

export type Acquisition = Pick<
  VisitTraits,
  "source" | "channel" | "utm_source" | "utm_medium" | "utm_campaign" | "utm_term" | "utm_content" | "click_id_type"
>

/** Result of an event. Without a reason it was accepted: it was stored, or it is valid and has nothing to store. */
export interface Outcome {
  reason?: DropReason
  /** Value that caused the drop: a host, a page, or the value of a shield. */
  entry?: string
  /** Faults of an invalid event. */
  faults?: readonly Fault[]
  /** Seconds until the rate limit allows another event. */
  retryAfter?: number
  /** Notes to count the drop by. More than one when several sites are shown the same drop. */
  notes?: readonly DropNote[]
}

/** Counts that a part of the event was left out. */
export function addCounter(draft: Draft, counter: Counter): void {
  draft.counters = [...draft.counters, counter]
}

/** A step that may drop the event. Returns the reason. */
export type Refusal = (draft: Draft) => Outcome | undefined

/** A step that writes a value into the draft. */
export type Setter = (draft: Draft) => void

/** The values of a draft that are known when an event arrives. */
export type Arrival = Pick<Draft, "site" | "incoming" | "sender" | "request" | "at" | "hostname" | "address" | "keys">

export const newDraft = ({ site, incoming, sender, request, at, hostname, address, keys }: Arrival, shields: Shields): Draft => ({
  site,
  incoming,
  sender,
  request,
  at,
  hostname,
  address,
  keys,
  shields,
  agent: NO_AGENT,
  referrer: NO_REFERRER,
  page: "",
  place: NOWHERE,
  title: "",
  props: [],
  revenue: undefined,
  acquisition: NO_ACQUISITION,
  language: "",
  size: "",
  identity: undefined,
  counters: [],
})

const NO_ACQUISITION: Acquisition = {
  source: "",
  channel: "",
  utm_source: "",
  utm_medium: "",
  utm_campaign: "",
  utm_term: "",
  utm_content: "",
  click_id_type: "",
}

/** An event that passed all steps, ready for its visit. */
export interface Candidate {
  siteId: number
  /** The site's local day of the event. */
  day: string
  event: NewEvent
  traits: VisitTraits
  identity: Identity
  /** Id that the sender gave the event; "" without one. */
  id: string
  /** Whether another node has stored the event. */
  isStoredElsewhere?: boolean
  counters: readonly Counter[]
  /** Set for records of areas, which do not join a visit. */
  records?: RecordKind
  /** For records: the visitor objects to tracking and gets no identity. */
  isAnonymous?: boolean
  /** Whether nothing is stored and the open visit only gets its visitor identified. */
  identifies: boolean
}

/** Returns whether an event passed the pipeline. */
export const isCandidate = (result: Candidate | Outcome): result is Candidate => "event" in result

export function candidateOf(draft: Draft, day: string): Candidate {
  const { site, incoming, identity } = draft
  if (!identity) throw new Error("The pipeline ended without a visitor")
  return {
    siteId: site.id,
    day,
    event: eventOf(draft),
    traits: traitsOf(draft),
    identity,
    id: incoming.id,
    counters: draft.counters,
    identifies: incoming.identifies === true,
  }
}

/** Returns the amount of an event as the revenue area gets it. Only a server with an API key is trusted. */
function saleOf({ site, sender, props, revenue }: Draft): NewSale | undefined {
  if (!revenue) return undefined
  const orderId = props.find(([key]) => key === site.settings.order_property)?.[1] ?? ""
  return { ...revenue, orderId, trust: sender === "server" ? "server" : "client", isRepeated: false }
}

function eventOf(draft: Draft): NewEvent {
  const { at, incoming, page, hostname, title, props, revenue } = draft
  const sale = saleOf(draft)
  const { name, interactive, engagement, vitals } = incoming
  return {
    at,
    name,
    page,
    hostname,
    title,
    interactive,
    props,
    ...(revenue && { revenue }),
    ...(sale && { sale }),
    ...(engagement && { engagement }),
    ...(vitals && { vitals }),
  }
}

type TraitSources = Pick<Draft, "acquisition" | "referrer" | "place" | "agent" | "size" | "language">

export function traitsOf({ acquisition, referrer, place, agent, size, language }: TraitSources): VisitTraits {
  return {
    source: acquisition.source,
    referrer: referrer.text,
    channel: acquisition.channel,
    utm_source: acquisition.utm_source,
    utm_medium: acquisition.utm_medium,
    utm_campaign: acquisition.utm_campaign,
    utm_term: acquisition.utm_term,
    utm_content: acquisition.utm_content,
    click_id_type: acquisition.click_id_type,
    country: place.country,
    region: place.region,
    city: place.city,
    device: agent.device,
    size,
    browser: agent.browser,
    browser_version: agent.browser_version,
    os: agent.os,
    os_version: agent.os_version,
    language,
  }
}

/** Returns a dropped event as the owner of the site sees it. Values of later steps are empty. */
export const sampleOf = (reason: DropReason, { at, hostname, page, agent, place }: Draft): DropSample => ({
  at,
  reason,
  hostname,
  page,
  browser: agent.browser,
  country: place.country,
})
