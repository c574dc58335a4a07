import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import type { Site } from "../../domain/site.ts"
import { SiteInput } from "../../domain/site-input.ts"
import { SiteResponse } from "../../domain/site-response.ts"
import { etagOf } from "../../domain/version.ts"
import { type Audit, recorded, siteEntry } from "../../services/audit/audit.ts"
import { pageOf, parseListing } from "../../services/definitions/listing.ts"
import type { Sites } from "../../services/sites/sites.ts"
import { readNothing } from "../../web/body.ts"
import type { ApiKeyAuth } from "../auth.ts"
import { describeRoute } from "../openapi/route.ts"
import type { creation } from "./requests.ts"
import { expectedVersions, Listed, NoQuery, SearchQuery, Sent, takes, takesSome, writes } from "./requests.ts"
import { type SiteFacts, toSiteResponse } from "./responses.ts"

const READ = { scopes: ["sites:read", "stats:read"] as const }
const WRITE = writes(["sites:write"])
const operation = (operationId: string, summary: string) => ({ operationId, summary, tags: ["sites"] })

export interface SiteRoutesOptions extends SiteFacts {
  sites: Pick<Sites, "create" | "update" | "remove" | "listVisible">
  audit: Audit
}

/** Creates the routes for the sites of a key. Creating and deleting a site requires a key for all sites of the organization. */
export function siteRoutes(auth: ApiKeyAuth, create: ReturnType<typeof creation>, { sites, audit, ...facts }: SiteRoutesOptions) {
  const show = (site: Site) => toSiteResponse(site, facts)

  return new Elysia({ prefix: "/api/public/v1/sites" })
    .use(auth)
    .get(
      "",
      async ({ apiKey, query }) => {
        const listing = parseListing("sites", query, "searched")
        const page = await pageOf("sites", listing, (slice) => sites.listVisible(apiKey, { ...listing, ...slice }))
        return { ...page, data: page.data.map(show) }
      },
      {
        scope: READ,
        query: t.Object(SearchQuery, { additionalProperties: true }),
        response: { 200: Listed(SiteResponse) },
        detail: describeRoute(operation("listSites", "List sites")),
      },
    )
    .post(
      "",
      (call) =>
        create<Site, SiteResponse>(
          call,
          (body, also) =>
            sites.create(call.apiKey.organization_id, body, recorded(audit, call.actor, siteEntry("sites.site.create"), also)),
          (site) => ({ location: `/api/public/v1/sites/${site.id}`, etag: etagOf(site), body: show(site) }),
        ),
      {
        scope: { ...WRITE, unrestricted: true },
        query: NoQuery,
        body: Sent,
        response: { 201: SiteResponse },
        detail: describeRoute({ ...operation("createSite", "Create a site"), ...takes(SiteInput) }),
      },
    )
    .get(
      "/:site_id",
      ({ site, set }) => {
        set.headers.etag = siteTag(site, facts)
        return show(site)
      },
      { siteScope: READ, query: NoQuery, response: { 200: SiteResponse }, detail: describeRoute(operation("getSite", "Get a site")) },
    )
    .patch(
      "/:site_id",
      async ({ site, body, request, set, actor }) => {
        const changed = await sites.update(site.id, body.value, {
          expected: expectedVersions(request),
          alongside: recorded(audit, actor, siteEntry("sites.site.update")),
        })
        set.headers.etag = siteTag(changed, facts)
        return show(changed)
      },
      {
        siteScope: WRITE,
        query: NoQuery,
        body: Sent,
        response: { 200: SiteResponse },
        detail: describeRoute({ ...operation("updateSite", "Update a site"), ...takesSome(SiteInput) }),
      },
    )
    .delete(
      "/:site_id",
      async ({ site, request, status, actor }) => {
        const alongside = recorded(audit, actor, siteEntry("sites.site.delete"))
        await sites.remove(site.id, { expected: expectedVersions(request), alongside })
        return status(204, undefined)
      },
      {
        siteScope: { scopes: ["sites:write"], unrestricted: true, read: readNothing },
        query: NoQuery,
        detail: describeRoute({
          ...operation("deleteSite", "Delete a site"),
          description: "The site can be restored in the dashboard for 30 days.",
        }),
      },
    )
}

/** Returns the ETag of a site. It includes the first event, which does not change the version, so that clients waiting for it do not get 304. */
function siteTag(site: Site, { firstAt }: SiteFacts): string {
  const first = firstAt(site.id)
  return first === undefined ? etagOf(site) : `"${site.version}.${Math.floor(first / 1_000).toString(36)}"`
}
