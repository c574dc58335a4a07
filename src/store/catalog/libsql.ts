import type { Client, Config } from "@libsql/client"
import type { LibsqlError } from "@libsql/client/sqlite3"
import { type FaultKind, StoreFault } from "../events/fault.ts"
import { unpackNativePart } from "./native-part.ts"

/**
 * Creates a client with one connection, because pragmas apply to a connection and a second one would not have them. The library is
 * loaded only when a catalog is opened: its native part is the slowest step of a start, and its network client uses memory that most
 * instances do not need.
 */
export async function createClient(config: Pick<Config, "url" | "authToken">): Promise<Client> {
  await unpackNativePart()
  const library = await (config.url.startsWith("file:") ? import("@libsql/client/sqlite3") : import("@libsql/client"))
  return library.createClient({ ...config, concurrency: 1 })
}

/** Returns whether an error comes from libSQL. It compares the name, because `instanceof` would load the library. */
export const isLibsqlError = (error: unknown): error is LibsqlError => error instanceof Error && error.name === "LibsqlError"

/** What a database contains: the catalog, or on a server the rows of plugins. Settings and messages are named after it. */
export type Contents = "catalog" | "rows"

/** Runs work on a database. Throws `StoreFault` for a failure of file, disk, lock or server, and other errors unchanged. */
export async function translateErrors<T>(work: () => Promise<T>, contents: Contents): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw toFault(error, contents)
  }
}

function toFault(error: unknown, contents: Contents): unknown {
  const setting = `FOOTFALL_${contents.toUpperCase()}_URL`
  if (isNetworkError(error))
    return new StoreFault("unreachable", `The ${contents} server cannot be reached. Check ${setting} and the network`, { cause: error })
  if (!isLibsqlError(error)) return error
  const kind = kindOf(error)
  return kind === undefined ? error : new StoreFault(kind, `The ${contents} database answered ${error.code}`, { cause: error })
}

/** Returns the kind of a fault by its number: the library has no names for many of SQLite's extended codes. The low byte is the primary code. */
function kindOf({ rawCode, code }: LibsqlError): FaultKind | undefined {
  if (rawCode === undefined) return REMOTE_KINDS[code] ?? (CONNECTION_CODES.test(code) ? "unreachable" : undefined)
  return EXTENDED_KINDS[rawCode] ?? KINDS[rawCode & 0xff]
}

const KINDS: Readonly<Record<number, FaultKind>> = {
  5: "locked", // busy
  6: "locked",
  8: "io", // read-only
  10: "io",
  11: "damaged", // corrupt
  13: "full",
  14: "io", // cannot open
  26: "damaged", // not a database
}

const EXTENDED_KINDS: Readonly<Record<number, FaultKind>> = {
  1034: "fsync", // IOERR_FSYNC
  1290: "fsync", // IOERR_DIR_FSYNC
}

/** Returns whether an error comes from the network: only those have such codes. */
const isNetworkError = (error: unknown): boolean =>
  error instanceof Error && "code" in error && /^(E[A-Z]+|Connection[A-Za-z]+|FailedToOpenSocket)$/.test(String(error.code))

/** The codes of the client for failures between it and the server. */
const CONNECTION_CODES = /^(SERVER_ERROR|HRANA_\w+|TRANSACTION_TIMEOUT|STREAM_EXPIRED)$/

/** The kinds by name: a catalog on a server reports no numbers. */
const REMOTE_KINDS: Readonly<Record<string, FaultKind>> = {
  SQLITE_BUSY: "locked",
  SQLITE_FULL: "full",
  SQLITE_CORRUPT: "damaged",
}
