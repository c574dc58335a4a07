/** The order and the defaults that people choose. */
import { fault, missingPermission, refuseFaults, type Site } from "#plugin"
import type { DashboardsHost } from "./board.ts"
import type { Author } from "./board-writes.ts"
import { type Boards, WRITE } from "./boards.ts"
import { dashboardError } from "./errors.ts"
import { DefaultInput, OrderInput, readWhole } from "./input.ts"
import { labelOf, listBoards, preferencesOf, putPreferences, putSiteDefault, siteDefaultOf } from "./rows.ts"
import { OVERVIEW_ID } from "./templates.ts"

export type PreferenceWrites = ReturnType<typeof createPreferences>

export function createPreferences({ db, audit }: DashboardsHost, boards: Boards) {
  const entry = (site: Site, action: string, label: string, changes?: Record<string, readonly [unknown, unknown]>) => ({
    action: `dashboards.${action}.update`,
    target: { type: "site", id: site.id, label },
    organizationId: site.organization_id,
    siteId: site.id,
    ...(changes && { changes }),
  })

  return {
    /** Stores the order in which someone sees the dashboards. Ids that they don't see are `invalid_choice`. */
    async order(site: Site, body: unknown, author: Author): Promise<void> {
      const { ids } = readWhole(OrderInput, body)
      const visible = new Set([OVERVIEW_ID, ...(await listVisible(site, author))])
      refuseFaults(
        ids.flatMap((id, i) => (visible.has(id) ? [] : [fault(`/ids/${i}`, "invalid_choice", "is not a dashboard of the site")])),
      )
      await db.transaction(async (statements) => {
        const before = await preferencesOf(statements, site.id, author.user.id)
        await putPreferences(statements, site.id, author.user.id, { ...before, order: ids })
        await audit.write(statements, author.actor, entry(site, "order", site.name))
      })
    },

    /** Stores someone's default, or that of the site. Throws `not_shared`, `forbidden`, `dashboard_not_found`. */
    async default(site: Site, body: unknown, author: Author): Promise<void> {
      const { dashboard_id, scope } = readWhole(DefaultInput, body)
      if (scope === "site" && !author.permissions.has(WRITE)) throw missingPermission(WRITE)
      await db.transaction(async (statements) => {
        const board = dashboard_id === null ? undefined : await boards.find(statements, site, dashboard_id, author)
        if (scope === "me") {
          const before = await preferencesOf(statements, site.id, author.user.id)
          await putPreferences(statements, site.id, author.user.id, { ...before, default_dashboard_id: dashboard_id })
          await audit.write(statements, author.actor, entry(site, "preference", site.name))
          return
        }
        if (board && board.visibility !== "site")
          throw dashboardError("not_shared", "A private dashboard can't be the default of the site. Make it visible to the site first.")
        const before = await siteDefaultOf(statements, site.id)
        await putSiteDefault(statements, site.id, dashboard_id)
        const changes = { dashboard_id: [before, dashboard_id] as const }
        await audit.write(statements, author.actor, entry(site, "default", board ? labelOf(board) : site.name, changes))
      })
    },
  }

  async function listVisible(site: Site, { user }: Author): Promise<number[]> {
    return (await listBoards(db, site.id))
      .filter(({ visibility, owner_user_id }) => visibility === "site" || owner_user_id === user.id)
      .map(({ id }) => id)
  }
}
