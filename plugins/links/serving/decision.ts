import type { Asked, ListedSender, PluginRecord, PreparedRecord, SenderFacts } from "#plugin"
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

/** Reasons why a click counts as a bot click. */
const BOT_REASONS = ["head", "prefetch", "no_ua", "ua", "datacenter", "burst"] as const
export type BotReason = (typeof BOT_REASONS)[number]

/** Returns why a request at a moment in epoch ms counts as a bot click; undefined if it is a click by a person. */
type BotCheck = (asked: Asked, sender: SenderFacts, at: number) => BotReason | undefined

const BURST = { requests: 5, ms: 2_000 } as const
/** Maximum number of senders in each of the two maps. More senders in so short a time are not a burst by one of them. */
const MAX_SENDERS = 25_000

/**
 * Creates the check that distinguishes people from bots. It remembers senders for a few seconds and nothing else. `isDatacenter` returns
 * whether a request comes from a data centre; undefined if no list of data centres is configured.
 */
export function createBotCheck(isDatacenter: ListedSender | undefined): BotCheck {
  // Two maps that take turns instead of a queue: senders in the older one are forgotten all at once.
  let recent = new Map<number, LatestTimes>()
  let older = new Map<number, LatestTimes>()
  let swappedAt = 0

  function isBurst(sender: number, at: number): boolean {
    if (Math.abs(at - swappedAt) >= BURST.ms || recent.size >= MAX_SENDERS) {
      older = recent
      recent = new Map()
      swappedAt = at
    }
    let latest = recent.get(sender)
    if (!latest) {
      latest = older.get(sender) ?? new LatestTimes()
      recent.set(sender, latest)
    }
    return latest.add(at) > at - BURST.ms
  }
  return (asked, { isBot, isPrefetch, hasAgent, sameness }, at) => {
    const isMany = isBurst(sameness, at)
    if (asked.request.method === "HEAD") return "head"
    if (isPrefetch) return "prefetch"
    if (!hasAgent) return "no_ua"
    if (isBot) return "ua"
    if (isDatacenter?.(asked)) return "datacenter"
    return isMany ? "burst" : undefined
  }
}

/** The times of a sender's latest requests, as many as make a burst. */
class LatestTimes {
  readonly #times = new Array<number>(BURST.requests).fill(Number.NEGATIVE_INFINITY)
  #oldest = 0

  /** Replaces the oldest time. Returns the one that is the oldest then. */
  add(at: number): number {
    this.#times[this.#oldest] = at
    this.#oldest = (this.#oldest + 1) % BURST.requests
    return this.#times[this.#oldest]!
  }
}

/** What distinguishes the clicks of a link. */
interface ClickFacts {
  reason: BotReason | undefined
  isQr: boolean
  rule: number
  method: string
  status: number
}

/** Creates the function that returns the record of a click. It keeps the records of a link, of which there are few, while the link is the same. */
export function createClicks(prepare: (record: PluginRecord) => PreparedRecord): (link: Link, click: ClickFacts) => PreparedRecord {
  const links = new WeakMap<Link, Map<number, PreparedRecord>>()
  return (link, click) => {
    let records = links.get(link)
    if (!records) {
      records = new Map()
      links.set(link, records)
    }
    const { reason, isQr, rule, method } = click
    const flags = (isQr ? 2 : 0) + (method === "HEAD" ? 1 : 0)
    const variant = (rule * (BOT_REASONS.length + 1) + (reason ? BOT_REASONS.indexOf(reason) + 1 : 0)) * 4 + flags
    let record = records.get(variant)
    if (!record) {
      record = prepare(clickOf(link, click))
      records.set(variant, record)
    }
    return record
  }
}

const clickOf = ({ id }: Link, { reason, isQr, rule, method, status }: ClickFacts): PluginRecord => ({
  name: "link_click",
  props: { link_id: id, human: reason ? 0 : 1, bot_reason: reason, qr: isQr ? 1 : 0, rule, method, status },
})
