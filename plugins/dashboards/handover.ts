/** What happens to the dashboards and public links of people who leave. Runs in the transaction in which they leave. */
import { type MemberLeave, type OwnStatements, type SiteTransfer, type Sql, sql } from "#plugin"
import type { DashboardsHost } from "./board.ts"

interface Leaver {
  userId: number
  siteIds: readonly number[]
  organizationId: number
  /** Gets the private dashboards. Without anyone they are deleted. */
  transferTo: number | undefined
  /** Gets the dashboards of the site, and the public links. */
  successor: number
}

export function createHandover(host: Pick<DashboardsHost, "audit">) {
  const { audit } = host

  async function handOver(statements: OwnStatements, { userId, siteIds, organizationId, transferTo, successor }: Leaver): Promise<void> {
    const isOfLeaver = sql`owner_user_id = ${userId} and ${amongSites(siteIds)}`
    const counts = {
      site: await count(statements, sql`dashboards_dashboards where ${isOfLeaver} and visibility = 'site' and deleted_at is null`),
      private: await count(statements, sql`dashboards_dashboards where ${isOfLeaver} and visibility = 'private' and deleted_at is null`),
      shares: await count(statements, sql`dashboards_shares where ${isShareOf(userId, siteIds)} and revoked_at is null`),
    }
    await statements.run(sql`update dashboards_dashboards set owner_user_id = ${successor} where ${isOfLeaver} and visibility = 'site'`)
    await statements.run(
      transferTo === undefined
        ? sql`delete from dashboards_dashboards where ${isOfLeaver} and visibility = 'private'`
        : sql`update dashboards_dashboards set owner_user_id = ${transferTo} where ${isOfLeaver} and visibility = 'private'`,
    )
    await statements.run(sql`update dashboards_shares set created_by = ${successor} where ${isShareOf(userId, siteIds)}`)
    await statements.run(sql`delete from dashboards_preferences where user_id = ${userId} and ${amongSites(siteIds)}`)
    if (counts.site + counts.private + counts.shares === 0) return
    await audit.write(statements, audit.system, {
      action: "dashboards.dashboard.hand-over",
      target: { type: "user", id: userId, label: "" },
      organizationId,
      changes: {
        site_dashboards: [counts.site, successor],
        private_dashboards: [counts.private, transferTo ?? "deleted"],
        shares: [counts.shares, successor],
      },
    })
  }

  return {
    onMemberLeave: (statements: OwnStatements, { organizationId, siteIds, userId, transferTo, successor }: MemberLeave): Promise<void> =>
      handOver(statements, { userId, siteIds, organizationId, transferTo, successor }),

    async onSiteTransfer(statements: OwnStatements, { siteId, to, leaverIds, successor }: SiteTransfer): Promise<void> {
      for (const userId of leaverIds)
        await handOver(statements, { userId, siteIds: [siteId], organizationId: to, transferTo: undefined, successor })
    },
  }
}

const amongSites = (ids: readonly number[]): Sql => sql`site_id in (select value from json_each(${JSON.stringify(ids)}))`

const isShareOf = (userId: number, siteIds: readonly number[]): Sql =>
  sql`created_by = ${userId} and dashboard_id in (select id from dashboards_dashboards where ${amongSites(siteIds)})`

async function count(statements: OwnStatements, from: Sql): Promise<number> {
  return (await statements.get<{ count: number }>(sql`select count(*) as count from ${from}`))!.count // a count always returns a row
}
