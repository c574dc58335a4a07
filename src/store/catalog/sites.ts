import { DEFAULT_SETTINGS, type IdentityPhase, type Site, type SiteSettings } from "../../domain/site.ts"
import type { SiteFields } from "../../domain/site-input.ts"
import { sql } from "../sql.ts"
import type { Slice, Statements } from "./catalog.ts"

const COLUMNS = sql`
  id, organization_id, name, hosts_json, hosts_listed_at_json, timezone, retention_days, revenue_currency, tracking_id, settings_json,
  identity_history_json, created_at, updated_at, version`
type SiteRow = Omit<Site, "hosts" | "hosts_listed_at" | "settings" | "identity_history"> & {
  hosts_json: string
  hosts_listed_at_json: string
  settings_json: string
  identity_history_json: string
}

export async function insertSite(
  catalog: Statements,
  site: SiteFields & { organization_id: number; tracking_id: string; created_at: number; settings: Partial<SiteSettings> },
): Promise<Site> {
  const row = await catalog.get<SiteRow>(sql`
    insert into sites (
      organization_id, name, hosts_json, timezone, retention_days, revenue_currency, tracking_id, settings_json, created_at, updated_at
    ) values (
      ${site.organization_id}, ${site.name}, ${JSON.stringify(site.hosts)}, ${site.timezone}, ${site.retention_days},
      ${site.revenue_currency}, ${site.tracking_id}, ${JSON.stringify(site.settings)}, ${site.created_at}, ${site.created_at}
    ) returning ${COLUMNS}`)
  return toSite(row!) // an insert that returns has a row
}

/** Lists the sites of all organizations after an id, by id ascending, without deleted ones. */
export async function listSites(catalog: Statements, { after, limit }: Slice): Promise<Site[]> {
  const rows = await catalog.all<SiteRow>(sql`
    select ${COLUMNS} from sites where id > ${after} and deleted_at is null order by id limit ${limit}`)
  return rows.map(toSite)
}

export async function siteById(catalog: Statements, id: number): Promise<Site | undefined> {
  const row = await catalog.get<SiteRow>(sql`select ${COLUMNS} from sites where id = ${id} and deleted_at is null`)
  return row && toSite(row)
}

export async function countSites(catalog: Statements, organizationId: number): Promise<number> {
  const row = await catalog.get<{ n: number }>(sql`
    select count(*) as n from sites where organization_id = ${organizationId} and deleted_at is null`)
  return row!.n // a count has a row
}

/** The fields of a site that can change. */
export type SiteUpdate = SiteFields & Pick<Site, "settings" | "identity_history" | "hosts_listed_at">

export async function updateSite(catalog: Statements, id: number, fields: SiteUpdate, now: number): Promise<Site> {
  const row = await catalog.get<SiteRow>(sql`
    update sites set
      name = ${fields.name}, hosts_json = ${JSON.stringify(fields.hosts)},
      hosts_listed_at_json = ${JSON.stringify(fields.hosts_listed_at)}, timezone = ${fields.timezone},
      retention_days = ${fields.retention_days}, revenue_currency = ${fields.revenue_currency},
      settings_json = ${JSON.stringify(fields.settings)}, identity_history_json = ${JSON.stringify(fields.identity_history)},
      updated_at = ${now}, version = version + 1
    where id = ${id}
    returning ${COLUMNS}`)
  return toSite(row!) // the caller has seen the site in this transaction
}

/** Hides the site; its row and data stay until they are purged. */
export const deleteSite = (catalog: Statements, id: number, now: number): Promise<void> =>
  catalog.run(sql`update sites set deleted_at = ${now} where id = ${id}`)

/** Returns a site that was deleted at or after a moment. */
export async function deletedSiteById(catalog: Statements, id: number, since: number): Promise<Site | undefined> {
  const row = await catalog.get<SiteRow>(sql`select ${COLUMNS} from sites where id = ${id} and deleted_at > ${since}`)
  return row && toSite(row)
}

export async function restoreSite(catalog: Statements, id: number, now: number): Promise<Site> {
  const row = await catalog.get<SiteRow>(sql`
    update sites set deleted_at = null, updated_at = ${now}, version = version + 1 where id = ${id} returning ${COLUMNS}`)
  return toSite(row!) // the caller has seen the site in this transaction
}

/** Moves a site to another organization and removes its site-specific roles. */
export async function moveSite(catalog: Statements, id: number, organizationId: number, now: number): Promise<Site> {
  await catalog.run(sql`delete from site_members where site_id = ${id}`)
  const row = await catalog.get<SiteRow>(sql`
    update sites set organization_id = ${organizationId}, updated_at = ${now}, version = version + 1 where id = ${id}
    returning ${COLUMNS}`)
  return toSite(row!) // the caller has seen the site in this transaction
}

/** Lists the sites that were deleted up to a moment, oldest first. */
export const listDeletedSites = (catalog: Statements, until: number, limit: number): Promise<{ id: number }[]> =>
  catalog.all(sql`select id from sites where deleted_at <= ${until} order by deleted_at limit ${limit}`)

/** Deletes a site permanently, with its goals, funnels, keys and salts. */
export const purgeSite = (catalog: Statements, id: number): Promise<void> => catalog.run(sql`delete from sites where id = ${id}`)

/** Converts a row to a site. Missing settings have their defaults. */
function toSite({ hosts_json, hosts_listed_at_json, settings_json, identity_history_json, ...row }: SiteRow): Site {
  // All were written here, from values of these types.
  const settings = JSON.parse(settings_json) as Partial<SiteSettings>
  return {
    ...row,
    hosts: JSON.parse(hosts_json) as string[],
    hosts_listed_at: JSON.parse(hosts_listed_at_json) as Site["hosts_listed_at"],
    settings: { ...DEFAULT_SETTINGS, ...settings },
    identity_history: JSON.parse(identity_history_json) as IdentityPhase[],
  }
}

/** The purpose of a site's key: `site` derives the pseudonyms of visitors, `identity` derives person keys (metrics.md 2.1, 2.3). */
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

/** Lists the sites that a user has pinned. */
export const listPinnedSites = (catalog: Statements, userId: number): Promise<{ site_id: number }[]> =>
  catalog.all(sql`select site_id from site_pins where user_id = ${userId} order by site_id limit 1000`)

/** Pins a site. Returns false when it is already pinned. */
export const insertSitePin = async (catalog: Statements, userId: number, siteId: number, now: number): Promise<boolean> =>
  (await catalog.get(sql`
    insert into site_pins (user_id, site_id, created_at) values (${userId}, ${siteId}, ${now}) on conflict do nothing
    returning site_id`)) !== undefined

/** Unpins a site. Returns false when it was not pinned. */
export const deleteSitePin = async (catalog: Statements, userId: number, siteId: number): Promise<boolean> =>
  (await catalog.get(sql`delete from site_pins where user_id = ${userId} and site_id = ${siteId} returning site_id`)) !== undefined
