import { type Static, type TObject, Type as t } from "@sinclair/typebox"
import type { Connection } from "./connection.ts"
import type { Funnel } from "./funnel.ts"
import type { Goal } from "./goal.ts"
import type { ApiKey, Scope } from "./key.ts"
import { instantText } from "./moment.ts"
import type { Role } from "./organization.ts"
import { field, Instant, orNull, textOf } from "./response.ts"
import type { Site } from "./site.ts"

/** Something that has happened, for webhooks, alerts, emails and areas. */
export interface ProductEvent {
  /** `<thing>.<what_happened>`. Events that start with `internal.` are not sent to other systems. */
  event: string
  organizationId: number
  siteId?: number
  payload?: unknown
}

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
  "integration.needs_reauth": {
    title: "Connection needs attention",
    payload: payload({
      connection_id: t.Optional(field.id("Id of the connection.")),
      integration_id: t.Optional(field.id("Id of the integration that uses it. Absent if the connection itself has failed.")),
      provider: field.text("Outside service, such as `google`."),
      status: field.text("Status: `needs_reauth` if a person must connect the account again, otherwise `error`."),
      code: field.text("Code of the cause."),
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

/** An event of the core whose payload fits its name. */
const coreEvent = <Name extends CoreEvent>(
  event: Name,
  organizationId: number,
  payload: CoreEventPayload<Name>,
  siteId?: number,
): ProductEvent => ({ event, organizationId, payload, ...(siteId !== undefined && { siteId }) })

/** Returns the event of a site that an organization has from now on. */
export const siteCreated = (site: Site, reason: "created" | "restored" | "transferred"): ProductEvent =>
  coreEvent("site.created", site.organization_id, { ...siteFacts(site), reason }, site.id)

/** Returns the event of a change to a site, with the names of the changed fields and settings but not their values. */
export const siteUpdated = (before: Site, after: Site): ProductEvent =>
  coreEvent("site.updated", after.organization_id, { ...siteFacts(after), changed: changedFields(before, after) }, after.id)

/** Returns the event of a site that an organization no longer has. `site` is the site as it was. */
export const siteDeleted = (site: Site, reason: "deleted" | "transferred"): ProductEvent =>
  coreEvent("site.deleted", site.organization_id, { ...siteFacts(site), reason }, site.id)

const siteFacts = ({ id, name, hosts, timezone }: Site) => ({ site_id: id, name, hosts: [...hosts], timezone })

const SITE_FIELDS = ["name", "hosts", "timezone", "retention_days", "revenue_currency"] as const

function changedFields(before: Site, after: Site): string[] {
  const settings = Object.keys(after.settings) as (keyof Site["settings"])[] // the keys of its type
  return [
    ...SITE_FIELDS.filter((name) => !Bun.deepEquals(before[name], after[name])),
    ...settings.filter((name) => !Bun.deepEquals(before.settings[name], after.settings[name])),
  ]
}

export const goalEvent = (verb: "created" | "deleted", { organization_id }: Site, goal: Goal): ProductEvent => {
  const { id, site_id, name, kind, value } = goal
  return coreEvent(`goal.${verb}`, organization_id, { goal_id: id, name, kind, value }, site_id)
}

export const funnelCreated = ({ organization_id }: Site, { id, site_id, name, steps }: Funnel): ProductEvent =>
  coreEvent("funnel.created", organization_id, { funnel_id: id, name, steps: steps.length }, site_id)

/** Returns the event of a connection that no longer works. It does not name the account, which is an email address. */
export const connectionFailed = ({ id, organization_id, provider, status, error_code }: Connection): ProductEvent =>
  coreEvent("integration.needs_reauth", organization_id, { connection_id: id, provider, status, code: error_code ?? "" })

/** Returns the event of a member, with their current or former role. */
export const memberEvent = (
  verb: "joined" | "removed",
  { organizationId, userId, role }: { organizationId: number; userId: number; role: Role },
): ProductEvent => coreEvent(`member.${verb}`, organizationId, { user_id: userId, role })

/** Returns the event of an invitation, which does not create a member yet. */
export const invitedEvent = ({ id, organization_id, role }: { id: number; organization_id: number; role: Role }): ProductEvent =>
  coreEvent("member.invited", organization_id, { invitation_id: id, role })

export const keyEvent = (verb: "created" | "expiring" | "revoked", key: ApiKey): ProductEvent =>
  coreEvent(`api_key.${verb}`, key.organization_id, {
    api_key_id: key.id,
    name: key.name,
    scopes: [...key.scopes],
    expires_at: key.expires_at === null ? null : instantText(key.expires_at),
  })
