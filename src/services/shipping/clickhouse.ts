/** The ClickHouse server of an instance: how it is configured, how it is prepared at the start, and what ships events to it. */
import type { Clock } from "../../domain/clock.ts"
import type { Log } from "../../domain/log.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { hadNodes } from "../../store/catalog/nodes.ts"
import { type Clickhouse, ClickhouseFault, type ClickhouseServer, createClickhouse } from "../../store/clickhouse/client.ts"
import { contentsOf } from "../../store/clickhouse/contents.ts"
import { migrateClickhouse } from "../../store/clickhouse/migrate.ts"
import { probeClickhouse } from "../../store/clickhouse/probe.ts"
import type { EventStore } from "../../store/events/events.ts"
import { StoreRefusal } from "../../store/migrations.ts"
import { ExitFault } from "../runtime/exit.ts"
import type { LiveNodes } from "../runtime/nodes.ts"
import type { StoreStates } from "../runtime/store-states.ts"
import { type SharedTallies, sharedTallies } from "../tallies/tallies.ts"
import { sendToClickhouse } from "./network.ts"
import { createRemovalJournal } from "./removal-journal.ts"
import { createRemovals, type RemovalOptions, type Removals, repeatInStore } from "./removals.ts"
import { createRepeats, shareEventIds } from "./repeated-events.ts"
import { type Shipping, startShipping } from "./shipping.ts"

/** Where the events are when they are not only in the store of the node. */
export interface ClickhouseOptions {
  server: ClickhouseServer
  /** Whether events are accepted while ClickHouse does not confirm them. */
  spools: boolean
  /** Limit of what ClickHouse does not have, in bytes. */
  spoolBytes: number
  /** How long the node keeps what ClickHouse has confirmed. */
  keepMs: number
  /** How long an acknowledgement waits for ClickHouse. */
  waitMs: number
  /** URL of the shipping thread. */
  workerUrl: string
  /** Where ClickHouse writes backups, with `{name}` for the name of one. Undefined when the operator makes them otherwise. */
  backupPlace: string | undefined
}

/** The server, before the catalog and the stores of the instance are open. */
interface ClickhouseConnection {
  /** Examines and migrates the server, and refuses a store that cannot ship to it. Throws an `ExitFault`. */
  prepare(events: Pick<EventStore, "holding">, catalog: Catalog): Promise<void>
  /** The same for a move, which needs the server. The events can be in the store. */
  prepareMove(catalog: Catalog): Promise<void>
  /** Repeats what other nodes have removed while this one was stopped, and starts to ship its events, as soon as the server is prepared. */
  ship(node: ShippedNode): Promise<ShippedEvents>
}

interface ShippedNode extends Pick<RemovalOptions, "deleteSales"> {
  catalog: Catalog
  store: EventStore
  /** Path of the event store. */
  path: string
  /** Number of the node, and whether it holds its lease. */
  nodes: Pick<LiveNodes, "own" | "isHeld" | "hasOthers">
  siteKey(siteId: number): Promise<Uint8Array>
  states: Pick<StoreStates, "end">
}

/** The events of an instance, when they are on ClickHouse. */
export interface ShippedEvents extends Removals {
  clickhouse: Clickhouse
  shipping: Shipping
  tallies: SharedTallies
}

interface ConnectionOptions {
  clock: Clock
  log: Log
  version: string
}

/** Time to wait for a server that starts later than this process. */
const PATIENCE_MS = 20_000
const PAUSE_MS = 500

