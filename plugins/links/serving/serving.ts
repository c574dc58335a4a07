import {
  AppError,
  type Asked,
  isReservedSlug,
  type ListedSender,
  normalizeUnicode,
  readBytes,
  type SenderFacts,
  type Site,
  unescaped,
} from "#plugin"
import type { Link, LinksHost } from "../link.ts"
import type { Domain } from "../rows.ts"
import type { Cache, CachedLink } from "./cache.ts"
import type { Chains } from "./chain.ts"
import { type BotReason, createBotCheck, createClicks, type Decision, decide, type LinkRequest } from "./decision.ts"
import type { OrphanKind, Orphans } from "./orphans.ts"
import { gonePage, notFoundPage, otherMethod, passwordPage, previewPage, unlockedPage } from "./pages.ts"

interface EndpointOptions {
  cache: Cache
  chains: Chains
  orphans: Orphans
  /** First path segment of links on the hosts of the instance, without slashes. */
  prefix: string
  isDatacenter: ListedSender | undefined
  /** Runs when a click of a site was recorded. */
  onClick(siteId: number): void
}

/** Unknown slugs per client. */
const MISSES_PER_MINUTE = 60
/** Passwords per client and link. */
const TRIES_PER_MINUTE = 5
/** Passwords per client, so that more links do not mean more slow hashes. */
const UNLOCKS_PER_MINUTE = 30
const MAX_FORM_BYTES = 4_096

/** Parts of the requested URL. */
interface Address {
  /** Verified link domain that was requested. */
  domain: Domain | undefined
  /** Domain that the slug belongs to. Null below the prefix. */
  domainId: number | null
  slug: string
  /** Path after the slug. */
  path: string
  /** Without the question mark. */
  query: string
}

interface Click {
  link: Link
  reason: BotReason | undefined
  decision: Decision & { outcome: "redirect" }
  address: Address
  /** Whether the click uses up the limit of the link. */
  isLast: boolean
}

/**
 * Answers requests for short links. The redirect is sent first and the click is stored within 20 ms after it, except for the click that
 * uses up a limit, which is on disk before its redirect. Unknown, deleted, archived and not yet started links get the same answer at the
 * same cost.
 */
