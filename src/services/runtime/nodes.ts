import type { Catalog } from "../../store/catalog/catalog.ts"
import { LEASE_MS } from "../../store/catalog/lease.ts"
import { listLiveNodes, MAX_NODES, releaseNode, renewNode, takeNode, takeTurn } from "../../store/catalog/nodes.ts"
import type { EventStore } from "../../store/events/events.ts"
import { ExitFault } from "./exit.ts"
import { type CatalogLease, describeProcess, inUse, type LeaseOptions, leaseBesideNodes, renewable } from "./remote-catalog.ts"

/** The nodes that share a catalog and have not stopped, by their numbers. */
export interface LiveNodes {
  /** Number of this node. */
  own: number
  /** Returns the numbers of all live nodes, this one included, as of the last renewal. */
  live(): readonly number[]
  /**
   * Takes the turn of work that only one node does at a time, and keeps it until this node stops or does not renew its lease. Returns false
   * while another node has it. `begin` runs whenever this node gets the turn, before the work.
   */
  takeTurn(name: string, begin?: () => Promise<unknown>): Promise<boolean>
}

/** Returns the part of a limit that one of several nodes enforces, because nodes do not see the requests of the others. 0 is no limit. */
export const shareOf = (limit: number, nodes: Pick<LiveNodes, "live"> | undefined): number =>
  nodes && limit > 0 ? Math.max(1, Math.floor(limit / nodes.live().length)) : limit

/** Lease of one of several nodes. Each holds its own, and renews it as the only process of a catalog does. */
interface NodeLease extends CatalogLease, LiveNodes {}

/** Time to wait for another node that migrates the catalog. */
const PATIENCE_MS = 60_000
const PAUSE_MS = 250

/**
 * Takes the lease under which one node migrates the catalog while others that start wait. Rejects with exit code 73 when it is held for
 * longer: then the catalog belongs to a process that does not share it.
 */
export async function leaseMigration(catalog: Catalog, options: LeaseOptions, patience = PATIENCE_MS): Promise<CatalogLease> {
  const end = options.monotonic() + patience
  for (;;) {
    try {
      return await leaseBesideNodes(catalog, options)
    } catch (error) {
      const isHeld = error instanceof ExitFault && error.exit === "inUse"
      if (!isHeld || options.monotonic() >= end) throw error
      await Bun.sleep(PAUSE_MS)
    }
  }
}

/** Minimum time between two attempts to take a turn that another node has. */
const TURN_PAUSE_MS = 5_000
/** Age of the lease from which turns are no longer certain, well before another node can take them. */
const UNCERTAIN_MS = (LEASE_MS * 2) / 3

interface TurnsOptions {
  own: number
  monotonic(): number
  /** Returns the age of the lease in milliseconds. */
  age(): number
}

function createTurns(catalog: Catalog, { own, monotonic, age }: TurnsOptions): LiveNodes["takeTurn"] {
  const held = new Set<string>()
  /** Monotonic times at which turns of other nodes can be asked for again. */
  const pausedUntil = new Map<string, number>()
  return async (name, begin) => {
    if (age() > UNCERTAIN_MS) {
      held.clear()
      return false
    }
    if (held.has(name)) return true
    if ((pausedUntil.get(name) ?? 0) > monotonic()) return false
    if (!(await takeTurn(catalog, name, own))) {
      pausedUntil.set(name, monotonic() + TURN_PAUSE_MS)
      return false
    }
    await begin?.()
    held.add(name)
    return true
  }
}

/** Joins the nodes of a migrated catalog with the event store of a folder. Rejects with exit code 73 when all numbers are taken. */
export async function joinNodes(
  catalog: Catalog,
  events: Pick<EventStore, "ownNode" | "joinAs">,
  { node: folder, random, monotonic, version }: LeaseOptions & { version: string },
): Promise<NodeLease> {
  const holder = random(16).toHex()
  const taken = { folder, holder, described: describeProcess(), version, isNewStore: events.ownNode() === undefined }
  const own = await catalog.transaction((statements) => takeNode(statements, taken))
  if (own === undefined)
    throw inUse(`The catalog has had ${MAX_NODES} nodes, and their numbers cannot be used again. Use the data folder of an earlier node`)
  events.joinAs(own)
  const readLive = async () => (await listLiveNodes(catalog)).map(({ number }) => number)
  let live = await readLive()
  const lease = renewable(monotonic, {
    async renew() {
      const isRenewed = await renewNode(catalog, holder)
      live = await readLive()
      return isRenewed
    },
    lost: async () => inUse("Another process uses a copy of this data folder as the same node. Give each node its own folder"),
    release: () => releaseNode(catalog, holder),
  })
  const { age, ...ofNode } = lease
  return { ...ofNode, own, live: () => live, takeTurn: createTurns(catalog, { own, monotonic, age }) }
}
