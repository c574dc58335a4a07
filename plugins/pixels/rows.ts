import { type Host, type NamedThings, type OwnStatements, type Sql, slugKey, sql, type Trash } from "#plugin"
import { pixelError } from "./errors.ts"
import type { Pixel, PixelFields } from "./pixel.ts"

const COLUMNS = sql`id, site_id, slug, name, kind, allowed_params_json, recipient_mode, badge_public, opens_total, opens_direct,
  last_open_at, archived_at, created_by, version, created_at, updated_at, deleted_at`

interface PixelRow extends Omit<Pixel, "allowed_params" | "badge_public"> {
  allowed_params_json: string
  badge_public: number
}

const pixelOf = ({ allowed_params_json, badge_public, ...row }: PixelRow): Pixel => ({
  ...row,
  allowed_params: JSON.parse(allowed_params_json) as string[], // written by the functions below
  badge_public: badge_public === 1,
})

const one = async (statements: OwnStatements, statement: Sql): Promise<Pixel | undefined> => {
  const row = await statements.get<PixelRow>(statement)
  return row && pixelOf(row)
}
const many = async (statements: OwnStatements, statement: Sql): Promise<Pixel[]> => (await statements.all<PixelRow>(statement)).map(pixelOf)

/** The slugs of pixels, which are unique in the whole instance. */
export const pixelSlugs = ({ slugs }: Pick<Host, "slugs">) =>
  slugs({ thing: "pixel", table: "pixels_pixels", reserved: "pixels_tombstones" })

export const pixelTrash = (host: Pick<Host, "slugs" | "trash">): Trash<Pixel> =>
  host.trash({
    thing: "pixel",
    table: "pixels_pixels",
    columns: COLUMNS,
    read: pixelOf,
    label: ({ name }) => name,
    notFound: () => pixelError("pixel_not_found", "This tracking pixel doesn't exist on the site, or it was deleted."),
    slugs: pixelSlugs(host),
  })

/** Returns pixels of all sites by ascending id, without deleted ones. */
export const listAllPixels = (statements: OwnStatements, after: number, limit: number): Promise<Pixel[]> =>
  many(statements, sql`select ${COLUMNS} from pixels_pixels where id > ${after} and deleted_at is null order by id limit ${limit}`)

/** Returns pixels by id, without deleted ones. */
export const pixelsByIds = (statements: OwnStatements, ids: readonly number[]): Promise<Pixel[]> =>
  many(
    statements,
    sql`select ${COLUMNS} from pixels_pixels where id in (select value from json_each(${JSON.stringify(ids)})) and deleted_at is null`,
  )

/** Returns the pixels of a site by ascending id, without deleted ones. */
export const listPixels = (statements: OwnStatements, siteId: number): Promise<Pixel[]> =>
  many(statements, sql`select ${COLUMNS} from pixels_pixels where site_id = ${siteId} and deleted_at is null order by id limit 1000`)

/** Returns the pixels as objects that dashboards name. */
export const namedPixels = ({ db }: Pick<Host, "db">): NamedThings => ({
  nameOf: async (site, id) => (await listPixels(db, site.id)).find((pixel) => pixel.id === id)?.name,
  idOf: async (site, name) => (await listPixels(db, site.id)).find((pixel) => pixel.name === name)?.id,
})

/** Returns the number of pixels of a site, without deleted ones. */
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

/** Opens to add to the counters of a pixel. */
export interface NewOpens {
  total: number
  direct: number
  lastAt: number
}

/** Returns undefined if the pixel was removed. Its version stays. */
export const addOpens = (statements: OwnStatements, id: number, { total, direct, lastAt }: NewOpens): Promise<Pixel | undefined> =>
  one(
    statements,
    sql`update pixels_pixels set opens_total = opens_total + ${total}, opens_direct = opens_direct + ${direct},
      last_open_at = nullif(max(ifnull(last_open_at, 0), ${lastAt}), 0)
    where id = ${id} returning ${COLUMNS}`,
  )

export const addOrphans = (statements: OwnStatements, day: string, count: number): Promise<void> =>
  statements.run(sql`insert into pixels_orphans (day, count) values (${day}, ${count})
    on conflict (day) do update set count = count + excluded.count`)

export const deleteOrphansBefore = (statements: OwnStatements, day: string): Promise<void> =>
  statements.run(sql`delete from pixels_orphans where day < ${day}`)
