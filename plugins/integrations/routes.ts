import {
  ArgumentReader,
  type Created,
  etagOf,
  failures,
  NoQuery,
  operationsOf,
  parameter,
  queryWith,
  readNothing,
  refuseArguments,
  Sent,
  type Site,
  webhookMessages,
} from "#plugin"
import { type Area, authorOf } from "./area.ts"
import { CHAT_EVENTS } from "./chat/chat.ts"
import { IntegrationPatch } from "./chat/input.ts"
import { messageSchema, ONLY_BY_NAME, PING } from "./events.ts"
import type { Kind } from "./kind.ts"
import { AuthorizationResponse, EventsResponse, IntegrationList, IntegrationResponse, TestResponse } from "./responses.ts"

const operation = operationsOf("integrations")
const FORGET = queryWith({
  forget_data: parameter.choice(["true", "false"], "Whether data that was fetched is deleted too. Default: false."),
})
function readForget(query: Record<string, unknown>): boolean {
  const reader = new ArgumentReader(query, ["forget_data"])
  const forget = reader.choice("forget_data", ["true", "false"]) === "true"
  refuseArguments(reader, "text")
  return forget
}

/** Routes for integrations of all kinds. Webhooks have their own. */
export function integrationRoutes({ host, integrations }: Area) {
  type Where = { site?: Site; permissions?: ReadonlySet<string> }
  const find = async ({ id }: Record<string, string | undefined>, { site }: Where): Promise<void> =>
    void (await integrations.get(site!, id)) // all routes are below a site
  const can = { permission: "integrations:write", find }

  return host
    .siteRouter()
    .get(
      "/integrations",
      async ({ site, user, permissions }) => {
        const byRole = await host.services.access.byRole(user.id, site.organization_id)
        return {
          data: await integrations.list({ site, user, permissions }),
          available: integrations.kinds.map(({ kind, name, category, connectBy }) => ({
            ...{ kind, name, category },
            connect_by: [...connectBy()],
          })),
          organization_permissions: ["integrations:write", "webhooks:write"].filter((permission) => byRole.has(permission)),
          outbound_enabled: host.outbound.enabled,
        }
      },
      {
        can: "integrations:read",
        query: NoQuery,
        response: { 200: IntegrationList },
        detail: operation("List integrations and the kinds that can be connected"),
      },
    )
    .get(
      "/integrations/:id",
      async ({ site, user, permissions, params, set }) => {
        const integration = await integrations.get(site, params.id)
        set.headers.etag = etagOf(integration)
        return integrations.show(integration, { site, user, permissions })
      },
      {
        can: { permission: "integrations:read", find },
        query: NoQuery,
        response: { 200: IntegrationResponse },
        detail: { ...operation("Get an integration"), ...failures("integration_not_found") },
      },
    )
    .patch(
      "/integrations/:id",
      async ({ params, body, set, permissions, ...call }) => {
        const viewer = { site: call.site, user: call.user, permissions }
        const integration = await integrations.update(authorOf(call), params.id, body.value, (present) =>
          integrations.show(present, viewer),
        )
        set.headers.etag = etagOf(integration)
        return integrations.show(integration, viewer)
      },
      {
        can,
        query: NoQuery,
        body: Sent,
        response: { 200: IntegrationResponse },
        detail: {
          ...operation("Change an integration. A new secret is tested first", IntegrationPatch),
          ...failures(
            "integration_not_found",
            "connection_failed",
            "blocked_address",
            "outbound_disabled",
            "version_conflict",
            "precondition_failed",
          ),
        },
      },
    )
    .delete(
      "/integrations/:id",
      async ({ params, query, status, ...call }) => {
        await integrations.remove(authorOf(call), params.id, { forgetData: readForget(query) })
        return status(204, undefined)
      },
      {
        can: { ...can, read: readNothing },
        query: FORGET,
        detail: { ...operation("Remove an integration"), ...failures("integration_not_found", "precondition_failed") },
      },
    )
    .post("/integrations/:id/test", async ({ params, ...call }) => integrations.test(authorOf(call), params.id), {
      can: { ...can, read: readNothing },
      query: NoQuery,
      response: { 200: TestResponse },
      detail: { ...operation("Test an integration"), ...failures("integration_not_found") },
    })
}

/** Route that connects one kind of service. Each kind has its own path, because they take different bodies. */
export const connectRoute = ({ host, integrations }: Area, { kind, connect }: Kind) =>
  host.siteRouter().post(
    `/integrations/${kind}/connect`,
    ({ site, actor, ...call }) =>
      host.create(
        call,
        async (body, alongside): Promise<Answer> => {
          const author = { site, actor, userId: call.user.id, sessionId: call.session.id }
          const connected = await connect.run(author, body, (statements, made) =>
            alongside(statements, { after: { integration: integrations.showNew(made) } }),
          )
          return "integration" in connected ? { integration: integrations.showNew(connected.integration) } : connected
        },
        (answer: Answer): Created<IntegrationResponse | AuthorizationResponse> => {
          if ("authorize_url" in answer) return { status: 200, body: answer }
          const { integration } = answer
          const location = `/api/private/sites/${site.id}/integrations/${integration.id}`
          return { location, etag: etagOf(integration), body: integration }
        },
      ),
    {
      can: "integrations:write",
      query: NoQuery,
      body: Sent,
      response: { 200: AuthorizationResponse, 201: IntegrationResponse },
      detail: { ...operation(connect.summary, connect.input), ...failures(...connect.failures) },
    },
  )

type Answer = { integration: IntegrationResponse } | AuthorizationResponse

/** Describes the product events, for receivers of webhooks. */
export function eventRoutes({ host }: Area) {
  const forms = () => Object.entries({ ...host.productEvents(), [PING.name]: PING.form })
  const messages = () =>
    Object.fromEntries(forms().map(([event, form]) => [event, { title: form.title, schema: messageSchema(event, form) }]))
  return host.instanceRouter().get(
    "/integrations/events",
    () => ({
      data: forms().map(([event, form]) => ({
        event,
        title: form.title,
        only_by_name: ONLY_BY_NAME.includes(event) || event === PING.name,
        chats: CHAT_EVENTS.includes(event),
        schema: messageSchema(event, form),
      })),
    }),
    {
      signedIn: true,
      query: NoQuery,
      response: { 200: EventsResponse },
      detail: { ...operation("List the events that webhooks receive"), ...webhookMessages(messages) },
    },
  )
}
