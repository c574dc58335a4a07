import type { Fault } from "../../domain/error.ts"
import type { Vitals } from "../../domain/event.ts"
import type { CompatProduct } from "../../domain/site.ts"
import type { RequestFacts } from "../draft.ts"
import type { CollectRequest } from "../request/request.ts"
import { splitAddress, type WebAddress } from "../request/web-address.ts"

/** An event as read from any payload: checked, but not normalized. A missing text is "". */
export interface Incoming {
  name: string
  address: WebAddress
  /** Names of the site in the payload: tracking ids, ids of other products, or domains. When empty, the host decides. */
  named: readonly string[]
  referrer: string
  title: string
  props: readonly (readonly [key: string, value: string])[]
  /** Whether properties beyond the limit were left out. */
  propsDiscarded: boolean
  interactive: boolean
  /** Unparsed amount and currency: the currency of the site decides how they are read. */
  revenue: { amount: unknown; currency: unknown } | undefined
  engagement: { engagedMs: number; scrollDepth?: number } | undefined
  vitals: Vitals | undefined
  /** Whether the fragment is part of the page. */
  hash: boolean
  language: string
  timezone: string
  /** Viewport width in pixels. */
  width: number | undefined
  userId: string
  deviceId: string
  /** Id of the event, by which a repeated event is recognized. */
  id: string
  /** Milliseconds between the event and the request, limited to `COLLECT.ageMs`. */
  ageMs: number
  /** Whether the client script detected an automated browser. */
  isBot?: true
  /** Set when nothing is stored: the payload only identifies the visitor of the open visit. */
  identifies?: true
}

/**
 * Result of reading one event of another product's client: an event, faults, or nothing to store. `named` holds the site names
 * of a refused event, as far as they could be read, so that it is counted for the right site.
 */
export type ForeignReading = { incoming: Incoming } | { faults: Fault[]; named: readonly string[] } | { ignored: true }

/** The reader of another product's requests (metrics.md 18.3, 18.4): a pure mapping to native events. */
export interface ForeignPayload {
  /** Product whose site ids the payload contains. */
  product: CompatProduct
  /** Reads the events of a request. Throws `invalid_event` when the request contains no events. */
  read(request: CollectRequest, facts: RequestFacts): readonly ForeignReading[]
  /** Returns the site id that the request implies. It is used when the payload names no site and the id exists. */
  impliedSite?(request: CollectRequest): string
}

/** Values of the fields that the payloads of other products do not have. */
export const NOTHING_SENT = {
  named: [],
  referrer: "",
  title: "",
  props: [],
  propsDiscarded: false,
  interactive: true,
  revenue: undefined,
  engagement: undefined,
  vitals: undefined,
  hash: false,
  language: "",
  timezone: "",
  width: undefined,
  userId: "",
  deviceId: "",
  id: "",
  ageMs: 0,
} satisfies Omit<Incoming, "name" | "address">

/** Returns the page that sent a request, for payloads without a page. The host is resolved as for every other payload. */
export const refererPage = ({ referer }: RequestFacts): WebAddress => ({ ...splitAddress(referer), scheme: "", host: "" })
