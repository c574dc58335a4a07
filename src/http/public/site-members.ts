import { type Static, Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { PersonResponse, SiteMemberInput, SiteMemberResponse } from "../../domain/membership.ts"
import { instantText } from "../../domain/moment.ts"
import type { Site } from "../../domain/site.ts"
import { type Audit, recorded, siteMemberEntry } from "../../services/audit/audit.ts"
import { pageOf, parseListing } from "../../services/definitions/listing.ts"
import type { SiteMembers } from "../../services/sites/site-members.ts"
import { readNothing } from "../../web/body.ts"
import type { Call } from "../../web/guard.ts"
import type { ApiKeyAuth } from "../auth.ts"
import { describeRoute } from "../openapi/route.ts"
import { Listed, ListQuery, NoQuery, Sent, takes, writes } from "./requests.ts"

export interface PublicSiteMemberRoutesOptions {
  siteMembers: SiteMembers
  audit: Audit
}

const { role, created_at } = SiteMemberResponse.properties
const Member = t.Object({ ...PersonResponse.properties, role, created_at }, { title: "SiteMember" })

const PUT = `Gives a member of the organization, or a guest, a role on this site, or changes it. A key gives only roles whose rights it has itself: it
needs every scope that a member with the role could give to a key, and its creator needs the permissions of the role.`

const operation = (operationId: string, summary: string) => ({ operationId, summary, tags: ["members"] })

/** Creates the routes for site-specific roles. Users join the organization by an invitation. */
export const publicSiteMemberRoutes = (auth: ApiKeyAuth, { siteMembers, audit }: PublicSiteMemberRoutesOptions) =>
  new Elysia({ prefix: "/api/public/v1/sites/:site_id/members" })
    .use(auth)
    .get(
      "",
      async ({ site, query }) => {
        const name = `members/${site.id}`
        const listing = parseListing(name, query)
        const all = (await siteMembers.list(site)).map(toMember)
        return pageOf(name, listing, async ({ after, limit }) => all.filter(({ id }) => id > after).slice(0, limit))
      },
      {
        siteScope: "members:read",
        query: t.Object(ListQuery, { additionalProperties: true }),
        response: { 200: Listed(Member) },
        detail: describeRoute(operation("listMembers", "List the site-specific roles of a site")),
      },
    )
    .put(
      "/:user_id",
      async ({ site, apiKey, params, actor, body }) =>
        toMember(await siteMembers.put(site, params.user_id, body.value, apiKey, recorded(audit, actor, siteMemberEntry("put", site)))),
      {
        siteScope: {
          ...writes(["members:write"]),
          finds: (site: Site, { params }: Call) => siteMembers.refuseStranger(site, params.user_id),
        },
        query: NoQuery,
        body: Sent,
        response: { 200: Member },
        detail: describeRoute({
          ...operation("putMember", "Set the site-specific role of a member"),
          description: PUT,
          "x-failures": ["forbidden", "limit_reached"],
          ...takes(SiteMemberInput),
        }),
      },
    )
    .delete(
      "/:user_id",
      async ({ site, apiKey, params, actor, status }) => {
        await siteMembers.remove(site, params.user_id, apiKey, recorded(audit, actor, siteMemberEntry("remove", site)))
        return status(204, undefined)
      },
      {
        siteScope: {
          scopes: ["members:write"],
          finds: (site: Site, { params }: Call) => siteMembers.get(site, params.user_id),
          read: readNothing,
        },
        query: NoQuery,
        detail: describeRoute({
          ...operation("deleteMember", "Remove the site-specific role of a member"),
          description: "The role in the organization applies again. A guest loses access to the site.",
          "x-failures": ["forbidden"],
          "x-unversioned": true,
        }),
      },
    )

const toMember = ({ user_id, name, email, role, created_at }: Awaited<ReturnType<SiteMembers["get"]>>): Static<typeof Member> => ({
  ...{ id: user_id, name, email, role },
  created_at: instantText(created_at),
})
