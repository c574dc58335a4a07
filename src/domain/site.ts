import type { HostDispute } from "./host.ts"
import type { Shield } from "./shield.ts"
import type { Versioned } from "./version.ts"
import type { IdentityMode } from "./visit.ts"

/** The settings of a site. They are stored as one JSON value; absent settings have their defaults. */
export interface SiteSettings {
  strict_origin: boolean
  accept_any_host: boolean
  identity_mode: IdentityMode
  persistent_days: number
  store_user_ids: boolean
  /** The consent of visitors who have neither given nor denied it. */
  consent_default: "granted" | "denied"
  respect_gpc: boolean
  drop_bots: boolean
  drop_spam: boolean
  drop_probes: boolean
  drop_datacenters: boolean
  /** Minimum number of visitors in a row of a shared view. Smaller groups are hidden. */
  min_group: number
  bounce_engaged_seconds: number
  allowed_query_params: readonly string[]
  hash_routing: boolean
  /** In lower case. Each id is unique on the instance. */
  compat_ids: Readonly<Record<CompatProduct, readonly string[]>>
  shields: readonly Shield[]
  /** Whether anyone can see the statistics, through a shared view created for this purpose. */
  public: boolean
  /** The event property that contains the order id of a sale or refund. */
  order_property: string
  /** The lowest role that sees revenue. */
  read_role: ReadRole
}

/** The roles that can be the lowest one that sees the revenue of a site. */
export const READ_ROLES = ["viewer", "editor", "admin"] as const
export type ReadRole = (typeof READ_ROLES)[number]

/** The other products whose site ids are accepted, so that their trackers keep working. */
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
  order_property: "order_id",
  read_role: "viewer",
}

/** The time zone and identity mode that applied to a site from a moment on. */
export interface IdentityPhase {
  /** Start in epoch milliseconds; 0 for the first phase. */
  from: number
  timezone: string
  identity_mode: IdentityMode
  /** The site's local days, such as `2026-11-21`, on which the mode was changed during this phase. Oldest first. */
  mode_changed_on?: readonly string[]
}

/** A measured property. Times are epoch milliseconds. */
export interface Site extends Versioned {
  id: number
  organization_id: number
  name: string
  hosts: readonly string[]
  /** The time since when the site has claimed each host (`claimedHosts`), in epoch milliseconds. Missing hosts have been claimed since the creation of the site. */
  hosts_listed_at: Readonly<Record<string, number>>
  timezone: string
  /** Null means forever. */
  retention_days: number | null
  revenue_currency: string
  tracking_id: string
  settings: SiteSettings
  /** Oldest first. The last phase may lie in the future. Empty while time zone and mode have never changed. */
  identity_history: readonly IdentityPhase[]
  created_at: number
  updated_at: number
}

/** The directory that finds the site of an event. It is in memory and always up to date. */
export interface SiteDirectory {
  byId(id: number): Site | undefined
  byTrackingId(id: string): Site | undefined
  /** Ignores case. */
  byCompatId(product: CompatProduct, id: string): Site | undefined
  /**
   * Returns the site that lists a host. An exact entry precedes `*.`, then the lowest id. For a disputed host, only sites of its
   * owner count; without an owner, the result is undefined (metrics.md 18.1).
   */
  byHost(host: string): Site | undefined
  /** Returns the dispute over a host, or undefined unless sites of several organizations claim it. */
  disputeOver(host: string): HostDispute | undefined
  /** Returns all disputes by host, or those that involve `site`. */
  disputes(site?: Site): HostDispute[]
}

/** Returns whether a list of hosts covers a host (lower case, no port). `www.` is ignored on both sides; `*.` means all subdomains. */
export function coversHost(hosts: readonly string[], host: string): boolean {
  const plain = withoutWww(host)
  return hosts.some((entry) => (entry.startsWith("*.") ? plain.endsWith(entry.slice(1)) : withoutWww(entry) === plain))
}

export const withoutWww = (host: string): string => (host.startsWith("www.") ? host.slice(4) : host)

/** The names and IP addresses of a developer's own machine and network, by RFC 6761 and common use. */
const LOCAL =
  /^(\*\.)?((.+\.)?(localhost|local|test)|127(\.\d+){3}|10(\.\d+){3}|192\.168(\.\d+){2}|172\.(1[6-9]|2\d|3[01])(\.\d+){2}|\[::1\])$/

/** Returns whether a host, as sites list it, is on a developer's own machine or network. */
export const isDevelopmentHost = (host: string): boolean => LOCAL.test(host)

/** The hosts on which the tracker records nothing unless its script element has the attribute `data-local` (metrics.md 17.3). */
const UNCOUNTED = /^(localhost|127\..*|\[::1\])$/

/** Returns whether the tracker needs `data-local` to record events on a host. */
export const needsDataLocal = (host: string): boolean => UNCOUNTED.test(host)

/**
 * Returns the script element that loads the tracker on a site's pages. For a site that lists a local host, it has the attribute
 * `data-local`, without which the tracker records nothing there.
 */
export function snippetOf({ hosts, tracking_id }: Pick<Site, "hosts" | "tracking_id">, scriptUrl: string): string {
  const local = hosts.some(isDevelopmentHost) ? " data-local" : ""
  return `<script defer src="${scriptUrl}" data-site="${tracking_id}"${local}></script>`
}
