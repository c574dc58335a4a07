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
import type { Domain } from "../domain-rows.ts"
import type { Link, LinksHost } from "../link.ts"
import type { Cache, Kept } from "./cache.ts"
import type { Chains } from "./chain.ts"
import { type BotReason, clickOf, createBotCheck } from "./clicks.ts"
import { type Decision, decide, type Wanted } from "./decision.ts"
import type { OrphanKind, Orphans } from "./orphans.ts"
import { gonePage, notFoundPage, otherMethod, passwordPage, previewPage, unlockedPage } from "./pages.ts"

interface EndpointOptions {
  cache: Cache
  chains: Chains
  orphans: Orphans
  /** Of links on the instance's own hosts. */
  prefix: string
  isDatacenter: ListedSender | undefined
  /** A click of this site was recorded. */
  onClick(siteId: number): void
}

const MISSES_A_MINUTE = 60
/** Of one link. */
const TRIES_A_MINUTE = 5
/** Of all links together, so that the number of links does not raise the number of slow hashes. */
const UNLOCKS_A_MINUTE = 30
const UNLOCK_SECONDS = 3_600
const MOST_FORM_BYTES = 4_096

/** What a request asks for, on which host. */
interface Address {
  /** The verified link domain that was asked. */
  domain: Domain | undefined
  /** Whose slugs are meant: those of a link domain, or null for those below the prefix. */
  domainId: number | null
  slug: string
  /** What follows the slug. */
  path: string
  /** Without the question mark. */
  query: string
}

/**
 * Answers requests for short links. The redirect is sent first and the click is stored within 20 ms after it, except for the click that
 * uses up a limit, which is on disk before its redirect. Unknown, deleted, archived and not yet started links get the same answer at the
 * same cost.
 */
