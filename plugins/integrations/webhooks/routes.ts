import {
  AnyQuery,
  etagOf,
  failures,
  NoQuery,
  operationsOf,
  Paged,
  pageOfAll,
  parameter,
  privatePage,
  queryWith,
  readNothing,
  readPaging,
  readPlainPaging,
  Sent,
  type Site,
} from "#plugin"
import { type Area, authorOf } from "../area.ts"
import { WebhookInput, WebhookPatch } from "./input.ts"
import { DeliveryResponse, DeliveryWithBody, deliveryResponse, WebhookResponse, WebhookWithSecret } from "./responses.ts"
import { countDeliveries, listDeliveries } from "./rows.ts"
import { DELIVERY_STATES } from "./webhook.ts"
import type { WithSecret } from "./webhooks.ts"

const operation = operationsOf("integrations")
const DeliveriesQuery = queryWith({ state: parameter.choice(DELIVERY_STATES, "Only deliveries in this state.") })
const URL_FAILURES = ["unknown_event", "blocked_address", "outbound_disabled"] as const

/** Routes for webhooks and their deliveries. */
export function webhookRoutes({ host, webhooks, deliveries }: Area) {
  type Where = { site?: Site; user?: { id: number } }
  const find = async ({ id }: Record<string, string | undefined>, { site, user }: Where): Promise<void> =>
    void (await webhooks.get(site!, user!.id, id)) // all routes are below a site
  const findDelivery = async ({ id, delivery }: Record<string, string | undefined>, { site, user }: Where): Promise<void> =>
    void (await webhooks.delivery(await webhooks.get(site!, user!.id, id), delivery))
  const can = { permission: "webhooks:write", find }
  const withoutBody = { ...can, read: readNothing }

  const withSecret = async ({ webhook, secret }: WithSecret): Promise<WebhookWithSecret> => ({ ...(await webhooks.show(webhook)), secret })

  return host
    .siteRouter()
    .get(
      "/webhooks",
      async ({ site, user, query: given }) => {
        const page = await pageOfAll(readPlainPaging(`webhooks/${site.id}`, given), await webhooks.list(site, user.id))
        return { ...page, data: await Promise.all(page.data.map(webhooks.show)) }
      },
      { can: "webhooks:write", query: AnyQuery, response: { 200: Paged(WebhookResponse) }, detail: operation("List webhooks") },
    )
    .post(
      "/webhooks",
      ({ site, actor, ...call }) =>
        host.create(
          call,
          (body, alongside) =>
            webhooks.create({ site, actor, userId: call.user.id }, body, (statements, created) =>
              alongside(statements, { after: created }),
            ),
          (created: WebhookWithSecret) => ({
            location: `/api/private/sites/${site.id}/webhooks/${created.id}`,
            etag: etagOf(created),
            body: created,
          }),
        ),
      {
        can: "webhooks:write",
        query: NoQuery,
        body: Sent,
        response: { 201: WebhookWithSecret },
        detail: { ...operation("Create a webhook", WebhookInput), ...failures(...URL_FAILURES, "limit_reached") },
      },
    )
    .get(
      "/webhooks/:id",
      async ({ site, user, params, set }) => {
        const webhook = await webhooks.get(site, user.id, params.id)
        set.headers.etag = etagOf(webhook)
        return webhooks.show(webhook)
      },
      {
        can,
        query: NoQuery,
        response: { 200: WebhookResponse },
        detail: { ...operation("Get a webhook"), ...failures("webhook_not_found") },
      },
    )
    .patch(
      "/webhooks/:id",
      async ({ params, body, set, ...call }) => {
        const webhook = await webhooks.update(authorOf(call), params.id, body.value)
        set.headers.etag = etagOf(webhook)
        return webhooks.show(webhook)
      },
      {
        can,
        query: NoQuery,
        body: Sent,
        response: { 200: WebhookResponse },
        detail: {
          ...operation("Change a webhook", WebhookPatch),
          ...failures("webhook_not_found", ...URL_FAILURES, "version_conflict", "precondition_failed"),
        },
      },
    )
    .delete(
      "/webhooks/:id",
      async ({ params, status, ...call }) => {
        await webhooks.remove(authorOf(call), params.id)
        return status(204, undefined)
      },
      {
        can: withoutBody,
        query: NoQuery,
        detail: { ...operation("Delete a webhook with its deliveries"), ...failures("webhook_not_found", "precondition_failed") },
      },
    )
    .post(
      "/webhooks/:id/test",
      async ({ params, status, ...call }) => status(202, deliveryResponse(await webhooks.ping(authorOf(call), params.id))),
      {
        can: withoutBody,
        query: NoQuery,
        response: { 202: DeliveryResponse },
        detail: { ...operation("Send the test event `ping`"), ...failures("webhook_not_found", "invalid_state") },
      },
    )
    .post("/webhooks/:id/rotate-secret", async ({ params, ...call }) => withSecret(await webhooks.rotate(authorOf(call), params.id)), {
      can: withoutBody,
      query: NoQuery,
      response: { 200: WebhookWithSecret },
      detail: {
        ...operation("Create a new signing secret. The old one also signs for 24 hours"),
        ...failures("webhook_not_found"),
      },
    })
    .get(
      "/webhooks/:id/deliveries",
      async ({ site, user, params, query: given }) => {
        const webhook = await webhooks.get(site, user.id, params.id)
        const paging = readPaging(`deliveries/${webhook.id}`, given, ["state"], (reader) => reader.choice("state", DELIVERY_STATES))
        const before = paging.after ?? Number.MAX_SAFE_INTEGER
        const read = (limit: number) => listDeliveries(host.db, webhook.id, { before, state: paging.filters, limit })
        const page = await privatePage(paging, read, () => countDeliveries(host.db, webhook.id, paging.filters))
        return { ...page, data: page.data.map(deliveryResponse) }
      },
      {
        can,
        query: DeliveriesQuery,
        response: { 200: Paged(DeliveryResponse) },
        detail: { ...operation("List the deliveries of a webhook, newest first"), ...failures("webhook_not_found") },
      },
    )
    .get(
      "/webhooks/:id/deliveries/:delivery",
      async ({ site, user, params }) => {
        const webhook = await webhooks.get(site, user.id, params.id)
        const delivery = await webhooks.delivery(webhook, params.delivery)
        return { ...deliveryResponse(delivery), body: (await deliveries.bodyOf(webhook, delivery)) ?? null }
      },
      {
        can: { ...can, find: findDelivery },
        query: NoQuery,
        response: { 200: DeliveryWithBody },
        detail: { ...operation("Get a delivery with its message"), ...failures("webhook_not_found", "delivery_not_found") },
      },
    )
    .post(
      "/webhooks/:id/deliveries/:delivery/redeliver",
      async ({ params, status, ...call }) =>
        status(202, deliveryResponse(await webhooks.redeliver(authorOf(call), params.id, params.delivery))),
      {
        can: { ...withoutBody, find: findDelivery },
        query: NoQuery,
        response: { 202: DeliveryResponse },
        detail: {
          ...operation("Send a delivery again, with the same message id"),
          ...failures("webhook_not_found", "delivery_not_found", "invalid_state"),
        },
      },
    )
}
