import type { LibsqlError } from "@libsql/client/sqlite3"
import { type FaultKind, StoreFault } from "../events/fault.ts"
import { isLibsqlError } from "./libsql.ts"

/** Runs work on the catalog; a failure of file, disk or lock becomes a `StoreFault`, anything else passes as it is. */
export async function translated<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw toFault(error)
  }
}

export function toFault(error: unknown): unknown {
  if (isOfTheNetwork(error)) return new StoreFault("unreachable", "The catalog server cannot be reached", { cause: error })
  if (!isLibsqlError(error)) return error
  const kind = kindOf(error)
  return kind === undefined ? error : new StoreFault(kind, `The catalog answered ${error.code}`, { cause: error })
}

/** By number: the library has no names for many of SQLite's extended codes. The low byte is the plain code. */
function kindOf({ rawCode, code }: LibsqlError): FaultKind | undefined {
  if (rawCode === undefined) return REMOTE_KINDS[code] ?? (OF_THE_WAY.test(code) ? "unreachable" : undefined)
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

/** What the runtime throws when a connection cannot be made or breaks; our own mistakes have no such code. */
const isOfTheNetwork = (error: unknown): boolean =>
  error instanceof Error && "code" in error && /^(E[A-Z]+|Connection[A-Za-z]+|FailedToOpenSocket)$/.test(String(error.code))

/** How the client names what went wrong between it and the server. */
const OF_THE_WAY = /^(SERVER_ERROR|HRANA_\w+|TRANSACTION_TIMEOUT|STREAM_EXPIRED)$/

/** A catalog on a server reports names only. */
const REMOTE_KINDS: Readonly<Record<string, FaultKind>> = {
  SQLITE_BUSY: "locked",
  SQLITE_FULL: "full",
  SQLITE_CORRUPT: "damaged",
}
