import type { Database } from "bun:sqlite"
import type { LaterCommit } from "../journal.ts"

/** Number of pages that one transaction returns. Each can require another page to be moved, so this is a few milliseconds of work. */
const SLICE = 256
/** Free pages that stay in the file, because the log soon needs them again: one in this many, from 2 to 16 MiB. */
const SPARE_SHARE = 8
const MIN_SPARE_PAGES = 512
const MAX_SPARE_PAGES = 4_096

/** Returns free pages to the file system, in short transactions. A file of an earlier version keeps them until it is vacuumed. */
export async function returnFreePages(db: Database, commit: LaterCommit): Promise<void> {
  if (pragma(db, "auto_vacuum") !== INCREMENTAL) return
  while (await commit(() => returnSlice(db))) await Bun.sleep(0)
}

const INCREMENTAL = 2

/** Returns whether there may be more to return. */
function returnSlice(db: Database): boolean {
  const surplus = pragma(db, "freelist_count") - sparePages(pragma(db, "page_count"))
  if (surplus <= 0) return false
  db.run(`pragma incremental_vacuum(${Math.min(SLICE, surplus)})`)
  return surplus > SLICE
}

/** Returns how many free pages a file of so many pages keeps. */
export const sparePages = (pages: number): number => Math.min(MAX_SPARE_PAGES, Math.max(MIN_SPARE_PAGES, Math.ceil(pages / SPARE_SHARE)))

const pragma = (db: Database, name: "auto_vacuum" | "page_count" | "freelist_count"): number =>
  Object.values(db.query<Record<string, number>, []>(`pragma ${name}`).get()!)[0]! // it returns a row of one column
