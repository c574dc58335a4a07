import { Database } from "bun:sqlite"
import { type FaultKind, StoreFault, translateErrors } from "./fault.ts"

/** Pages that the main thread moves from the log into the file itself, in a few milliseconds. */
export const FEW_PAGES = 500
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
        for (let left = MOVES; left > 0 && pagesToMove(db) > FEW_PAGES; left--) db.query("pragma wal_checkpoint(passive)").get()
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

/** Returns the number of pages in the write-ahead log that are not in the file yet. */
export function pagesToMove(db: Database): number {
  const { log, checkpointed } = db.query<{ log: number; checkpointed: number }, []>("pragma wal_checkpoint(noop)").get()! // it returns a row
  return log - checkpointed
}
