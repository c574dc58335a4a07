import type { HostDecision, HostProof } from "../../domain/host.ts"
import { DEFAULT_SETTINGS, type IdentityPhase, type Site, type SiteSettings } from "../../domain/site.ts"
import type { SiteFields } from "../../domain/site-input.ts"
import { sql } from "../sql.ts"
import type { Slice, Statements } from "./catalog.ts"

const SITE = sql`
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
    ) returning ${SITE}`)
  return toSite(row!) // an insert that returns has a row
}

/** Lists the sites of all organizations after an id, by id ascending, without deleted ones. */
export async function listSites(catalog: Statements, { after, limit }: Slice): Promise<Site[]> {
  const rows = await catalog.all<SiteRow>(sql`
    select ${SITE} from sites where id > ${after} and deleted_at is null order by id limit ${limit}`)
  return rows.map(toSite)
}

export async function siteById(catalog: Statements, id: number): Promise<Site | undefined> {
  const row = await catalog.get<SiteRow>(sql`select ${SITE} from sites where id = ${id} and deleted_at is null`)
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
    returning ${SITE}`)
  return toSite(row!) // the caller has seen the site in this transaction
}

/** Hides the site; its row and data stay until they are purged. */
export const deleteSite = (catalog: Statements, id: number, now: number): Promise<void> =>
  catalog.run(sql`update sites set deleted_at = ${now} where id = ${id}`)

/** Returns a site that was deleted at or after a moment. */
export async function deletedSiteById(catalog: Statements, id: number, since: number): Promise<Site | undefined> {
  const row = await catalog.get<SiteRow>(sql`select ${SITE} from sites where id = ${id} and deleted_at > ${since}`)
  return row && toSite(row)
}

export async function restoreSite(catalog: Statements, id: number, now: number): Promise<Site> {
  const row = await catalog.get<SiteRow>(sql`
    update sites set deleted_at = null, updated_at = ${now}, version = version + 1 where id = ${id} returning ${SITE}`)
  return toSite(row!) // the caller has seen the site in this transaction
}

/** Moves a site to another organization and removes its site-specific roles. */
export async function moveSite(catalog: Statements, id: number, organizationId: number, now: number): Promise<Site> {
  await catalog.run(sql`delete from site_members where site_id = ${id}`)
  const row = await catalog.get<SiteRow>(sql`
    update sites set organization_id = ${organizationId}, updated_at = ${now}, version = version + 1 where id = ${id}
    returning ${SITE}`)
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

const PROOF = sql`id, organization_id, host, token, verified_at, created_at`
const DECISION = sql`id, host, organization_id, decided_by, decided_at`

export async function insertHostProof(catalog: Statements, proof: Omit<HostProof, "id" | "verified_at">): Promise<HostProof> {
  const row = await catalog.get<HostProof>(sql`
    insert into host_proofs (organization_id, host, token, created_at)
    values (${proof.organization_id}, ${proof.host}, ${proof.token}, ${proof.created_at})
    returning ${PROOF}`)
  return row! // an insert that returns has a row
}

/** Lists the host proofs of an organization, by id ascending. */
export const listHostProofs = (catalog: Statements, organizationId: number): Promise<HostProof[]> =>
  catalog.all(sql`select ${PROOF} from host_proofs where organization_id = ${organizationId} order by id limit 1000`)

/** Lists the verified host proofs of all organizations, by id ascending. */
export const listVerifiedHostProofs = (catalog: Statements, { after, limit }: Slice): Promise<HostProof[]> =>
  catalog.all(sql`select ${PROOF} from host_proofs where id > ${after} and verified_at is not null order by id limit ${limit}`)

export const hostProofById = (catalog: Statements, organizationId: number, id: number): Promise<HostProof | undefined> =>
  catalog.get(sql`select ${PROOF} from host_proofs where organization_id = ${organizationId} and id = ${id}`)

export const verifiedHostProof = (catalog: Statements, host: string): Promise<HostProof | undefined> =>
  catalog.get(sql`select ${PROOF} from host_proofs where host = ${host} and verified_at is not null`)

export async function updateHostProof(catalog: Statements, id: number, verifiedAt: number | null): Promise<HostProof> {
  const row = await catalog.get<HostProof>(sql`update host_proofs set verified_at = ${verifiedAt} where id = ${id} returning ${PROOF}`)
  return row! // found in the same transaction
}

export const deleteHostProof = (catalog: Statements, id: number): Promise<void> =>
  catalog.run(sql`delete from host_proofs where id = ${id}`)

/** Lists host decisions, by id ascending. */
export const listHostDecisions = (catalog: Statements, { after, limit }: Slice): Promise<HostDecision[]> =>
  catalog.all(sql`select ${DECISION} from host_decisions where id > ${after} order by id limit ${limit}`)

export const hostDecision = (catalog: Statements, host: string): Promise<HostDecision | undefined> =>
  catalog.get(sql`select ${DECISION} from host_decisions where host = ${host}`)

/** Inserts a decision or replaces the previous one for the host. */
export async function putHostDecision(catalog: Statements, decision: Omit<HostDecision, "id">): Promise<HostDecision> {
  const row = await catalog.get<HostDecision>(sql`
    insert into host_decisions (host, organization_id, decided_by, decided_at)
    values (${decision.host}, ${decision.organization_id}, ${decision.decided_by}, ${decision.decided_at})
    on conflict (host) do update set
      organization_id = excluded.organization_id, decided_by = excluded.decided_by, decided_at = excluded.decided_at
    returning ${DECISION}`)
  return row! // an upsert that returns has a row
}

export const deleteHostDecision = (catalog: Statements, host: string): Promise<void> =>
  catalog.run(sql`delete from host_decisions where host = ${host}`)

export interface SealedSalt {
  site_id: number
  period: string
  sealed: Uint8Array
  destroy_at: number
}

/** Stores salts. Those of a site that was deleted meanwhile are left out. */
export function upsertSalts(catalog: Statements, salts: readonly SealedSalt[]): Promise<void> {
  const rows = salts.map(({ site_id, period, sealed, destroy_at }) => [site_id, period, sealed.toHex(), destroy_at])
  return catalog.run(sql`
    insert into salts (site_id, period, sealed, destroy_at)
    select value ->> 0, value ->> 1, unhex(value ->> 2), value ->> 3 from json_each(${JSON.stringify(rows)})
    where value ->> 0 in (select id from sites)
    on conflict (site_id, period) do update set sealed = excluded.sealed`)
}

/** Returns the stored ones of the salts, in any order. */
export const listSalts = (
  catalog: Statements,
  wanted: readonly { siteId: number; period: string }[],
): Promise<Pick<SealedSalt, "site_id" | "period" | "sealed">[]> =>
  catalog.all(sql`
    select site_id, period, sealed from json_each(${JSON.stringify(wanted)})
    join salts on site_id = value ->> 'siteId' and period = value ->> 'period'`)

/** Lists the salts that are due to be destroyed, oldest first. */
export const listOverdueSalts = (catalog: Statements, now: number, limit: number): Promise<Pick<SealedSalt, "site_id" | "period">[]> =>
  catalog.all(sql`select site_id, period from salts where destroy_at <= ${now} order by destroy_at limit ${limit}`)

/** Destroys salts. Their bytes are overwritten, because the catalog is opened with `secure_delete`. */
export const deleteSalts = (catalog: Statements, salts: readonly Pick<SealedSalt, "site_id" | "period">[]): Promise<void> =>
  catalog.run(sql`
    delete from salts where (site_id, period) in
      (select value ->> 'site_id', value ->> 'period' from json_each(${JSON.stringify(salts)}))`)
