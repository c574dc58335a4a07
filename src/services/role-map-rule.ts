import { AppError } from "../domain/error.ts"
import { readRoleMap } from "../domain/identity-provider.ts"
import { givenByRole, isAbove, lacking, refuseUnheld } from "../domain/membership.ts"
import { allPermissions, organizationPermissions, type Permissions } from "../domain/permission.ts"
import type { ProviderFields } from "../domain/provider-input.ts"
import type { Statements } from "../store/catalog/catalog.ts"
import { membershipOf } from "../store/catalog/memberships.ts"

/**
 * Nobody maps groups to a role that they could not give. A map gives, and goes on giving whenever the provider is changed.
 * Throws `forbidden`.
 */
export async function refuseMapBeyond(
  statements: Statements,
  organizationId: number,
  { role_map, enabled }: ProviderFields,
  { userId, permissions }: { userId: number; permissions: Permissions },
): Promise<void> {
  const giver = await membershipOf(statements, organizationId, userId)
  if (!giver || !organizationPermissions(giver, permissions).has("org:write")) throw lacking("org:write")
  for (const { role } of enabled ? Object.values(readRoleMap(role_map) ?? {}) : []) {
    if (isAbove(role, giver.role)) throw new AppError("forbidden", `The role ${role} of the map is above your own.`)
    refuseUnheld(givenByRole(role, permissions), allPermissions(giver, permissions))
  }
}
