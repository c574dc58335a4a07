import { type FoldPosition, type OwnStatements, type Sql, SUGGESTED_CHARS, slugKey, sql } from "#plugin"
import type { Pixel, PixelFields } from "./pixel.ts"

const COLUMNS = sql`id, site_id, slug, name, kind, allowed_params_json, recipient_mode, badge_public, opens_total, opens_direct,
  last_open_at, counted_to, archived_at, created_by, version, created_at, updated_at, deleted_at`

interface PixelRow extends Omit<Pixel, "allowed_params" | "badge_public"> {
  allowed_params_json: string
  badge_public: number
}

const pixelOf = ({ allowed_params_json, badge_public, ...row }: PixelRow): Pixel => ({
  ...row,
  allowed_params: JSON.parse(allowed_params_json) as string[], // written below
  badge_public: badge_public === 1,
})

const one = async (statements: OwnStatements, statement: Sql): Promise<Pixel | undefined> => {
  const row = await statements.get<PixelRow>(statement)
  return row && pixelOf(row)
}
const many = async (statements: OwnStatements, statement: Sql): Promise<Pixel[]> => (await statements.all<PixelRow>(statement)).map(pixelOf)

/** Of all sites, by id ascending; deleted ones are left out. */
export const listAllPixels = (statements: OwnStatements, after: number, limit: number): Promise<Pixel[]> =>
  many(statements, sql`select ${COLUMNS} from pixels_pixels where id > ${after} and deleted_at is null order by id limit ${limit}`)

/** By id ascending; deleted ones are left out. */
export const listPixels = (statements: OwnStatements, siteId: number): Promise<Pixel[]> =>
  many(statements, sql`select ${COLUMNS} from pixels_pixels where site_id = ${siteId} and deleted_at is null order by id limit 1000`)

/** Also those that were deleted: for the archive of a site. */
export const listPixelsOfSite = (statements: OwnStatements, siteId: number, after: number, limit: number): Promise<Pixel[]> =>
  many(statements, sql`select ${COLUMNS} from pixels_pixels where site_id = ${siteId} and id > ${after} order by id limit ${limit}`)

/** Also one that was deleted. */
export const pixelById = (statements: OwnStatements, siteId: number, id: number): Promise<Pixel | undefined> =>
  one(statements, sql`select ${COLUMNS} from pixels_pixels where id = ${id} and site_id = ${siteId}`)

export const pixelAt = (statements: OwnStatements, slug: string): Promise<Pixel | undefined> =>
  one(statements, sql`select ${COLUMNS} from pixels_pixels where slug_key = ${slugKey(slug)} and deleted_at is null`)

/** Those that are not deleted. */
export const countPixels = async (statements: OwnStatements, siteId: number): Promise<number> =>
  (await statements.get<{ n: number }>(sql`select count(*) as n from pixels_pixels where site_id = ${siteId} and deleted_at is null`))!.n

export async function insertPixel(
  statements: OwnStatements,
  fields: PixelFields,
  { siteId, createdBy, now }: { siteId: number; createdBy: number; now: number },
): Promise<Pixel> {
  const inserted = await one(
    statements,
    sql`insert into pixels_pixels (site_id, slug, slug_key, name, kind, allowed_params_json, recipient_mode, badge_public, created_by,
      created_at, updated_at)
    values (${siteId}, ${fields.slug}, ${slugKey(fields.slug)}, ${fields.name}, ${fields.kind}, ${JSON.stringify(fields.allowed_params)},
      ${fields.recipient_mode}, ${Number(fields.badge_public)}, ${createdBy}, ${now}, ${now})
    returning ${COLUMNS}`,
  )
  return inserted! // an insert that does not fail returns its row
}

export async function updatePixel(
  statements: OwnStatements,
  id: number,
  fields: PixelFields & Pick<Pixel, "archived_at" | "deleted_at">,
  now: number,
): Promise<Pixel> {
  const updated = await one(
    statements,
    sql`update pixels_pixels set slug = ${fields.slug}, slug_key = ${slugKey(fields.slug)}, name = ${fields.name}, kind = ${fields.kind},
      allowed_params_json = ${JSON.stringify(fields.allowed_params)}, recipient_mode = ${fields.recipient_mode},
      badge_public = ${Number(fields.badge_public)}, archived_at = ${fields.archived_at}, deleted_at = ${fields.deleted_at},
      version = version + 1, updated_at = ${now}
    where id = ${id} returning ${COLUMNS}`,
  )
  return updated! // found in the same transaction
}

