import type { Fault } from "../../domain/error.ts"
import type { CompatProduct } from "../../domain/site.ts"
import type { RequestFacts } from "../draft.ts"
import type { CollectRequest } from "../request.ts"
import { splitAddress, type WebAddress } from "../web-address.ts"
import type { Incoming } from "./incoming.ts"

/**
 * One event of another product's client: read, refused, or valid without anything to store. `named` says for whose counters
 * a refused one is, as far as that can be read.
 */
export type ForeignReading = { incoming: Incoming } | { faults: Fault[]; named: readonly string[] } | { ignored: true }

/** How another product's requests are read (metrics.md 18.3, 18.4): a pure mapping to our own events. */
export interface ForeignPayload {
  /** Whose ids of a site the payload holds. */
  product: CompatProduct
  /** Throws `invalid_event` for a request that holds no events at all. */
  read(request: CollectRequest, facts: RequestFacts): readonly ForeignReading[]
  /** An id of a site that counts where the payload names none and it is known. */
  impliedSite?(request: CollectRequest): string
}

/** What the payloads of others lack. */
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

/** The page that sent a request, for payloads that name none. Its host is found as for every other payload. */
export const refererPage = ({ referer }: RequestFacts): WebAddress => ({ ...splitAddress(referer), scheme: "", host: "" })
