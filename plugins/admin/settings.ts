import { Type as t } from "@sinclair/typebox"
import { failures, field, type Host, NoQuery, ProviderTest, Sent, versionsIn } from "#plugin"
import { BODIES } from "./bodies.ts"
import { MailTestResponse, PluginResponse, SettingsResponse } from "./operation-responses.ts"
import { operation, tagged } from "./routing.ts"

type Settings = ReturnType<Host["services"]["console"]["settings"]["list"]>
const taggedSettings = (set: { headers: Record<string, unknown> }, settings: Settings) => tagged(set, settings, settings)

/** Routes for settings with their sources, connection tests, and plugins. */
export const settingRoutes = (host: Host) => {
  const { settings, mailTest, oidcTest, areas } = host.services.console

  return host
    .instanceRouter()
    .get("/admin/settings", ({ set }) => taggedSettings(set, settings.list()), {
      instanceAdmin: true,
      query: NoQuery,
      response: { 200: SettingsResponse },
      detail: operation("List settings with their sources"),
    })
    .patch(
      "/admin/settings",
      async ({ actor, body, request, set }) =>
        taggedSettings(set, await settings.change(actor, body.value, { expected: versionsIn(request.headers.get("if-match")) })),
      {
        instanceAdmin: true,
        query: NoQuery,
        body: Sent,
        response: { 200: SettingsResponse },
        detail: {
          ...operation("Update settings", BODIES.settings),
          ...failures("set_elsewhere", "setting_not_found", "version_conflict", "precondition_failed"),
        },
      },
    )
    .post("/admin/settings/smtp/test", ({ body }) => mailTest(body.value), {
      instanceAdmin: { reads: true },
      query: NoQuery,
      body: Sent,
      response: {
        200: MailTestResponse,
      },
      detail: { ...operation("Send a test email", BODIES.mailTest), ...failures("mail_unavailable") },
    })
    .post("/admin/settings/oidc/test", ({ body }) => oidcTest(body.value), {
      instanceAdmin: { reads: true },
      query: NoQuery,
      body: Sent,
      response: {
        200: ProviderTest,
      },
      detail: {
        ...operation("Test an identity provider", BODIES.providerTest),
        ...failures("provider_not_found", "outbound_disabled", "blocked_address", "outbound_failed"),
      },
    })
    .get("/admin/plugins", async () => ({ data: await areas.list() }), {
      instanceAdmin: true,
      query: NoQuery,
      response: { 200: t.Object({ data: t.Array(PluginResponse, { description: "All plugins." }) }) },
      detail: operation("List plugins with their data"),
    })
    .patch(
      "/admin/plugins",
      async ({ actor, body, request, set }) => {
        const area = await areas.turn(actor, body.value, versionsIn(request.headers.get("if-match")))
        return tagged(set, area, area)
      },
      {
        instanceAdmin: true,
        query: NoQuery,
        body: Sent,
        response: { 200: PluginResponse },
        detail: { ...operation("Enable or disable a plugin", BODIES.area), ...failures("not_found", "invalid_state") },
      },
    )
    .get("/admin/features", () => ({ data: areas.features() }), {
      instanceAdmin: true,
      query: NoQuery,
      response: { 200: t.Object({ data: field.texts("Ids of the enabled plugins.") }) },
      detail: operation("List enabled plugins"),
    })
    .patch("/admin/features", async ({ actor, body }) => ({ data: await areas.turnAll(actor, body.value) }), {
      instanceAdmin: true,
      query: NoQuery,
      body: Sent,
      response: { 200: t.Object({ data: field.texts("Ids of the enabled plugins.") }) },
      detail: { ...operation("Enable or disable several plugins", BODIES.areas), ...failures("invalid_state") },
    })
}
