import { Type as t } from "@sinclair/typebox"
import { Elysia } from "elysia"
import { instantText } from "../../domain/moment.ts"
import { type Segment, SiteSegmentInput, SiteSegmentResponse } from "../../domain/segment.ts"
import type { Site } from "../../domain/site.ts"
import { SettingsResponse } from "../../domain/site-response.ts"
import { etagOf } from "../../domain/version.ts"
import { type Audit, recorded, siteEntry } from "../../services/audit/audit.ts"
import { type Segments, siteWide } from "../../services/definitions/segments.ts"
import type { SiteThings } from "../../services/definitions/site-things.ts"
import { type Configuration, ConfigurationInput, type Configurations } from "../../services/sites/configuration.ts"
import { PublicSettingsPatch, refuseOthers, toSettingsResponse } from "../../services/sites/site-settings.ts"
import type { Sites } from "../../services/sites/sites.ts"
import type { ApiKeyAuth } from "../auth.ts"
import { describeRoute } from "../openapi/route.ts"
import { type DefinitionKit, definitionRoutes } from "./definitions.ts"
import { expectedVersions, NoQuery, Sent, takes, writes } from "./requests.ts"

/** A viewer who may change the segments of the site and has no personal ones. */
const PROGRAM = { userId: null, permissions: new Set(["segments:write"]) }

/** Creates the routes for segments. Keys see and create those of the site only. */
export function segmentRoutes(kit: DefinitionKit, segments: Segments) {
  const viewed = segments.of(PROGRAM)
  const things: SiteThings<Segment> = {
    ...viewed,
    create: async (site, body, alongside) => viewed.create(site, siteWide(body), alongside),
    update: async (site, id, patch, terms) => viewed.update(site, id, siteWide(patch), terms),
  }
  return definitionRoutes(kit, {
    path: "segments",
    noun: "segment",
    read: ["segments:read"],
    write: ["segments:write"],
    things,
    input: SiteSegmentInput,
    inUse: "segment_in_use",
    schema: SiteSegmentResponse,
    toResponse: ({ id, site_id, name, filters, created_at, updated_at }) => ({
      ...{ id, site_id, name, filters: [...filters] },
      ...{ created_at: instantText(created_at), updated_at: instantText(updated_at) },
    }),
  })
}

export interface SettingsRoutesOptions {
  sites: Pick<Sites, "configure">
  audit: Audit
}

const { version: _, public: __, ...SETTINGS } = SettingsResponse.properties
/** The settings of a site. Whether it is public is decided by a user, to whom the shared view belongs. */
const PublicSettings = t.Object(SETTINGS, { title: "Settings" })

const toSettings = (site: Site): Omit<SettingsResponse, "version" | "public"> => {
  const { version: _, public: __, ...settings } = toSettingsResponse(site)
  return settings
}

/** Creates the routes for the settings of a site. */
export const settingsRoutes = (auth: ApiKeyAuth, { sites, audit }: SettingsRoutesOptions) =>
  new Elysia({ prefix: "/api/public/v1/sites/:site_id/settings" })
    .use(auth)
    .get(
      "",
      ({ site, set }) => {
        set.headers.etag = etagOf(site)
        return toSettings(site)
      },
      {
        siteScope: "settings:read",
        query: NoQuery,
        response: { 200: PublicSettings },
        detail: describeRoute({ operationId: "getSettings", summary: "Get the settings of a site", tags: ["settings"] }),
      },
    )
    .patch(
      "",
      async ({ site, body, request, set, actor }) => {
        refuseOthers(body.value, ["public"])
        const changed = await sites.configure(site.id, body.value, {
          expected: expectedVersions(request),
          alongside: recorded(audit, actor, siteEntry("sites.settings.update"), undefined),
        })
        set.headers.etag = etagOf(changed)
        return toSettings(changed)
      },
      {
        siteScope: writes(["settings:write"]),
        query: NoQuery,
        body: Sent,
        response: { 200: PublicSettings },
        detail: describeRoute({
          operationId: "updateSettings",
          summary: "Update the settings of a site",
          tags: ["settings"],
          "x-failures": ["compat_id_taken"],
          ...takes(PublicSettingsPatch),
        }),
      },
    )

const Change = t.Object(
  {
    action: t.Union([t.Literal("create"), t.Literal("update"), t.Literal("delete")], { description: "What happens to the item." }),
    kind: t.Union([t.Literal("site"), t.Literal("shield"), t.Literal("goal"), t.Literal("funnel"), t.Literal("segment")], {
      description: "Kind of the item. `site` stands for the fields and settings of the site.",
    }),
    name: t.String({ description: "Name of the item, of a shield its kind and value." }),
    fields: t.Record(t.String(), t.Array(t.Unknown(), { minItems: 2, maxItems: 2 }), {
      description: "Value before and after by field. null: absent.",
    }),
  },
  { title: "ConfigurationChange" },
)
const Changes = t.Object(
  { changes: t.Array(Change, { description: "Differences, empty if the site is equal to the document." }) },
  { title: "ConfigurationChanges" },
)

const part = ({ description }: { description?: string }, isList: boolean) => {
  const any = { additionalProperties: true }
  const about = description === undefined ? {} : { description }
  return isList ? t.Array(t.Object({}, any), about) : t.Object({}, { ...any, ...about })
}
const ConfigurationDocument = t.Unsafe<Configuration>(
  t.Object(
    Object.fromEntries(
      Object.entries(ConfigurationInput.properties).map(([name, schema]) => [name, part(schema, name !== "site" && name !== "settings")]),
    ),
    { title: "Configuration", description: "Configuration of a site, without ids. It can be sent back with `PUT`." },
  ),
)

const PUT = `Makes the site equal to the document: items that it names are created or updated, and items that it does not name are deleted. Parts that the
document does not have stay as they are. Items are recognized by their names, shields by kind and value, so a renamed item is deleted and created. All changes are stored
together: after an error, nothing has changed.`

/** Creates the routes for the configuration of a site as one document. */
export const configurationRoutes = (auth: ApiKeyAuth, configurations: Configurations) =>
  new Elysia({ prefix: "/api/public/v1/sites/:site_id/configuration" })
    .use(auth)
    .get("", ({ site }) => configurations.get(site), {
      siteScope: "configuration:read",
      query: NoQuery,
      response: { 200: ConfigurationDocument },
      detail: describeRoute({
        operationId: "getConfiguration",
        summary: "Get the configuration of a site as one document",
        description: "Fields, settings, shields, goals, funnels and segments of the site, for a repository or for another site.",
        tags: ["settings"],
      }),
    })
    .put("", async ({ site, body, actor }) => ({ changes: await configurations.put(site, body.value, actor) }), {
      siteScope: writes(["configuration:write"]),
      query: NoQuery,
      body: Sent,
      response: { 200: Changes },
      detail: describeRoute({
        operationId: "putConfiguration",
        summary: "Replace the configuration of a site",
        description: PUT,
        tags: ["settings"],
        "x-failures": ["compat_id_taken", "segment_in_use", "goal_exists"],
        ...takes(ConfigurationInput),
      }),
    })
    .post("/preview", async ({ site, body }) => ({ changes: await configurations.preview(site, body.value) }), {
      siteScope: { ...writes(["configuration:read"]), reads: true },
      query: NoQuery,
      body: Sent,
      response: { 200: Changes },
      detail: describeRoute({
        operationId: "previewConfiguration",
        summary: "Preview the differences between a site and a document",
        description: "Returns what `PUT` would change, and changes nothing.",
        tags: ["settings"],
        ...takes(ConfigurationInput),
      }),
    })
