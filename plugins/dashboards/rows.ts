/** The tables of dashboards, widgets, preferences and defaults. */
import { type Host, type OwnStatements, sql, type Trash } from "#plugin"
import type { Board, BoardFields, NewWidget, StoredWidget } from "./board.ts"
import { boardNotFound } from "./errors.ts"

const COLUMNS = sql`id, site_id, owner_user_id, name, description, visibility, range_json, filters_json, refresh_s, position, version,
  created_at, updated_at, deleted_at`

interface BoardRow extends Omit<Board, "range" | "filters"> {
  range_json: string
  filters_json: string
}

const boardOf = ({ range_json, filters_json, ...row }: BoardRow): Board => ({
  ...row,
  range: JSON.parse(range_json) as Board["range"], // both were written by the functions below
  filters: JSON.parse(filters_json) as Board["filters"],
})

/** Label of private dashboards in the audit log, whose readers must not learn their names. */
export const PRIVATE_LABEL = "Private dashboard"
export const labelOf = ({ name, visibility }: Pick<Board, "name" | "visibility">): string => (visibility === "site" ? name : PRIVATE_LABEL)

export const boardTrash = (host: Pick<Host, "trash">): Trash<Board> =>
  host.trash({
    thing: "dashboard",
    table: "dashboards_dashboards",
    columns: COLUMNS,
    read: boardOf,
    label: (board: Board) => labelOf(board),
    notFound: boardNotFound,
  })

/** Returns the dashboards of a site by position, without deleted ones. */
export const listBoards = async (statements: OwnStatements, siteId: number): Promise<Board[]> =>
  (
    await statements.all<BoardRow>(sql`select ${COLUMNS} from dashboards_dashboards
      where site_id = ${siteId} and deleted_at is null order by position, id limit 1000`)
  ).map(boardOf)

export async function countBoards(statements: OwnStatements, siteId: number): Promise<number> {
  const row = await statements.get<{ count: number }>(
    sql`select count(*) as count from dashboards_dashboards where site_id = ${siteId} and deleted_at is null`,
  )
  return row!.count // a count always returns a row
}

export async function insertBoard(
  statements: OwnStatements,
  fields: BoardFields & { siteId: number; ownerId: number; now: number },
): Promise<Board> {
  const { siteId, ownerId, now } = fields
  const row = await statements.get<BoardRow>(sql`insert into dashboards_dashboards
    (site_id, owner_user_id, name, description, visibility, range_json, filters_json, refresh_s, position, created_at, updated_at)
    values (${siteId}, ${ownerId}, ${fields.name}, ${fields.description}, ${fields.visibility}, ${JSON.stringify(fields.range)},
      ${JSON.stringify(fields.filters)}, ${fields.refresh_s},
      (select coalesce(max(position), 0) + 1 from dashboards_dashboards where site_id = ${siteId}), ${now}, ${now})
    returning ${COLUMNS}`)
  return boardOf(row!) // an insert that does not fail returns its row
}

export async function updateBoard(
  statements: OwnStatements,
  id: number,
  fields: BoardFields & Pick<Board, "deleted_at">,
  now: number,
): Promise<Board> {
  const row =
    await statements.get<BoardRow>(sql`update dashboards_dashboards set name = ${fields.name}, description = ${fields.description},
    visibility = ${fields.visibility}, range_json = ${JSON.stringify(fields.range)}, filters_json = ${JSON.stringify(fields.filters)},
    refresh_s = ${fields.refresh_s}, deleted_at = ${fields.deleted_at}, version = version + 1, updated_at = ${now}
    where id = ${id} returning ${COLUMNS}`)
  return boardOf(row!) // found in the same transaction
}

const WIDGET = sql`id, type, title, x, y, w, h, source_site_id, source_site_name, config_json`
type WidgetRow = Omit<StoredWidget, "config"> & { config_json: string }

const widgetOf = ({ config_json, ...row }: WidgetRow): StoredWidget => ({
  ...row,
  config: JSON.parse(config_json) as StoredWidget["config"], // written by `writeWidgets`
})

export const listWidgets = async (statements: OwnStatements, boardId: number): Promise<StoredWidget[]> =>
  (
    await statements.all<WidgetRow>(sql`select ${WIDGET} from dashboards_widgets where dashboard_id = ${boardId} order by id limit 100`)
  ).map(widgetOf)

