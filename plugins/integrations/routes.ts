import { etagOf, failures, NoQuery, operationsOf, readNothing, Sent, type Site } from "#plugin"
import { type Area, authorOf } from "./area.ts"
import { CHAT_EVENTS, CHAT_KINDS } from "./chat/chat.ts"
import type { ChatKind } from "./chat/forms.ts"
import { ConnectInput, IntegrationPatch } from "./chat/input.ts"
import { messageSchema, ONLY_BY_NAME, PING } from "./events.ts"
import type { Integration, KindFacts } from "./integration.ts"
import { EventsResponse, IntegrationList, IntegrationResponse, integrationResponse, TestResponse } from "./responses.ts"
import { listOfSite } from "./rows.ts"

const operation = operationsOf("integrations")
/** Kinds that this version can connect. */
const KINDS: readonly KindFacts[] = CHAT_KINDS

/** Routes for integrations in general. Webhooks have their own. */
export function integrationRoutes({ host, chat, chatConnections }: Area) {
  type Where = { site?: Site; permissions?: ReadonlySet<string> }
  const find = async ({ id }: Record<string, string | undefined>, { site }: Where): Promise<void> =>
    void (await chatConnections.get(site!, id)) // all routes are below a site
  const can = { permission: "integrations:write", find }

  interface Viewer {
    site: Site
    user: { id: number }
    permissions: ReadonlySet<string>
  }
  async function show(integration: Integration, { site, user, permissions }: Viewer): Promise<IntegrationResponse> {
    const canManage = permissions.has("integrations:write") && (await chatConnections.canManage(site, user.id, integration))
    return integrationResponse(integration, {
      category: KINDS.find(({ kind }) => kind === integration.kind)?.category ?? "chat",
      secret: await host.secrets.shown(integration.secret_id),
      canManage,
      config: { ...integration.config, events: chat.eventsOf(integration.config) },
    })
  }

  return host
    .siteRouter()
    .get(
      "/integrations",
      async ({ site, user, permissions }) => {
        const all = await listOfSite(site, host.db)
        const data = await Promise.all(all.map((integration) => show(integration, { site, user, permissions })))
        const available = KINDS.map((facts) => ({ ...facts, connect_by: [...facts.connect_by] }))
        const byRole = await host.services.access.byRole(user.id, site.organization_id)
        const organization_permissions = ["integrations:write", "webhooks:write"].filter((permission) => byRole.has(permission))
        return { data, available, organization_permissions, outbound_enabled: host.outbound.enabled }
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
        const integration = await chatConnections.get(site, params.id)
        set.headers.etag = etagOf(integration)
        return show(integration, { site, user, permissions })
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
        const integration = await chatConnections.update(authorOf(call), params.id, body.value, (present) => show(present, viewer))
        set.headers.etag = etagOf(integration)
        return show(integration, viewer)
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
      async ({ params, status, ...call }) => {
        await chatConnections.remove(authorOf(call), params.id)
        return status(204, undefined)
      },
      {
        can: { ...can, read: readNothing },
        query: NoQuery,
        detail: { ...operation("Remove an integration"), ...failures("integration_not_found", "precondition_failed") },
      },
    )
    .post("/integrations/:id/test", async ({ params, ...call }) => chatConnections.test(authorOf(call), params.id), {
      can: { ...can, read: readNothing },
      query: NoQuery,
      response: { 200: TestResponse },
      detail: { ...operation("Send a test message"), ...failures("integration_not_found") },
    })
}

/** Route that connects one chat service. Each kind has its own path, because kinds of other categories take other bodies. */
export const connectRoute = ({ host, chat, chatConnections }: Area, kind: ChatKind) => {
  /** Returns a new integration as its creator sees it. Its secret can't be read within the transaction that stores it. */
  const created = (integration: Integration): IntegrationResponse => {
    const config = { ...integration.config, events: chat.eventsOf(integration.config) }
    return integrationResponse(integration, { category: "chat", secret: { set: true }, canManage: true, config })
  }
  return host.siteRouter().post(
    `/integrations/${kind}/connect`,
    ({ site, actor, ...call }) =>
      host.create(
        call,
        async (body, alongside) => {
          const author = { site, actor, userId: call.user.id }
          return created(
            await chatConnections.connect(author, kind, body, (statements, made) => alongside(statements, { after: created(made) })),
          )
        },
        (answer: IntegrationResponse) => ({
          location: `/api/private/sites/${site.id}/integrations/${answer.id}`,
          etag: etagOf(answer),
          body: answer,
        }),
      ),
    {
      can: "integrations:write",
      query: NoQuery,
      body: Sent,
      response: { 201: IntegrationResponse },
      detail: {
        ...operation(`Connect ${CHAT_KINDS.find((each) => each.kind === kind)!.name}, after a test message`, ConnectInput), // all are listed
        ...failures("connection_failed", "blocked_address", "outbound_disabled", "limit_reached"),
      },
    },
  )
}

/** Describes the product events, for receivers of webhooks. */
export const eventRoutes = ({ host }: Area) =>
  host.instanceRouter().get(
    "/integrations/events",
    () => ({
      data: Object.entries({ ...host.productEvents(), [PING.name]: PING.form }).map(([event, form]) => ({
        event,
        title: form.title,
        only_by_name: ONLY_BY_NAME.includes(event) || event === PING.name,
        chats: CHAT_EVENTS.includes(event),
        schema: messageSchema(event, form),
      })),
    }),
    { signedIn: true, query: NoQuery, response: { 200: EventsResponse }, detail: operation("List the events that webhooks receive") },
  )
