import type { Shield } from "./shield.ts"
import type { Versioned } from "./version.ts"
import type { IdentityMode } from "./visit.ts"

/** What of a site's behaviour can be set. Kept as one JSON value; a setting that is absent has its default. */
export interface SiteSettings {
  strict_origin: boolean
  accept_any_host: boolean
  identity_mode: IdentityMode
  persistent_days: number
  store_user_ids: boolean
  /** What holds of a visitor who has said nothing yet. */
  consent_default: "granted" | "denied"
  respect_gpc: boolean
  drop_bots: boolean
  drop_spam: boolean
  drop_probes: boolean
  drop_datacenters: boolean
  /** Smaller groups of people are not shown to strangers. */
  min_group: number
  bounce_engaged_seconds: number
  allowed_query_params: readonly string[]
  hash_routing: boolean
  /** Lower case; each unique on the instance. */
  compat_ids: Readonly<Record<CompatProduct, readonly string[]>>
  shields: readonly Shield[]
  /** Everybody may look at the site, through a shared view of its own. */
  public: boolean
}

/** Other products whose ids for a site are understood, so that their trackers go on counting. */
export const COMPAT_PRODUCTS = ["plausible", "umami", "goatcounter"] as const
export type CompatProduct = (typeof COMPAT_PRODUCTS)[number]

export const DEFAULT_SETTINGS: SiteSettings = {
  strict_origin: false,
  accept_any_host: false,
  identity_mode: "daily",
  persistent_days: 180,
  store_user_ids: false,
  consent_default: "denied",
  respect_gpc: false,
  drop_bots: true,
  drop_spam: true,
  drop_probes: true,
  drop_datacenters: false,
  min_group: 5,
  bounce_engaged_seconds: 0,
  allowed_query_params: [],
  hash_routing: false,
  compat_ids: { plausible: [], umami: [], goatcounter: [] },
  shields: [],
  public: false,
}

/** A zone and mode by which a site's visitors were told apart from a moment on. */
export interface IdentityPhase {
  /** Epoch milliseconds; 0 for what held from the beginning. */
  from: number
  timezone: string
  identity_mode: IdentityMode
}

/** A measured property. Times are epoch milliseconds. */
export interface Site extends Versioned {
  id: number
  organization_id: number
  name: string
  hosts: readonly string[]
  timezone: string
  /** Null: for ever. */
  retention_days: number | null
  revenue_currency: string
  tracking_id: string
  settings: SiteSettings
  /** Oldest first; the last one may still have to begin. Empty while zone and mode have never changed. */
  identity_history: readonly IdentityPhase[]
  created_at: number
  updated_at: number
}

/** Finds the site an event belongs to; always up to date, never waits. */
export interface SiteDirectory {
  byId(id: number): Site | undefined
  byTrackingId(id: string): Site | undefined
  /** In any case. */
  byCompatId(product: CompatProduct, id: string): Site | undefined
  /** Exact before `*.`; of several the lowest id, and none when they belong to several organizations (metrics.md 18.1). */
  byHost(host: string): Site | undefined
}

/** Whether a host (lower case, no port) is in a list of hosts; a leading `www.` is ignored on both sides, `*.` means all subdomains. */
export function coversHost(hosts: readonly string[], host: string): boolean {
  const plain = withoutWww(host)
  return hosts.some((entry) => (entry.startsWith("*.") ? plain.endsWith(entry.slice(1)) : withoutWww(entry) === plain))
}

export const withoutWww = (host: string): string => (host.startsWith("www.") ? host.slice(4) : host)
