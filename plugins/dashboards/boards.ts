/** Dashboards as people see them: who may see and change which, in which order, and which opens first. */
import { AppError, missingPermission, type OwnStatements, type Site, sortedPage, type Trash } from "#plugin"
import type { Board, DashboardsHost, WholeBoard } from "./board.ts"
import { boardNotFound } from "./errors.ts"
import { type BoardList, type BoardResponse, type BoardRow, formatRow, formatWidget, type Sight } from "./responses.ts"
import { countShares, countWidgets, listBoards, listWidgets, preferencesOf, siteDefaultOf } from "./rows.ts"
import { OVERVIEW_ID, overviewOf } from "./templates.ts"

/** Someone who uses dashboards of a site. */
export interface Person {
  user: { id: number; name: string }
  role: string
  permissions: ReadonlySet<string>
}

export const WRITE = "dashboards:write"

/** Private dashboards exist for their owner only, whatever the roles of others. */
export const isVisible = ({ visibility, owner_user_id }: Board, { user }: { user: { id: number } }): boolean =>
  visibility === "site" || owner_user_id === user.id

/** Whether someone may change a dashboard that they see. */
export const canEdit = (board: Board, { permissions }: Pick<Person, "permissions">): boolean =>
  board.id !== OVERVIEW_ID && (board.visibility === "private" || permissions.has(WRITE))

/** Throws `forbidden` for someone who may see a dashboard and not change it. */
export function refuseReader(board: Board, person: Pick<Person, "permissions">): void {
  if (board.visibility === "site" && !person.permissions.has(WRITE)) throw missingPermission(WRITE)
}

/** Throws `forbidden` unless someone may give a dashboard this visibility. */
export function refuseVisibility(before: Board | undefined, wanted: Board["visibility"], { user, role, permissions }: Person): void {
  if (before?.visibility === wanted || (before === undefined && wanted === "private")) return
  if (!permissions.has(WRITE)) throw missingPermission(WRITE)
  const isAdmin = role === "admin" || role === "owner"
  if (wanted === "private" && before?.owner_user_id !== user.id && !isAdmin)
    throw new AppError("forbidden", "Only the owner of a dashboard and admins can make it private.", { required_permission: WRITE })
}

export type Boards = ReturnType<typeof createBoards>

export function createBoards(host: DashboardsHost, trash: Trash<Board>) {
  const { db, now, services } = host

  /** Finds a dashboard that someone sees. Throws `dashboard_not_found`. */
  async function find(
    statements: OwnStatements,
    site: Site,
    id: string | number | undefined,
    person: { user: { id: number } },
  ): Promise<Board> {
    if (String(id) === String(OVERVIEW_ID)) return overviewOf(site)
    const board = await trash.find(statements, site, id)
    if (!isVisible(board, person)) throw boardNotFound()
    return board
  }
  async function whole(statements: OwnStatements, board: Board, site: Site): Promise<WholeBoard> {
    if (board.id === OVERVIEW_ID) return overviewOf(site)
    return { ...board, widgets: await listWidgets(statements, board.id) }
  }

  /** Returns the dashboards that someone sees, with what a list says about them. Overview comes first. */
  async function rows(site: Site, person: Person) {
    const [stored, widgets, shares, preferences, siteDefault] = await Promise.all([
      listBoards(db, site.id),
      countWidgets(db, site.id),
      countShares(db, site.id, now()),
      preferencesOf(db, site.id, person.user.id),
      siteDefaultOf(db, site.id),
    ])
    const overview = overviewOf(site)
    const boards = [overview, ...stored.filter((board) => isVisible(board, person))]
    const names = await services.accounts.users.names(stored.flatMap(({ owner_user_id }) => owner_user_id ?? []))
    const siteDefaultId = boards.some(({ id, visibility }) => id === siteDefault && visibility === "site") ? siteDefault : null
    const sightOf = (board: Board): Sight => ({
      owner: board.owner_user_id === null ? null : { id: board.owner_user_id, name: names.get(board.owner_user_id) ?? "" },
      is_site_default: board.id === siteDefaultId,
      is_my_default: board.id === preferences.default_dashboard_id,
      widget_count: board.id === OVERVIEW_ID ? overview.widgets.length : (widgets.get(board.id) ?? 0),
      can_edit: canEdit(board, person),
      shared: (shares.get(board.id) ?? 0) > 0,
    })
    const order = new Map(preferences.order.map((id, place) => [id, place]))
    const placeOf = ({ id, position }: Board) => [id === OVERVIEW_ID ? 0 : 1, order.get(id) ?? Number.MAX_SAFE_INTEGER, position, id]
    const isMine = boards.some(({ id }) => id === preferences.default_dashboard_id)
    const first = isMine ? preferences.default_dashboard_id : siteDefaultId
    return { boards, sightOf, placeOf, defaultId: first ?? OVERVIEW_ID }
  }

  function formatted(board: WholeBoard, sight: Sight): BoardResponse {
    const available = host.widgets().filter(({ isAvailable }) => isAvailable())
    const types = new Set(available.map(({ type }) => type))
    return {
      ...formatRow(board, sight),
      range: board.range,
      filters: board.filters,
      refresh_s: board.refresh_s,
      widgets: board.widgets.map((widget) => formatWidget(widget, types.has(widget.type))),
    }
  }

  return {
    find,
    whole,
    async list(
      site: Site,
      person: Person,
      { filters, ...paging }: Parameters<typeof sortedPage>[2] & { filters: { q: string | undefined; visibility: string | undefined } },
    ): Promise<typeof BoardList.static> {
      const { boards, sightOf, placeOf, defaultId } = await rows(site, person)
      const matches = ({ name, description, visibility }: Board) =>
        (filters.q === undefined || `${name}\n${description}`.toLowerCase().includes(filters.q)) &&
        (filters.visibility === undefined || visibility === filters.visibility)
      const page = sortedPage(boards.filter(matches), placeOf, paging)
      return { ...page, data: page.data.map((board): BoardRow => formatRow(board, sightOf(board))), default_dashboard_id: defaultId }
    },

    /** Returns a dashboard as someone sees it. */
    async show(site: Site, board: Board, person: Person): Promise<BoardResponse> {
      const { sightOf } = await rows(site, person)
      return formatted(await whole(db, board, site), sightOf(board))
    },

    /** Returns a dashboard that its owner has just created, without reading anything. */
    showNew: (board: WholeBoard, { user }: Pick<Person, "user">): BoardResponse =>
      formatted(board, {
        owner: { id: user.id, name: user.name },
        is_site_default: false,
        is_my_default: false,
        widget_count: board.widgets.length,
        can_edit: true,
        shared: false,
      }),
  }
}
