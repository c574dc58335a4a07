import type { Actor } from "../domain/audit.ts"
import type { Clock } from "../domain/clock.ts"
import { type IdentityProvider, mappedRoles } from "../domain/identity-provider.ts"
import type { User } from "../domain/user.ts"
import type { Statements } from "../store/catalog/catalog.ts"
import { deleteMembership } from "../store/catalog/members.ts"
import { organizationsMappedBy, putMappedRole, replaceMappedSites, restoreGivenRole, roleOriginOf } from "../store/catalog/oidc.ts"
import { listOrganizations, organizationById } from "../store/catalog/organizations.ts"
import type { Audit } from "./audit.ts"
import type { Outbox } from "./outbox.ts"
import { memberEvent } from "./product-events.ts"
import type { Sessions } from "./sessions.ts"
import { actorAs } from "./sign-in-session.ts"

/**
 * Gives a user the roles that the groups at the provider map to, and takes back those that it gave before and gives no more.
 * Owners are never touched, and what people gave comes back with the map's end. Each role that changes has a row in the log:
 * nobody of the organization has done it.
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
}

export function roleMapping({ clock, sessions, audit, outbox }: RoleMappingOptions): ApplyRoleMap {
  return async (statements, provider, { user, groups, actor }) => {
    const first = provider.organizationId ?? (await firstOrganization(statements))
    if (first === undefined) return
    const given = mappedRoles(onlyOwn(provider), groups, first)
    const before = await organizationsMappedBy(statements, provider.id, user.id)
    let isChanged = false
    for (const organizationId of new Set([...before, ...given.keys()])) {
      const origin = await roleOriginOf(statements, organizationId, user.id)
      if (origin?.role === "owner" || !(await organizationById(statements, organizationId))) continue
      const mapped = given.get(organizationId)
      const { role, siteIds } = mapped ?? { role: undefined, siteIds: [] }
      const sites = { organizationId, userId: user.id, role: "viewer", siteIds, provider: provider.id, now: clock.now() } as const
      if (role === undefined) await takeBack(statements, organizationId, user.id, origin?.given_role, clock.now())
      else if (origin?.role !== role || origin.provider !== provider.id)
        await putMappedRole(statements, { organizationId, userId: user.id, role, provider: provider.id, now: clock.now() })
      await replaceMappedSites(statements, sites)
      const after = (await roleOriginOf(statements, organizationId, user.id))?.role
      if (origin?.role === after) continue
      isChanged = true
      if (!origin && after) await outbox.write(statements, memberEvent("joined", { organizationId, userId: user.id, role: after }))
      if (origin && !after) await outbox.write(statements, memberEvent("removed", { organizationId, userId: user.id, role: origin.role }))
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

/** A provider of an organization speaks for that one, whatever its map says. */
const onlyOwn = ({ organizationId, roleMap }: IdentityProvider): IdentityProvider["roleMap"] =>
  organizationId === null
    ? roleMap
    : Object.fromEntries(Object.entries(roleMap).map(([group, entry]) => [group, { ...entry, organizationId }]))

async function takeBack(statements: Statements, organizationId: number, userId: number, given: unknown, now: number): Promise<void> {
  if (given) await restoreGivenRole(statements, organizationId, userId)
  else await deleteMembership(statements, { organizationId, userId, now, by: null })
}

const firstOrganization = async (statements: Statements): Promise<number | undefined> =>
  (await listOrganizations(statements, { after: 0, limit: 1 }))[0]?.id