export function createEndpoint(host: LinksHost, { cache, chains, orphans, prefix, isDatacenter, onClick }: EndpointOptions) {
  const misses = host.throttle(MISSES_PER_MINUTE, 60_000)
  const tries = host.throttle(TRIES_PER_MINUTE, 60_000)
  const unlocks = host.throttle(UNLOCKS_PER_MINUTE, 60_000)
  const unlockCookies = host.unlockCookies("l-")
  const botReason = createBotCheck(isDatacenter)
  const clickOf = createClicks(host.prepareRecord)
  const links = { cache, chains }
  const siteOf = (id: number): Site | undefined => host.services.sites.directory.byId(id)

  function miss(asked: Asked, { domain, slug, path }: Address, kind: OrphanKind): Response {
    misses.take(asked)
    orphans.note(kind, domain?.id ?? null, `/${slug}${path}`)
    const fallback = kind === "root" ? domain?.root_destination : domain?.not_found_destination
    return fallback ? redirect(fallback, { status: 302, noindex: true }) : notFoundPage()
  }

  /** Returns the requested link and its site. A link domain does not serve links of other organizations. */
  function find({ domain, domainId }: Address, slug: string): { cached: CachedLink; site: Site } | undefined {
    const cached = cache.at(domainId, slug)
    const site = cached && siteOf(cached.link.site_id)
    return site && (!domain || site.organization_id === domain.organization_id) ? { cached, site } : undefined
  }

  function serve(asked: Asked, address: Address): Response | Promise<Response> {
    const { slug, path } = address
    const { method } = asked.request
    const isRead = method === "GET" || method === "HEAD"
    if (!isRead && method !== "POST") return otherMethod("GET, HEAD")
    if (slug === "") return isRead ? miss(asked, address, "root") : otherMethod("GET, HEAD")
    const isPreview = slug.endsWith("+") && path === ""
    const found = find(address, isPreview ? slug.slice(0, -1) : slug)
    if (!found) return isRead ? miss(asked, address, "unknown_slug") : otherMethod("GET, HEAD")
    const { cached, site } = found
    if (isPreview) return isRead ? preview(asked, cached, address) : otherMethod("GET, HEAD")
    return isRead ? visit(asked, cached, site, address) : unlock(asked, cached, site, address)
  }

  function requestOf(asked: Asked, { link }: CachedLink, site: Site, { path, query }: Address, sender: SenderFacts): LinkRequest {
    const isUnlocked = link.password_hash !== null && unlockCookies.isUnlocked(asked.request, link)
    const { device, os, country, language } = sender
    return { device, os, country, language, at: host.now(), query, path, timezone: site.timezone, isUnlocked }
  }

  function visit(asked: Asked, cached: CachedLink, site: Site, address: Address): Response | Promise<Response> {
    const sender = host.senderOf(asked)
    const wanted = requestOf(asked, cached, site, address, sender)
    const decision = decide(cached, wanted, links)
    if (decision.outcome !== "redirect") return refusal(asked, decision, address)
    const reason = botReason(asked, sender, wanted.at)
    // Counted now, so that the next request sees whether the limit is reached.
    if (!reason) cached.pending.human++
    const { link } = cached
    const answer = redirect(decision.url, { status: decision.status, noindex: link.noindex })
    const isLast = !reason && link.max_clicks !== null && link.clicks_human + cached.pending.human >= link.max_clicks
    const pending = record(asked, site, { link, reason, decision, address, isLast })
    return pending ? pending.then(() => answer) : answer
  }

  /**
   * Records a click. Returns a promise if the redirect has to wait: for the click that uses up a limit, which a crash must not undo, and
   * when too many clicks wait for the disk. Never throws or rejects, because visitors are redirected in any case.
   */
  function record(asked: Asked, site: Site, { link, reason, decision, address, isLast }: Click): Promise<void> | undefined {
    const isQr = address.query !== "" && new URLSearchParams(address.query).get("qr") === "1"
    const { rule, status } = decision
    const { method } = asked.request
    try {
      const click = clickOf(link, { reason, isQr, rule, method, status })
      onClick(site.id)
      return isLast ? host.record(asked, site, click).catch(logUnrecorded) : host.recordLater(asked, site, click)
    } catch (error) {
      return void logUnrecorded(error)
    }
  }

  /** An `AppError` is not logged, because the store counts what it rejects and reports its own state. */
  const logUnrecorded = (error: unknown): void => {
    if (!(error instanceof AppError)) host.log.error("a click could not be recorded", { error })
  }

  function refusal(asked: Asked, decision: Exclude<Decision, { outcome: "redirect" }>, address: Address): Response {
    switch (decision.outcome) {
      case "password":
        return passwordPage()
      case "loop":
        return gonePage()
      case "expired":
        orphans.note("expired", address.domain?.id ?? null, `/${address.slug}`)
        return decision.url === null ? gonePage() : redirect(decision.url, { status: 302, noindex: true })
      case "not_started":
        return miss(asked, address, "not_started")
      default:
        return miss(asked, address, "unknown_slug")
    }
  }

  function preview(asked: Asked, { link }: CachedLink, address: Address): Response {
    const isVisible = link.archived_at === null && (link.starts_at === null || link.starts_at <= host.now())
    return isVisible ? previewPage(link) : miss(asked, address, "unknown_slug")
  }

  /** Checks the password of a form. The request after it is the one that counts as a click. */
  async function unlock(asked: Asked, cached: CachedLink, site: Site, address: Address): Promise<Response> {
    const { link } = cached
    const decision = decide(cached, { ...requestOf(asked, cached, site, address, host.senderOf(asked)), isUnlocked: false }, links)
    if (decision.outcome !== "password") return otherMethod("GET, HEAD")
    unlocks.take(asked)
    tries.take(asked, link.id)
    const form = new URLSearchParams(new TextDecoder().decode(await readBytes(asked.request, MAX_FORM_BYTES)))
    const typed = form.get("password") ?? ""
    const isRight = typed !== "" && (await host.passwords.verify(normalizeUnicode(typed), link.password_hash)).isRight
    return isRight ? unlockedPage(unlockCookies.header(link)) : passwordPage(403)
  }

  const base = `/${prefix}`
  /** Answers at once, or after the first request of the process has loaded the links. */
  function serveWhenReady(asked: Asked, address: Address): Response | Promise<Response> {
    const loading = cache.ready()
    return loading ? loading.then(() => serve(asked, address)) : serve(asked, address)
  }

  const verifiedDomain = (name: string): Domain | undefined => {
    const domain = cache.domain(name)
    return domain && domain.verified_at !== null ? domain : undefined
  }

  return {
    atPath(asked: Asked, path: string, name: string) {
      const address = addressIn(asked.request, path.slice(base.length + 1), { domain: verifiedDomain(name), domainId: null })
      return serveWhenReady(asked, address)
    },
    ownsHost: (name: string): boolean => verifiedDomain(name) !== undefined,
    onHost(asked: Asked, path: string, name: string): Response | Promise<Response> | undefined {
      const domain = verifiedDomain(name)! // `ownsHost` returned true
      const address = addressIn(asked.request, path.slice(1), { domain, domainId: domain.id })
      return isReservedSlug(address.slug) ? undefined : serveWhenReady(asked, address)
    },
  }
}

/** Splits a URL. `rest` is its path, starting with the slug. */
function addressIn({ url }: Request, rest: string, { domain, domainId }: Pick<Address, "domain" | "domainId">): Address {
  const end = rest.indexOf("/")
  const mark = url.indexOf("?")
  const query = mark === -1 ? "" : url.slice(mark + 1).split("#")[0]!
  const [slug, path] = end === -1 ? [rest, ""] : [rest.slice(0, end), rest.slice(end)]
  return { domain, domainId, slug: unescaped(slug), path, query }
}

const NO_STORE = "no-store"
/** Limits how long browsers cache a permanent redirect, so that an edit of the link takes effect. */
const CACHE_SHORTLY = "private, max-age=30"

/** Returns the headers except the location. The engine copies a `Headers` twice as fast as it reads an object. */
function redirectHeaders(cacheControl: string, noindex: boolean): Headers {
  return new Headers({
    "cache-control": cacheControl,
    "referrer-policy": "strict-origin-when-cross-origin",
    "x-content-type-options": "nosniff",
    ...(noindex && { "x-robots-tag": "noindex" }),
  })
}

const HEADERS = {
  temporary: { indexed: redirectHeaders(NO_STORE, false), hidden: redirectHeaders(NO_STORE, true) },
  permanent: { indexed: redirectHeaders(CACHE_SHORTLY, false), hidden: redirectHeaders(CACHE_SHORTLY, true) },
}

function redirect(location: string, { status, noindex }: { status: number; noindex: boolean }): Response {
  const { indexed, hidden } = status === 301 || status === 308 ? HEADERS.permanent : HEADERS.temporary
  const response = new Response(null, { status, headers: noindex ? hidden : indexed })
  response.headers.set("location", location)
  return response
}
