import { Database } from "bun:sqlite"
import { type FaultKind, StoreFault, translateErrors } from "./fault.ts"

/** The last pages, for which events wait while they are moved, are at most as many. */
const FEW_PAGES = 500
/** Pages from which most are moved. More often would start a thread and wait for the disk every few seconds. */
export const SOME_PAGES = 2_000
/** Pages from which a log has to start again. */
export const MANY_PAGES = 8_000
/** Attempts to leave few, while the main thread adds more. */
const MOVES = 5

/**
 * Moves pages from the write-ahead log into the file of an open store while its writer and readers go on. Once few pages are left it waits
 * for `beforeLast` and moves these too; if nothing was written meanwhile, the log can start again. Long readers can prevent that. With
 * `isEmptied`, it does so even if many are left, because a removal writes as fast as its pages are moved, and the log is also emptied, if no
 * one uses it at the moment. Returns the kind of the fault that prevented it.
 */
export async function movePages(path: string, beforeLast?: () => Promise<void>, isEmptied = false): Promise<FaultKind | null> {
  try {
    const db = translateErrors(() => new Database(path, { readwrite: true, create: false }))
    const move = (mode = "passive") => translateErrors(() => db.query(`pragma wal_checkpoint(${mode})`).get())
    const left = () => translateErrors(() => logPages(db)).left
    try {
      for (const pragma of ["busy_timeout = 0", "synchronous = full", "wal_autocheckpoint = 0"])
        translateErrors(() => db.run(`pragma ${pragma}`))
      for (let tries = MOVES; tries > 0 && left() > FEW_PAGES; tries--) move()
      if (!beforeLast || (left() > FEW_PAGES && !isEmptied)) return null
      await beforeLast()
      move()
      if (isEmptied) move("truncate")
      return null
    } finally {
      db.close()
    }
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
