import { Type as t } from "@sinclair/typebox"
import type { Clock } from "../../domain/clock.ts"
import { AppError, refuseFaults } from "../../domain/error.ts"
import { parseId } from "../../domain/id.ts"
import { ORGANIZATION } from "../../domain/limits.ts"
import {
  lastOwner,
  missingPermission,
  parseRemoval,
  parseTransfer,
  patchMember,
  RoleInput,
  refuseEscalation,
  tooManyGuests,
  userNotFound,
} from "../../domain/membership.ts"
import type { Role } from "../../domain/organization.ts"
import { organizationPermissions, type Permissions, type SiteRole } from "../../domain/permission.ts"
import { memberEvent } from "../../domain/product-event.ts"
import { fault, inspect } from "../../domain/shape.ts"
import { caseKey } from "../../domain/text.ts"
import { type Expected, refuseOtherVersion, refuseStaleBody } from "../../domain/version.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import {
  countGuests,
  countOwners,
  deleteMembership,
  insertMembership,
  listMembers,
  listSiteRoles,
  type Member,
  type Membership,
  memberOf,
  membershipOf,
  siteRolesOf,
  updateMembership,
} from "../../store/catalog/members.ts"
import { userById } from "../../store/catalog/users.ts"
import type { Handover } from "../access/handover.ts"
import type { Alongside } from "../definitions/site-things.ts"
import type { Outbox } from "../jobs/outbox.ts"
import type { Sessions } from "../sign-in/sessions.ts"

/** A member with their site-specific roles. */
export interface ListedMember extends Member {
  site_roles: { site_id: number; role: SiteRole }[]
}

/** The author of a change: the id of a member, or the instance (an admin or the command line), which has all permissions. */
export type Giver = number | "instance"

export interface MemberTerms {
  expected?: Expected
  alongside?: Alongside<Member>
  /** Returns the member as the API shows it, for the `version_conflict` error. */
  current?(member: Member): object
}

/** The email address of the owner, before or after a transfer. */
export interface Ownership {
  owner: string
}

/**
 * The members of an organization. The author's permissions are read in the transaction of the change, so that concurrent requests cannot
 * leave an organization without an owner or use a role that was just revoked. A user who is not a member is `user_not_found`.
 */
export interface Members {
  /** Returns the members in the order they joined. `q` is searched for in names and email addresses. */
  list(organizationId: number, filters?: { q?: string | undefined; role?: Role | undefined }): Promise<ListedMember[]>
  get(organizationId: number, user: string | number | undefined): Promise<Member>
  /** Applies a merge patch to role, grants and denies. Throws `validation_failed`, `forbidden`, `last_owner`, `version_conflict`. */
  update(organizationId: number, user: string | undefined, patch: unknown, by: Giver, terms?: MemberTerms): Promise<ListedMember>
  /** Removes a member. Throws `forbidden`, `last_owner`, and `validation_failed` for an invalid `transfer_to`. */
  remove(organizationId: number, user: string | undefined, body: unknown, by: Giver, terms?: MemberTerms): Promise<void>
  /** Removes a member at their own request. Throws `last_owner`. */
  leave(organizationId: number, userId: number, alongside?: Alongside<Member>): Promise<void>
  /** Makes another member the owner and the current owner an admin. Throws `forbidden`, `validation_failed`. */
  transferOwnership(organizationId: number, body: unknown, by: number, alongside?: Alongside<Ownership>): Promise<void>
}

interface MembersOptions {
  /** Sessions of a member get a new token when the member's role changes. */
  sessions: Pick<Sessions, "renewAll">
  catalog: Catalog
  clock: Pick<Clock, "now">
  permissions: Permissions
  outbox: Pick<Outbox, "write">
  handover: Pick<Handover, "memberLeaves">
}

