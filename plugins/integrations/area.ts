import type { Static } from "@sinclair/typebox"
import { type Actor, AppError, type Host, type Site, versionsIn } from "#plugin"
import type { Chat } from "./chat/chat.ts"
import type { Integrations } from "./lifecycle.ts"
import type { Search } from "./search/search.ts"
import type { Settings } from "./settings.ts"
import type { Deliveries } from "./webhooks/deliveries.ts"
import type { Webhooks } from "./webhooks/webhooks.ts"

export type IntegrationsHost = Host<Static<typeof Settings>>

/** The parts of the plugin. */
export interface Area {
  host: IntegrationsHost
  webhooks: Webhooks
  deliveries: Deliveries
  chat: Chat
  integrations: Integrations
  search: Search
}

/** User who changes something, and the site on whose page. */
export interface Author {
  site: Site
  actor: Actor
  userId: number
  /** Session of the user. Present where access is granted on a page of another service. */
  sessionId?: number
  expected?: readonly number[] | undefined
}

/** Returns the author of a change from the call of a route. */
export const authorOf = ({
  site,
  actor,
  user,
  request,
}: Pick<Author, "site" | "actor"> & { user: { id: number }; request: Request }): Author => ({
  site,
  actor,
  userId: user.id,
  expected: versionsIn(request.headers.get("if-match")),
})

export type Scope = "site" | "organization"

/** A thing of one site, or of an organization as a whole. */
export interface Scoped {
  organization_id: number
  site_id: number | null
}

export const scopeOf = ({ site_id }: Scoped): Scope => (site_id === null ? "organization" : "site")

/** Whether a user manages what belongs to the organization as a whole: by their role there, not by a site-specific one. */
export const managesOrganization = async (host: IntegrationsHost, site: Site, userId: number, permission: string): Promise<boolean> =>
  (await host.services.access.byRole(userId, site.organization_id)).has(permission)

/** Throws `forbidden` unless the user may change things of this scope. The route has already checked the permission on the site. */
export async function refuseScope(host: IntegrationsHost, { site, userId }: Author, scope: Scope, permission: string): Promise<void> {
  if (scope === "site" || (await managesOrganization(host, site, userId, permission))) return
  throw new AppError("forbidden", `This requires the permission ${permission} in the whole organization.`, {
    required_permission: permission,
  })
}

/** Throws `outbound_disabled` if nothing can be connected on this instance. */
export function refuseOffline({ outbound }: IntegrationsHost): void {
  if (outbound.enabled) return
  throw new AppError("outbound_disabled", "Outgoing requests are turned off on this instance. The setting is FOOTFALL_OUTBOUND.")
}

/** Throws `outbound_disabled` or `blocked_address` for a URL that could never be called. Its IP address is checked with each request. */
export function refuseUrl(host: IntegrationsHost, url: string): void {
  refuseOffline(host)
  host.outbound.check(url)
}

/** Returns a URL as people recognize it: its host, and its last four characters. The rest is a secret. */
export function urlLabel(url: string): string {
  const { host } = new URL(url)
  return url.length > host.length + 20 ? `${host}/…${url.slice(-4)}` : host
}
