import { Type as t } from "@sinclair/typebox"
import { field, orNull, type ProductEventForm, textOf } from "#plugin"
import type { AlertType } from "./alert.ts"

/** The event that an alert of a type publishes when it fires. */
export const EVENT_OF = {
  spike: "traffic.spike",
  drop: "traffic.drop",
  no_data: "traffic.stopped",
  goal: "traffic.goal",
  not_found: "traffic.not_found",
} as const satisfies Record<AlertType, string>

export const RESOLVED = "traffic.resolved"
export const GOAL_COMPLETED = "goal.completed"

const payload = t.Object(
  {
    alert_id: field.id("Id of the alert."),
    type: textOf<AlertType>({ description: "Type of the alert: `spike`, `drop`, `no_data`, `goal` or `not_found`." }),
    summary: field.text("What happened, in English."),
    value: t.Number({
      description:
        "Number that was compared with the threshold: visitors, conversions or events, or for `no_data` the minutes since the last event.",
    }),
    threshold: field.integer("Threshold of the alert."),
    usual: orNull(t.Number(), { description: "Usual number of current visitors. null except for spikes with a factor." }),
    window_minutes: orNull(t.Integer(), { description: "Window of the alert in minutes. null for spikes." }),
    goal_id: orNull(t.Integer(), { description: "Id of the goal. null for other types." }),
    since: field.instant("Time since which the alert fires."),
  },
  { additionalProperties: false },
)

/** The product events of alerts and goals. */
export const ALERT_EVENTS = {
  [EVENT_OF.spike]: { title: "Traffic spike", payload },
  [EVENT_OF.drop]: { title: "Traffic drop", payload },
  [EVENT_OF.no_data]: { title: "No data", payload },
  [EVENT_OF.goal]: { title: "Goal reached", payload },
  [EVENT_OF.not_found]: { title: "Pages not found", payload },
  [RESOLVED]: { title: "Alert resolved", payload },
  [GOAL_COMPLETED]: {
    title: "Goal completed",
    payload: t.Object(
      {
        goal_id: field.id("Id of the goal."),
        name: field.text("Name of the goal."),
        conversions: field.integer("Number of conversions that arrived since the last message, at most one a minute."),
      },
      { additionalProperties: false },
    ),
  },
} as const satisfies Record<string, ProductEventForm>
