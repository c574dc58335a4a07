/**
 * Host names, and disputed hosts (metrics.md 18.1): sites of several organizations claim them, by listing them or by a Plausible id that
 * is a host name. Such a host belongs to one of these organizations, or to none until its owner is known.
 */
import { type Site, withoutWww } from "./site.ts"

const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
/** Characters that a host cannot contain and that the URL parser below would remove or decode. */
const INVALID_CHARACTERS = /[\s/:@%_?#\\[\]]/
const HOST_CHARACTERS = 253

/**
 * Parses a host of a site's list. Returns it in lower case, with international names in punycode, without a trailing dot; a
 * leading `*.` means all subdomains. Returns undefined for anything else. Does not query the DNS: `shop.invalid` is a host.
 */
export function parseHost(text: string): string | undefined {
  const lower = text.trim().toLowerCase().replace(/\.$/, "")
  const [star, name] = lower.startsWith("*.") ? ["*.", lower.slice(2)] : ["", lower]
  const host = INVALID_CHARACTERS.test(name) ? undefined : asciiName(name)
  if (host === undefined || host.length > HOST_CHARACTERS) return undefined
  const labels = host.split(".")
  if (!labels.every((label) => LABEL.test(label)) || (labels.length === 1 && host !== "localhost")) return undefined
  return star && isAddress(host) ? undefined : star + host
}

/** Returns the host of a URL that was entered instead of a host, or undefined. */
export function hostOfUrl(text: string): string | undefined {
  const address = text.includes("://") ? text : `http://${text}`
  return parseHost(URL.parse(address.trim())?.hostname ?? "")
}

/** Returns the host that a person typed or pasted, without the scheme, port and path of a URL. Returns any other text unchanged. */
export const hostFromInput = (text: string): string => (text.includes("@") ? text : (parseHost(text) ?? hostOfUrl(text) ?? text))

/** Converts a name to ASCII with the URL parser, which knows international names and rejects malformed IP addresses (`1.2.3`, `01.2.3.4`). */
function asciiName(name: string): string | undefined {
  const host = URL.parse(`http://${name}`)?.hostname
  return isAscii(name) && host !== name ? undefined : host
}

const isAscii = (text: string): boolean => [...text].every((character) => character <= "\u007f")

/** Returns whether a host accepted by `parseHost` is an IPv4 address. `parseHost` rejects IPv6 addresses. */
export const isAddress = (host: string): boolean => /^[0-9.]+$/.test(host)

/** The reason why a disputed host belongs to an organization: a decision of an instance admin, a DNS record, or listing it first. */
export type ClaimReason = "decided" | "proved" | "listed_first"

/** A host that sites of several organizations claim. */
export interface HostDispute {
  /** Without `www.`. `*.shop.example` covers every host below `shop.example` that no site lists explicitly. */
  host: string
  /** Every site that claims the host, ordered by organization and id. */
  claims: readonly { site: Site; listedAt: number }[]
  owner: { organizationId: number; reason: ClaimReason } | undefined
}

/** The decided and proved owners of hosts: organization ids by host. */
export interface HostRulings {
  /** Decisions of instance admins. Each applies to exactly this host. */
  decided: Map<string, number>
  /** Proofs by TXT record. Each applies to this host and every host below it. */
  proved: Map<string, number>
}

/** A TXT record by which an organization proves a host. Times are epoch milliseconds. */
export interface HostProof {
  id: number
  organization_id: number
  /** Without `*.` and `www.`. */
  host: string
  /** Not secret: anyone can read it in the DNS. */
  token: string
  verified_at: number | null
  created_at: number
}

/** The decision of an instance admin about a disputed host. */
export interface HostDecision {
  id: number
  host: string
  organization_id: number
  decided_by: number | null
  decided_at: number
}

/** Returns a listed host in the form used for claims: without `www.`. */
export const claimedHost = (entry: string): string => (entry.startsWith("*.") ? entry : withoutWww(entry))

/** Returns the name that a TXT record can prove: the host without `*.` and `www.`. */
export const provableName = (host: string): string => (host.startsWith("*.") ? host.slice(2) : withoutWww(host))

/** Returns the hosts among the Plausible ids of a site. Ids that are not host names are left out. */
export const hostsOfIds = ({ plausible }: Site["settings"]["compat_ids"]): string[] =>
  plausible.flatMap((id) => {
    const host = parseHost(id)
    return host === undefined || host.startsWith("*.") ? [] : [withoutWww(host)]
  })

/** Returns every host that a site claims, without duplicates. */
export const claimedHosts = ({ hosts, settings }: Pick<Site, "hosts" | "settings">): string[] => [
  ...new Set([...hosts.map(claimedHost), ...hostsOfIds(settings.compat_ids)]),
]

/** Returns since when a site has claimed a host, in epoch milliseconds. */
export const claimedSince = (site: Pick<Site, "hosts_listed_at" | "created_at">, host: string): number =>
  site.hosts_listed_at[host] ?? site.created_at

/** Returns the claim times of a site after a change of its hosts or ids, in epoch milliseconds. New hosts are claimed since `now`. */
export function updateClaimTimes(before: Site, changed: Pick<Site, "hosts" | "settings">, now: number): Site["hosts_listed_at"] {
  const known = new Set(claimedHosts(before))
  const moments = claimedHosts(changed).flatMap((host): [string, number][] => {
    if (!known.has(host)) return [[host, now]]
    const at = before.hosts_listed_at[host]
    return at === undefined ? [] : [[host, at]]
  })
  return Object.fromEntries(moments)
}

/** Returns the parent domains of a host: `b.example` and `example` for `a.b.example`. */
export function parentsOf(host: string): string[] {
  const labels = host.split(".")
  return labels.slice(1).map((_, i) => labels.slice(i + 1).join("."))
}

const LOCAL_NAMES = /(^|\.)(localhost|local)$/
const LOCAL_ADDRESSES = /^(0|10|127|192\.168|169\.254|172\.(1[6-9]|2\d|3[01]))\./

/** Returns whether a host name means a different machine on each network, so that no organization can own it. */
export const isLocalHost = (host: string): boolean => (isAddress(host) ? LOCAL_ADDRESSES.test(host) : LOCAL_NAMES.test(provableName(host)))

/** Returns whether a DNS record can prove the ownership of a host. */
export const isProvable = (host: string): boolean => !isLocalHost(host) && !isAddress(host)
