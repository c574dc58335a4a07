/** The kinds of store failures. `unreachable` only occurs for a catalog on a server. */
export type FaultKind = "full" | "locked" | "damaged" | "fsync" | "io" | "unreachable"

/** A failure of a store. Nothing was stored. Section 4 of reliability.md describes the consequences of each kind. */
export class StoreFault extends Error {
  constructor(
    readonly kind: FaultKind,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
    this.name = "StoreFault"
  }
}

/** Runs work on the database. Throws `StoreFault` for errors of SQLite, and other errors unchanged. */
export function translateErrors<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    throw toFault(error)
  }
}

/** Converts an error of SQLite to a fault. Returns other errors unchanged. */
export function toFault(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StoreFault) return error
  const code = "code" in error && typeof error.code === "string" ? error.code : ""
  const kind = kindOf(code)
  return kind === undefined ? error : new StoreFault(kind, `The event store answered ${code}`, { cause: error })
}

function kindOf(code: string): FaultKind | undefined {
  // SQLite extends the shared memory of the log by writing to its file, which fails only on a full disk.
  if (code === "SQLITE_FULL" || code === "SQLITE_IOERR_SHMSIZE" || code === "ENOSPC" || code === "EDQUOT") return "full"
  if (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED")) return "locked"
  if (code.startsWith("SQLITE_CORRUPT") || code === "SQLITE_NOTADB") return "damaged"
  if (code === "SQLITE_IOERR_FSYNC" || code === "SQLITE_IOERR_DIR_FSYNC") return "fsync"
  if (["SQLITE_IOERR", "SQLITE_CANTOPEN", "SQLITE_READONLY"].some((start) => code.startsWith(start))) return "io"
  return undefined
}
