/** Changes to dashboards. Each writes one audit entry in its transaction. */
import { type Actor, AppError, type OwnStatements, refuseOtherVersion, refuseStaleBody, type Site, type Trash } from "#plugin"
import { type Board, type BoardFields, type DashboardsHost, LIMITS, type NewWidget, type WholeBoard } from "./board.ts"
import { type Boards, isVisible, type Person, refuseReader, refuseVisibility } from "./boards.ts"
import { boardNotFound, readOnlyBoard } from "./errors.ts"
import {
  BoardInput,
  BoardPatch,
  BoardReplacement,
  completeFields,
  PreviewInput,
  type ReadBody,
  readBody,
  type SentWidget,
} from "./input.ts"
import { todayOf } from "./ranges.ts"
import { lookupOn } from "./references.ts"
import { countBoards, insertBoard, labelOf, listWidgets, updateBoard, writeWidgets } from "./rows.ts"
import { OVERVIEW_ID, TEMPLATES } from "./templates.ts"
import { checkedWidgets } from "./widget-checks.ts"

/** Author of a change. */
export interface Author extends Person {
  actor: Actor
  session: Parameters<DashboardsHost["services"]["access"]["onSite"]>[0]["session"]
  user: Person["user"] & Parameters<DashboardsHost["services"]["access"]["onSite"]>[0]["user"]
  /** Versions in the header `If-Match`. */
  expected?: readonly number[] | undefined
}

type DeletedReader = Pick<Author, "permissions"> & { user: { id: number } }
type Alongside = (statements: OwnStatements, board: WholeBoard) => Promise<void>
type Changes = Record<string, readonly [unknown, unknown]>
export type BoardWrites = ReturnType<typeof createBoardWrites>

