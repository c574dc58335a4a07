import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import type { Site } from "../../domain/site.ts"
import { SiteInput } from "../../domain/site-input.ts"
import { etagOf } from "../../domain/version.ts"
import { pageOf, parseListing } from "../../services/listing.ts"
import type { Sites } from "../../services/sites.ts"
import type { ApiKeyAuth } from "../auth.ts"
import { told } from "../openapi/route.ts"
import { expectedVersions } from "./conditions.ts"
import type { creation } from "./creation.ts"
import { type SiteFacts, SiteShown, shownSite } from "./shown.ts"
import { Listed, NoQuery, SearchQuery, Sent, takes, takesSome, writes } from "./things.ts"

const READ = { scopes: ["sites:read", "stats:read"] as const }
const WRITE = writes(["sites:write"])
const says = (operationId: string, summary: string) => ({ operationId, summary, tags: ["sites"] })

export interface SiteRoutesOptions extends SiteFacts {
  sites: Pick<Sites, "create" | "update" | "remove" | "listVisible">
}

/** The sites of a key. Making and deleting one needs a key for all of the organization. */
export function siteRoutes(auth: ApiKeyAuth, create: ReturnType<typeof creation>, { sites, ...facts }: SiteRoutesOptions) {
  const show = (site: Site) => shownSite(site, facts)

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
        response: { 200: Listed(SiteShown) },
        detail: told(says("listSites", "List sites")),
      },
    )
    .post(
      "",
      (call) =>
        create<Site, SiteShown>(
          call,
          (body, alongside) => sites.create(call.apiKey.organization_id, body, alongside),
          (site) => ({ location: `/api/public/v1/sites/${site.id}`, etag: etagOf(site), body: show(site) }),
        ),
      {
        scope: { ...WRITE, unrestricted: true },
        query: NoQuery,
        body: Sent,
        response: { 201: SiteShown },
        detail: told({ ...says("createSite", "Create a site"), ...takes(SiteInput) }),
      },
    )
    .get(
      "/:site_id",
      ({ site, set }) => {
        set.headers.etag = siteTag(site, facts)
        return show(site)
      },
      { siteScope: READ, query: NoQuery, response: { 200: SiteShown }, detail: told(says("getSite", "Read a site")) },
    )
    .patch(
      "/:site_id",
      async ({ site, body, request, set }) => {
        const changed = await sites.update(site.id, body.value, { expected: expectedVersions(request) })
        set.headers.etag = siteTag(changed, facts)
        return show(changed)
      },
      {
        siteScope: WRITE,
        query: NoQuery,
        body: Sent,
        response: { 200: SiteShown },
        detail: told({ ...says("updateSite", "Change a site"), ...takesSome(SiteInput) }),
      },
    )
    .delete(
      "/:site_id",
      async ({ site, request, status }) => {
        await sites.remove(site.id, { expected: expectedVersions(request) })
        return status(204, undefined)
      },
      {
        siteScope: { scopes: ["sites:write"], unrestricted: true },
        query: NoQuery,
        detail: told({ ...says("deleteSite", "Delete a site"), description: "It can be restored in the dashboard for 30 days." }),
      },
    )
}

/** Behind the version, the first event: it comes without a change of the site, and who waits for it must not be told 304. */
function siteTag(site: Site, { firstAt }: SiteFacts): string {
  const first = firstAt(site.id)
  return first === undefined ? etagOf(site) : `"${site.version}.${Math.floor(first / 1_000).toString(36)}"`
}
