import { type Static, Type as t } from "@sinclair/typebox"
import { type Host, Instant, instantText, NoQuery, orNull, readNothing } from "#plugin"
import { failures, Id, operation } from "./routing.ts"

const UpdateResponse = t.Object(
  {
    current: t.String(),
    is_possible: t.Boolean(),
    is_automatic: t.Boolean(),
    checked_at: orNull(Instant),
    failure: orNull(t.String()),
    latest: orNull(t.Object({ version: t.String(), released_at: orNull(t.String()), notes: t.String(), changes_schema: t.Boolean() })),
    is_newer: t.Boolean(),
  },
  { title: "UpdateReport" },
)
const NoticeResponse = t.Object(
  {
    id: Id,
    kind: t.String(),
    title: t.String(),
    remedy: t.String(),
    detail: t.Any({ description: "Details of the notice, by name." }),
    first_at: Instant,
    last_at: Instant,
  },
  { title: "AdminNotice" },
)

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
      response: { 200: t.Object({ data: t.Array(NoticeResponse) }) },
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

const formatNotice = ({ first_at, last_at, ...notice }: Notice): Static<typeof NoticeResponse> => ({
  ...notice,
  first_at: instantText(first_at),
  last_at: instantText(last_at),
})
