import type { Counter, DropReason, NewEvent } from "../domain/event.ts"
import type { Site } from "../domain/site.ts"
import type { VisitTraits } from "../domain/visit.ts"
import { type Agent, NO_AGENT } from "./agent.ts"
import type { ClientAddress } from "./client-address.ts"
import type { Identity, VisitorKeys } from "./identity.ts"
import type { Incoming } from "./payloads/incoming.ts"
import { NOWHERE, type Place } from "./places.ts"
import { NO_REFERRER, type Referrer } from "./referrer.ts"
import type { Shields } from "./shields.ts"

/** What a request tells beside its body. Texts are "" when missing. */
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
  /** The country a trusted proxy names. */
  country: string
}

/** Who sent an event: a script, the picture of a page without scripts, or a server with a key, which vouches for it. */
export type Sender = "script" | "pixel" | "server"

/**
 * An event on its way through the pipeline. The steps write into it, for it is this one event's: a copy a step took as long
 * as the steps themselves.
 */
export interface Draft {
  readonly site: Site
  readonly incoming: Incoming
  readonly sender: Sender
  readonly request: RequestFacts
  /** Epoch ms. */
  readonly at: number
  readonly hostname: string
  /** Gone once the visitor is set. */
  address: ClientAddress | undefined
  readonly keys: VisitorKeys
  readonly shields: Shields
  agent: Agent
  /** Not the site's own. */
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

/** Why an event is refused, and what caused it: a host, a page, a shield's value. */
export interface Drop {
  dropped: DropReason
  entry?: string
}

/** Notes that something of the event was left out. */
export function addCounter(draft: Draft, counter: Counter): void {
  draft.counters = [...draft.counters, counter]
}

/** A step that may drop the event, and says why. */
export type Refusal = (draft: Draft) => Drop | undefined

/** A step that writes a value into the draft. */
export type Setter = (draft: Draft) => void

/** What is known when an event arrives. */
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
