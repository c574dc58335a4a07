import { getDomain } from "tldts"
import { COLLECT } from "../../domain/limits.ts"
import { coversHost } from "../../domain/site.ts"
import { memoize } from "../memoize.ts"
import { cutBytes, visible } from "../request/text.ts"
import { hostnameOf, splitAddress } from "../request/web-address.ts"

/** The referrer of a visit. Both parts are "" when there is none. */
export interface Referrer {
  /** Without `www.`. */
  host: string
  /** Host and path, as stored. */
  text: string
}

export const NO_REFERRER: Referrer = { host: "", text: "" }
const SCHEMES = new Set(["http", "https", "android-app"])

/** Returns host and path of a referrer, without query, fragment and trailing slash. */
export function referrerOf(sent: string): Referrer {
  if (sent === "") return NO_REFERRER
  const trimmed = sent.trim()
  const end = trimmed.search(/[?#]/)
  return referringPage(end < 0 ? trimmed : trimmed.slice(0, end))
}

/** Parses a referrer without its query. Memoized, because a small number of pages sends most visits; the query could identify a visitor. */
const referringPage = memoize(5_000, (sent): Referrer => {
  const address = splitAddress(sent)
  if (!SCHEMES.has(address.scheme) || address.host === "") return NO_REFERRER
  const host = hostnameOf(address.host)
  if (host === undefined) return NO_REFERRER
  const page = withoutTrailingSlashes(`${host}${visible(address.path)}`)
  const text = address.scheme === "android-app" ? `android-app://${page}` : page
  return { host, text: cutBytes(text, COLLECT.referrerBytes) }
})

/** Removes trailing slashes and spaces. A regular expression would start again at every slash of a long run and take quadratic time. */
function withoutTrailingSlashes(page: string): string {
  let end = page.length
  while (end > 0 && (page[end - 1] === "/" || page[end - 1] === " ")) end--
  return page.slice(0, end)
}

/** Returns whether a referrer is the site itself, which is not a source of visits. */
export function isSelfReferral(referrer: Referrer, page: { hostname: string; hosts: readonly string[] }): boolean {
  const { host } = referrer
  if (host === page.hostname || host === "localhost" || coversHost(page.hosts, host)) return true
  const domain = registrableDomain(host)
  return domain !== "" && domain === registrableDomain(page.hostname)
}

/** Returns the registrable domain by the public suffix list, including its private section; "" for addresses and bare names. */
export const registrableDomain = memoize(10_000, (host) => getDomain(host, { allowPrivateDomains: true, validateHostname: false }) ?? "")

/** Returns the value for a host, or else for the nearest of its parents (`a.b.c`, `b.c`, `c`). */
export function valueForHost<Value>(values: ReadonlyMap<string, Value>, host: string): Value | undefined {
  for (let at = 0; ; ) {
    const found = values.get(at === 0 ? host : host.slice(at))
    if (found !== undefined) return found
    const dot = host.indexOf(".", at)
    if (dot < 0) return undefined
    at = dot + 1
  }
}

/** Returns the host, or else the nearest of its parents, that is in a set. */
export function listedHost(hosts: ReadonlySet<string>, host: string): string | undefined {
  for (let at = 0; ; ) {
    const parent = at === 0 ? host : host.slice(at)
    if (hosts.has(parent)) return parent
    const dot = host.indexOf(".", at)
    if (dot < 0) return undefined
    at = dot + 1
  }
}
