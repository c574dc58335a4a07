import type { SavedFilter } from "../../domain/segment.ts"
import type { NewShare, Section, Share, ShareFields, StoredShare } from "../../domain/share.ts"
import type { Site } from "../../domain/site.ts"
import { sql } from "../sql.ts"
import type { Slice, Statements } from "./catalog.ts"

const COLUMNS = sql`
  id, site_id, slug_sealed, name, password_hash, password_version, expires_at, locked_filters_json, sections_json, allow_range,
  allow_filters, allow_export, embed_origins_json, is_public, created_by, created_at, updated_at, version`

interface ShareRow {
  id: number
  site_id: number
  slug_sealed: Uint8Array
  name: string
  password_hash: string | null
  password_version: number
  expires_at: number | null
  locked_filters_json: string
  sections_json: string
  allow_range: number
  allow_filters: number
  allow_export: number
  embed_origins_json: string
  is_public: number
  created_by: number | null
  created_at: number
  updated_at: number
  version: number
}

export async function insertShare(catalog: Statements, site: Site, fields: ShareFields, share: NewShare): Promise<StoredShare<Share>> {
  const row = await catalog.get<ShareRow>(sql`
    insert into shares (
      site_id, slug_hash, slug_sealed, name, password_hash, password_version, expires_at, locked_filters_json, sections_json,
      allow_range, allow_filters, allow_export, embed_origins_json, created_by, created_at, updated_at
    ) values (
      ${site.id}, ${share.slugHash}, ${share.slugSealed}, ${fields.name}, ${share.passwordHash},
      ${share.passwordHash === null ? 0 : 1}, ${fields.expires_at}, ${JSON.stringify(fields.locked_filters)},
      ${JSON.stringify(fields.sections)}, ${Number(fields.allow_range)}, ${Number(fields.allow_filters)},
      ${Number(fields.allow_export)}, ${JSON.stringify(fields.embed_origins)}, ${share.createdBy},
      ${share.now}, ${share.now}
    ) returning ${COLUMNS}`)
  return toShare(row!) // an insert that returns has a row
}

/** Lists the shares of a site after an id, by id ascending. */
export async function listShares(catalog: Statements, site: Site, { after, limit }: Slice): Promise<StoredShare<Share>[]> {
  const rows = await catalog.all<ShareRow>(sql`
    select ${COLUMNS} from shares where site_id = ${site.id} and id > ${after} order by id limit ${limit}`)
  return rows.map(toShare)
}

export async function shareById(catalog: Statements, site: Site, id: number): Promise<StoredShare<Share> | undefined> {
  const row = await catalog.get<ShareRow>(sql`select ${COLUMNS} from shares where site_id = ${site.id} and id = ${id}`)
  return row && toShare(row)
}

export async function shareBySlugHash(catalog: Statements, slugHash: Uint8Array): Promise<StoredShare<Share> | undefined> {
  const row = await catalog.get<ShareRow>(sql`select ${COLUMNS} from shares where slug_hash = ${slugHash}`)
  return row && toShare(row)
}

/** Returns the share that was created by the site's public setting. */
export async function publicShareOf(catalog: Statements, siteId: number): Promise<StoredShare<Share> | undefined> {
  const row = await catalog.get<ShareRow>(sql`select ${COLUMNS} from shares where site_id = ${siteId} and is_public = 1`)
  return row && toShare(row)
}

/** Marks a share as created by the site's public setting. */
export const markPublic = (catalog: Statements, { id }: Share): Promise<void> =>
  catalog.run(sql`update shares set is_public = 1 where id = ${id}`)

export async function countShares(catalog: Statements, site: Site): Promise<number> {
  const row = await catalog.get<{ n: number }>(sql`select count(*) as n from shares where site_id = ${site.id}`)
  return row!.n // a count has a row
}

export async function updateShare(
  catalog: Statements,
  { id }: Share,
  fields: ShareFields,
  password: { hash: string | null; version: number },
  now: number,
): Promise<StoredShare<Share>> {
  const row = await catalog.get<ShareRow>(sql`
    update shares set
      name = ${fields.name}, password_hash = ${password.hash}, password_version = ${password.version},
      expires_at = ${fields.expires_at}, locked_filters_json = ${JSON.stringify(fields.locked_filters)},
      sections_json = ${JSON.stringify(fields.sections)}, allow_range = ${Number(fields.allow_range)},
      allow_filters = ${Number(fields.allow_filters)}, allow_export = ${Number(fields.allow_export)},
      embed_origins_json = ${JSON.stringify(fields.embed_origins)}, updated_at = ${now}, version = version + 1
    where id = ${id}
    returning ${COLUMNS}`)
  return toShare(row!) // the caller has seen the view in this transaction
}

export const deleteShare = (catalog: Statements, { id }: Share): Promise<void> => catalog.run(sql`delete from shares where id = ${id}`)

function toShare({
  slug_sealed,
  password_hash,
  locked_filters_json,
  sections_json,
  embed_origins_json,
  ...row
}: ShareRow): StoredShare<Share> {
  const share: Share = {
    ...row,
    has_password: password_hash !== null,
    // The three lists were written by this file.
    locked_filters: JSON.parse(locked_filters_json) as SavedFilter[],
    sections: JSON.parse(sections_json) as Section[],
    embed_origins: JSON.parse(embed_origins_json) as string[],
    allow_range: row.allow_range === 1,
    allow_filters: row.allow_filters === 1,
    allow_export: row.allow_export === 1,
    is_public: row.is_public === 1,
  }
  return { share, slugSealed: slug_sealed, passwordHash: password_hash }
}
