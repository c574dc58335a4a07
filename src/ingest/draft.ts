import type { Counter, DropReason, NewEvent } from "../domain/event.ts"
import type { Site } from "../domain/site.ts"
import type { VisitTraits } from "../domain/visit.ts"
import { type Agent, NO_AGENT } from "./agent.ts"
import type { ClientAddress } from "./client-address.ts"
import type { Identity, VisitorKeys } from "./identity.ts"
import type { Incoming } from "./payloads/incoming.ts"
import { NOWHERE, type Place } from "./places.ts"
import type { Referrer } from "./referrer.ts"

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

/** An event on its way through the pipeline. */
export interface Draft {
  readonly site: Site
  readonly incoming: Incoming
  readonly sender: Sender
  readonly request: RequestFacts
  /** Epoch ms. */
  readonly at: number
  readonly hostname: string
  /** Gone once the visitor is set. */
  readonly address: ClientAddress | undefined
  readonly keys: VisitorKeys
  readonly agent: Agent
  /** Not the site's own. */
  readonly referrer: Referrer
  readonly page: string
  readonly place: Place
  readonly title: string
  readonly props: NewEvent["props"]
  readonly revenue: NewEvent["revenue"]
  readonly acquisition: Acquisition
  readonly language: string
  readonly size: string
  readonly identity: Identity | undefined
  readonly counters: readonly Counter[]
}

type Acquisition = Pick<
  VisitTraits,
  "source" | "channel" | "utm_source" | "utm_medium" | "utm_campaign" | "utm_term" | "utm_content" | "click_id_type"
>

/** Why an event is refused, and what caused it: a host, a page, a shield's value. */
export interface Drop {
  dropped: DropReason
  entry?: string
}

export type Step = (draft: Draft) => Draft | Drop

/** What is known when an event arrives. */
export type Arrival = Pick<Draft, "site" | "incoming" | "sender" | "request" | "at" | "hostname" | "address" | "keys">

export const newDraft = (arrival: Arrival): Draft => ({ ...arrival, ...EMPTY })

const EMPTY = {
  agent: NO_AGENT,
  referrer: { host: "", text: "" },
  page: "",
  place: NOWHERE,
  title: "",
  props: [],
  revenue: undefined,
  acquisition: {
    source: "",
    channel: "",
    utm_source: "",
    utm_medium: "",
    utm_campaign: "",
    utm_term: "",
    utm_content: "",
    click_id_type: "",
  },
  language: "",
  size: "",
  identity: undefined,
  counters: [],
} satisfies Omit<Draft, keyof Arrival>