/** Replaces the widgets of a dashboard. Widgets with an id of the dashboard keep it, others get a new one. */
export async function writeWidgets(statements: OwnStatements, boardId: number, widgets: readonly NewWidget[]): Promise<StoredWidget[]> {
  const known = new Map((await listWidgets(statements, boardId)).map((widget) => [widget.id, widget]))
  const kept = new Set(widgets.map(({ id }) => id))
  for (const id of known.keys()) if (!kept.has(id)) await statements.run(sql`delete from dashboards_widgets where id = ${id}`)
  for (const { id, ...widget } of widgets) {
    const before = id === undefined ? undefined : known.get(id)
    const { type, title, x, y, w, h, source_site_id, source_site_name } = widget
    const config = JSON.stringify(widget.config)
    if (!before)
      await statements.run(sql`insert into dashboards_widgets (dashboard_id, type, title, x, y, w, h, source_site_id, source_site_name, config_json)
        values (${boardId}, ${type}, ${title}, ${x}, ${y}, ${w}, ${h}, ${source_site_id}, ${source_site_name}, ${config})`)
    else if (!Bun.deepEquals(before, { id, ...widget }))
      await statements.run(sql`update dashboards_widgets set type = ${type}, title = ${title}, x = ${x}, y = ${y}, w = ${w}, h = ${h},
        source_site_id = ${source_site_id}, source_site_name = ${source_site_name}, config_json = ${config} where id = ${before.id}`)
  }
  return listWidgets(statements, boardId)
}

/** Returns the number of widgets by dashboard of a site. */
export const countWidgets = async (statements: OwnStatements, siteId: number): Promise<Map<number, number>> =>
  countsOf(
    await statements.all<CountRow>(sql`select dashboard_id as id, count(*) as count from dashboards_widgets where dashboard_id in
      (select id from dashboards_dashboards where site_id = ${siteId} and deleted_at is null) group by dashboard_id limit 1000`),
  )

/** Returns the number of working shares by dashboard of a site. */
export const countShares = async (statements: OwnStatements, siteId: number, now: number): Promise<Map<number, number>> =>
  countsOf(
    await statements.all<CountRow>(sql`select dashboard_id as id, count(*) as count from dashboards_shares
      where dashboard_id in (select id from dashboards_dashboards where site_id = ${siteId} and deleted_at is null)
        and revoked_at is null and (expires_at is null or expires_at > ${now}) group by dashboard_id limit 1000`),
  )

interface CountRow {
  id: number
  count: number
}
const countsOf = (rows: readonly CountRow[]): Map<number, number> => new Map(rows.map(({ id, count }) => [id, count]))

export interface Preferences {
  default_dashboard_id: number | null
  order: number[]
}

export async function preferencesOf(statements: OwnStatements, siteId: number, userId: number): Promise<Preferences> {
  const row = await statements.get<{ default_dashboard_id: number | null; order_json: string }>(
    sql`select default_dashboard_id, order_json from dashboards_preferences where user_id = ${userId} and site_id = ${siteId}`,
  )
  if (!row) return { default_dashboard_id: null, order: [] }
  return { default_dashboard_id: row.default_dashboard_id, order: JSON.parse(row.order_json) as number[] } // written below
}

export const putPreferences = (statements: OwnStatements, siteId: number, userId: number, wanted: Preferences): Promise<void> =>
  statements.run(sql`insert into dashboards_preferences (user_id, site_id, default_dashboard_id, order_json)
    values (${userId}, ${siteId}, ${wanted.default_dashboard_id}, ${JSON.stringify(wanted.order)})
    on conflict (user_id, site_id) do update set default_dashboard_id = excluded.default_dashboard_id, order_json = excluded.order_json`)

export async function siteDefaultOf(statements: OwnStatements, siteId: number): Promise<number | null> {
  const row = await statements.get<{ id: number }>(sql`select dashboard_id as id from dashboards_site_defaults where site_id = ${siteId}`)
  return row?.id ?? null
}

export const putSiteDefault = (statements: OwnStatements, siteId: number, id: number | null): Promise<void> =>
  id === null
    ? statements.run(sql`delete from dashboards_site_defaults where site_id = ${siteId}`)
    : statements.run(sql`insert into dashboards_site_defaults (site_id, dashboard_id) values (${siteId}, ${id})
        on conflict (site_id) do update set dashboard_id = excluded.dashboard_id`)

export async function deleteSettingsOf(statements: OwnStatements, siteId: number): Promise<void> {
  await statements.run(sql`delete from dashboards_preferences where site_id = ${siteId}`)
  await statements.run(sql`delete from dashboards_site_defaults where site_id = ${siteId}`)
}
