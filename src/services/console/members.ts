import { Type as t } from "@sinclair/typebox"
import type { Clock } from "../../domain/clock.ts"
import { AppError, refuseFaults } from "../../domain/error.ts"
import { parseId } from "../../domain/id.ts"
import { RoleInput } from "../../domain/membership.ts"
import type { Role } from "../../domain/organization.ts"
import { fault, inspect } from "../../domain/shape.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { memberOf } from "../../store/catalog/members.ts"
import { insertMembership } from "../../store/catalog/memberships.ts"
import { userById } from "../../store/catalog/users.ts"
import type { ListedMember, Members, MemberTerms } from "../members.ts"
import type { Outbox } from "../outbox.ts"
import { memberEvent } from "../product-events.ts"

/** Members of any organization; instance admins may also make owners. */
export interface ConsoleMembers extends Pick<Members, "list" | "remove"> {
  /** Makes a user a member, or changes what a member is. Throws `user_not_found`, and what a change of a member throws. */
  put(organizationId: number, user: string | undefined, body: unknown, terms: MemberTerms): Promise<ListedMember>
}

const RoleBody = t.Object({ role: RoleInput }, { additionalProperties: false, title: "MemberRole" })

/** A guest has rows of sites, which an invitation gives. */
function parseRole(body: unknown): Role {
  const { fields, faults } = inspect(RoleBody, body)
  const isGuest = fields.role === "guest"
  refuseFaults(isGuest ? [fault("/role", "invalid_choice", "must be a role in the whole organization: a guest is invited")] : faults)
  return fields.role! // no fault: it is there
}

interface Options {
  catalog: Catalog
  clock: Pick<Clock, "now">
  members: Members
  outbox: Pick<Outbox, "write">
}

export function createConsoleMembers({ catalog, clock, members, outbox }: Options): ConsoleMembers {
  return {
    list: members.list,
    remove: members.remove,
    async put(organizationId, user, body, terms) {
      const userId = parseId(user) ?? 0
      if (await memberOf(catalog, organizationId, userId)) return members.update(organizationId, user, body, "instance", terms)
      const role = parseRole(body)
      await catalog.transaction(async (statements) => {
        const found = await userById(statements, userId)
        if (!found || found.status === "deleted") throw new AppError("user_not_found", "No user has this id")
        await insertMembership(statements, { organizationId, userId, role, now: clock.now() })
        await outbox.write(statements, memberEvent("joined", { organizationId, userId, role }))
        await terms.alongside?.(statements, { after: (await memberOf(statements, organizationId, userId))! }) // it was just made
      })
      return (await members.list(organizationId)).find(({ user_id }) => user_id === userId)! // the same
    },
  }
}
