import { type Static, Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import type { Site } from "../../domain/site.ts"
import type { PrivateRouter } from "../../plugin/router.ts"
import { type Audit, recorded } from "../../services/audit.ts"
import type { RetentionPreviews } from "../../services/retention-preview.ts"
import { type SettingsOfSites, SettingsShown, shownSettings } from "../../services/settings-of-sites.ts"
import { expectedVersions } from "../public/conditions.ts"
import { parameter } from "../public/parameters.ts"
import { NoQuery, Sent, takes } from "../public/things.ts"
import { bodyVersion } from "./body-version.ts"
import { deedOnSite } from "./site-deeds.ts"
import { refuses, tagged } from "./tagged.ts"

export interface SiteSettingsRoutesOptions {
  settingsOfSites: SettingsOfSites
  retentionPreviews: RetentionPreviews
  audit: Audit
}

const says = (summary: string) => ({ summary, tags: ["settings"] })

const RetentionPreview = t.Object(
  {
    cutoff_day: t.String({ format: "date", description: "Visits that started before this day would go" }),
    events: t.Integer(),
    visits: t.Integer(),
    first_run_at: t.String({ format: "date-time" }),
  },
  { title: "RetentionPreview" },
)

/** All settings of a site live here and only here. */
export function siteSettingsRoutes(router: PrivateRouter, { settingsOfSites, retentionPreviews, audit }: SiteSettingsRoutesOptions) {
  const show = (site: Site): Static<typeof SettingsShown> => shownSettings(site)

  return new Elysia({ prefix: "/api/private/sites/:site" })
    .use(router)
    .get("/settings", ({ site, set }) => tagged(set, site, show(site)), {
      can: "site:read",
      query: NoQuery,
      response: { 200: SettingsShown },
      detail: says("Read the settings of a site"),
    })
    .patch(
      "/settings",
      async ({ site, user, actor, body, request, set }) => {
        const { version, patch } = bodyVersion(body.value)
        const changed = await settingsOfSites.update(site, patch, user.id, {
          expected: expectedVersions(request),
          named: { version, current: show },
          alongside: recorded(audit, actor, deedOnSite("sites.settings.update"), undefined),
        })
        return tagged(set, changed, show(changed))
      },
      {
        can: "site:write",
        query: NoQuery,
        body: Sent,
        response: { 200: SettingsShown },
        detail: {
          ...says("Change settings of a site"),
          ...refuses("compat_id_taken", "sharing_disabled", "password_required"),
          ...takes(t.Partial(SettingsShown, { title: "SettingsPatch" })),
        },
      },
    )
    .get("/retention-preview", ({ site, query, request }) => retentionPreviews.of(site, query, request.signal), {
      can: "site:write",
      query: t.Object({ days: parameter({ type: "integer", minimum: 1 }, true) }, { additionalProperties: true }),
      response: { 200: RetentionPreview },
      detail: says("What a shorter retention would remove, and when"),
    })
}
