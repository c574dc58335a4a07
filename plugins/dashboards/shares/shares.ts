/** Public links of dashboards. The core knows slugs, passwords, policies and embedding; this area adds sites, themes and small groups. */
import { AppError, type Fault, fault, type PluginShares, type Site, sql, type Trash } from "#plugin"
import type { Board, DashboardsHost } from "../board.ts"
import { addViews, listSharesOfSite, SHARE_ROWS } from "./rows.ts"
import { type BoardShare, type BoardShareFields, DEFAULTS, type SharedBoard, ShareInput } from "./share.ts"

export interface BoardShares extends PluginShares<SharedBoard, BoardShareFields, BoardShare> {
  /** Writes the page loads since the last call. */
  writeViews(): Promise<void>
  /** Returns whether some views are not written yet. */
  hasViews(): boolean
}

export function createBoardShares(host: DashboardsHost, trash: Trash<Board>): BoardShares {
  const { db, now, services } = host
  const views = new Map<number, { views: number; at: number }>()

  async function ownerOf({ dashboard_id }: BoardShare): Promise<SharedBoard | undefined> {
    const row = await db.get<{ site_id: number }>(
      sql`select site_id from dashboards_dashboards where id = ${dashboard_id} and deleted_at is null`,
    )
    const site = row && services.sites.directory.byId(row.site_id)
    return site && { board: await trash.find(db, site, dashboard_id), site }
  }

  const shares = host.shares<SharedBoard, BoardShareFields, BoardShare>({
    segment: "d",
    pages: ["/widgets/:widget"],
    rows: SHARE_ROWS,
    input: ShareInput,
    defaults: DEFAULTS,
    serverSet: ["slug", "url", "has_password", "views", "last_viewed_at"],
    faults: async (owner, fields, before) => [...groupFaults(owner.site, fields, before), ...(await siteFaults(owner, fields, before))],
    siteOf: ({ site }) => site,
    ownerOf,
    notFound: () => new AppError("share_not_found", "This dashboard has no share with this id."),
    tooMany: () => new AppError("limit_reached", `A dashboard can have ${MAX_SHARES} shares.`, { limit: MAX_SHARES, resource: "shares" }),
    onView({ id }) {
      views.set(id, { views: (views.get(id)?.views ?? 0) + 1, at: now() })
    },
  })

  /** Sites must be visible to the author, and to the creator in whose name the share reads them. */
  async function siteFaults(
    { site, author }: SharedBoard,
    { site_ids }: BoardShareFields,
    before: BoardShare | undefined,
  ): Promise<Fault[]> {
    const faults: Fault[] = []
    for (const [i, id] of site_ids.entries()) {
      if (before?.site_ids.includes(id)) continue
      const isVisible =
        (await author?.accessTo(id)) !== undefined && (!before || (await services.access.ofUser(before.created_by, id)) !== undefined)
      if (!isVisible)
        faults.push(fault(`/site_ids/${i}`, "site_not_found", "doesn't exist, or you or the creator of the share don't see it"))
      else if (id === site.id) faults.push(fault(`/site_ids/${i}`, "not_unique", "is the site of the dashboard"))
    }
    return faults
  }

  services.segments.registerUses(async (site, segmentId) =>
    (await listSharesOfSite(db, site.id))
      .filter(({ locked_filters }) =>
        locked_filters.some(({ dimension, values }) => dimension === "segment" && values.some((value) => Number(value) === segmentId)),
      )
      .map(({ id, name }) => ({ type: "dashboard_share", id, name })),
  )

  return {
    ...shares,
    hasViews: () => views.size > 0,
    async writeViews() {
      const counted = [...views].map(([id, count]) => ({ id, ...count }))
      views.clear()
      try {
        if (counted.length > 0)
          await db.transaction(async (statements) => {
            for (const count of counted) await addViews(statements, count)
          })
      } catch (error) {
        // Kept for the next time.
        for (const { id, ...count } of counted) views.set(id, { ...count, views: count.views + (views.get(id)?.views ?? 0) })
        throw error
      }
    },
  }
}

/** Shares of a dashboard, without revoked ones. */
const MAX_SHARES = 20

/** A group may not be smaller than the site allows. A value that was allowed when it was saved stays, and the site's then wins. */
function groupFaults({ settings }: Site, { min_group }: BoardShareFields, before: BoardShare | undefined): Fault[] {
  if (min_group === null || min_group >= settings.min_group || min_group === before?.min_group) return []
  return [fault("/min_group", "out_of_range", `must be at least ${settings.min_group}, as in the settings of the site`)]
}
