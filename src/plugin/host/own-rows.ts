import type { Collector } from "../../ingest/collect/collect.ts"
import type { AmountsQuery, AmountsResult } from "../../query/amounts/amounts.ts"
import type { Caller } from "../../query/engine/pool.ts"
import type { SumsQuery, SumsResult } from "../../query/sums/sums.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import type { EventStore } from "../../store/events/events.ts"
import type { RowStatements } from "../../store/events/tables/row-tables.ts"
import { replayed } from "../../store/rows/replay.ts"
import type { Sql } from "../../store/sql.ts"
import { createTurns, loopTurn } from "../../store/turns.ts"

/**
 * Row tables of a plugin, for data that grows with traffic: in the event store, or on a libSQL server. What was written is on disk when
 * `write` resolves. Reads run in a query worker, see everything committed before them, and have the limits of a report: 15 seconds, and a
 * query slot of the organization.
 */
export interface OwnRows {
  /** Whether other nodes can write to the tables, so that nothing of them may be remembered between transactions. */
  readonly isShared: boolean
  /**
   * Runs a transaction. `work` is synchronous and should be short, because incoming events wait for it. Split long work into several
   * transactions. With a server it runs again for each answer that it reads: it must do the same each time, and change nothing outside
   * until it has read everything.
   */
  write<T>(work: (rows: RowStatements) => T): Promise<T>
  /** The same, but what it writes is on disk only after the next `sync`, together with everything before it. For the steps of long work. */
  append<T>(work: (rows: RowStatements) => T): Promise<T>
  /**
   * Lets events and requests pass between two steps of long work: resolves once those that have arrived are handled and the events are on
   * disk, after some milliseconds at the latest.
   */
  pause(): Promise<void>
  /** Resolves when everything that was appended is on disk. Incoming events do not wait for it. */
  sync(): Promise<void>
  /** Reads at most 10,000 rows. Read longer lists in slices. Store numbers above 2^53 as a BLOB. */
  read<Row>(statement: Sql, caller: Caller): Promise<Row[]>
  /** Sums amounts over packed rows, by several groupings at once. */
  amounts(query: OwnAmountsQuery, caller: Caller): Promise<AmountsResult>
  /** Sums columns over packed rows by one of them, and returns a page of the groups. */
  sums(query: OwnSumsQuery, caller: Caller): Promise<SumsResult>
}

export type OwnSumsQuery = Omit<SumsQuery, "statement"> & { statement: Sql }
export type OwnAmountsQuery = Omit<AmountsQuery, "statement"> & { statement: Sql }

/** Query engine for row tables. */
export interface RowReader {
  rowTables(statement: Sql, most: number, caller: Caller): Promise<object[]>
  amounts(query: AmountsQuery, caller: Caller): Promise<AmountsResult>
  sums(query: SumsQuery, caller: Caller): Promise<SumsResult>
}

const MAX_ROWS = 10_000

/** Writes to row tables, which are in the event store or on a server. */
type RowWriter = Pick<OwnRows, "isShared" | "write" | "append" | "pause" | "sync">

interface WriterParts {
  events: Pick<EventStore, "appendRows" | "sync" | "held">
  collector: Pick<Collector, "commit">
  /** The database on a server. */
  rowServer: Catalog | undefined
}

export const rowWriter = (parts: WriterParts): RowWriter => (parts.rowServer ? remoteWriter(parts.rowServer) : embeddedWriter(parts))

/** A turn of the event loop that takes longer than this had something to do. What it began may go on in the next one. */
const BUSY_TURN_MS = 0.1
const MAX_TURNS = 4

/** How long a pause waits for the disk. On a slow one, the steps between would otherwise get hardly any time. */
const MAX_WAIT_MS = 10

/** Lets the event loop handle what has arrived, and what follows from it. Returns at once when there is nothing. */
async function handleArrived(): Promise<void> {
  for (let turn = 0; turn < MAX_TURNS; turn++) {
    const from = performance.now()
    await loopTurn()
    if (performance.now() - from < BUSY_TURN_MS) return
  }
}

async function settledWithin(work: Promise<void>, limitMs: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, limitMs)
  await Promise.race([work, promise])
  clearTimeout(timer)
}

function embeddedWriter({ events, collector }: WriterParts): RowWriter {
  // Upkeep of a plugin runs some transactions for each of a thousand sites.
  const turn = createTurns()
  const append = async <T>(work: (rows: RowStatements) => T) => {
    await turn()
    // Otherwise the log could not start again, and events would have to wait for its next end as well.
    for (let held = events.held(); held; held = events.held()) await held
    // Events that wait for their group would have to wait for this work as well. Now they go to the disk meanwhile.
    collector.commit()
    return events.appendRows(work)
  }
  return {
    isShared: false,
    async write(work) {
      const { result, isChanged } = await append(work)
      if (isChanged) await events.sync()
      return result
    },
    append: async (work) => (await append(work)).result,
    async pause() {
      await handleArrived()
      const settled = collector.commit()
      if (!settled) return
      await settledWithin(settled, MAX_WAIT_MS)
      await loopTurn() // sends the answers
    },
    sync: () => events.sync(),
  }
}

/** A server answers a commit when it is on disk. */
function remoteWriter(server: Catalog): RowWriter {
  const write: RowWriter["write"] = (work) => server.transaction((statements) => replayed(statements, work))
  return { isShared: true, write, append: write, pause: loopTurn, sync: async () => {} }
}

export function ownRows({ writer, reader }: { writer: RowWriter; reader: RowReader }, pluginId: string): OwnRows {
  return {
    ...writer,
    async read<Row>(statement: Sql, caller: Caller) {
      const rows = await reader.rowTables(statement, MAX_ROWS, caller)
      if (rows.length > MAX_ROWS) throw new Error(`A statement of the plugin ${pluginId} reads more than ${MAX_ROWS} rows: read slices`)
      return rows as Row[] // the author of the statement knows its columns
    },
    amounts: ({ statement: { text, values }, ...query }, caller) => reader.amounts({ ...query, statement: { text, values } }, caller),
    sums: ({ statement: { text, values }, ...query }, caller) => reader.sums({ ...query, statement: { text, values } }, caller),
  }
}
