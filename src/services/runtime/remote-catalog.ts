import { existsSync, readFileSync } from "node:fs"
import { hostname } from "node:os"
import { type Catalog, openCatalog } from "../../store/catalog/catalog.ts"
import { createLeases, currentLease, LEASE_MS, releaseLease, renewLease, takeLease } from "../../store/catalog/lease.ts"
import type { Contents } from "../../store/catalog/libsql.ts"
import { hasNodes, listLiveNodes } from "../../store/catalog/nodes.ts"
import { StoreFault } from "../../store/events/fault.ts"
import { sql } from "../../store/sql.ts"
import type { Random } from "../secrets/secrets.ts"
import { placesIn } from "./data-folder.ts"
import { ExitFault } from "./exit.ts"
import { replaceFile } from "./files.ts"

export interface RemoteCatalog {
  url: string
  authToken: string | undefined
  /** What the database contains. Default: the catalog. */
  holds?: Contents
}

/** Time to wait for a server that starts later than this process. */
const PATIENCE_MS = 30_000
const PAUSE_MS = 500

/** Opens a catalog on a server as soon as the server answers. Without an answer for 30 s the process ends with exit code 69. */
export async function openRemoteCatalog(
  { url, authToken, holds = "catalog" }: RemoteCatalog,
  onFault: (fault: StoreFault) => void,
  patience = PATIENCE_MS,
): Promise<Catalog> {
  let isReached = false
  // Faults before the first answer are expected and not reported.
  const reportFault = (fault: StoreFault) => isReached && onFault(fault)
  const catalog = await openCatalog(url, { holds, onFault: reportFault, ...(authToken !== undefined && { authToken }) })
  const end = AbortSignal.timeout(patience)
  const { promise: late, reject } = Promise.withResolvers<never>()
  // The URL can contain a token, so messages contain only its host.
  const { host } = new URL(url)
  end.addEventListener("abort", () =>
    reject(new ExitFault("unavailable", `The ${holds} server ${host} could not be reached for 30 s. Start it`)),
  )
  await Promise.race([late, waitForAnswer(catalog, { holds, host, end })])
  isReached = true
  return catalog
}

interface Waiting {
  holds: Contents
  host: string
  end: AbortSignal
}

async function waitForAnswer(catalog: Catalog, { holds, host, end }: Waiting): Promise<void> {
  while (!end.aborted) {
    try {
      await catalog.get(sql`select 1`)
      return
    } catch (error) {
      if (isRefusal(error))
        throw new ExitFault("configuration", `The ${holds} server ${host} rejected FOOTFALL_${holds.toUpperCase()}_AUTH_TOKEN`, {
          cause: error,
        })
      if (!(error instanceof StoreFault)) throw error
      await Bun.sleep(PAUSE_MS)
    }
  }
}

/** Returns whether a server refused access. The client reports the status only in the text of its error. */
const isRefusal = (error: unknown): boolean =>
  error instanceof StoreFault && error.cause instanceof Error && /HTTP status 40[13]\b/.test(error.cause.message)

/** Lease on a catalog server, which allows one node at a time, because the lock of a folder does not cover other machines. */
export interface CatalogLease {
  /** Renews the lease. Called every few seconds. Rejects with `inUse` when another node holds it. */
  renew(): Promise<void>
  /** Throws `unavailable` when the server was not reached for as long as a lease lasts, because another node may have taken over. */
  watch(): void
  /** Releases the lease, so that another node can take over at once. */
  release(): Promise<void>
}

export interface LeaseOptions {
  /** Id of the data folder. */
  node: string
  random: Random
  monotonic(): number
}

/** Takes the lease. Rejects with exit code 73 while another node holds it, or while several nodes share the catalog. */
export async function leaseCatalog(catalog: Catalog, options: LeaseOptions): Promise<CatalogLease> {
  const lease = await leaseBesideNodes(catalog, options)
  const live = (await hasNodes(catalog)) ? await listLiveNodes(catalog) : []
  // A node of this folder was killed, because this process has locked the folder.
  const other = live.find(({ folder }) => folder !== options.node)
  if (!other) return lease
  await lease.release()
  throw usedBy(other)
}

/** Takes the lease although nodes may share the catalog, for the time of a migration. Rejects with exit code 73 while another holds it. */
export async function leaseBesideNodes(catalog: Catalog, { node, random, monotonic }: LeaseOptions): Promise<CatalogLease> {
  const holder = random(16).toHex()
  await createLeases(catalog)
  const other = await takeLease(catalog, { node, holder, described: describeProcess() })
  if (other) throw usedBy(other)
  return renewable(monotonic, {
    renew: () => renewLease(catalog, holder),
    async lost() {
      const follower = (await currentLease(catalog))?.described ?? "no one at the moment"
      return inUse(`The lease on the catalog was lost. It is held by ${follower}. ${ONE_NODE}`)
    },
    release: () => releaseLease(catalog, holder),
  })
}

interface Renewal {
  /** Renews the lease. Resolves with false when it is lost. */
  renew(): Promise<boolean>
  /** Returns the fault of a lost lease. */
  lost(): Promise<ExitFault>
  release(): Promise<void>
}

/** Creates a lease from its statements. `age` returns the milliseconds since it was taken or renewed. */
export function renewable(monotonic: () => number, { renew, lost, release }: Renewal): CatalogLease & { age(): number } {
  let reachedAt = monotonic()
  const age = () => monotonic() - reachedAt
  return {
    age,
    async renew() {
      const startedAt = monotonic()
      if (!(await renew())) throw await lost()
      reachedAt = startedAt
    },
    watch() {
      if (age() > LEASE_MS) throw new ExitFault("unavailable", "The catalog server could not be reached for 30 s. Start it")
    },
    release,
  }
}

/** Describes this process for people. */
export const describeProcess = (): string => `${hostname()}, pid ${process.pid}`

function usedBy({ described, expires_at }: { described: string; expires_at: number }): ExitFault {
  const until = new Date(expires_at).toISOString()
  return inUse(`Another Footfall process uses the catalog (${described}) until at least ${until}. Stop it, or use another catalog`)
}

const ONE_NODE =
  "A catalog can only be used by one Footfall process. Stop the other one before you start this one, or give each its own catalog"

export const inUse = (message: string): ExitFault => new ExitFault("inUse", message)

/**
 * Returns the id that distinguishes this data folder from those of other nodes. It is created at first use, while the folder is locked.
 * An empty file is replaced, because earlier versions could leave one behind when they were killed.
 */
export function nodeId(dataDir: string, random: Random): string {
  const { node } = placesIn(dataDir)
  const known = existsSync(node) ? readFileSync(node, "utf8").trim() : ""
  if (known !== "") return known
  const id = random(16).toHex()
  replaceFile(node, `${id}\n`)
  return id
}
