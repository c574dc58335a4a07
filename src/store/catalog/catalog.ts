/**
 * The catalog stores the records that people manage: organizations, users, sites, goals, funnels, keys. A write is durable when
 * its promise resolves, and a statement sees everything written before it. Waiting for the disk does not block the event loop: a commit
 * returns at once, and the log is flushed by another thread before the promise resolves.
 *
 * There is one connection and one queue for reads, writes and checkpoints; only `copyTo` reads over another one. The engine's SQLite can damage its log when a
 * commit of one connection races a checkpoint of another, and the client refuses a statement during an open transaction;
 * the queue prevents both. Statements are short (none scans more than 1,000 rows): they run on the event loop, which the queue gives up
 * regularly.
 */
import type { Client, Transaction } from "@libsql/client"
import { DiskSync, logOf } from "../events/disk-sync.ts"
import { StoreFault } from "../events/fault.ts"
import { foreignFile } from "../migrations.ts"
import type { Sql, Value } from "../sql.ts"
import { createTurns } from "../turns.ts"
import { type Contents, createClient, isLibsqlError, translateErrors } from "./libsql.ts"
import { copyPages } from "./pages.ts"

/** `application_id` of every catalog. */
export const APPLICATION_ID = 0x46464341

/** The pragmas that are set when the catalog is opened, and read back. */
const SETTINGS: readonly (readonly [name: string, value: string | number, readBack: string | number])[] = [
  ["journal_mode", "wal", "wal"],
  // A commit does not wait for the disk; `DiskSync` does.
  ["synchronous", "normal", 1],
  ["foreign_keys", "on", 1],
  ["busy_timeout", 0, 0],
  ["wal_autocheckpoint", 0, 0],
  ["trusted_schema", "off", 0],
  ["cell_size_check", "on", 1],
  ["temp_store", "memory", 2],
  ["secure_delete", "on", 1],
]

/**
 * The number of attempts and the pause between them while another process has locked the database. Waiting does not block the queue. A
 * server takes up to ten seconds to give up the transaction of a process that was killed.
 */
const BUSY_TRIES = { file: 100, server: 300 }
const BUSY_PAUSE_MS = 50

/** A page of a list, by id ascending. */
export interface Slice {
  /** The last id of the previous page; 0 for the first page. */
  after: number
  limit: number
}

export interface Statements {
  all<Row>(statement: Sql): Promise<Row[]>
  get<Row>(statement: Sql): Promise<Row | undefined>
  run(statement: Sql): Promise<void>
  /** Runs several statements without values, such as a migration. */
  script(text: string): Promise<void>
}

/** Statements within a transaction. */
export interface TransactionStatements extends Statements {
  /** Runs statements in order, on a server in one round trip. Returns the rows of each. */
  batch(list: readonly Sql[]): Promise<object[][]>
}

/** What a service needs of the catalog to run its own transactions. `joinedTransaction` provides a catalog whose transactions are parts of one. */
export interface Transactions extends Statements {
  /**
   * Runs a transaction. Inside, use the given statements only: calls on the catalog itself wait for the end. `committed` runs
   * right after the commit, before any later statement and before the commit is on disk; update cached state there.
   */
  transaction<T>(work: (statements: Statements) => Promise<T>, committed?: (result: T) => void): Promise<T>
}

export interface Catalog extends Transactions {
  transaction<T>(work: (statements: TransactionStatements) => Promise<T>, committed?: (result: T) => void): Promise<T>
  /** Whether the catalog is on a server, which is then responsible for pragmas, checkpoints and copies. */
  readonly remote: boolean
  /** Moves the write-ahead log into the file and empties it. Other statements wait meanwhile, but the event loop runs. */
  checkpoint(): Promise<void>
  /** Writes a complete, consistent copy to a path that does not exist yet, while the catalog is in use. */
  copyTo(path: string): Promise<void>
  /** Rewrites the file without free pages. It blocks all other statements, so use it for small files only. */
  compact(): Promise<void>
  /** Closes the catalog after all earlier calls have finished. Idempotent. */
  close(): Promise<void>
}

interface CatalogOptions {
  /** What the database contains. Default: the catalog. */
  holds?: Contents
  /** Authentication token of a catalog on a server. */
  authToken?: string
  /** Called with every failure of disk, lock or file before it is thrown. It may throw another error instead. */
  onFault?: (fault: StoreFault) => void
}

/**
 * Runs one transaction for several services. Their transactions on the joined catalog become parts of it: all of them are stored or
 * none, and their `committed` callbacks run in order after the common commit. A part that throws after it has written something must end
 * the whole.
 */
