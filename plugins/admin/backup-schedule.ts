import { Type as t } from "@sinclair/typebox"
import { type Host, NoQuery, orNull, Sent } from "#plugin"
import { refuses, SENT } from "./sent.ts"
import { says } from "./shapes.ts"

const PlanShown = t.Object({
  cron: orNull(t.String()),
  keep: t.Object({ daily: t.Integer(), weekly: t.Integer() }),
  target: t.String({ description: "`local`, or `s3` to copy each backup to the bucket as well." }),
  s3: t.Optional(
    t.Object({
      ...{ endpoint: t.String(), bucket: t.String(), prefix: t.String(), region: t.String(), key_id: t.String() },
      secret: t.Object({ set: t.Boolean(), hint: t.Optional(t.String()), updated_at: t.Optional(t.String()) }),
    }),
  ),
  source: t.String(),
})

/** When backups are made by themselves, how many are kept, and where they go. */
export const backupScheduleRoutes = (host: Host) => {
  const { backupSchedule } = host.services.console
  const shown = async () => ({ ...(await backupSchedule.shown()), source: backupSchedule.source() })

  return host
    .instanceRouter()
    .get("/admin/backups/schedule", () => shown(), {
      instanceAdmin: true,
      query: NoQuery,
      response: { 200: PlanShown },
      detail: says("Get the backup schedule"),
    })
    .put(
      "/admin/backups/schedule",
      async ({ actor, body }) => {
        await backupSchedule.change(actor, body.value)
        return shown()
      },
      {
        instanceAdmin: true,
        query: NoQuery,
        body: Sent,
        response: { 200: PlanShown },
        detail: {
          ...says("Update the backup schedule", SENT.backupSchedule),
          ...refuses("set_elsewhere", "blocked_address", "outbound_disabled"),
        },
      },
    )
}
