import type { HostDispute } from "../../domain/host.ts"
import { COMPAT_PRODUCTS, type CompatProduct, type Site, type SiteDirectory } from "../../domain/site.ts"
import type { RequestFacts } from "../draft.ts"
import type { Incoming } from "../payloads/incoming.ts"
import { hostnameOf, splitAddress } from "../request/web-address.ts"

/** A site that an event is meant for. `sent` is the name in the request, even if no such site exists. */
export interface Target {
  sent: string
  site: Site | undefined
  /** Present, and `site` undefined, for a host that several organizations claim and none owns. */
  dispute?: HostDispute
}

/** Form of tracking ids and of Umami's site ids. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** Returns the host of an event: that of its URL, else of the `Origin` header, else of the `Referer` header. */
export function hostOf({ address }: Incoming, { origin, referer }: RequestFacts): string {
  return address.host || hostIn(origin) || hostIn(referer)
}

const hostIn = (address: string): string => (address === "" || address === "null" ? "" : (hostnameOf(splitAddress(address).host) ?? ""))

/** Returns the sites that an event belongs to (metrics.md 18.1). Two names of one site count once. */
export function targetsOf(
  directory: SiteDirectory,
  named: readonly string[],
  host: string,
  product: CompatProduct = "plausible",
): Target[] {
  if (named.length === 0) return [host === "" ? { sent: host, site: undefined } : hostTarget(directory, host)]
  if (named.length === 1) return [namedTarget(directory, named[0]!, product)]
  const targets = named.map((sent) => namedTarget(directory, sent, product))
  return targets.filter(({ site }, index) => site === undefined || targets.findIndex((other) => other.site === site) === index)
}

/**
 * Finds the site by tracking id, by an id of another product (that of the payload before the others), then by a domain. An id
 * that is unknown never falls back to a host.
 */
function namedTarget(directory: SiteDirectory, sent: string, product: CompatProduct): Target {
  const own = directory.byTrackingId(sent)
  if (own) return { sent, site: own }
  if (UUID.test(sent)) return { sent, site: directory.byCompatId("umami", sent) }
  const known = byCompatId(directory, sent, product)
  const host = hostnameOf(sent.toLowerCase())
  if (host === undefined || (known && isOwn(directory, known, host))) return { sent, site: known }
  return hostTarget(directory, host, sent)
}

/** Returns whether an id that is also a disputed host name may be used: only for a site of the owner of the host. */
function isOwn(directory: SiteDirectory, known: Site, host: string): boolean {
  const dispute = directory.disputeOver(host)
  return dispute === undefined || dispute.owner?.organizationId === known.organization_id
}

function hostTarget(directory: SiteDirectory, host: string, sent = host): Target {
  const site = directory.byHost(host)
  const dispute = site ? undefined : directory.disputeOver(host)
  return { sent, site, ...(dispute && !dispute.owner && { dispute }) }
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