export async function joinedTransaction<T>(catalog: Transactions, work: (joined: Transactions) => Promise<T>): Promise<T> {
  const { result } = await catalog.transaction(
    async (statements) => {
      const callbacks: (() => void)[] = []
      const joined: Transactions = {
        ...statements,
        async transaction(part, committed) {
          // A transaction of many parts takes long, and statements of a file are synchronous.
          await new Promise<void>((resolve) => setImmediate(resolve))
          const changed = await part(statements)
          if (committed) callbacks.push(() => committed(changed))
          return changed
        },
      }
      return { result: await work(joined), callbacks }
    },
    ({ callbacks }) => {
      for (const callback of callbacks) callback()
    },
  )
  return result
}

/** Returns the URL of a catalog file, with special characters of the path escaped. */
export const catalogUrl = (path: string): string => `file:${path.replace(/[%?#]/g, encodeURIComponent)}`

/**
 * Opens the catalog without migrating it, and creates a missing file. Throws `StoreRefusal` for a file of another program, which
 * stays unchanged.
 */
export async function openCatalog(url: string, { holds = "catalog", authToken, onFault }: CatalogOptions = {}): Promise<Catalog> {
  const remote = !url.startsWith("file:")
  const tries = remote ? BUSY_TRIES.server : BUSY_TRIES.file
  const client = await whileLocked(tries, () => translateErrors(async () => (remote ? connect(url, authToken) : connectFile(url)), holds))
  const disk = remote ? undefined : await openDisk(client)
  const onDisk = async () => disk?.log.sync()
  const queue = createQueue({ holds, tries, onFault })
  const begin = () => (remote ? client.transaction("write") : beginImmediate(client))
  const local: Queue = (work, settled) => {
    if (remote) throw new Error("A catalog on a server must be checkpointed and copied by the server")
    return queue(work, settled)
  }
  const transaction: Catalog["transaction"] = (work, committed) => queue(() => transact(begin, work, committed), onDisk)
  const all = <Row>(statement: Sql): Promise<Row[]> =>
    ONLY_READS.test(statement.text)
      ? queue(() => statements(client).all<Row>(statement))
      : transaction((statements) => statements.all<Row>(statement))
  let closed: Promise<void> | undefined
  return {
    remote,
    all,
    get: async <Row>(statement: Sql) => (await all<Row>(statement))[0],
    run: async (statement) => void (await all(statement)),
    script: (text) => transaction((statements) => statements.script(text)),
    transaction,
    checkpoint: () => local(() => moveLog(client, disk!)), // a file has one
    // Not in the queue: for a large catalog it takes long.
    copyTo: async (path) => {
      await local(async () => {})
      await translateErrors(() => copyPages(url, path), holds)
    },
    compact: () => local(async () => void (await client.execute("vacuum")), onDisk),
    close() {
      closed ??= queue(async () => {
        try {
          await onDisk() // ends a flush that is running
        } finally {
          disk?.log.close()
          client.close()
          disk?.database?.close()
        }
      })
      return closed
    },
  }
}

/** Statements that only read. All others run in a transaction, see `beginImmediate`. */
const ONLY_READS = /^\s*(select|pragma|explain)\b/i

async function connectFile(url: string): Promise<Client> {
  const client = await connect(url)
  try {
    await prepare(client, url)
    return client
  } catch (error) {
    client.close()
    throw error
  }
}

async function connect(url: string, authToken?: string): Promise<Client> {
  try {
    return await createClient({ url, ...(authToken === undefined ? {} : { authToken }) })
  } catch (error) {
    // The library gives no code when the file cannot be opened at all.
    if (isLibsqlError(error)) throw error
    throw new StoreFault("io", "The catalog cannot be opened", { cause: error })
  }
}

async function prepare(client: Client, url: string): Promise<void> {
  await claim(client, url)
  for (const [name, value, readBack] of SETTINGS) {
    await client.execute(`pragma ${name} = ${value}`)
    const found = await pragma(client, name)
    if (found !== readBack) throw new StoreFault("io", `The catalog did not accept ${name} = ${value}: the value is ${String(found)}`)
  }
}

/** The two files of a catalog, to be flushed. */
interface Disk {
  path: string
  log: DiskSync
  /** Opened when the log is moved for the first time. */
  database: DiskSync | undefined
}

async function openDisk(client: Client): Promise<Disk> {
  await client.execute("select 1 from sqlite_schema") // creates a missing log
  const { rows } = await client.execute("select file from pragma_database_list where name = 'main'")
  const path = String(rows[0]!.file) // every database has a main one
  return { path, log: new DiskSync(logOf(path)), database: undefined }
}

/**
 * Moves the log into the file. SQLite would wait for the disk on this thread, so it only writes, while others wait: for the log before,
 * from which a start after a power failure repeats the move, and for the file before the log is emptied. Nothing may be committed in
 * between, because a log that is moved starts again.
 */
