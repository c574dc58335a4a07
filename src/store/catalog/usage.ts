import { raw, sql } from "../sql.ts"
import type { Statements } from "./catalog.ts"

/** The size of a table. `bytes` includes its indexes and is null when it was not measured. */
export interface CatalogTableUsage {
  table: string
  rows: number
  bytes: number | null
}

/** Lists the sizes of all tables. `withBytes` reads every page on the event loop, so use it for a small catalog only. */
export async function listCatalogUsage(catalog: Statements, { withBytes }: { withBytes: boolean }): Promise<CatalogTableUsage[]> {
  const tables = await catalog.all<{ name: string }>(sql`
    select name from sqlite_schema where type = 'table' and name not like 'sqlite_%' order by name`)
  const bytes = withBytes ? await bytesByTable(catalog) : undefined
  const usage: CatalogTableUsage[] = []
  for (const { name } of tables) {
    const row = await catalog.get<{ n: number }>(raw(`select count(*) as n from "${name}"`)) // a name of the schema
    usage.push({ table: name, rows: row!.n, bytes: bytes?.get(name) ?? null }) // a count has a row
  }
  return usage
}

async function bytesByTable(catalog: Statements): Promise<Map<string, number>> {
  const rows = await catalog.all<{ name: string; bytes: number }>(
    raw(`
    select coalesce(s.tbl_name, d.name) as name, sum(d.pgsize) as bytes
    from dbstat d left join sqlite_schema s on s.name = d.name group by 1`),
  )
  return new Map(rows.map(({ name, bytes }) => [name, bytes]))
}

/** The storage that a site, or a whole file, used on a day. */
export interface StorageDay {
  day: string
  site_id: number
  /** The row of a whole file has site 0 and the kind `file`. The others are those of columnar segments, by site and kind. */
  store: "catalog" | "events"
  kind: string
  rows: number
  bytes: number
}

export const putStorageDay = (catalog: Statements, { day, site_id, store, kind, rows, bytes }: StorageDay): Promise<void> =>
  catalog.run(sql`
    insert into storage_days (day, site_id, store, kind, rows, bytes) values (${day}, ${site_id}, ${store}, ${kind}, ${rows}, ${bytes})
    on conflict do update set rows = excluded.rows, bytes = excluded.bytes`)

/** Lists the oldest row of each site and kind since a day. Growth is measured from these. */
export const listFirstStorageDays = (catalog: Statements, from: string): Promise<StorageDay[]> =>
  catalog.all(sql`
    select min(day) as day, site_id, store, kind, rows, bytes from storage_days
    where day >= ${from} group by site_id, store, kind limit 1000`)

export const deleteStorageDays = (catalog: Statements, before: string): Promise<void> =>
  catalog.run(sql`delete from storage_days where day < ${before}`)
