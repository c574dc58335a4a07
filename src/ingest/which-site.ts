import { COMPAT_PRODUCTS, type CompatProduct, type Site, type SiteDirectory } from "../domain/site.ts"
import type { RequestFacts } from "./draft.ts"
import type { Incoming } from "./payloads/incoming.ts"
import { hostnameOf, splitAddress } from "./web-address.ts"

/** A site an event is meant for; `sent` is what named it, also when there is no such site. */
export interface Target {
  sent: string
  site: Site | undefined
}

/** The form of our own ids, and of Umami's. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** The host an event happened on: that of its address, else of the request's `Origin`, else of its `Referer`. */
export function hostOf({ address }: Incoming, { origin, referer }: RequestFacts): string {
  return address.host || hostIn(origin) || hostIn(referer)
}

const hostIn = (address: string): string => (address === "" || address === "null" ? "" : (hostnameOf(splitAddress(address).host) ?? ""))

/** Which sites an event belongs to (metrics.md 18.1). Two names of one site count once. */
export function targetsOf(
  directory: SiteDirectory,
  named: readonly string[],
  host: string,
  product: CompatProduct = "plausible",
): Target[] {
  if (named.length === 0) return [{ sent: host, site: host === "" ? undefined : directory.byHost(host) }]
  if (named.length === 1) return [{ sent: named[0]!, site: namedSite(directory, named[0]!, product) }]
  const targets = named.map((sent) => ({ sent, site: namedSite(directory, sent, product) }))
  return targets.filter(({ site }, index) => site === undefined || targets.findIndex((other) => other.site === site) === index)
}

/**
 * By tracking id, by an id of another product (that of the payload before the others), by a domain. An id that is unknown
 * never falls back to a host.
 */
function namedSite(directory: SiteDirectory, sent: string, product: CompatProduct): Site | undefined {
  const own = directory.byTrackingId(sent)
  if (own) return own
  if (UUID.test(sent)) return directory.byCompatId("umami", sent)
  const host = hostnameOf(sent.toLowerCase())
  return byCompatId(directory, sent, product) ?? (host === undefined ? undefined : directory.byHost(host))
}

function byCompatId(directory: SiteDirectory, sent: string, product: CompatProduct): Site | undefined {
  const known = directory.byCompatId(product, sent)
  if (known) return known
  for (const other of COMPAT_PRODUCTS) {
    const site = directory.byCompatId(other, sent)
    if (site) return site
  }
  return undefined
}
