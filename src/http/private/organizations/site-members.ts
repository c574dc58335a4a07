import { type Static, Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import type { Deed } from "../../domain/audit.ts"
import { SiteMemberInput } from "../../domain/membership.ts"
import { instantText } from "../../domain/moment.ts"
import type { Site } from "../../domain/site.ts"
import { leaveUnread } from "../../plugin/body.ts"
import type { PrivateRouter } from "../../plugin/router.ts"
import { type Audit, recorded } from "../../services/audit.ts"
import { pageOfAll, readPlainPaging } from "../../services/paging.ts"
import type { SiteMembers } from "../../services/site-members.ts"
import { NoQuery, Sent, takes } from "../public/things.ts"
import { PersonShown } from "./members.ts"
import { Instant, Listed, ListQuery, refuses } from "./tagged.ts"

export interface SiteMemberRoutesOptions {
  siteMembers: SiteMembers
  audit: Audit
}

const SiteMemberShown = t.Object({ user: PersonShown, role: t.String(), created_at: Instant }, { title: "SiteMember" })
type SiteMember = Awaited<ReturnType<SiteMembers["get"]>>

const says = (summary: string) => ({ summary, tags: ["members"] })

/** Roles on one site, where they differ from those in the organization. */
export function siteMemberRoutes(router: PrivateRouter, { siteMembers, audit }: SiteMemberRoutesOptions) {
  const find = ({ user }: Record<string, string | undefined>, { site }: { site?: Site }) => siteMembers.refuseStranger(site!, user) // routes below a site have one

  return new Elysia({ prefix: "/api/private/sites/:site/members" })
    .use(router)
    .get(
      "",
      async ({ site, query }) => {
        const paging = readPlainPaging(`site-members/${site.id}`, query)
        const rows = await siteMembers.list(site)
        const page = await pageOfAll(
          paging,
          rows.map((row) => ({ ...row, id: row.user_id })),
        )
        return { ...page, data: page.data.map(shownSiteMember) }
      },
      { can: "members:read", query: ListQuery, response: { 200: Listed(SiteMemberShown) }, detail: says("List roles on a site") },
    )
    .put(
      "/:user",
      async ({ site, user, params, actor, body }) =>
        shownSiteMember(await siteMembers.put(site, params.user, body.value, user.id, recorded(audit, actor, deedOf("put", site)))),
      {
        can: { permission: "members:write", personal: true, sudo: true, find },
        query: NoQuery,
        body: Sent,
        response: { 200: SiteMemberShown },
        detail: { ...says("Give a member a role on the site"), ...refuses("limit_reached"), ...takes(SiteMemberInput) },
      },
    )
    .delete(
      "/:user",
      async ({ site, user, params, actor, status }) => {
        await siteMembers.remove(site, params.user, user.id, recorded(audit, actor, deedOf("remove", site)))
        return status(204, undefined)
      },
      {
        can: { permission: "members:write", personal: true, sudo: true, read: leaveUnread },
        query: NoQuery,
        detail: says("Take a role on the site away"),
      },
    )
}

const shownSiteMember = ({ user_id, name, email, role, created_at }: SiteMember): Static<typeof SiteMemberShown> => ({
  user: { id: user_id, name, email },
  role,
  created_at: instantText(created_at),
})

const deedOf =
  (verb: string, site: Site) =>
  ({ user_id, email }: SiteMember): Deed => ({
    action: `accounts.site_member.${verb}`,
    target: { type: "user", id: user_id, label: email },
    organizationId: site.organization_id,
    siteId: site.id,
  })
