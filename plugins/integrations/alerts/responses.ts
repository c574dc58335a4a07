/** Responses of the routes for alerts. The dashboard takes its types from here as well. */
import { type Static, Type as t } from "@sinclair/typebox"
import { anyOf, CREATED_AT, field, instantOrNull, instantText, orNull, textOf, UPDATED_AT } from "#plugin"
import { type Alert, type AlertChannel, type AlertType, firesOf } from "./alert.ts"

export const AlertResponse = t.Object(
  {
    id: field.id("Id of the alert."),
    type: textOf<AlertType>({ description: "Type: `spike`, `drop`, `no_data`, `goal` or `not_found`." }),
    threshold: field.integer("Number from which, or for `drop` below which, the alert fires. 1 for `no_data`."),
    factor: orNull(t.Number(), { description: "Multiple of the usual visitors that a spike must reach as well. null without one." }),
    window_minutes: orNull(t.Integer(), { description: "Window in minutes. null for `spike`." }),
    goal_id: orNull(t.Integer(), { description: "Id of the goal. null for other types." }),
    channels: t.Array(
      anyOf<AlertChannel>({ description: "A member's email address (`type`, `address`) or a chat connection (`type`, `integration_id`)." }),
      { description: "Where the alert is sent." },
    ),
    enabled: field.flag("Whether the alert is evaluated."),
    state: textOf<"ok" | "firing">({
      description: "`firing` from the moment it fired until its condition no longer holds, otherwise `ok`.",
    }),
    last_fired_at: orNull(field.instant("Time at which it fired last."), {
      description: "Time at which it fired last. null if it never did.",
    }),
    fired_24h: field.integer("How often it fired in the last 24 hours, at most 2."),
    created_by: orNull(t.Integer(), { description: "Id of the user who created the alert." }),
    version: field.id("Version of the alert, which increases with each change."),
    created_at: CREATED_AT,
    updated_at: UPDATED_AT,
  },
  { title: "Alert" },
)
export type AlertResponse = Static<typeof AlertResponse>

export const alertResponse = (alert: Alert, now: number): AlertResponse => ({
  ...{ id: alert.id, type: alert.type, threshold: alert.threshold, factor: alert.factor, window_minutes: alert.window_minutes },
  ...{ goal_id: alert.goal_id, channels: [...alert.channels], enabled: alert.enabled },
  state: alert.firing_since === null ? "ok" : "firing",
  last_fired_at: instantOrNull(alert.last_fired_at),
  fired_24h: firesOf(alert, now),
  ...{ created_by: alert.created_by, version: alert.version },
  ...{ created_at: instantText(alert.created_at), updated_at: instantText(alert.updated_at) },
})
