import type { Statements } from "./catalog.ts"
import { sql } from "./sql.ts"

/** `site` makes pseudonyms of visitors, `identity` makes person keys (metrics.md 2.1, 2.3). */
export type SiteKeyPurpose = "site" | "identity"

export const upsertSiteKey = (catalog: Statements, siteId: number, purpose: SiteKeyPurpose, sealed: Uint8Array): Promise<void> =>
  catalog.run(sql`
    insert into site_keys (site_id, purpose, sealed)
    values (${siteId}, ${purpose}, ${sealed})
    on conflict (site_id, purpose) do update set sealed = excluded.sealed`)

export async function siteKey(catalog: Statements, siteId: number, purpose: SiteKeyPurpose): Promise<Uint8Array | undefined> {
  const row = await catalog.get<{ sealed: Uint8Array }>(sql`
    select sealed from site_keys where site_id = ${siteId} and purpose = ${purpose}`)
  return row?.sealed
}