/** What a fold adds to the counters of a pixel. */
export interface Added {
  total: number
  direct: number
  lastAt: number
}

/** Undefined for a pixel that is gone. Its version stays: nobody has changed it. */
export const addOpens = (statements: OwnStatements, id: number, { total, direct, lastAt }: Added, to: number): Promise<Pixel | undefined> =>
  one(
    statements,
    sql`update pixels_pixels set opens_total = opens_total + ${total}, opens_direct = opens_direct + ${direct},
      last_open_at = nullif(max(ifnull(last_open_at, 0), ${lastAt}), 0), counted_to = ${to}
    where id = ${id} returning ${COLUMNS}`,
  )

export const foldPosition = (statements: OwnStatements, siteId: number): Promise<FoldPosition | undefined> =>
  statements.get(sql`select at, sequence from pixels_folds where site_id = ${siteId}`)

export const putFoldPosition = (statements: OwnStatements, siteId: number, { at, sequence }: FoldPosition): Promise<void> =>
  statements.run(sql`insert into pixels_folds (site_id, at, sequence) values (${siteId}, ${at}, ${sequence})
    on conflict (site_id) do update set at = excluded.at, sequence = excluded.sequence`)

export const deleteFoldPosition = (statements: OwnStatements, siteId: number): Promise<void> =>
  statements.run(sql`delete from pixels_folds where site_id = ${siteId}`)

/** A slug that was given up. */
export interface Tombstone {
  organization_id: number
  pixel_id: number
  until: number
}

export const tombstoneAt = (statements: OwnStatements, slug: string): Promise<Tombstone | undefined> =>
  statements.get(sql`select organization_id, pixel_id, until from pixels_tombstones where slug_key = ${slugKey(slug)}`)

export const putTombstone = (
  statements: OwnStatements,
  { slug, id }: Pick<Pixel, "slug" | "id">,
  { organizationId, now, until }: { organizationId: number; now: number; until: number },
): Promise<void> =>
  statements.run(sql`insert into pixels_tombstones (slug_key, organization_id, pixel_id, freed_at, until)
    values (${slugKey(slug)}, ${organizationId}, ${id}, ${now}, ${until})
    on conflict (slug_key) do update set organization_id = excluded.organization_id, pixel_id = excluded.pixel_id,
      freed_at = excluded.freed_at, until = excluded.until`)

export const deleteTombstone = (statements: OwnStatements, slug: string): Promise<void> =>
  statements.run(sql`delete from pixels_tombstones where slug_key = ${slugKey(slug)}`)

export const deleteOldTombstones = async (statements: OwnStatements, now: number, limit: number): Promise<number> => {
  const slice = sql`select slug_key from pixels_tombstones where until <= ${now} limit ${limit}`
  return (await statements.all(sql`delete from pixels_tombstones where slug_key in (${slice}) returning slug_key`)).length
}

/** Keys of slugs that nobody can have now and that begin as a wanted one with a number behind it does. */
export async function listSlugsLike(statements: OwnStatements, slug: string): Promise<string[]> {
  const begin = `${slugKey(slug).slice(0, SUGGESTED_CHARS)}-`
  const end = `${begin.slice(0, -1)}.` // the character behind the hyphen
  const rows = await statements.all<{ slug_key: string }>(sql`
    select slug_key from pixels_pixels where slug_key >= ${begin} and slug_key < ${end} and deleted_at is null
    union select slug_key from pixels_tombstones where slug_key >= ${begin} and slug_key < ${end} limit 1000`)
  return rows.map(({ slug_key }) => slug_key)
}

/** Those that can be restored no more. */
export const listOldPixels = (statements: OwnStatements, deletedBefore: number, limit: number): Promise<Pixel[]> =>
  many(statements, sql`select ${COLUMNS} from pixels_pixels where deleted_at is not null and deleted_at <= ${deletedBefore} limit ${limit}`)

export const deletePixel = (statements: OwnStatements, id: number): Promise<void> =>
  statements.run(sql`delete from pixels_pixels where id = ${id}`)

export const addOrphans = (statements: OwnStatements, day: string, count: number): Promise<void> =>
  statements.run(sql`insert into pixels_orphans (day, count) values (${day}, ${count})
    on conflict (day) do update set count = count + excluded.count`)

export const deleteOrphansBefore = (statements: OwnStatements, day: string): Promise<void> =>
  statements.run(sql`delete from pixels_orphans where day < ${day}`)
