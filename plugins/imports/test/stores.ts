import { Database } from "bun:sqlite"
import { createHash } from "node:crypto"
import { readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import type { TestInstance } from "#plugin/test"

/** Returns what both stores hold, for tests that compare it: the number of rows of every table, and the files of the data folder. */
export function contentOf({ dataDir }: TestInstance): { rows: Record<string, number>; files: string[] } {
  const rows = ["catalog.db", "events.db"].flatMap((file) => {
    const db = new Database(join(dataDir, file), { readonly: true })
    const tables = db.query<{ name: string }, []>("select name from sqlite_master where type = 'table'").all()
    const counts = tables.map(
      ({ name }) => [`${file} ${name}`, db.query<{ n: number }, []>(`select count(*) as n from ${name}`).get()!.n] as const,
    )
    db.close()
    return counts
  })
  return { rows: Object.fromEntries(rows), files: filesOf(dataDir) }
}

export const filesOf = (folder: string): string[] =>
  (readdirSync(folder, { recursive: true }) as string[]).filter((name) => statSync(join(folder, name)).isFile()).sort()

/**
 * Returns a hash of every columnar segment in use with its site and import, as bytes on disk. Segments that were replaced are left out:
 * no query reads them.
 */
export function segmentsOf({ dataDir }: TestInstance): { site: number; import: number; kind: string; hash: string }[] {
  const db = new Database(join(dataDir, "events.db"), { readonly: true })
  const segments = db
    .query<{ id: number; site_id: number; import_id: number; kind: string; header: Uint8Array }, []>(
      "select id, site_id, import_id, kind, header from segments where retired_at is null order by id",
    )
    .all()
  const columns = db.query<{ data: Uint8Array }, [number, number]>("select data from segment_columns where id >= ? and id < ? order by id")
  const found = segments.map(({ id, site_id, import_id, kind, header }) => {
    const hash = createHash("sha256").update(header)
    for (const { data } of columns.all(id * 128, (id + 1) * 128)) hash.update(data)
    return { site: site_id, import: import_id, kind, hash: hash.digest("hex") }
  })
  db.close()
  return found
}
