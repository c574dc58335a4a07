import type { Statements } from "./catalog.ts"
import { sql } from "./sql.ts"

/** Sites that a user wants to see first. A person sees some thousand at most. */
export const listPinnedSites = (catalog: Statements, userId: number): Promise<{ site_id: number }[]> =>
  catalog.all(sql`select site_id from site_pins where user_id = ${userId} order by site_id limit 1000`)

/** False when it is pinned already. */
export const insertSitePin = async (catalog: Statements, userId: number, siteId: number, now: number): Promise<boolean> =>
  (await catalog.get(sql`
    insert into site_pins (user_id, site_id, created_at) values (${userId}, ${siteId}, ${now}) on conflict do nothing
    returning site_id`)) !== undefined

/** False when it was not pinned. */
export const deleteSitePin = async (catalog: Statements, userId: number, siteId: number): Promise<boolean> =>
  (await catalog.get(sql`delete from site_pins where user_id = ${userId} and site_id = ${siteId} returning site_id`)) !== undefined
