/** Responses of the routes for integrations. The dashboard takes its types from here as well. */
import { type Static, Type as t } from "@sinclair/typebox"
import { type Connection, field, instantOrNull, instantText, orNull, textOf } from "#plugin"
import { scopeOf } from "./area.ts"
import { failureMessage } from "./health.ts"
import type { Category, Integration, Status } from "./integration.ts"
import { ShownSecret } from "./webhooks/responses.ts"

export const IntegrationResponse = t.Object(
  {
    id: field.id("Id of the integration."),
    kind: field.text("Kind, such as `slack`."),
    name: field.text("Display name."),
    category: textOf<Category>({ description: "Category of the kind: `search`, `imports` or `chat`." }),
    status: textOf<Status>({
      description:
        "`ok`, `degraded` while attempts fail and are repeated, `needs_reauth` or `error` when a person must act, `connecting` or `disconnected`.",
    }),
    connected: field.flag("Whether it works, or will be tried again on its own."),
    account_label: field.text("Account, or host and last characters of the URL."),
    connection_id: orNull(field.id("Id of the connection to the account that it uses."), {
      description: "Id of the connection to the account that it uses. null for kinds with a secret of their own.",
    }),
    config: t.Record(t.String(), t.Any(), {
      description: "Settings of the kind. Chats always have `events`, a site's mapping has `property` and `search_types`.",
    }),
    secret: ShownSecret,
    last_ok_at: orNull(field.instant("Time of the last success."), { description: "Time of the last success. null before the first." }),
    last_error: orNull(
      t.Object({
        code: field.text("Code of the cause."),
        message: field.text("Cause and remedy."),
        at: field.instant("Time of the failure."),
      }),
      { description: "Last failure since the last success. null if there was none." },
    ),
    next_run_at: orNull(field.instant("Time of the next run."), {
      description: "Time of the next run. null for kinds that do not run by themselves.",
    }),
    can_manage: field.flag("Whether you can change it."),
    scope: textOf<"site" | "organization">({ description: "`site`, or `organization` for all its sites." }),
    version: field.id("Version of the integration, which increases with each change."),
  },
  { title: "Integration" },
)
export type IntegrationResponse = Static<typeof IntegrationResponse>

export const AuthorizationResponse = t.Object(
  { authorize_url: field.text("Page of the service on which you grant access. It sends the browser back to Footfall.") },
  { title: "Authorization" },
)
export type AuthorizationResponse = Static<typeof AuthorizationResponse>

const KindResponse = t.Object({
  kind: field.text("Kind, for the path of `connect`."),
  name: field.text("Name of the service."),
  category: textOf<Category>({ description: "Category: `search`, `imports` or `chat`." }),
  connect_by: field.texts("What `connect` needs: `oauth`, `service_account`, `api_key` or `url`."),
})

export const IntegrationList = t.Object({
  data: t.Array(IntegrationResponse, { description: "Integrations of the site and of its organization." }),
  available: t.Array(KindResponse, { description: "Kinds that can be connected." }),
  organization_permissions: field.texts(
    "Permissions of this area that you hold for the organization as a whole: `integrations:write` and `webhooks:write`.",
  ),
  outbound_enabled: field.flag("Whether the instance sends requests to other servers (FOOTFALL_OUTBOUND). If not, no integration works."),
})

export type IntegrationList = Static<typeof IntegrationList>

export const TestResponse = t.Object(
  {
    ok: field.flag("Whether all steps succeeded."),
    ms: field.integer("Duration in milliseconds."),
    steps: t.Array(
      t.Object({
        name: field.text("Name of the step."),
        ok: field.flag("Whether the step succeeded."),
        detail: field.text("What happened."),
      }),
      { description: "Steps of the test." },
    ),
  },
  { title: "IntegrationTest" },
)

export type TestResponse = Static<typeof TestResponse>

export const EventsResponse = t.Object({
  data: t.Array(
    t.Object({
      event: field.text("Name of the event."),
      title: field.text("What happened."),
      only_by_name: field.flag("Whether `*` leaves the event out."),
      chats: field.flag("Whether chat services can receive the event."),
      schema: t.Any({ description: "JSON Schema of the message that a webhook receives." }),
    }),
    { description: "Events that webhooks can receive." },
  ),
})

export type EventsResponse = Static<typeof EventsResponse>

/** What is shown of an integration in addition to its row. */
interface Shown {
  category: Category
  secret: Static<typeof ShownSecret>
  canManage: boolean
  config: IntegrationResponse["config"]
  /** Connection whose account it uses. */
  connection?: Connection | undefined
}

export const integrationResponse = (
  integration: Integration,
  { category, secret, canManage, config, connection }: Shown,
): IntegrationResponse => {
  const { status, code, at, nextRunAt } = healthOf(integration, connection)
  return {
    id: integration.id,
    kind: integration.kind,
    name: integration.name,
    category,
    status,
    connected: status === "ok" || status === "degraded",
    account_label: connection?.account_label ?? integration.account_label,
    connection_id: integration.connection_id,
    config,
    secret,
    last_ok_at: instantOrNull(integration.last_ok_at),
    last_error: code === null || at === null ? null : { code, message: failureMessage(code), at: instantText(at) },
    next_run_at: instantOrNull(nextRunAt),
    can_manage: canManage,
    scope: scopeOf(integration),
    version: integration.version,
  }
}

/** Returns the state of an integration. Without its account it can't work, so that of a failed connection takes precedence. */
function healthOf({ status, last_error_code, last_error_at, next_run_at }: Integration, connection: Connection | undefined) {
  if (connection === undefined || connection.status === "ok")
    return { status, code: last_error_code, at: last_error_at, nextRunAt: next_run_at }
  const code = connection.error_code === "invalid_grant" ? "needs_reauth" : connection.error_code
  return { status: connection.status, code, at: connection.error_at, nextRunAt: null }
}