export function connectClickhouse(options: ClickhouseOptions, { clock, log, version }: ConnectionOptions): ClickhouseConnection {
  const clickhouse = createClickhouse(options.server, sendToClickhouse)
  /** Resolves when the server is prepared, which may be after the start. Rejects with an `ExitFault`. */
  let prepared = Promise.resolve()

  async function attempt(patience: number): Promise<void> {
    const end = clock.monotonic() + patience
    for (;;) {
      try {
        const differing = await probeClickhouse(clickhouse)
        if (differing.length > 0) throw unsupported(differing)
        return await migrateClickhouse(clickhouse, { version, now: clock.now() })
      } catch (error) {
        if (!isUnreachable(error)) throw refusalOf(error)
        if (clock.monotonic() >= end) throw error
        await Bun.sleep(PAUSE_MS)
      }
    }
  }
  // The URL can contain a password.
  const { host } = new URL(options.server.url)
  const unreachable = () => new ExitFault("unavailable", `ClickHouse at ${host} could not be reached for 20 s. Start it`)

  async function examine(catalog: Catalog, patience: number): Promise<void> {
    await attempt(patience)
    if (!(await hadNodes(catalog)) && (await hasVisits(clickhouse))) throw IS_FOREIGN
  }
  return {
    async prepare(events, catalog) {
      const holding = events.holding()
      if (holding === "local") throw HAS_LOCAL
      if (holding === "moving") throw IS_MOVING
      try {
        await examine(catalog, holding === "shipped" ? 0 : PATIENCE_MS)
      } catch (error) {
        if (!isUnreachable(error)) throw error
        if (holding === "none") throw unreachable()
        log.warn("ClickHouse cannot be reached; events are kept on this disk until it can", { host })
        prepared = attempt(Number.POSITIVE_INFINITY)
      }
    },
    async prepareMove(catalog) {
      await examine(catalog, PATIENCE_MS).catch((error) => Promise.reject(isUnreachable(error) ? unreachable() : error))
    },
    async ship({ store, path, nodes, siteKey, states, deleteSales, catalog }) {
      const node = nodes.own
      store.beginShipping(node, siteKey, contentsOf(clickhouse))
      const tallies = sharedTallies(store, clickhouse, node)
      const journal = createRemovalJournal({ catalog, node, clock })
      // Before anything is shipped or recorded. What was shipped before the stop is hidden as soon as ClickHouse answers.
      for (const removal of await journal.pending()) await repeatInStore(store, removal, clock.now())
      await shareEventIds({ store, catalog, now: clock.now() })
      const onFault = (cause: unknown) => log.debug("events could not be looked for on other nodes", { cause })
      const { elsewhere, withdraw } = createRepeats({ store, clickhouse, nodes, clock, onFault })
      const shipping = startShipping({
        ...{ ...options, store, path, node, siteKey, clock, mayShip: nodes.isHeld, elsewhere },
        prepared: prepared.then(withdraw).catch((error) => {
          if (error instanceof ExitFault) states.end(error)
          throw error
        }),
        onFault: (cause) => log.debug("an attempt to ship events failed", { cause }),
      })
      return {
        clickhouse,
        shipping,
        tallies,
        ...createRemovals(store, { clickhouse, node, shipping, deleteSales, journal, tallies, now: clock.now }),
      }
    },
  }
}

/** Refuses to start without the server of a store whose events are there. Gives up a move to the server that is not complete. */
export async function requireLocal(events: Pick<EventStore, "holding" | "endShipping">): Promise<void> {
  const holding = events.holding()
  if (holding === "shipped")
    throw new ExitFault("configuration", "The events of this instance are on ClickHouse. Set FOOTFALL_CLICKHOUSE_URL")
  if (holding === "moving") events.endShipping()
}

const HAS_LOCAL = new ExitFault(
  "configuration",
  "The data folder contains events that are not on ClickHouse. Run footfall engine move --to clickhouse, or start without FOOTFALL_CLICKHOUSE_URL",
)

const IS_MOVING = new ExitFault(
  "configuration",
  "The move to ClickHouse is not complete. Run footfall engine move --to clickhouse, or start without FOOTFALL_CLICKHOUSE_URL to give it up",
)

/** The sites of two catalogs would have the same numbers. */
const IS_FOREIGN = new ExitFault(
  "configuration",
  "The database of FOOTFALL_CLICKHOUSE_DATABASE contains the events of another catalog. Use an empty database, or that catalog",
)

const hasVisits = async (clickhouse: Clickhouse): Promise<boolean> => (await clickhouse.rows("select 1 from visits limit 1")).length > 0

const isUnreachable = (error: unknown): boolean => error instanceof ClickhouseFault && error.code === undefined

const unsupported = (differing: readonly string[]) =>
  new ExitFault(
    "unavailable",
    `This version of ClickHouse answers differently than Footfall needs (${differing.join(", ")}). Use another version`,
  )

/** Numbers of exceptions: unknown user, required or wrong password, failed authentication. */
const AUTHENTICATION: ReadonlySet<number> = new Set([192, 193, 194, 516])
const UNKNOWN_DATABASE = 81

/** Converts an answer that another attempt would only repeat. */
function refusalOf(error: unknown): unknown {
  if (error instanceof StoreRefusal || !(error instanceof ClickhouseFault)) return error
  if (error.code !== undefined && AUTHENTICATION.has(error.code))
    return configuration("ClickHouse rejected FOOTFALL_CLICKHOUSE_USER or FOOTFALL_CLICKHOUSE_PASSWORD", error)
  if (error.code === UNKNOWN_DATABASE)
    return configuration("The database of FOOTFALL_CLICKHOUSE_DATABASE does not exist on ClickHouse. Create it", error)
  return configuration(error.message, error)
}

const configuration = (message: string, cause: unknown) => new ExitFault("configuration", message, { cause })
