/** The table of shares. A revoked share stays, so that its slug is never used again and its views remain known. */
import { type NewShare, type OwnStatements, type PluginShareKind, type StoredShare, sql } from "#plugin"
import type { BoardShare, BoardShareFields, SharedBoard } from "./share.ts"

const COLUMNS = sql`id, dashboard_id, slug_sealed, name, password_hash, password_version, expires_at, site_ids_json, locked_filters_json,
  allow_range, allow_filters, allow_export, embed_origins_json, theme, min_group, created_by, version, created_at, updated_at,
  last_viewed_at, views`

interface ShareRow
  extends Omit<
    BoardShare,
    "has_password" | "site_ids" | "locked_filters" | "allow_range" | "allow_filters" | "allow_export" | "embed_origins"
  > {
  slug_sealed: Uint8Array
  password_hash: string | null
  site_ids_json: string
  locked_filters_json: string
  embed_origins_json: string
  allow_range: number
  allow_filters: number
  allow_export: number
}

function toShare({
  slug_sealed,
  password_hash,
  site_ids_json,
  locked_filters_json,
  embed_origins_json,
  ...row
}: ShareRow): StoredShare<BoardShare> {
  const share: BoardShare = {
    ...row,
    has_password: password_hash !== null,
    // The three lists were written by this file.
    site_ids: JSON.parse(site_ids_json) as BoardShare["site_ids"],
    locked_filters: JSON.parse(locked_filters_json) as BoardShare["locked_filters"],
    embed_origins: JSON.parse(embed_origins_json) as BoardShare["embed_origins"],
    allow_range: row.allow_range === 1,
    allow_filters: row.allow_filters === 1,
    allow_export: row.allow_export === 1,
  }
  return { share, slugSealed: slug_sealed, passwordHash: password_hash }
}

export const SHARE_ROWS: PluginShareKind<SharedBoard, BoardShareFields, BoardShare>["rows"] = {
  async insert(statements: OwnStatements, { board }: SharedBoard, fields: BoardShareFields, made: NewShare) {
    const row = await statements.get<ShareRow>(sql`insert into dashboards_shares
      (dashboard_id, slug_hash, slug_sealed, name, password_hash, password_version, expires_at, site_ids_json, locked_filters_json,
        allow_range, allow_filters, allow_export, embed_origins_json, theme, min_group, created_by, created_at, updated_at)
      values (${board.id}, ${made.slugHash}, ${made.slugSealed}, ${fields.name}, ${made.passwordHash}, ${made.passwordHash === null ? 0 : 1},
        ${fields.expires_at}, ${JSON.stringify(fields.site_ids)}, ${JSON.stringify(fields.locked_filters)}, ${Number(fields.allow_range)},
        ${Number(fields.allow_filters)}, ${Number(fields.allow_export)}, ${JSON.stringify(fields.embed_origins)}, ${fields.theme},
        ${fields.min_group}, ${made.createdBy}, ${made.now}, ${made.now})
      returning ${COLUMNS}`)
    return toShare(row!) // an insert that does not fail returns its row
  },
  list: async (statements, { board }, { after, limit }) =>
    (
      await statements.all<ShareRow>(sql`select ${COLUMNS} from dashboards_shares
        where dashboard_id = ${board.id} and id > ${after} and revoked_at is null order by id limit ${limit}`)
    ).map(toShare),
  async count(statements, { board }) {
    const row = await statements.get<{ count: number }>(
      sql`select count(*) as count from dashboards_shares where dashboard_id = ${board.id} and revoked_at is null`,
    )
    return row!.count // a count always returns a row
  },
  async byId(statements, { board }, id) {
    const row = await statements.get<ShareRow>(
      sql`select ${COLUMNS} from dashboards_shares where dashboard_id = ${board.id} and id = ${id} and revoked_at is null`,
    )
    return row && toShare(row)
  },
  async bySlugHash(statements, slugHash) {
    const row = await statements.get<ShareRow>(
      sql`select ${COLUMNS} from dashboards_shares where slug_hash = ${slugHash} and revoked_at is null`,
    )
    return row && toShare(row)
  },
  async update(statements, { id }, fields, password, now) {
    const row = await statements.get<ShareRow>(sql`update dashboards_shares set
      name = ${fields.name}, password_hash = ${password.hash}, password_version = ${password.version}, expires_at = ${fields.expires_at},
      site_ids_json = ${JSON.stringify(fields.site_ids)}, locked_filters_json = ${JSON.stringify(fields.locked_filters)},
      allow_range = ${Number(fields.allow_range)}, allow_filters = ${Number(fields.allow_filters)},
      allow_export = ${Number(fields.allow_export)}, embed_origins_json = ${JSON.stringify(fields.embed_origins)}, theme = ${fields.theme},
      min_group = ${fields.min_group}, updated_at = ${now}, version = version + 1
      where id = ${id} returning ${COLUMNS}`)
    return toShare(row!) // found in the same transaction
  },

  remove: (statements, { id }, now) =>
    statements.run(sql`update dashboards_shares set revoked_at = ${now}, updated_at = ${now} where id = ${id}`),
}

/** Returns the shares of a site's dashboards that are not revoked. */
export const listSharesOfSite = async (statements: OwnStatements, siteId: number): Promise<BoardShare[]> =>
  (
    await statements.all<ShareRow>(sql`select ${COLUMNS} from dashboards_shares where revoked_at is null and dashboard_id in
      (select id from dashboards_dashboards where site_id = ${siteId} and deleted_at is null) order by id limit 1000`)
  ).map((row) => toShare(row).share)

/** Adds page loads to a share. */
export const addViews = (statements: OwnStatements, { id, views, at }: { id: number; views: number; at: number }): Promise<void> =>
  statements.run(sql`update dashboards_shares set views = views + ${views}, last_viewed_at = ${at} where id = ${id}`)
