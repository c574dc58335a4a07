import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import type { Deed } from "../../domain/audit.ts"
import type { Site } from "../../domain/site.ts"
import { leaveUnread } from "../../plugin/body.ts"
import type { PrivateRouter } from "../../plugin/router.ts"
import type { Access } from "../../services/access.ts"
import { type Audit, recorded } from "../../services/audit.ts"
import { readSitePatch, type SiteMoves } from "../../services/site-moves.ts"
import type { SiteOverview } from "../../services/site-overview.ts"
import type { Sites } from "../../services/sites.ts"
import { expectedVersions } from "../public/conditions.ts"
import { NoQuery, Sent, takes } from "../public/things.ts"
import { bodyVersion } from "./body-version.ts"
import { deedOnSite } from "./site-deeds.ts"
import { ListedSiteShown, OwnSiteShown, type SeenSiteOptions, seenSite, shownListedSite, shownOwnSite } from "./site-shown.ts"
import { Listed, ListQuery, refuses, tagged } from "./tagged.ts"

export interface SiteRoutesOptions extends SeenSiteOptions {
  sites: Pick<Sites, "update" | "remove" | "restore">
  siteMoves: SiteMoves
  siteOverview: SiteOverview
  access: Pick<Access, "all">
  audit: Audit
}

const says = (summary: string) => ({ summary, tags: ["sites"] })
const SitePatch = t.Object({ name: t.Optional(t.String()), hosts: t.Optional(t.Array(t.String())) }, { title: "SitePatch" })
const TransferInput = t.Object({ organization_id: t.Integer() }, { title: "SiteTransfer" })

/** The sites that somebody may see, and each of them as a whole. Its settings and data have routes of their own. */
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
        return { ...page, data: page.data.map((listed) => shownListedSite(listed, byId.get(listed.site.organization_id)!, options)) }
      },
      {
        signedIn: true,
        query: ListQuery,
        response: { 200: Listed(ListedSiteShown) },
        detail: { ...says("List the sites you may see"), ...refuses("sso_required") },
      },
    )
    .get("/sites/:site", async ({ site, role, user, set }) => tagged(set, site, await seenSite(site, role, user.id, options)), {
      can: "site:read",
      query: NoQuery,
      response: { 200: OwnSiteShown },
      detail: says("Read a site"),
    })
    .patch(
      "/sites/:site",
      async ({ site, role, user, actor, body, request, set }) => {
        const { version, patch } = bodyVersion(body.value)
        const before = await seenSite(site, role, user.id, options)
        const changed = await sites.update(site.id, readSitePatch(site, patch, Object.keys(before)), {
          expected: expectedVersions(request),
          named: { version, current: (now) => ({ ...before, ...shownOwnSite(now, before, options) }) },
          alongside: recorded(audit, actor, deedOf("update")),
        })
        return tagged(set, changed, shownOwnSite(changed, before, options))
      },
      {
        can: "site:write",
        query: NoQuery,
        body: Sent,
        response: { 200: OwnSiteShown },
        detail: { ...says("Change name or hosts"), ...takes(SitePatch) },
      },
    )
    .delete(
      "/sites/:site",
      async ({ site, actor, request, status }) => {
        await sites.remove(site.id, { expected: expectedVersions(request), alongside: recorded(audit, actor, deedOf("delete")) })
        return status(204, undefined)
      },
      {
        can: { permission: "site:delete", sudo: true, personal: true, read: leaveUnread },
        query: NoQuery,
        detail: { ...says("Delete a site; it can be restored for 30 days"), ...refuses("precondition_failed") },
      },
    )
    .post(
      "/sites/:site/restore",
      async ({ site, role, user, actor, request, set }) => {
        const restored = await sites.restore(site.id, {
          expected: expectedVersions(request),
          alongside: recorded(audit, actor, deedOf("restore")),
        })
        return tagged(set, restored, await seenSite(restored, role, user.id, options))
      },
      {
        can: { permission: "site:delete", deleted: true, sudo: true, read: leaveUnread },
        query: NoQuery,
        response: { 200: OwnSiteShown },
        detail: { ...says("Bring a deleted site back"), ...refuses("precondition_failed", "limit_reached") },
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
            alongside: recorded(audit, actor, (after) => ({ ...deedOf("transfer")(site), ...movedTo(site, after) })),
          },
        )
        return tagged(set, moved, await seenSite(moved, "owner", user.id, options))
      },
      {
        can: { permission: "org:delete", sudo: true, personal: true },
        query: NoQuery,
        body: Sent,
        response: { 200: OwnSiteShown },
        detail: {
          ...says("Give the site to another organization of yours"),
          ...refuses("organization_not_found", "precondition_failed"),
          ...takes(TransferInput),
        },
      },
    )
}

const movedTo = (before: Site, after: Site): Pick<Deed, "changes"> => ({
  changes: { organization_id: [before.organization_id, after.organization_id] },
})

const deedOf = (verb: string) => deedOnSite(`sites.site.${verb}`)
