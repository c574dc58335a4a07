import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import type { AuditEntry } from "../../../domain/audit.ts"
import { Listed } from "../../../domain/response.ts"
import type { Site } from "../../../domain/site.ts"
import { ListedSiteResponse, OwnSiteResponse } from "../../../domain/site-response.ts"
import { bodyVersion } from "../../../domain/version.ts"
import type { Access } from "../../../services/access/access.ts"
import { type Audit, recorded, siteEntry } from "../../../services/audit/audit.ts"
import type { Organizations } from "../../../services/organizations/organizations.ts"
import { type Pinning, readSitePatch, type SiteMoves, type SitePins, type Sites } from "../../../services/sites/sites.ts"
import type { ListedSite, SiteOverview } from "../../../services/stats/site-overview.ts"
import { readNothing } from "../../../web/body.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import { expectedVersions, NoQuery, Sent, takes } from "../../public/requests.ts"
import { type SiteFacts, toSiteResponse } from "../../public/responses.ts"
import { ListQuery, refuses, withETag } from "../responses.ts"

export interface SiteRoutesOptions extends OwnSiteOptions {
  sites: Pick<Sites, "update" | "remove" | "restore">
  siteMoves: SiteMoves
  siteOverview: SiteOverview
  access: Pick<Access, "all">
  audit: Audit
}

const operation = (summary: string) => ({ summary, tags: ["sites"] })

const SitePatch = t.Object(
  {
    name: t.Optional(t.String({ description: "Name of the site." })),
    hosts: t.Optional(t.Array(t.String(), { description: "Host names of the site. A leading `*.` includes all subdomains." })),
    version: t.Optional(
      t.Integer({ minimum: 1, description: "Version that you have read. If the site was changed since, the response is 409." }),
    ),
  },
  { title: "SitePatch" },
)

const TransferInput = t.Object(
  { organization_id: t.Integer({ description: "Id of the organization that receives the site." }) },
  { title: "SiteTransfer" },
)

/** Creates the routes for the sites that the caller has access to. Settings and data have separate routes. */
export function siteRoutes(router: PrivateRouter, options: SiteRoutesOptions) {
  const { sites, siteMoves, siteOverview, sitePins, access, audit } = options

  return new Elysia({ prefix: "/api/private" })
    .use(router)
    .get(
      "/sites",
      async ({ user, session, query, request }) => {
        const [{ sites: visible, organizations: own }, pinned] = await Promise.all([access.all({ user, session }), sitePins.of(user.id)])
        const page = await siteOverview.list(visible, pinned, query, request.signal)
        const byId = new Map(own.map(({ organization }) => [organization.id, organization]))
        return { ...page, data: page.data.map((listed) => toListedSiteResponse(listed, byId.get(listed.site.organization_id)!, options)) }
      },
      {
        signedIn: true,
        query: ListQuery,
        response: { 200: Listed(ListedSiteResponse) },
        detail: { ...operation("List your sites"), ...refuses("sso_required") },
      },
    )
    .get("/sites/:site", async ({ site, role, user, set }) => withETag(set, site, await ownSiteResponse(site, role, user.id, options)), {
      can: "site:read",
      query: NoQuery,
      response: { 200: OwnSiteResponse },
      detail: operation("Get a site"),
    })
    .patch(
      "/sites/:site",
      async ({ site, role, user, actor, body, request, set }) => {
        const { version, patch } = bodyVersion(body.value)
        const before = await ownSiteResponse(site, role, user.id, options)
        const changed = await sites.update(site.id, readSitePatch(site, patch, Object.keys(before)), {
          expected: expectedVersions(request),
          named: { version, current: (now) => ({ ...before, ...toOwnSiteResponse(now, before, options) }) },
          alongside: recorded(audit, actor, auditEntry("update")),
        })
        return withETag(set, changed, toOwnSiteResponse(changed, before, options))
      },
      {
        can: "site:write",
        query: NoQuery,
        body: Sent,
        response: { 200: OwnSiteResponse },
        detail: { ...operation("Update the name or hosts of a site"), ...takes(SitePatch) },
      },
    )
    .delete(
      "/sites/:site",
      async ({ site, actor, request, status }) => {
        await sites.remove(site.id, { expected: expectedVersions(request), alongside: recorded(audit, actor, auditEntry("delete")) })
        return status(204, undefined)
      },
      {
        can: { permission: "site:delete", sudo: true, personal: true, read: readNothing },
        query: NoQuery,
        detail: { ...operation("Delete a site, with 30 days to restore it"), ...refuses("precondition_failed") },
      },
    )
    .post(
      "/sites/:site/restore",
      async ({ site, role, user, actor, request, set }) => {
        const restored = await sites.restore(site.id, {
          expected: expectedVersions(request),
          alongside: recorded(audit, actor, auditEntry("restore")),
        })
        return withETag(set, restored, await ownSiteResponse(restored, role, user.id, options))
      },
      {
        can: { permission: "site:delete", deleted: true, sudo: true, read: readNothing },
        query: NoQuery,
        response: { 200: OwnSiteResponse },
        detail: { ...operation("Restore a deleted site"), ...refuses("precondition_failed", "limit_reached") },
      },
    )
    .post(
      "/sites/:site/transfer",
      async ({ site, user, session, actor, body, request, set }) => {
        const moved = await siteMoves.transfer(
          site,
          body.value,
          { user, session },
          {
            expected: expectedVersions(request),
            alongside: recorded(audit, actor, (after) => ({ ...auditEntry("transfer")(site), ...movedTo(site, after) })),
          },
        )
        return withETag(set, moved, await ownSiteResponse(moved, "owner", user.id, options))
      },
      {
        can: { permission: "org:delete", sudo: true, personal: true },
        query: NoQuery,
        body: Sent,
        response: { 200: OwnSiteResponse },
        detail: {
          ...operation("Transfer a site to another organization"),
          ...refuses("organization_not_found", "precondition_failed"),
          ...takes(TransferInput),
        },
      },
    )
}

