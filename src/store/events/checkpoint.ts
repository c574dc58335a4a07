import { Database } from "bun:sqlite"
import { type FaultKind, StoreFault, translateErrors } from "./fault.ts"

/** Pages that the main thread moves from the log into the file itself. */
export const FEW_PAGES = 500
/** Pages from which a log has to start again. For that the main thread moves the last ones, and waits for the disk. */
export const MANY_PAGES = 8_000
/** Attempts to leave few, while the main thread adds more. */
const MOVES = 5

/**
 * Moves pages from the write-ahead log into the file of an open store until few are left, and lets its writer and readers go on meanwhile.
 * Returns the kind of the fault that prevented it.
 */
export function movePages(path: string): FaultKind | null {
  try {
    return translateErrors(() => {
      const db = new Database(path, { readwrite: true, create: false })
      try {
        for (const pragma of ["busy_timeout = 0", "synchronous = full", "wal_autocheckpoint = 0"]) db.run(`pragma ${pragma}`)
        for (let left = MOVES; left > 0 && logPages(db).left > FEW_PAGES; left--) db.query("pragma wal_checkpoint(passive)").get()
        return null
      } finally {
        db.close()
      }
    })
  } catch (error) {
    if (error instanceof StoreFault) return error.kind
    throw error
  }
}

export interface LogPages {
  /** Pages in the write-ahead log, which starts again once all are moved. */
  all: number
  /** Those that are not in the file yet. */
  left: number
}

export function logPages(db: Database): LogPages {
  const { log, checkpointed } = db.query<{ log: number; checkpointed: number }, []>("pragma wal_checkpoint(noop)").get()! // it returns a row
  return { all: log, left: log - checkpointed }
}
