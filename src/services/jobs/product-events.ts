/** The product events of the core, with the payloads that `domain/product-event.ts` describes. */

import type { Funnel } from "../../domain/funnel.ts"
import type { Goal } from "../../domain/goal.ts"
import type { ApiKey } from "../../domain/key.ts"
import { instantText } from "../../domain/moment.ts"
import type { Role } from "../../domain/organization.ts"
import type { CoreEvent, CoreEventPayload } from "../../domain/product-event.ts"
import type { Site } from "../../domain/site.ts"
import type { ProductEvent } from "./outbox.ts"

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
