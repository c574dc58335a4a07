import { builtUrl } from "../address.ts"
import { isExpired, type Link, type RedirectStatus } from "../link.ts"
import { ruleFor, type Situation } from "../rules.ts"
import type { Cache, CachedLink } from "./cache.ts"
import { type Chains, MAX_HOPS } from "./chain.ts"

/** Facts about a request that decide what it gets. */
export interface LinkRequest extends Situation {
  /** Path after the slug. */
  path: string
  timezone: string
  isUnlocked: boolean
}

/** Result of a request for a link. */
export type Decision =
  | { outcome: "unknown" | "archived" | "not_started" | "password" | "loop" }
  | { outcome: "expired"; url: string | null }
  | { outcome: "redirect"; rule: number; url: string; status: RedirectStatus }

/** Decides what a request for a link gets. Changes nothing: the caller counts the click. */
export function decide(cached: CachedLink, request: LinkRequest, { cache, chains }: { cache: Cache; chains: Chains }): Decision {
  const { link, pending } = cached
  const early = closed(link, pending.human, request)
  if (early) return early
  const { rule, url } = targetOf(link, request)
  if (chains.mayRedirectToLink(cached) && isChainTooLong(url, request, { cache, chains })) return { outcome: "loop" }
  return { outcome: "redirect", rule, url, status: link.redirect_status }
}

/** Returns why a link does not redirect; undefined if it does. */
function closed(link: Link, pending: number, { at, path, isUnlocked }: LinkRequest): Decision | undefined {
  if (!link.forward_path && path !== "" && /[^/]/.test(path)) return { outcome: "unknown" }
  if (link.archived_at !== null) return { outcome: "archived" }
  if (link.starts_at !== null && link.starts_at > at) return { outcome: "not_started" }
  const isUsedUp = link.max_clicks !== null && link.clicks_human + pending >= link.max_clicks
  if (isUsedUp || isExpired(link, at)) return { outcome: "expired", url: link.expired_destination }
  if (link.password_hash !== null && !isUnlocked) return { outcome: "password" }
  return undefined
}

export function targetOf(link: Link, request: LinkRequest): { rule: number; url: string } {
  const rule = ruleFor(link, request.timezone, request)
  return { rule, url: builtUrl(rule === 0 ? link.destination : link.rules[rule - 1]!.destination, link, request) }
}

/**
 * Returns whether the visitor would pass through too many links. Links that form such a chain cannot be saved, but one can still arise
 * from a date or a new domain.
 */
function isChainTooLong(first: string, request: LinkRequest, { cache, chains }: { cache: Cache; chains: Chains }): boolean {
  let url = first
  for (let hops = 1; hops <= MAX_HOPS; hops++) {
    const place = chains.placeOf(url)
    const next = place && cache.at(place.domainId, place.slug)
    if (!next) return false
    url = targetOf(next.link, { ...request, path: place.path, query: URL.parse(url)?.search.slice(1) ?? "" }).url
  }
  return true
}
