import type { Actor } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { type IdentityProvider, mappedRoles, readRoleMap } from "../../domain/identity-provider.ts"
import { isAbove, missingPermission, permissionsOfRole, refuseUnheldPermissions } from "../../domain/membership.ts"
import { allPermissions, organizationPermissions, type Permissions } from "../../domain/permission.ts"
import { memberEvent } from "../../domain/product-event.ts"
import type { ProviderFields } from "../../domain/provider-input.ts"
import type { User } from "../../domain/user.ts"
import type { Statements } from "../../store/catalog/catalog.ts"
import { deleteMembership, membershipOf } from "../../store/catalog/members.ts"
import { organizationsMappedBy, putMappedRole, replaceMappedSites, restoreGivenRole, roleOriginOf } from "../../store/catalog/oidc.ts"
import { listOrganizations, organizationById } from "../../store/catalog/organizations.ts"
import type { Handover } from "../access/handover.ts"
import type { Audit } from "../audit/audit.ts"
import type { Outbox } from "../jobs/outbox.ts"
import { actorAs } from "../sign-in/session.ts"
import type { Sessions } from "../sign-in/sessions.ts"

/**
 * Grants a user the roles that their groups at the provider map to, and revokes roles that the map granted before and no longer grants.
 * Owners are never changed, and a role that a member granted is restored when the map no longer applies. Each change writes an audit
 * entry, because no member of the organization has made it.
 */
export type ApplyRoleMap = (
  statements: Statements,
  provider: IdentityProvider,
  who: { user: User; groups: readonly string[]; actor: Actor },
) => Promise<void>

interface RoleMappingOptions {
  clock: Pick<Clock, "now">
  sessions: Pick<Sessions, "renewAll">
  audit: Pick<Audit, "write">
  outbox: Pick<Outbox, "write">
  handover: Pick<Handover, "memberLeaves">
}

export function roleMapping({ clock, sessions, audit, outbox, handover }: RoleMappingOptions): ApplyRoleMap {
  return async (statements, provider, { user, groups, actor }) => {
    const first = provider.organizationId ?? (await firstOrganization(statements))
    if (first === undefined) return
    const given = mappedRoles(limitedToOwn(provider), groups, first)
    const before = await organizationsMappedBy(statements, provider.id, user.id)
    let isChanged = false
    for (const organizationId of new Set([...before, ...given.keys()])) {
      const origin = await roleOriginOf(statements, organizationId, user.id)
      if (origin?.role === "owner" || !(await organizationById(statements, organizationId))) continue
      const mapped = given.get(organizationId)
      const { role, siteIds } = mapped ?? { role: undefined, siteIds: [] }
      const sites = { organizationId, userId: user.id, role: "viewer", siteIds, provider: provider.id, now: clock.now() } as const
      if (role === undefined) await revokeMappedRole(statements, organizationId, user.id, origin?.given_role, clock.now())
      else if (origin?.role !== role || origin.provider !== provider.id)
        await putMappedRole(statements, { organizationId, userId: user.id, role, provider: provider.id, now: clock.now() })
      await replaceMappedSites(statements, sites)
      const after = (await roleOriginOf(statements, organizationId, user.id))?.role
      if (origin?.role === after) continue
      isChanged = true
      if (!origin && after) await outbox.write(statements, memberEvent("joined", { organizationId, userId: user.id, role: after }))
      if (origin && !after) {
        await handover.memberLeaves(statements, { organizationId, userId: user.id, by: null })
        await outbox.write(statements, memberEvent("removed", { organizationId, userId: user.id, role: origin.role }))
      }
      await audit.write(statements, actorAs(actor, user), {
        action: "accounts.member.map",
        target: { type: "user", id: user.id, label: user.email },
        organizationId,
        changes: { role: [origin?.role ?? null, after ?? null], provider: [null, provider.id] },
      })
    }
    if (isChanged) await sessions.renewAll(statements, user.id)
  }
}

/** Returns the role map of a provider. That of an organization's provider applies to this organization only. */
const limitedToOwn = ({ organizationId, roleMap }: IdentityProvider): IdentityProvider["roleMap"] =>
  organizationId === null
    ? roleMap
    : Object.fromEntries(Object.entries(roleMap).map(([group, entry]) => [group, { ...entry, organizationId }]))

async function revokeMappedRole(
  statements: Statements,
  organizationId: number,
  userId: number,
  given: unknown,
  now: number,
): Promise<void> {
  if (given) await restoreGivenRole(statements, organizationId, userId)
  else await deleteMembership(statements, { organizationId, userId, now, by: null })
}

const firstOrganization = async (statements: Statements): Promise<number | undefined> =>
  (await listOrganizations(statements, { after: 0, limit: 1 }))[0]?.id

/**
 * Throws `forbidden` if a role map grants a role that the author may not grant. Checked at every change of the provider, because the map
 * keeps granting its roles.
 */
export async function refuseMapBeyond(
  statements: Statements,
  organizationId: number,
  { role_map, enabled }: ProviderFields,
  { userId, permissions }: { userId: number; permissions: Permissions },
): Promise<void> {
  const giver = await membershipOf(statements, organizationId, userId)
  if (!giver || !organizationPermissions(giver, permissions).has("org:write")) throw missingPermission("org:write")
  for (const { role } of enabled ? Object.values(readRoleMap(role_map) ?? {}) : []) {
    if (isAbove(role, giver.role)) throw new AppError("forbidden", `The role map grants the role ${role}, which is higher than your own.`)
    refuseUnheldPermissions(permissionsOfRole(role, permissions), allPermissions(giver, permissions))
  }
}
