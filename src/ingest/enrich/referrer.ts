import { getDomain } from "tldts"
import { COLLECT } from "../../domain/limits.ts"
import { coversHost } from "../../domain/site.ts"
import { remembered } from "../remembered.ts"
import { cutBytes, visible } from "../request/text.ts"
import { hostnameOf, splitAddress } from "../request/web-address.ts"

/** Where a visit came from. `host` without `www.`; `text` as it is stored. */
export interface Referrer {
  host: string
  text: string
}

export const NO_REFERRER: Referrer = { host: "", text: "" }
const SCHEMES = new Set(["http", "https", "android-app"])

/** Host and path of a referrer, without query, fragment and trailing slash. No referrer: both are "". */
export function referrerOf(sent: string): Referrer {
  if (sent === "") return NO_REFERRER
  const trimmed = sent.trim()
  const end = trimmed.search(/[?#]/)
  return referringPlace(end < 0 ? trimmed : trimmed.slice(0, end))
}

/** Few pages send most visits. What may tell of a visitor, the query, is gone already. */
const referringPlace = remembered(5_000, (sent): Referrer => {
  const address = splitAddress(sent)
  if (!SCHEMES.has(address.scheme) || address.host === "") return NO_REFERRER
  const host = hostnameOf(address.host)
  if (host === undefined) return NO_REFERRER
  const place = withoutEnd(`${host}${visible(address.path)}`)
  const text = address.scheme === "android-app" ? `android-app://${place}` : place
  return { host, text: cutBytes(text, COLLECT.referrerBytes) }
})

/** Without slashes and blanks at its end. No expression: those look again from every slash of a long run. */
function withoutEnd(place: string): string {
  let end = place.length
  while (end > 0 && (place[end - 1] === "/" || place[end - 1] === " ")) end--
  return place.slice(0, end)
}

/** Whether a referrer is the site itself: then the visit came from nowhere else. */
export function isOwn(referrer: Referrer, page: { hostname: string; hosts: readonly string[] }): boolean {
  const { host } = referrer
  if (host === page.hostname || host === "localhost" || coversHost(page.hosts, host)) return true
  const domain = registrableDomain(host)
  return domain !== "" && domain === registrableDomain(page.hostname)
}

/** The domain somebody registered, by the public suffix list with its private section; "" for addresses and bare names. */
export const registrableDomain = remembered(10_000, (host) => getDomain(host, { allowPrivateDomains: true, validateHostname: false }) ?? "")

/** The first of a host and its parents (`a.b.c`, `b.c`, `c`) for which there is a value. */
export function byParents<Value>(values: ReadonlyMap<string, Value>, host: string): Value | undefined {
  for (let at = 0; ; ) {
    const found = values.get(at === 0 ? host : host.slice(at))
    if (found !== undefined) return found
    const dot = host.indexOf(".", at)
    if (dot < 0) return undefined
    at = dot + 1
  }
}

/** The host itself or the parent of it that a set holds. */
export function parentIn(hosts: ReadonlySet<string>, host: string): string | undefined {
  for (let at = 0; ; ) {
    const parent = at === 0 ? host : host.slice(at)
    if (hosts.has(parent)) return parent
    const dot = host.indexOf(".", at)
    if (dot < 0) return undefined
    at = dot + 1
  }
}
