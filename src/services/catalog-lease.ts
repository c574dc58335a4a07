import { hostname } from "node:os"
import type { Catalog } from "../store/catalog/catalog.ts"
import { giveLease, takeLease } from "../store/catalog/lease.ts"
import { ExitFault } from "./exit.ts"
import type { Random } from "./secrets.ts"

/** A catalog on a server is served by one node at a time: no lock of a folder can see another machine. */
export interface CatalogLease {
  /** To be called every few seconds. Rejects with `inUse` when another node has taken over. */
  renew(): Promise<void>
  give(): Promise<void>
}

/** A node that has not renewed for this long is taken for dead. */
const LIFE_MS = 30_000

/** Rejects with exit code 73 while another node holds the catalog. */
export async function leaseCatalog(catalog: Catalog, { now, random }: { now(): number; random: Random }): Promise<CatalogLease> {
  const holder = random(16).toHex()
  async function renew(): Promise<void> {
    const wanted = { holder, described: `${hostname()}, pid ${process.pid}`, expires_at: now() + LIFE_MS }
    const other = await takeLease(catalog, wanted, now())
    if (!other) return
    const until = new Date(other.expires_at).toISOString()
    throw new ExitFault(
      "inUse",
      `Another Footfall holds the catalog: ${other.described}, until ${until} at least. Stop it, or use another catalog`,
    )
  }
  await renew()
  return { renew, give: () => giveLease(catalog, holder) }
}
