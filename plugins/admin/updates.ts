import { Type as t } from "@sinclair/typebox"
import { failures, type Host, instantText, NoQuery, readNothing } from "#plugin"
import { NoticeResponse, UpdateResponse } from "./responses.ts"
import { operation } from "./routing.ts"

/** Routes for updates and for notices about problems. */
export const updateRoutes = (host: Host) => {
  const { updates, alarms } = host.services.console

  return host
    .instanceRouter()
    .get("/admin/updates", () => updates.report(), {
      instanceAdmin: true,
      query: NoQuery,
      response: { 200: UpdateResponse },
      detail: operation("Get the result of the last update check"),
    })
    .post("/admin/updates/check", ({ actor }) => updates.check(actor), {
      instanceAdmin: { read: readNothing },
      query: NoQuery,
      response: { 200: UpdateResponse },
      detail: { ...operation("Check for updates, sending only the version"), ...failures("invalid_state", "outbound_disabled") },
    })
    .get("/admin/notices", async () => ({ data: (await alarms.list()).map(formatNotice) }), {
      instanceAdmin: true,
      query: NoQuery,
      response: { 200: t.Object({ data: t.Array(NoticeResponse, { description: "Notices, newest first." }) }) },
      detail: operation("List notices about open problems"),
    })
    .post(
      "/admin/notices/:id/dismiss",
      async ({ actor, params, status }) => {
        await alarms.dismiss(actor, params.id)
        return status(204, undefined)
      },
      { instanceAdmin: { read: readNothing }, query: NoQuery, detail: { ...operation("Dismiss a notice"), ...failures("not_found") } },
    )
}

type Notice = Awaited<ReturnType<Host["services"]["console"]["alarms"]["list"]>>[number]

const formatNotice = ({ first_at, last_at, ...notice }: Notice): NoticeResponse => ({
  ...notice,
  first_at: instantText(first_at),
  last_at: instantText(last_at),
})
