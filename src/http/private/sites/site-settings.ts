import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { isObject } from "../../../domain/shape.ts"
import type { Site } from "../../../domain/site.ts"
import { RetentionPreview, SiteSettingsResponse } from "../../../domain/site-response.ts"
import { bodyVersion } from "../../../domain/version.ts"
import { type Audit, recorded, siteEntry } from "../../../services/audit/audit.ts"
import type { RetentionPreviews } from "../../../services/erasure/retention-preview.ts"
import type { HostClaims } from "../../../services/sites/host-claims.ts"
import { OwnSettingsPatch, type SettingsOfSites, toSettingsResponse } from "../../../services/sites/site-settings.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import { expectedVersions, NoQuery, parameter, Sent, takes } from "../../public/requests.ts"
import { refuses, withETag } from "../responses.ts"

export interface SiteSettingsRoutesOptions {
  settingsOfSites: SettingsOfSites
  retentionPreviews: RetentionPreviews
  hostClaims: Pick<HostClaims, "disputesOf">
  audit: Audit
}

const operation = (summary: string) => ({ summary, tags: ["settings"] })

/** Creates the routes for the settings of a site. No other route returns or changes settings. */
export function siteSettingsRoutes(router: PrivateRouter, options: SiteSettingsRoutesOptions) {
  const { settingsOfSites, retentionPreviews, hostClaims, audit } = options
  const show = (site: Site): SiteSettingsResponse => ({
    ...toSettingsResponse(site),
    host_disputes: hostClaims.disputesOf(site),
  })

  return new Elysia({ prefix: "/api/private/sites/:site" })
    .use(router)
    .get("/settings", ({ site, set }) => withETag(set, site, show(site)), {
      can: "site:read",
      query: NoQuery,
      response: { 200: SiteSettingsResponse },
      detail: operation("Get the settings of a site"),
    })
    .patch(
      "/settings",
      async ({ site, user, actor, body, request, set }) => {
        const { version, patch } = bodyVersion(withoutDisputes(body.value))
        const changed = await settingsOfSites.update(site, patch, user.id, {
          expected: expectedVersions(request),
          named: { version, current: show },
          alongside: recorded(audit, actor, siteEntry("sites.settings.update"), undefined),
        })
        return withETag(set, changed, show(changed))
      },
      {
        can: "site:write",
        query: NoQuery,
        body: Sent,
        response: { 200: SiteSettingsResponse },
        detail: {
          ...operation("Update the settings of a site"),
          ...refuses("compat_id_taken", "sharing_disabled", "password_required"),
          ...takes(OwnSettingsPatch),
        },
      },
    )
    .get("/retention-preview", ({ site, query, request }) => retentionPreviews.of(site, query, request.signal), {
      can: "site:write",
      query: t.Object(
        { days: parameter({ type: "integer", minimum: 1, description: "Proposed number of days that events are kept." }, true) },
        { additionalProperties: true },
      ),
      response: { 200: RetentionPreview },
      detail: operation("Preview the effect of a shorter retention"),
    })
}

/** Returns a patch without read-only members, so that clients can send back the body of a GET. */
function withoutDisputes(body: unknown): unknown {
  if (!isObject(body)) return body
  const { host_disputes: _, ...settings } = body
  return settings
}
