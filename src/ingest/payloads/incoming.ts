import type { Vitals } from "../../domain/event.ts"
import type { WebAddress } from "../web-address.ts"

/** What every payload becomes before the pipeline sees it: checked, but nothing normalised. "" is a missing text. */
export interface Incoming {
  name: string
  address: WebAddress
  /** What the payload says the site is: tracking ids, ids of other products, domains. Empty: the site of the host. */
  named: readonly string[]
  referrer: string
  title: string
  props: readonly (readonly [key: string, value: string])[]
  /** Properties beyond the limit were left out. */
  propsDiscarded: boolean
  interactive: boolean
  /** As sent: what it is worth depends on the site's currency. */
  revenue: { amount: unknown; currency: unknown } | undefined
  engagement: { engagedMs: number; scrollDepth?: number } | undefined
  vitals: Vitals | undefined
  /** The fragment belongs to the page. */
  hash: boolean
  language: string
  timezone: string
  /** Viewport width in pixels. */
  width: number | undefined
  userId: string
  deviceId: string
  /** The event's own id, for counting it once. */
  id: string
  /** Milliseconds since the event, within bounds. */
  ageMs: number
  /** The browser itself says that no person uses it. */
  isBot?: true
  /** No event: it only says who the visitor of the open visit is. */
  identifies?: true
}
