import { AnyQuery, etagOf, failures, NoQuery, operationsOf, Paged, pageOfAll, readNothing, readPlainPaging, Sent, type Site } from "#plugin"
import { authorOf, type IntegrationsHost } from "../area.ts"
import type { PaymentHooks } from "./hooks.ts"
import { HookInput, HookPatch, HookRotation } from "./input.ts"
import type { Receive } from "./receiving.ts"
import { HookResponse, HookWithUrl, ReceivedResponse } from "./responses.ts"

const operation = operationsOf("integrations")
/** Routes for payment hooks. */
export function paymentHookRoutes(host: IntegrationsHost, hooks: PaymentHooks) {
  const find = async ({ id }: Record<string, string | undefined>, { site }: { site?: Site }): Promise<void> =>
    void (await hooks.get(site!, id)) // all routes are below a site
  const canRead = { permission: "integrations:read", find }
  const can = { permission: "integrations:write", find }

  return host
    .siteRouter()
    .get(
      "/integrations/hooks",
      async ({ site, query }) => {
        const page = await pageOfAll(readPlainPaging(`hooks/${site.id}`, query), await hooks.list(site))
        return { ...page, data: await Promise.all(page.data.map(hooks.show)) }
      },
      { can: "integrations:read", query: AnyQuery, response: { 200: Paged(HookResponse) }, detail: operation("List payment hooks") },
    )
    .post(
      "/integrations/hooks",
      ({ site, actor, ...call }) =>
        host.create(
          call,
          (body, alongside) =>
            hooks.create({ site, actor, userId: call.user.id }, body, (statements, created) => alongside(statements, { after: created })),
          (created: HookWithUrl) => ({
            location: `/api/private/sites/${site.id}/integrations/hooks/${created.id}`,
            etag: etagOf(created),
            body: created,
          }),
        ),
      {
        can: "integrations:write",
        query: NoQuery,
        body: Sent,
        response: { 201: HookWithUrl },
        detail: { ...operation("Create a payment hook", HookInput), ...failures("limit_reached") },
      },
    )
    .get(
      "/integrations/hooks/:id",
      async ({ site, params, set }) => {
        const hook = await hooks.get(site, params.id)
        set.headers.etag = etagOf(hook)
        return hooks.show(hook)
      },
      {
        can: canRead,
        query: NoQuery,
        response: { 200: HookResponse },
        detail: { ...operation("Get a payment hook"), ...failures("hook_not_found") },
      },
    )
    .patch(
      "/integrations/hooks/:id",
      async ({ params, body, set, ...call }) => {
        const hook = await hooks.update(authorOf(call), params.id, body.value)
        set.headers.etag = etagOf(hook)
        return hooks.show(hook)
      },
      {
        can,
        query: NoQuery,
        body: Sent,
        response: { 200: HookResponse },
        detail: {
          ...operation("Enable or disable a payment hook", HookPatch),
          ...failures("hook_not_found", "version_conflict", "precondition_failed"),
        },
      },
    )
    .delete(
      "/integrations/hooks/:id",
      async ({ params, status, ...call }) => {
        await hooks.remove(authorOf(call), params.id)
        return status(204, undefined)
      },
      {
        can: { ...can, read: readNothing },
        query: NoQuery,
        detail: {
          ...operation("Delete a payment hook with its stored events. Recorded payments remain"),
          ...failures("hook_not_found", "precondition_failed"),
        },
      },
    )
    .post(
      "/integrations/hooks/:id/rotate-secret",
      async ({ params, body, ...call }) => hooks.show(await hooks.rotate(authorOf(call), params.id, body.value)),
      {
        can,
        query: NoQuery,
        body: Sent,
        response: { 200: HookResponse },
        detail: {
          ...operation("Enter the first or a new signing secret of the provider. The old one stays valid for 24 hours", HookRotation),
          ...failures("hook_not_found"),
        },
      },
    )
}

/** The public route that providers call. Its callers are known by the token in the path and by the signature. */
export const receivingRoutes = (host: IntegrationsHost, receive: Receive) =>
  host.openRouter().post("/api/hooks/:kind/:token", ({ params, request }) => receive(params.kind, params.token, request), {
    response: { 200: ReceivedResponse },
    detail: {
      ...operation("Receive an event of a payment provider"),
      ...failures("hook_not_found", "body_too_large", "invalid_signature"),
    },
  })
