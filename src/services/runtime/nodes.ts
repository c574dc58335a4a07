import { instantText } from "../../domain/moment.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { LEASE_MS } from "../../store/catalog/lease.ts"
import { listNodes, MAX_NODES, type NodeRow, releaseNode, renewNode, takeNode, takeTurn } from "../../store/catalog/nodes.ts"
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
   * Returns whether this node has its number for certain: it has renewed its lease in time. Without, it accepts events and ships none, because a
   * process on a copy of its folder may have the number, or the node may have been forgotten.
   */
  isHeld(): boolean
  /** Returns whether there has ever been another node. */
  hasOthers(): boolean
  /** Sets how the others learn that this node has events that ClickHouse may lack. */
  reportLate(isLate: () => boolean): void
  /** Returns whether another node has such events, or was lost, so that this is not known. */
  hasLateOthers(): boolean
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
  if (typeof own === "object") throw wasForgotten(own.forgotten)
  events.joinAs(own)
  let isLate = () => false
  let nodes = await listNodes(catalog)
  // A command of the command line renews nothing, and ends soon.
  let hasRenewed = false
  const { age, renew, release } = renewable(monotonic, {
    async renew() {
      hasRenewed = true
      const isRenewed = await renewNode(catalog, { holder, isLate: isLate() })
      nodes = await listNodes(catalog)
      return isRenewed
    },
    async lost() {
      if (nodes.find(({ number }) => number === own)?.state === "forgotten") return wasForgotten(own)
      return inUse("Another process uses a copy of this data folder as the same node. Give each node its own folder")
    },
    release: () => releaseNode(catalog, { holder, isLate: isLate() }),
  })
  return {
    own,
    renew,
    release,
    // A node whose catalog cannot be reached accepts events. Its number belongs to its folder, so no other process takes over.
    watch() {},
    isHeld: () => !hasRenewed || age() <= LEASE_MS,
    live: () => nodes.filter(({ state }) => state === "live").map(({ number }) => number),
    hasOthers: () => nodes.length > 1,
    reportLate(given) {
      isLate = given
    },
    hasLateOthers: () => nodes.some((node) => node.number !== own && isLateNode(node)),
    takeTurn: createTurns(catalog, { own, monotonic, age }),
  }
}

/** Returns whether a node has events that ClickHouse may lack, as far as it could tell the others. */
const isLateNode = ({ state, unshipped_since }: NodeRow): boolean => state === "lost" || (state !== "forgotten" && unshipped_since !== null)

const wasForgotten = (number: number) =>
  new ExitFault(
    "configuration",
    `This data folder is that of node ${number}, which was forgotten with footfall node forget. Use an empty data folder`,
  )

/** A node as operators see it. */
export interface ListedNode {
  number: number
  /** Host and pid. */
  process: string
  version: string
  state: NodeRow["state"]
  /** Since when ClickHouse may lack events of the node. */
  late_since: string | null
}

/** Lists the nodes that have ever used a catalog. */
export const describeNodes = async (catalog: Catalog): Promise<ListedNode[]> =>
  (await listNodes(catalog)).map(({ number, described, version, state, unshipped_since }) => ({
    ...{ number, process: described, version, state },
    late_since: unshipped_since === null ? null : instantText(unshipped_since),
  }))
