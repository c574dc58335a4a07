import { open } from "node:fs/promises"
import type { Transaction } from "@libsql/client"
import { createClient } from "./libsql.ts"

/** Number of pages that are read at once: about a millisecond of work. */
const PAGES_AT_ONCE = 32

/**
 * Copies the file of an open catalog, as it is when the first page is read, to a path that does not exist yet. It has a connection of its
 * own, on which nothing is written, so the catalog can be used meanwhile.
 */
export async function copyPages(url: string, target: string): Promise<void> {
  const client = await createClient({ url })
  try {
    const snapshot = await client.transaction("deferred")
    try {
      await writePages(snapshot, target)
    } finally {
      snapshot.close() // otherwise the log could not start again before the connection is collected as garbage
    }
  } finally {
    client.close()
  }
}

async function writePages(snapshot: Transaction, target: string): Promise<void> {
  const count = Number((await snapshot.execute("pragma page_count")).rows[0]?.page_count)
  await using file = await open(target, "wx")
  for (let from = 1; from <= count; from += PAGES_AT_ONCE) {
    const numbers = Array.from({ length: Math.min(PAGES_AT_ONCE, count - from + 1) }, (_, index) => from + index)
    const sql = "select data from json_each(?) as wanted cross join sqlite_dbpage where pgno = wanted.value"
    const { rows } = await snapshot.execute({ sql, args: [JSON.stringify(numbers)] })
    await file.appendFile(Buffer.concat(rows.map(({ data }) => new Uint8Array(data as ArrayBuffer)))) // pages are blobs
  }
}
