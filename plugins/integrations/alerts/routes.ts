import { AnyQuery, etagOf, failures, NoQuery, operationsOf, Paged, pageOfAll, readNothing, readPlainPaging, Sent, type Site } from "#plugin"
import { authorOf, type IntegrationsHost } from "../area.ts"
import { TestResponse } from "../responses.ts"
import type { Alerts } from "./alerts.ts"
import { AlertInput, AlertPatch } from "./input.ts"
import { AlertResponse, alertResponse } from "./responses.ts"

const operation = operationsOf("integrations")

/** Routes for alerts. */
export function alertRoutes(host: IntegrationsHost, alerts: Alerts) {
  const find = async ({ id }: Record<string, string | undefined>, { site }: { site?: Site }): Promise<void> =>
    void (await alerts.get(site!, id)) // all routes are below a site
  const can = { permission: "integrations:write", find }

  return host
    .siteRouter()
    .get(
      "/alerts",
      async ({ site, query }) => {
        const page = await pageOfAll(readPlainPaging(`alerts/${site.id}`, query), await alerts.list(site))
        return { ...page, data: page.data.map((alert) => alertResponse(alert, host.now())) }
      },
      { can: "integrations:read", query: AnyQuery, response: { 200: Paged(AlertResponse) }, detail: operation("List alerts") },
    )
    .post(
      "/alerts",
      ({ site, actor, ...call }) =>
        host.create(
          call,
          (body, alongside) =>
            alerts.create({ site, actor, userId: call.user.id }, body, (statements, created) => alongside(statements, { after: created })),
          (created: AlertResponse) => ({
            location: `/api/private/sites/${site.id}/alerts/${created.id}`,
            etag: etagOf(created),
            body: created,
          }),
        ),
      {
        can: "integrations:write",
        query: NoQuery,
        body: Sent,
        response: { 201: AlertResponse },
        detail: { ...operation("Create an alert", AlertInput), ...failures("limit_reached") },
      },
    )
    .get(
      "/alerts/:id",
      async ({ site, params, set }) => {
        const alert = await alerts.get(site, params.id)
        set.headers.etag = etagOf(alert)
        return alertResponse(alert, host.now())
      },
      {
        can: { permission: "integrations:read", find },
        query: NoQuery,
        response: { 200: AlertResponse },
        detail: { ...operation("Get an alert"), ...failures("alert_not_found") },
      },
    )
    .patch(
      "/alerts/:id",
      async ({ params, body, set, ...call }) => {
        const alert = await alerts.update(authorOf(call), params.id, body.value)
        set.headers.etag = etagOf(alert)
        return alertResponse(alert, host.now())
      },
      {
        can,
        query: NoQuery,
        body: Sent,
        response: { 200: AlertResponse },
        detail: {
          ...operation("Change an alert. Another condition ends its firing", AlertPatch),
          ...failures("alert_not_found", "version_conflict", "precondition_failed"),
        },
      },
    )
    .delete(
      "/alerts/:id",
      async ({ params, status, ...call }) => {
        await alerts.remove(authorOf(call), params.id)
        return status(204, undefined)
      },
      {
        can: { ...can, read: readNothing },
        query: NoQuery,
        detail: { ...operation("Delete an alert"), ...failures("alert_not_found", "precondition_failed") },
      },
    )
    .post("/alerts/:id/test", ({ params, ...call }) => alerts.test(authorOf(call), params.id), {
      can: { ...can, read: readNothing },
      query: NoQuery,
      response: { 200: TestResponse },
      detail: { ...operation("Send a test message through the channels of an alert"), ...failures("alert_not_found") },
    })
}
