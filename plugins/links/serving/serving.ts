import { type Asked, composed, isReservedSlug, type ListedSender, readBytes, type SenderFacts, type Site, unescaped } from "#plugin"
import type { Cache, Kept } from "./cache.ts"
import type { Chains } from "./chain.ts"
import { type BotReason, clickOf, createBotCheck } from "./clicks.ts"
import { type Decision, decide, type Wanted } from "./decision.ts"
import type { Domain } from "./domain-rows.ts"
import type { Link, LinksHost } from "./link.ts"
import type { OrphanKind, Orphans } from "./orphans.ts"
import { gonePage, notFoundPage, otherMethod, passwordPage, previewPage, unlockedPage } from "./pages.ts"

interface DoorOptions {
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
const TRIES_A_MINUTE = 5
const UNLOCK_SECONDS = 3_600
const MOST_FORM_BYTES = 4_096

/** What a request asks for, on which host. */
interface Address {
  domain: Domain | undefined
  slug: string
  /** What follows the slug. */
  path: string
  /** Without the question mark. */
  query: string
}

/**
 * Answers requests for short links. The redirect goes out first, and what is to be remembered of it is stored afterwards. What
 * is unknown, deleted, archived or not begun gets one answer, at one cost.
 */
export function createDoor(host: LinksHost, { cache, chains, orphans, prefix, isDatacenter, onClick }: DoorOptions) {
  const misses = host.throttle(MISSES_A_MINUTE, 60_000)
  const tries = host.throttle(TRIES_A_MINUTE, 60_000)
  const botReason = createBotCheck(isDatacenter)
  const siteOf = (id: number): Site | undefined => host.services.sites.directory.byId(id)

  function miss(asked: Asked, { domain, slug, path }: Address, kind: OrphanKind): Response {
    misses.take(asked)
    orphans.note(kind, domain?.id ?? null, `/${slug}${path}`)
    const elsewhere = kind === "root" ? domain?.root_destination : domain?.not_found_destination
    return elsewhere ? redirect(elsewhere, { status: 302, noindex: true }) : notFoundPage()
  }

  function serve(asked: Asked, address: Address): Response | Promise<Response> {
    const { slug, path } = address
    const { method } = asked.request
    const isRead = method === "GET" || method === "HEAD"
    if (!isRead && method !== "POST") return otherMethod("GET, HEAD")
    if (slug === "") return isRead ? miss(asked, address, "root") : otherMethod("GET, HEAD")
    const isPreview = slug.endsWith("+") && path === ""
    const kept = cache.at(address.domain?.id ?? null, isPreview ? slug.slice(0, -1) : slug)
    const site = kept && siteOf(kept.link.site_id)
    if (!kept || !site) return isRead ? miss(asked, address, "unknown_slug") : otherMethod("GET, HEAD")
    if (isPreview) return isRead ? preview(asked, kept, address) : otherMethod("GET, HEAD")
    return isRead ? visit(asked, kept, site, address) : unlock(asked, kept, site, address)
  }

  function wantedOf(asked: Asked, { link }: Kept, site: Site, { path, query }: Address, sender: SenderFacts): Wanted {
    const isUnlocked = link.password_hash !== null && host.unlocks.fits(link, cookieIn(asked.request, cookieName(link.id)))
    const { device, os, country, language } = sender
    return { device, os, country, language, at: host.now(), query, path, timezone: site.timezone, isUnlocked }
  }

  function visit(asked: Asked, kept: Kept, site: Site, address: Address): Response {
    const sender = host.senderOf(asked)
    const wanted = wantedOf(asked, kept, site, address, sender)
    const decision = decide(kept, wanted, { cache, chains })
    if (decision.outcome !== "redirect") return refusal(asked, decision, address)
    const reason = botReason(asked, sender, wanted.at)
    // Counted when it is decided: the next one must know.
    if (!reason) kept.since.human++
    const { link } = kept
    const answer = redirect(decision.url, { status: decision.status, noindex: link.noindex })
    record(asked, site, { link, reason, decision, address })
    return answer
  }

  function record(
    asked: Asked,
    site: Site,
    {
      link,
      reason,
      decision,
      address,
    }: { link: Link; reason: BotReason | undefined; decision: Decision & { outcome: "redirect" }; address: Address },
  ): void {
    const isQr = address.query !== "" && new URLSearchParams(address.query).get("qr") === "1"
    const { rule, status } = decision
    const { method } = asked.request
    try {
      host.recordLater(asked, site, clickOf({ linkId: link.id, reason, isQr, rule, method, status }))
      onClick(site.id)
    } catch (error) {
      // The visitor gets where they want to go, whatever becomes of the count.
      host.log.error("a click could not be recorded", { error })
    }
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
    tries.take(asked, link.id)
    const form = new URLSearchParams(new TextDecoder().decode(await readBytes(asked.request, MOST_FORM_BYTES)))
    const { isRight } = await host.passwords.verify(composed(form.get("password") ?? ""), link.password_hash)
    return isRight ? unlockedPage(cookieOf(link)) : passwordPage(403)
  }

  const isSecure = (): boolean => host.baseUrl().startsWith("https:")
  const cookieName = (id: number): string => `${isSecure() ? "__Host-" : ""}unlock-${id}`
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

  return {
    atPath: (asked: Asked, path: string) => whenReady(() => serve(asked, addressIn(asked.request, undefined, path.slice(base.length + 1)))),
    ownsHost: (name: string): boolean => (cache.domain(name)?.verified_at ?? null) !== null,
    onHost(asked: Asked, path: string, name: string): Response | Promise<Response> | undefined {
      const address = addressIn(asked.request, cache.domain(name), path.slice(1))
      return isReservedSlug(address.slug) ? undefined : whenReady(() => serve(asked, address))
    },
  }
}

/** `rest` is the path from where the slug begins. */
function addressIn({ url }: Request, domain: Domain | undefined, rest: string): Address {
  const end = rest.indexOf("/")
  const mark = url.indexOf("?")
  const query = mark === -1 ? "" : url.slice(mark + 1).split("#")[0]!
  const [slug, path] = end === -1 ? [rest, ""] : [rest.slice(0, end), rest.slice(end)]
  return { domain, slug: unescaped(slug), path, query }
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