export function createMembers({ catalog, clock, permissions, sessions, outbox, handover }: MembersOptions): Members {
  async function find(statements: Statements, organizationId: number, user: string | number | undefined): Promise<Member> {
    const member = await memberOf(statements, organizationId, parseId(user) ?? 0)
    if (!member) throw userNotFound()
    return member
  }
  /** Returns the author's current membership, undefined for the instance. Throws `forbidden`. */
  async function giverOf(statements: Statements, organizationId: number, by: Giver): Promise<Membership | undefined> {
    if (by === "instance") return undefined
    const giver = await membershipOf(statements, organizationId, by)
    if (!giver || !organizationPermissions(giver, permissions).has("members:write")) throw missingPermission("members:write")
    return giver
  }
  async function withSites(statements: Statements, organizationId: number, members: readonly Member[]): Promise<ListedMember[]> {
    const rows = Map.groupBy(await listSiteRoles(statements, organizationId), ({ user_id }) => user_id)
    return members.map((member) => ({
      ...member,
      site_roles: (rows.get(member.user_id) ?? []).map(({ site_id, role }) => ({ site_id, role })),
    }))
  }
  async function end(
    statements: Statements,
    organizationId: number,
    before: Member,
    { by, transferTo }: { by: number | null; transferTo?: number | undefined },
  ): Promise<void> {
    await deleteMembership(statements, { organizationId, userId: before.user_id, now: clock.now(), by })
    if (before.role === "owner" && (await countOwners(statements, organizationId)) === 0) throw lastOwner()
    await handover.memberLeaves(statements, { organizationId, userId: before.user_id, transferTo, by })
    await outbox.write(statements, memberEvent("removed", { organizationId, userId: before.user_id, role: before.role }))
  }

  return {
    async list(organizationId, { q = "", role } = {}) {
      const part = caseKey(q)
      const all = await listMembers(catalog, organizationId)
      const found = all.filter(
        (member) =>
          (role === undefined || member.role === role) && [member.name, member.email].some((text) => caseKey(text).includes(part)),
      )
      return withSites(catalog, organizationId, found)
    },
    get: (organizationId, user) => find(catalog, organizationId, user),
    update: (organizationId, user, patch, by, { expected, alongside, current = (member: Member): object => member } = {}) =>
      catalog.transaction(async (statements) => {
        const before = await find(statements, organizationId, user)
        const { version, ...position } = patchMember(before, patch, permissions)
        const giver = await giverOf(statements, organizationId, by)
        if (giver) refuseEscalation(giver, before, position, permissions)
        refuseOtherVersion(before, expected)
        refuseStaleBody(before, version, current)
        if (!Bun.deepEquals({ ...before, ...position }, before)) {
          await updateMembership(statements, before.id, position)
          if (before.role === "owner" && (await countOwners(statements, organizationId)) === 0) throw lastOwner()
          await sessions.renewAll(statements, before.user_id)
          if (position.role === "guest") await refuseTooManyGuests(statements, organizationId, before.user_id)
          await alongside?.(statements, { before, after: await find(statements, organizationId, user) })
        }
        const [after] = await withSites(statements, organizationId, [await find(statements, organizationId, user)])
        return after!
      }),
    async remove(organizationId, user, body, by, { expected, alongside } = {}) {
      await catalog.transaction(async (statements) => {
        const before = await find(statements, organizationId, user)
        const staying = (await listMembers(statements, organizationId)).map(({ user_id }) => user_id)
        const { transfer_to } = parseRemoval(body, new Set(staying.filter((id) => id !== before.user_id)))
        const giver = await giverOf(statements, organizationId, by)
        if (giver) refuseEscalation(giver, before, undefined, permissions)
        refuseOtherVersion(before, expected)
        await end(statements, organizationId, before, { by: giver?.user_id ?? null, transferTo: transfer_to })
        await alongside?.(statements, { before })
      })
    },
    async leave(organizationId, userId, alongside) {
      await catalog.transaction(async (statements) => {
        const before = await find(statements, organizationId, userId)
        await end(statements, organizationId, before, { by: userId })
        await alongside?.(statements, { before })
      })
    },
    async transferOwnership(organizationId, body, by, alongside) {
      await catalog.transaction(async (statements) => {
        const members = await listMembers(statements, organizationId)
        const giver = members.find(({ user_id }) => user_id === by)
        const candidates = members.filter(({ user_id, role, status }) => user_id !== by && role !== "guest" && status === "active")
        const { user_id } = parseTransfer(body, new Set(candidates.map((newOwner) => newOwner.user_id)))
        if (giver?.role !== "owner") throw missingPermission("org:delete", "Only an owner can transfer the ownership of an organization.")
        const newOwner = candidates.find((member) => member.user_id === user_id)! // one of the candidates
        await updateMembership(statements, newOwner.id, { role: "owner", grants: [], denies: [] })
        await updateMembership(statements, giver.id, { role: "admin", grants: [], denies: [] })
        for (const user of [newOwner, giver]) await sessions.renewAll(statements, user.user_id)
        await alongside?.(statements, { before: { owner: giver.email }, after: { owner: newOwner.email } })
      })
    },
  }
}

/** Throws `limit_reached` if a site of the user has too many guests. Call it after the user became a guest. */
async function refuseTooManyGuests(statements: Statements, organizationId: number, userId: number): Promise<void> {
  for (const { site_id } of await siteRolesOf(statements, userId))
    if ((await countGuests(statements, organizationId, site_id)) > ORGANIZATION.guestsPerSite) throw tooManyGuests()
}

/** Member management for instance admins, who can also make members owners. */
export interface ConsoleMembers extends Pick<Members, "list" | "remove"> {
  /** Adds a user to an organization or changes a member's role. Throws `user_not_found` and the errors of `Members.update`. */
  put(organizationId: number, user: string | undefined, body: unknown, terms: MemberTerms): Promise<ListedMember>
}

const RoleBody = t.Object({ role: RoleInput }, { additionalProperties: false, title: "MemberRole" })

/** Reads the role of a new member. Guests are refused, because only an invitation names their sites. */
function parseRole(body: unknown): Role {
  const { fields, faults } = inspect(RoleBody, body)
  const isGuest = fields.role === "guest"
  refuseFaults(
    isGuest
      ? [fault("/role", "invalid_choice", "must be a role in the whole organization: guests are invited to single sites instead")]
      : faults,
  )
  return fields.role! // present, because there is no fault
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
        if (!found || found.status === "deleted") throw new AppError("user_not_found", "There is no user with this id.")
        await insertMembership(statements, { organizationId, userId, role, now: clock.now() })
        await outbox.write(statements, memberEvent("joined", { organizationId, userId, role }))
        await terms.alongside?.(statements, { after: (await memberOf(statements, organizationId, userId))! }) // just inserted
      })
      return (await members.list(organizationId)).find(({ user_id }) => user_id === userId)! // just inserted
    },
  }
}
