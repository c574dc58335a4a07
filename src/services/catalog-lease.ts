import { hostname } from "node:os"
import type { Catalog } from "../store/catalog/catalog.ts"
import { createLeases, giveLease, LEASE_MS, presentLease, renewLease, takeLease } from "../store/catalog/lease.ts"
import { ExitFault } from "./exit.ts"
import type { Random } from "./secrets.ts"

/** A catalog on a server is served by one node at a time: no lock of a folder can see another machine. */
export interface CatalogLease {
  /** To be called every few seconds. Rejects with `inUse` when another node has followed. */
  renew(): Promise<void>
  /** Throws `unavailable` when the server was last reached longer ago than a lease lasts: another node may serve by now. */
  watch(): void
  /** Lets another node follow at once. */
  give(): Promise<void>
}

interface LeaseOptions {
  /** Tells data folders apart. */
  node: string
  random: Random
  monotonic(): number
}

/** Rejects with exit code 73 while another node holds the catalog. */
export async function leaseCatalog(catalog: Catalog, { node, random, monotonic }: LeaseOptions): Promise<CatalogLease> {
  const holder = random(16).toHex()
  await createLeases(catalog)
  const other = await takeLease(catalog, { node, holder, described: `${hostname()}, pid ${process.pid}` })
  if (other) {
    const until = new Date(other.expires_at).toISOString()
    throw inUse(`Another Footfall holds the catalog: ${other.described}, until ${until} at least. Stop it, or use another catalog`)
  }
  let reachedAt = monotonic()
  return {
    async renew() {
      const asked = monotonic()
      if (!(await renewLease(catalog, holder))) {
        const follower = (await presentLease(catalog))?.described ?? "nobody now"
        throw inUse(`The lease of the catalog was lost; it is held by ${follower}. ${ONE_NODE}`)
      }
      reachedAt = asked
    },
    watch() {
      if (monotonic() - reachedAt > LEASE_MS) throw new ExitFault("unavailable", "The catalog server was not reachable for 30 s: start it")
    },
    give: () => giveLease(catalog, holder),
  }
}

const ONE_NODE = "One Footfall alone may serve a catalog: stop that one before this one starts again, or give each its own catalog"

const inUse = (message: string): ExitFault => new ExitFault("inUse", message)