const movedTo = (before: Site, after: Site): Pick<AuditEntry, "changes"> => ({
  changes: { organization_id: [before.organization_id, after.organization_id] },
})

const auditEntry = (verb: string) => siteEntry(`sites.site.${verb}`)

export interface SitePinRoutesOptions {
  sitePins: Pick<SitePins, "pin" | "unpin">
  audit: Audit
}

/** Creates the routes for pinning sites to the top of your list. */
export const sitePinRoutes = (router: PrivateRouter, { sitePins, audit }: SitePinRoutesOptions) =>
  new Elysia({ prefix: "/api/private" })
    .use(router)
    .put(
      "/sites/:site/pin",
      async ({ site, user, actor, status }) => {
        await sitePins.pin(
          user.id,
          site.id,
          recorded<Pinning>(audit, actor, () => auditEntry("pin")(site)),
        )
        return status(204, undefined)
      },
      { can: { permission: "site:read", read: readNothing }, query: NoQuery, detail: operation("Pin a site") },
    )
    .delete(
      "/sites/:site/pin",
      async ({ site, user, actor, status }) => {
        await sitePins.unpin(
          user.id,
          site.id,
          recorded<Pinning>(audit, actor, () => auditEntry("unpin")(site)),
        )
        return status(204, undefined)
      },
      { can: { permission: "site:read", read: readNothing }, query: NoQuery, detail: operation("Unpin a site") },
    )

export interface OwnSiteOptions extends SiteFacts {
  organizations: Pick<Organizations, "get">
  sitePins: Pick<SitePins, "of">
}

/** Converts a site for a user with the given role. */
export async function ownSiteResponse(site: Site, role: string, userId: number, options: OwnSiteOptions): Promise<OwnSiteResponse> {
  const organization = (await options.organizations.get(site.organization_id))! // every site has an organization
  const pinned = (await options.sitePins.of(userId)).has(site.id)
  return toOwnSiteResponse(site, { organization, role, pinned }, options)
}

export interface OwnSiteFacts {
  organization: { id: number; name: string }
  role: string
  pinned: boolean
}

export const toOwnSiteResponse = (site: Site, { organization, role, pinned }: OwnSiteFacts, facts: SiteFacts): OwnSiteResponse => ({
  ...toSiteResponse(site, facts),
  organization: { id: organization.id, name: organization.name },
  role,
  pinned,
  version: site.version,
})

export function toListedSiteResponse(listed: ListedSite, organization: OwnSiteFacts["organization"], facts: SiteFacts): ListedSiteResponse {
  const { site, current_visitors, last_event_at, week } = listed
  return {
    ...toOwnSiteResponse(site, { ...listed, organization }, facts),
    current_visitors,
    last_event_at,
    ...(week && {
      visitors: week.visitors,
      visitors_by_day: week.visitors_by_day,
      ...(week.change_percent !== undefined && { change_percent: week.change_percent }),
    }),
  }
}