export function createBoardWrites(host: DashboardsHost, { boards, trash }: { boards: Boards; trash: Trash<Board> }) {
  const { db, now } = host

  /** Writes an audit entry. It names no private dashboard: readers of the audit log must not learn about them. */
  const audit = (
    statements: OwnStatements,
    author: Pick<Author, "actor">,
    site: Site,
    { verb, board, changes }: { verb: string; board: Board; changes?: Changes },
  ) =>
    host.audit.write(statements, author.actor, {
      action: `dashboards.dashboard.${verb}`,
      target: { type: "dashboard", id: board.id, label: labelOf(board) },
      organizationId: site.organization_id,
      siteId: site.id,
      ...(changes && board.visibility === "site" && { changes }),
    })

  async function refuseFull(statements: OwnStatements, site: Site): Promise<void> {
    if ((await countBoards(statements, site.id)) < LIMITS.boards) return
    throw new AppError("limit_reached", `A site can have at most ${LIMITS.boards} dashboards.`, {
      limit: LIMITS.boards,
      resource: "dashboards",
    })
  }

  /** Checks widgets and filters. What `kept` contains is not checked again, except for personal segments. */
  const checked = (
    widgets: readonly SentWidget[],
    fields: BoardFields,
    { site, author, kept }: { site: Site; author: Author; kept?: Pick<WholeBoard, "filters" | "widgets"> | undefined },
  ) =>
    checkedWidgets(
      widgets,
      { value: fields.filters, isKept: Bun.deepEquals(kept?.filters, fields.filters) },
      {
        types: host.widgets(),
        site,
        now: now(),
        isPrivate: fields.visibility === "private",
        stored: kept?.widgets ?? [],
        siteOf: (id) => readableSite(host, author, id),
        lookupOn: (target) => lookupOn(host, target, author.user.id),
      },
    )

  /** Stores a new dashboard. */
  async function insert(
    statements: OwnStatements,
    site: Site,
    { fields, widgets }: { fields: BoardFields; widgets: readonly NewWidget[] },
    author: Pick<Author, "actor"> & { user: { id: number } },
  ): Promise<WholeBoard> {
    await refuseFull(statements, site)
    const board = await insertBoard(statements, { ...fields, siteId: site.id, ownerId: author.user.id, now: now() })
    const stored = await writeWidgets(
      statements,
      board.id,
      widgets.map(({ id: _, ...widget }) => widget),
    )
    const whole = { ...board, widgets: stored }
    await audit(statements, author, site, { verb: "create", board, changes: changedFields(undefined, whole) })
    return whole
  }

  async function findEditable(statements: OwnStatements, site: Site, id: string | undefined, author: Author): Promise<WholeBoard> {
    const board = await boards.find(statements, site, id, author)
    if (board.id === OVERVIEW_ID) throw readOnlyBoard()
    refuseReader(board, author)
    return { ...board, widgets: await listWidgets(statements, board.id) }
  }

  /** Finds a deleted dashboard that someone may restore. */
  async function findDeleted(statements: OwnStatements, site: Site, id: string | undefined, author: DeletedReader): Promise<Board> {
    const board = await trash.findDeleted(statements, site, id)
    if (!isVisible(board, author)) throw boardNotFound()
    refuseReader(board, author)
    return board
  }

  /** Replaces the given fields of a dashboard, and its widgets if there are some. */
  async function change(site: Site, id: string | undefined, { fields, widgets, version }: ReadBody, author: Author): Promise<Board> {
    const before = await findEditable(db, site, id, author)
    const wanted: BoardFields = { ...before, ...fields }
    refuseVisibility(before, wanted.visibility, author)
    const next = await checked(widgets ?? before.widgets.map(asSent), wanted, { site, author, kept: before })
    const current = version === undefined ? {} : await boards.show(site, before, author)
    return db.transaction(async (statements) => {
      const latest = await findEditable(statements, site, id, author)
      refuseStaleBody(latest, version, () => current)
      refuseOtherVersion(latest, author.expected)
      // Without a version the fields of the body win over a change that was saved since the checks above.
      refuseVisibility(latest, { ...latest, ...fields }.visibility, author)
      // Only a replacement has widgets, and it names the version that they were checked against.
      const after = { ...latest, ...fields, widgets: widgets ? next : latest.widgets }
      const changes = changedFields(latest, after)
      if (Object.keys(changes).length === 0) return latest
      if (widgets) await writeWidgets(statements, latest.id, next)
      const changed = await updateBoard(statements, latest.id, { ...latest, ...fields }, now())
      await audit(statements, author, site, { verb: "update", board: changed, changes })
      return changed
    })
  }

  return {
    insert,
    refuseFull,

    async create(site: Site, body: unknown, author: Author, alongside: Alongside): Promise<WholeBoard> {
      const { fields: sent, widgets: own, template } = readBody(BoardInput, body, todayOf(site, now()))
      const source = typeof template === "number" ? await boards.whole(db, await boards.find(db, site, template, author), site) : undefined
      const from = source && { range: source.range, filters: source.filters, refresh_s: source.refresh_s }
      const fields = completeFields({ ...from, ...sent })
      refuseVisibility(undefined, fields.visibility, author)
      const copied: readonly NewWidget[] = source?.widgets ?? (typeof template === "string" ? TEMPLATES[template] : [])
      const kept = source && { filters: source.filters, widgets: source.widgets }
      const widgets = await checked(own ?? copied.map(asSent), fields, { site, author, kept })
      return db.transaction(async (statements) => {
        const board = await insert(statements, site, { fields, widgets }, author)
        await alongside(statements, board)
        return board
      })
    },

    replace: (site: Site, id: string | undefined, body: unknown, author: Author) =>
      change(site, id, readBody(BoardReplacement, body, todayOf(site, now())), author),

    update: (site: Site, id: string | undefined, body: unknown, author: Author) =>
      change(site, id, readBody(BoardPatch, body, todayOf(site, now())), author),

    /**
     * Returns a dashboard with widgets that are not saved, after the checks of a save. Their ids are their positions, from 1. Only those who
     * may save the widgets see their figures.
     */
    async preview(site: Site, id: string | undefined, body: unknown, author: Author): Promise<WholeBoard> {
      const board = await findEditable(db, site, id, author)
      const { widgets = [] } = readBody(PreviewInput, body, todayOf(site, now()))
      const next = await checked(widgets, board, { site, author, kept: board })
      return { ...board, widgets: next.map((widget, i) => ({ ...widget, id: i + 1 })) }
    },

    async remove(site: Site, id: string | undefined, author: Author): Promise<void> {
      await db.transaction(async (statements) => {
        const board = await findEditable(statements, site, id, author)
        refuseOtherVersion(board, author.expected)
        await updateBoard(statements, board.id, { ...board, deleted_at: now() }, now())
        await audit(statements, author, site, { verb: "delete", board })
      })
    },

    findDeleted,

    async restore(site: Site, id: string | undefined, author: Author): Promise<Board> {
      return db.transaction(async (statements) => {
        const board = await findDeleted(statements, site, id, author)
        await refuseFull(statements, site)
        const restored = await updateBoard(statements, board.id, { ...board, deleted_at: null }, now())
        await audit(statements, author, site, { verb: "restore", board: restored })
        return restored
      })
    },
  }
}

/** Returns a site that someone may read; undefined for an unknown and an invisible one. */
export async function readableSite(host: DashboardsHost, author: Author, id: number): Promise<Site | undefined> {
  try {
    return (await host.services.access.onSite(author, String(id))).site
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

const asSent = ({ source_site_name: _, ...widget }: NewWidget): SentWidget => widget

const EDITABLE = ["name", "description", "visibility", "range", "filters", "refresh_s", "widgets"] as const

type Compared = BoardFields & { widgets: readonly NewWidget[] }

/** Returns the changed fields with their values before and after. Of widgets only the names are kept, because their texts can be long. */
function changedFields(before: Compared | undefined, after: Compared): Changes {
  const changed = EDITABLE.filter((field) => !Bun.deepEquals(before?.[field] ?? null, after[field]))
  const shown = (board: Compared | undefined, field: (typeof EDITABLE)[number]) =>
    field === "widgets" ? (board?.widgets.map(({ title, type }) => title || type) ?? null) : (board?.[field] ?? null)
  return Object.fromEntries(changed.map((field) => [field, [shown(before, field), shown(after, field)] as const]))
}
