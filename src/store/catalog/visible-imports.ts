import { sql } from "../sql.ts"
import type { Statements } from "./catalog.ts"

/** An import that answers include. `days_json` is a list of ranges of days, both ends inclusive: `[["2026-01-01", "2026-03-31"]]`. */
export interface VisibleImportRow {
  site_id: number
  import_id: number
  run: number
  timezone: string
  days_json: string
}

/** Lists the visible imports of all sites, after a site and import. */
export const listVisibleImports = (
  catalog: Statements,
  { limit, after }: { limit: number; after: VisibleImportRow | undefined },
): Promise<VisibleImportRow[]> =>
  catalog.all(sql`
    select site_id, import_id, run, timezone, days_json from visible_imports
    where (site_id, import_id) > (${after?.site_id ?? 0}, ${after?.import_id ?? 0})
    order by site_id, import_id limit ${limit}`)

/** Lists the visible imports of a site. */
export const visibleImportsOf = (catalog: Statements, siteId: number): Promise<VisibleImportRow[]> =>
  catalog.all(sql`
    select site_id, import_id, run, timezone, days_json from visible_imports where site_id = ${siteId} order by import_id limit 1000`)

export const deleteVisibleImports = (catalog: Statements, siteId: number): Promise<void> =>
  catalog.run(sql`delete from visible_imports where site_id = ${siteId}`)

export const insertVisibleImport = (catalog: Statements, row: VisibleImportRow): Promise<void> =>
  catalog.run(sql`
    insert into visible_imports (site_id, import_id, run, timezone, days_json)
    values (${row.site_id}, ${row.import_id}, ${row.run}, ${row.timezone}, ${row.days_json})`)