export function createEndpoint(host: LinksHost, { cache, chains, orphans, prefix, isDatacenter, onClick }: EndpointOptions) {
  const misses = host.throttle(MISSES_A_MINUTE, 60_000)
  const tries = host.throttle(TRIES_A_MINUTE, 60_000)
  const unlocks = host.throttle(UNLOCKS_A_MINUTE, 60_000)
  const botReason = createBotCheck(isDatacenter)
  const siteOf = (id: number): Site | undefined => host.services.sites.directory.byId(id)

  function miss(asked: Asked, { domain, slug, path }: Address, kind: OrphanKind): Response {
    misses.take(asked)
    orphans.note(kind, domain?.id ?? null, `/${slug}${path}`)
    const elsewhere = kind === "root" ? domain?.root_destination : domain?.not_found_destination
    return elsewhere ? redirect(elsewhere, { status: 302, noindex: true }) : notFoundPage()
  }

  /** Returns the link that is meant, and its site. On a link domain the links of other organizations do not exist. */
  function find({ domain, domainId }: Address, slug: string): { kept: Kept; site: Site } | undefined {
    const kept = cache.at(domainId, slug)
    const site = kept && siteOf(kept.link.site_id)
    return site && (!domain || site.organization_id === domain.organization_id) ? { kept, site } : undefined
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
    const { kept, site } = found
    if (isPreview) return isRead ? preview(asked, kept, address) : otherMethod("GET, HEAD")
    return isRead ? visit(asked, kept, site, address) : unlock(asked, kept, site, address)
  }

  function wantedOf(asked: Asked, { link }: Kept, site: Site, { path, query }: Address, sender: SenderFacts): Wanted {
    const isUnlocked = link.password_hash !== null && host.unlocks.fits(link, cookieIn(asked.request, cookieName(link.id)))
    const { device, os, country, language } = sender
    return { device, os, country, language, at: host.now(), query, path, timezone: site.timezone, isUnlocked }
  }

  function visit(asked: Asked, kept: Kept, site: Site, address: Address): Response | Promise<Response> {
    const sender = host.senderOf(asked)
    const wanted = wantedOf(asked, kept, site, address, sender)
    const decision = decide(kept, wanted, { cache, chains })
    if (decision.outcome !== "redirect") return refusal(asked, decision, address)
    const reason = botReason(asked, sender, wanted.at)
    // Counted when it is decided: the next one must know.
    if (!reason) kept.since.human++
    const { link } = kept
    const answer = redirect(decision.url, { status: decision.status, noindex: link.noindex })
    const isLast = !reason && link.max_clicks !== null && link.clicks_human + kept.since.human >= link.max_clicks
    const pending = record(asked, site, { link, reason, decision, address, isLast })
    return pending ? pending.then(() => answer) : answer
  }

  /**
   * Records a click. Returns a promise that the redirect has to wait for: of the click that uses up a limit, which a crash must not
   * undo, and of a click that comes while too many wait for the disk. Never throws or rejects: visitors are redirected in any case.
   */
  function record(
    asked: Asked,
    site: Site,
    {
      link,
      reason,
      decision,
      address,
      isLast,
    }: { link: Link; reason: BotReason | undefined; decision: Decision & { outcome: "redirect" }; address: Address; isLast: boolean },
  ): Promise<void> | undefined {
    const isQr = address.query !== "" && new URLSearchParams(address.query).get("qr") === "1"
    const { rule, status } = decision
    const { method } = asked.request
    try {
      const click = clickOf({ linkId: link.id, reason, isQr, rule, method, status })
      onClick(site.id)
      return isLast ? host.record(asked, site, click).catch(tellUnrecorded) : host.recordLater(asked, site, click)
    } catch (error) {
      return void tellUnrecorded(error)
    }
  }

  /** The store itself counts what it refuses, and its state is shown elsewhere. */
  const tellUnrecorded = (error: unknown): void => {
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

  function preview(asked: Asked, { link }: Kept, address: Address): Response {
    const isThere = link.archived_at === null && (link.starts_at === null || link.starts_at <= host.now())
    return isThere ? previewPage(link) : miss(asked, address, "unknown_slug")
  }

  /** A form with the password. The click is that of the redirect that follows. */
  async function unlock(asked: Asked, kept: Kept, site: Site, address: Address): Promise<Response> {
    const { link } = kept
    const decision = decide(kept, { ...wantedOf(asked, kept, site, address, host.senderOf(asked)), isUnlocked: false }, { cache, chains })
    if (decision.outcome !== "password") return otherMethod("GET, HEAD")
    unlocks.take(asked)
    tries.take(asked, link.id)
    const form = new URLSearchParams(new TextDecoder().decode(await readBytes(asked.request, MOST_FORM_BYTES)))
    const typed = form.get("password") ?? ""
    const isRight = typed !== "" && (await host.passwords.verify(normalizeUnicode(typed), link.password_hash)).isRight
    return isRight ? unlockedPage(cookieOf(link)) : passwordPage(403)
  }

  const isSecure = (): boolean => host.baseUrl().startsWith("https:")
  const cookieName = (id: number): string => `${isSecure() ? "__Host-" : ""}unlock-l-${id}`
  const cookieOf = (link: Link): string =>
    [
      `${cookieName(link.id)}=${host.unlocks.make(link)}`,
      ...["Path=/", `Max-Age=${UNLOCK_SECONDS}`, "HttpOnly", "SameSite=Lax"],
      ...(isSecure() ? ["Secure"] : []),
    ].join("; ")

  const base = `/${prefix}`
  /** At once, unless this is the first request of the process. */
  function whenReady(answer: () => Response | Promise<Response>): Response | Promise<Response> {
    const loading = cache.ready()
    return loading ? loading.then(answer) : answer()
  }

  const verifiedDomain = (name: string): Domain | undefined => {
    const domain = cache.domain(name)
    return domain && domain.verified_at !== null ? domain : undefined
  }

  return {
    atPath(asked: Asked, path: string, name: string) {
      const address = addressIn(asked.request, path.slice(base.length + 1), { domain: verifiedDomain(name), domainId: null })
      return whenReady(() => serve(asked, address))
    },
    ownsHost: (name: string): boolean => verifiedDomain(name) !== undefined,
    onHost(asked: Asked, path: string, name: string): Response | Promise<Response> | undefined {
      const domain = verifiedDomain(name)! // `ownsHost` was asked just before
      const address = addressIn(asked.request, path.slice(1), { domain, domainId: domain.id })
      return isReservedSlug(address.slug) ? undefined : whenReady(() => serve(asked, address))
    },
  }
}

/** `rest` is the path from where the slug begins. */
function addressIn({ url }: Request, rest: string, place: Pick<Address, "domain" | "domainId">): Address {
  const end = rest.indexOf("/")
  const mark = url.indexOf("?")
  const query = mark === -1 ? "" : url.slice(mark + 1).split("#")[0]!
  const [slug, path] = end === -1 ? [rest, ""] : [rest.slice(0, end), rest.slice(end)]
  return { ...place, slug: unescaped(slug), path, query }
}

const NO_STORE = "no-store"
/** Browsers would keep a lasting redirect for ever: an edit has to be seen. */
const KEPT_SHORTLY = "private, max-age=30"

/** All but the address: copied by the engine, which costs half of what it costs to read them from an object each time. */
function redirectHeaders(cacheControl: string, noindex: boolean): Headers {
  return new Headers({
    "cache-control": cacheControl,
    "referrer-policy": "strict-origin-when-cross-origin",
    "x-content-type-options": "nosniff",
    ...(noindex && { "x-robots-tag": "noindex" }),
  })
}

const HEADERS = {
  passing: { indexed: redirectHeaders(NO_STORE, false), hidden: redirectHeaders(NO_STORE, true) },
  lasting: { indexed: redirectHeaders(KEPT_SHORTLY, false), hidden: redirectHeaders(KEPT_SHORTLY, true) },
}

function redirect(location: string, { status, noindex }: { status: number; noindex: boolean }): Response {
  const { indexed, hidden } = status === 301 || status === 308 ? HEADERS.lasting : HEADERS.passing
  const response = new Response(null, { status, headers: noindex ? hidden : indexed })
  response.headers.set("location", location)
  return response
}

const cookieIn = ({ headers }: Request, name: string): string | undefined =>
  new Bun.CookieMap(headers.get("cookie") ?? "").get(name) ?? undefined
