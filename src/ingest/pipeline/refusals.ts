import type { DropReason } from "../../domain/event.ts"
import { coversHost } from "../../domain/site.ts"
import { SPAM_HOSTS } from "../data/spam-hosts.ts"
import type { Draft, Outcome } from "../draft.ts"
import { listedHost } from "../enrich/referrer.ts"
import { isPreparing } from "../request/request.ts"
import { hostnameOf, splitAddress } from "../request/web-address.ts"

/** The steps that drop events (metrics.md 19.1). */

const drop = (reason: DropReason, entry?: string): Outcome => (entry === undefined ? { reason } : { reason, entry })

/** Drops prefetches, whose page no one has seen yet. */
export function refusePrefetch(draft: Draft): Outcome | undefined {
  return isPreparing(draft.request.purpose) ? drop("prefetch") : undefined
}

/** Drops bots. The rules for pixels are stricter, because every mail program and crawler loads images. */
export function refuseBot(draft: Draft): Outcome | undefined {
  const { site, request, sender, agent, incoming } = draft
  if (!site.settings.drop_bots) return undefined
  const { acceptLanguage, fetchDestination } = request
  const isBotPixel = sender === "pixel" && (acceptLanguage === "" || (fetchDestination !== "" && fetchDestination !== "image"))
  return agent.isBot || isBotPixel || incoming.isBot ? drop("bot") : undefined
}

/** Drops events of foreign hosts. Events with an API key may have any host, but the hostname shields apply to them too. */
export function refuseHost(draft: Draft): Outcome | undefined {
  const { site, hostname, sender, shields } = draft
  if (sender !== "server") {
    const isForeign = hostname !== "" && !site.settings.accept_any_host && !coversHost(site.hosts, hostname)
    if (isForeign) return drop("host", hostname)
    if (site.settings.strict_origin && !hasOwnOrigin(draft)) return drop("host", hostname)
  }
  return hostname !== "" && shields.hostname(hostname) !== undefined ? drop("host", hostname) : undefined
}

function hasOwnOrigin({ site, request }: Draft): boolean {
  const sent = request.origin !== "" && request.origin !== "null" ? request.origin : request.referer
  const host = sent === "" ? undefined : hostnameOf(splitAddress(sent).host)
  return host !== undefined && coversHost(site.hosts, host)
}

/** Drops events by IP shields. They are counted by the value of the shield, never by the address. */
export function refuseIp(draft: Draft): Outcome | undefined {
  const shield = draft.address && draft.shields.ip.find(draft.address)
  return shield === undefined ? undefined : drop("ip", shield)
}

export function refuseSpam(draft: Draft): Outcome | undefined {
  const { site, referrer, shields } = draft
  if (referrer.host === "") return undefined
  const listed = site.settings.drop_spam ? listedHost(SPAM_HOSTS, referrer.host) : undefined
  const entry = listed ?? shields.referrer(referrer.host)
  return entry === undefined ? undefined : drop("spam", entry)
}

/** Drops probes. Also tests the path as it was sent, so that decoding does not hide a probe. */
export function refuseProbe(draft: Draft): Outcome | undefined {
  if (!draft.site.settings.drop_probes) return undefined
  const path = draft.incoming.address.path.toLowerCase()
  const isScan = isProbe(path) || (path.includes("%") && isProbe(draft.page.toLowerCase()))
  return isScan ? drop("probe") : undefined
}

const isProbe = (path: string): boolean =>
  PROBE_ENDINGS.some((ending) => path.endsWith(ending)) || PROBE_PARTS.test(path) || PROBE_STARTS.test(path)

export function refusePage(draft: Draft): Outcome | undefined {
  const shield = draft.shields.page(draft.page)
  return shield === undefined ? undefined : drop("page", shield)
}

export function refuseCountry(draft: Draft): Outcome | undefined {
  const { country } = draft.place
  const shield = country === "" ? undefined : draft.shields.country(country)
  return shield === undefined ? undefined : drop("country", shield)
}

/** Drops events by the site's combined rules. Runs after all values that a rule can test are set. */
export function refuseRule(draft: Draft): Outcome | undefined {
  const shield = draft.shields.rule?.(draft)
  return shield === undefined ? undefined : drop("rule", shield)
}

export function refuseObjection(draft: Draft): Outcome | undefined {
  return draft.request.objects && draft.site.settings.respect_gpc ? drop("gpc") : undefined
}

/** Paths that scanners request and that no page has, in lower case (metrics.md 19.1). */

/** Anywhere in a path: hidden files, left-over scripts, path traversal. */
export const PROBE_PARTS =
  /\/\.(?:env|ds_store)(?![a-z0-9-])|\/\.(?:git|aws|ssh|svn)\/|\/vendor\/phpunit\/|\/(?:phpinfo|wp-config)\.php(?![a-z0-9-])|\.\.(?:\/|%2f)/

/** Only at the start of a path, because documentation can have a page `/docs/server-status`. */
export const PROBE_STARTS = /^\/(?:cgi-bin\/|actuator\/|server-status(?![a-z0-9-]))/

export const PROBE_ENDINGS: readonly string[] = [".sql", ".sql.gz", ".bak", ".php~", ".swp"]
