import { sql } from "../sql.ts"
import type { Statements } from "./catalog.ts"

export interface SealedSalt {
  site_id: number
  period: string
  sealed: Uint8Array
  destroy_at: number
}

export const upsertSalt = (catalog: Statements, salt: SealedSalt): Promise<void> =>
  catalog.run(sql`
    insert into salts (site_id, period, sealed, destroy_at)
    values (${salt.site_id}, ${salt.period}, ${salt.sealed}, ${salt.destroy_at})
    on conflict (site_id, period) do update set sealed = excluded.sealed`)

export const saltOf = (catalog: Statements, siteId: number, period: string): Promise<SealedSalt | undefined> =>
  catalog.get(sql`select site_id, period, sealed, destroy_at from salts where site_id = ${siteId} and period = ${period}`)

/** Lists the salts that are due to be destroyed, oldest first. */
export const listOverdueSalts = (catalog: Statements, now: number, limit: number): Promise<Pick<SealedSalt, "site_id" | "period">[]> =>
  catalog.all(sql`select site_id, period from salts where destroy_at <= ${now} order by destroy_at limit ${limit}`)

/** Destroys a salt. Its bytes are overwritten, because the catalog is opened with `secure_delete`. */
export const deleteSalt = (catalog: Statements, siteId: number, period: string): Promise<void> =>
  catalog.run(sql`delete from salts where site_id = ${siteId} and period = ${period}`)
