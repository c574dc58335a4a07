import { Elysia } from "elysia"
import { SiteMemberInput, SiteMemberResponse } from "../../../domain/membership.ts"
import { instantText } from "../../../domain/moment.ts"
import { Listed } from "../../../domain/response.ts"
import type { Site } from "../../../domain/site.ts"
import { type Audit, recorded, siteMemberEntry } from "../../../services/audit/audit.ts"
import { pageOfAll, readPlainPaging } from "../../../services/lists/paging.ts"
import type { SiteMembers } from "../../../services/sites/site-members.ts"
import { readNothing } from "../../../web/body.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import { NoQuery, Sent, takes } from "../../public/requests.ts"
import { ListQuery, refuses } from "../responses.ts"

export interface SiteMemberRoutesOptions {
  siteMembers: SiteMembers
  audit: Audit
}

type SiteMember = Awaited<ReturnType<SiteMembers["get"]>>

const operation = (summary: string) => ({ summary, tags: ["members"] })

/** Creates the routes for site-specific roles of members. */
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
        return { ...page, data: page.data.map(toSiteMemberResponse) }
      },
      {
        can: "members:read",
        query: ListQuery,
        response: { 200: Listed(SiteMemberResponse) },
        detail: operation("List site-specific roles"),
      },
    )
    .put(
      "/:user",
      async ({ site, user, params, actor, body }) =>
        toSiteMemberResponse(
          await siteMembers.put(site, params.user, body.value, user.id, recorded(audit, actor, siteMemberEntry("put", site))),
        ),
      {
        can: { permission: "members:write", personal: true, sudo: true, find },
        query: NoQuery,
        body: Sent,
        response: { 200: SiteMemberResponse },
        detail: { ...operation("Set the site-specific role of a member"), ...refuses("limit_reached"), ...takes(SiteMemberInput) },
      },
    )
    .delete(
      "/:user",
      async ({ site, user, params, actor, status }) => {
        await siteMembers.remove(site, params.user, user.id, recorded(audit, actor, siteMemberEntry("remove", site)))
        return status(204, undefined)
      },
      {
        can: { permission: "members:write", personal: true, sudo: true, read: readNothing },
        query: NoQuery,
        detail: operation("Remove the site-specific role of a member"),
      },
    )
}

const toSiteMemberResponse = ({ user_id, name, email, role, created_at }: SiteMember): SiteMemberResponse => ({
  user: { id: user_id, name, email },
  role,
  created_at: instantText(created_at),
})
