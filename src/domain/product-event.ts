import { type Static, type TObject, Type as t } from "@sinclair/typebox"
import type { Scope } from "./key.ts"
import { field, Instant, orNull, textOf } from "./response.ts"

/** Description of a product event: what happened, and the payload that its consumers receive. */
export interface ProductEventForm {
  title: string
  /** Schema of the payload. It contains no addresses of people or networks, no user agents and no secrets. Later versions may add fields. */
  payload: TObject
}

const payload = <Fields extends TObject["properties"]>(fields: Fields) => t.Object(fields, { additionalProperties: false })

const SITE = {
  site_id: field.id("Id of the site."),
  name: field.text("Name of the site."),
  hosts: t.Array(t.String(), { description: "Hosts of the site." }),
  timezone: field.text("Time zone of the site."),
}
const GOAL = {
  goal_id: field.id("Id of the goal."),
  name: field.text("Name of the goal."),
  kind: field.text("Kind of the goal: `event`, `page` or `scroll`."),
  value: field.text("Event name or page path of the goal."),
}
const MEMBER = {
  user_id: field.id("Id of the user."),
  role: field.text("Role of the member, or the former role of a removed one."),
}
const API_KEY = {
  api_key_id: field.id("Id of the API key."),
  name: field.text("Name of the API key."),
  scopes: t.Array(textOf<Scope>(), { description: "Scopes of the API key." }),
  expires_at: orNull(Instant, { description: "Expiry. null for a key that never expires." }),
}

/** The product events of the core. Plugins declare their own. */
export const CORE_EVENTS = {
  "site.created": {
    title: "Site created",
    payload: payload({
      ...SITE,
      reason: textOf<"created" | "restored" | "transferred">({
        description: "Why the organization has the site: it is new (`created`), `restored`, or was `transferred` from another one.",
      }),
    }),
  },
  "site.updated": {
    title: "Site changed",
    payload: payload({ ...SITE, changed: t.Array(t.String(), { description: "Names of the changed fields and settings." }) }),
  },
  "site.deleted": {
    title: "Site deleted",
    payload: payload({
      ...SITE,
      reason: textOf<"deleted" | "transferred">({
        description: "Why the organization no longer has the site: it was `deleted`, or `transferred` to another one.",
      }),
    }),
  },
  "goal.created": { title: "Goal created", payload: payload(GOAL) },
  "goal.deleted": { title: "Goal deleted", payload: payload(GOAL) },
  "funnel.created": {
    title: "Funnel created",
    payload: payload({
      funnel_id: field.id("Id of the funnel."),
      name: field.text("Name of the funnel."),
      steps: field.integer("Number of steps."),
    }),
  },
  "member.invited": {
    title: "Member invited",
    payload: payload({ invitation_id: field.id("Id of the invitation."), role: field.text("Role that the invitation grants.") }),
  },
  "member.joined": { title: "Member joined", payload: payload(MEMBER) },
  "member.removed": { title: "Member removed", payload: payload(MEMBER) },
  "api_key.created": { title: "API key created", payload: payload(API_KEY) },
  "api_key.expiring": { title: "API key expires soon", payload: payload(API_KEY) },
  "api_key.revoked": { title: "API key revoked", payload: payload(API_KEY) },
  "backup.failed": {
    title: "Backup failed",
    payload: payload({
      step: field.text("Step that failed."),
      cause: field.text("Cause of the failure."),
      at: field.instant("Time of the failure."),
    }),
  },
} as const satisfies Readonly<Record<string, ProductEventForm>>

export type CoreEvent = keyof typeof CORE_EVENTS
export type CoreEventPayload<Name extends CoreEvent> = Static<(typeof CORE_EVENTS)[Name]["payload"]>