async function moveLog(client: Client, disk: Disk): Promise<void> {
  await disk.log.sync()
  await client.execute("pragma synchronous = off")
  try {
    await client.execute("pragma wal_checkpoint(passive)")
  } finally {
    await client.execute("pragma synchronous = normal")
  }
  disk.database ??= new DiskSync(disk.path)
  await disk.database.sync()
  await client.execute("pragma wal_checkpoint(truncate)")
}

async function claim(client: Client, url: string): Promise<void> {
  const found = await pragma(client, "application_id")
  if (found === APPLICATION_ID) return
  const { rows } = await client.execute("select count(*) as objects from sqlite_schema")
  if (found !== 0 || rows[0]?.objects !== 0) throw foreignFile(url.slice("file:".length))
  await client.execute(`pragma application_id = ${APPLICATION_ID}`)
}

async function pragma(client: Client, name: string): Promise<unknown> {
  const { rows } = await client.execute(`pragma ${name}`)
  return Object.values(rows[0] ?? {})[0]
}

/** Runs work alone. `settled` runs after it, while the next work runs, and delays only the result. */
type Queue = <T>(work: () => Promise<T>, settled?: () => Promise<void>) => Promise<T>

interface QueueOptions {
  holds: Contents
  /** Number of attempts while the database is locked. */
  tries: number
  onFault: ((fault: StoreFault) => void) | undefined
}

/** Runs work one at a time. Work that finds the file locked moves to the end of the queue, so that reads are not held up. */
function createQueue({ holds, tries, onFault }: QueueOptions): Queue {
  let last: Promise<unknown> = Promise.resolve()
  /**
   * The statements of a file are synchronous, so a long row of them would hold up every request, and the memory of each statement, which
   * is released between turns.
   */
  const turn = createTurns()
  const once = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(turn).then(() => translateErrors(work, holds))
    last = result.catch(() => {})
    return result
  }
  return async (work, settled) => {
    try {
      const result = await whileLocked(tries, () => once(work))
      await settled?.()
      return result
    } catch (error) {
      if (error instanceof StoreFault) onFault?.(error)
      throw error
    }
  }
}

async function whileLocked<T>(tries: number, work: () => Promise<T>): Promise<T> {
  for (let left = tries - 1; ; left--) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof StoreFault) || error.kind !== "locked" || left === 0) throw error
      await Bun.sleep(BUSY_PAUSE_MS)
    }
  }
}

async function transact<T>(
  begin: () => Promise<Transaction>,
  work: (statements: TransactionStatements) => Promise<T>,
  committed?: (result: T) => void,
): Promise<T> {
  const transaction = await begin()
  try {
    const batch: TransactionStatements["batch"] = async (list) =>
      (await transaction.batch(list.map(sent))).map(({ rows }) => rows.map(plainRow))
    const result = await work({ ...statements(transaction), batch })
    await transaction.commit()
    committed?.(result)
    return result
  } finally {
    transaction.close() // rolls back what was not committed
  }
}

/**
 * Begins a transaction and takes the write lock at once, so that a locked file is detected before any work is done. It does not use
 * the client's own "write" mode or a single statement: SQLite leaves a statement that failed on the lock unfinished, and the client
 * finalizes it only at the next garbage collection. Until then the next write reports success but is not committed, and such writes
 * were lost. A script finalizes its statements itself, whatever their outcome.
 */
async function beginImmediate(client: Client): Promise<Transaction> {
  const transaction = await client.transaction("deferred") // takes no lock
  try {
    await transaction.executeMultiple("rollback; begin immediate")
    return transaction
  } catch (error) {
    transaction.close()
    throw error
  }
}

function statements(on: Client | Transaction): Statements {
  const all = async <Row>(statement: Sql): Promise<Row[]> => {
    const { rows } = await on.execute(sent(statement))
    // Not checked: the caller declares the row type together with the statement.
    return rows.map(plainRow) as Row[]
  }
  return {
    all,
    get: async <Row>(statement: Sql) => (await all<Row>(statement))[0],
    run: async (statement) => void (await all(statement)),
    script: (text) => on.executeMultiple(text),
  }
}

const sent = ({ text, values }: Sql) => ({ sql: text, args: values.map(bound) })

/** Binds whole numbers as bigints. The client binds numbers as reals, with which `5 / 2` would be 2.5. */
const bound = (value: Value): Value => (typeof value === "number" && Number.isSafeInteger(value) ? BigInt(value) : value)

/** Copies a row without the client's hidden index properties, and with blobs as `Uint8Array`. */
const plainRow = (row: object): object =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value instanceof ArrayBuffer ? new Uint8Array(value) : value]))
