import { builtUrl } from "../address.ts"
import { isExpired, type Link, type RedirectStatus } from "../link.ts"
import { ruleFor, type Situation } from "../rules.ts"
import type { Cache, Kept } from "./cache.ts"
import { type Chains, MOST_HOPS } from "./chain.ts"

/** What a request says of itself beside its sender. */
export interface Wanted extends Situation {
  /** What follows the slug. */
  path: string
  timezone: string
  isUnlocked: boolean
}

/** What a request for a link gets. */
export type Decision =
  | { outcome: "unknown" | "archived" | "not_started" | "password" | "loop" }
  | { outcome: "expired"; url: string | null }
  | { outcome: "redirect"; rule: number; url: string; status: RedirectStatus }

/** In the order in which a visitor meets them. Changes nothing: whoever serves the redirect counts it. */
export function decide(kept: Kept, wanted: Wanted, { cache, chains }: { cache: Cache; chains: Chains }): Decision {
  const { link, since } = kept
  const early = closed(link, since.human, wanted)
  if (early) return early
  const { rule, url } = targetOf(link, wanted)
  if (chains.mayLeadOn(kept) && leadsTooFar(url, wanted, { cache, chains })) return { outcome: "loop" }
  return { outcome: "redirect", rule, url, status: link.redirect_status }
}

function closed(link: Link, since: number, { at, path, isUnlocked }: Wanted): Decision | undefined {
  if (!link.forward_path && path !== "" && /[^/]/.test(path)) return { outcome: "unknown" }
  if (link.archived_at !== null) return { outcome: "archived" }
  if (link.starts_at !== null && link.starts_at > at) return { outcome: "not_started" }
  const isUsedUp = link.max_clicks !== null && link.clicks_human + since >= link.max_clicks
  if (isUsedUp || isExpired(link, at)) return { outcome: "expired", url: link.expired_destination }
  if (link.password_hash !== null && !isUnlocked) return { outcome: "password" }
  return undefined
}

export function targetOf(link: Link, wanted: Wanted): { rule: number; url: string } {
  const rule = ruleFor(link, wanted.timezone, wanted)
  return { rule, url: builtUrl(rule === 0 ? link.destination : link.rules[rule - 1]!.destination, link, wanted) }
}

/** Follows what the same visitor would follow. Saving refuses such chains; one may still come about by a date or a new domain. */
function leadsTooFar(first: string, wanted: Wanted, { cache, chains }: { cache: Cache; chains: Chains }): boolean {
  let url = first
  for (let hops = 1; hops <= MOST_HOPS; hops++) {
    const place = chains.placeOf(url)
    const next = place && cache.at(place.domainId, place.slug)
    if (!next) return false
    url = targetOf(next.link, { ...wanted, path: place.path, query: URL.parse(url)?.search.slice(1) ?? "" }).url
  }
  return true
}
