import { existsSync, readFileSync } from "node:fs"
import { hostname } from "node:os"
import { type Catalog, openCatalog } from "../../store/catalog/catalog.ts"
import { createLeases, currentLease, LEASE_MS, releaseLease, renewLease, takeLease } from "../../store/catalog/lease.ts"
import { StoreFault } from "../../store/events/fault.ts"
import { sql } from "../../store/sql.ts"
import type { Random } from "../secrets/secrets.ts"
import { placesIn } from "./data-folder.ts"
import { ExitFault } from "./exit.ts"
import { replaceFile } from "./files.ts"

export interface RemoteCatalog {
  url: string
  authToken: string | undefined
}

/** A server may come up later than we do. */
const PATIENCE_MS = 30_000
const PAUSE_MS = 500

/** Opens a catalog on a server as soon as it answers. After 30 s without an answer it is exit code 69. */
export async function openRemoteCatalog(
  { url, authToken }: RemoteCatalog,
  onFault: (fault: StoreFault) => void,
  patience = PATIENCE_MS,
): Promise<Catalog> {
  let isReached = false
  // Until then a fault is what is waited out.
  const told = (fault: StoreFault) => isReached && onFault(fault)
  const catalog = await openCatalog(url, { onFault: told, ...(authToken !== undefined && { authToken }) })
  const end = AbortSignal.timeout(patience)
  const { promise: late, reject } = Promise.withResolvers<never>()
  // An address may carry a token; its host does not.
  const { host } = new URL(url)
  end.addEventListener("abort", () =>
    reject(new ExitFault("unavailable", `The catalog server ${host} was not reachable for 30 s: start it`)),
  )
  await Promise.race([late, answer(catalog, host, end)])
  isReached = true
  return catalog
}

async function answer(catalog: Catalog, host: string, end: AbortSignal): Promise<void> {
  while (!end.aborted) {
    try {
      await catalog.get(sql`select 1`)
      return
    } catch (error) {
      if (isRefusal(error))
        throw new ExitFault("configuration", `The catalog server ${host} refuses FOOTFALL_CATALOG_AUTH_TOKEN`, { cause: error })
      if (!(error instanceof StoreFault)) throw error
      await Bun.sleep(PAUSE_MS)
    }
  }
}

/** The client says how a server answered in its words alone. */
const isRefusal = (error: unknown): boolean =>
  error instanceof StoreFault && error.cause instanceof Error && /HTTP status 40[13]\b/.test(error.cause.message)

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
        const follower = (await currentLease(catalog))?.described ?? "nobody now"
        throw inUse(`The lease of the catalog was lost; it is held by ${follower}. ${ONE_NODE}`)
      }
      reachedAt = asked
    },
    watch() {
      if (monotonic() - reachedAt > LEASE_MS) throw new ExitFault("unavailable", "The catalog server was not reachable for 30 s: start it")
    },
    give: () => releaseLease(catalog, holder),
  }
}

const ONE_NODE = "One Footfall alone may serve a catalog: stop that one before this one starts again, or give each its own catalog"

const inUse = (message: string): ExitFault => new ExitFault("inUse", message)

/**
 * Returns the id that tells this data folder from those of other nodes, made when it is first asked for, under the folder's lock. An
 * empty file is replaced: earlier versions could leave one behind when they were killed.
 */
export function nodeId(dataDir: string, random: Random): string {
  const { node } = placesIn(dataDir)
  const known = existsSync(node) ? readFileSync(node, "utf8").trim() : ""
  if (known !== "") return known
  const id = random(16).toHex()
  replaceFile(node, `${id}\n`)
  return id
}
