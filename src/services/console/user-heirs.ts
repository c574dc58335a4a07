import { AppError } from "../../domain/error.ts"
import type { Statements } from "../../store/catalog/catalog.ts"
import { memberOf, updateMembership } from "../../store/catalog/members.ts"
import { membershipOf } from "../../store/catalog/memberships.ts"
import { organizationsOwnedAlone } from "../../store/catalog/user-states.ts"

/** Every organization that the user owns alone gets another owner, one of its active members. Throws `sole_owner`. */
export async function handOver(statements: Statements, userId: number, heirs: ReadonlyMap<number, number>): Promise<void> {
  const alone = await organizationsOwnedAlone(statements, userId)
  const left: { id: number; name: string }[] = []
  for (const organization of alone) {
    const heir = heirs.get(organization.id)
    const member = heir === undefined || heir === userId ? undefined : await memberOf(statements, organization.id, heir)
    const membership = member?.status === "active" ? await membershipOf(statements, organization.id, member.user_id) : undefined
    if (membership) await updateMembership(statements, membership.id, { role: "owner", grants: [], denies: [] })
    else left.push(organization)
  }
  if (left.length > 0)
    throw new AppError("sole_owner", "Name another active member as owner of each organization that the user owns alone.", {
      organizations: left,
    })
}
