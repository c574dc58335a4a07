import type { Clock } from "../domain/clock.ts"
import { parseId } from "../domain/id.ts"
import { ORGANIZATION } from "../domain/limits.ts"
import {
  lacking,
  lastOwner,
  parseRemoval,
  parseTransfer,
  patchMember,
  refuseBeyond,
  tooManyGuests,
  userNotFound,
} from "../domain/membership.ts"
import type { Role } from "../domain/organization.ts"
import { organizationPermissions, type Permissions, type SiteRole } from "../domain/permission.ts"
import { caseKey } from "../domain/text.ts"
import { type Expected, refuseOtherVersion, refuseStaleBody } from "../domain/version.ts"
import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import {
  countGuests,
  deleteMembership,
  listMembers,
  listSiteRoles,
  type Member,
  memberOf,
  updateMembership,
} from "../store/catalog/members.ts"
import { countOwners, type Membership, membershipOf, siteRolesOf } from "../store/catalog/memberships.ts"
import type { Outbox } from "./outbox.ts"
import { memberEvent } from "./product-events.ts"
import type { Sessions } from "./sessions.ts"
import type { Alongside } from "./site-things.ts"

/** A member with the rows of sites. */
export interface ListedMember extends Member {
  site_roles: { site_id: number; role: SiteRole }[]
}

/** Who changes a member: a user of the organization, or the instance itself, which may do anything. */
export type Giver = number | "instance"

export interface MemberTerms {
  expected?: Expected
  alongside?: Alongside<Member>
  /** The member as answers show one, for a caller whose version is old. */
  current?(member: Member): object
}

/** An ownership before and after it passes on. */
export interface Ownership {
  owner: string
}

/**
 * Who belongs to an organization. Whatever somebody may do to others is looked up in the transaction of the change, so that
 * requests at the same time cannot leave an organization without an owner, or use a role that was just lost. A user who is no
 * member is `user_not_found`.
 */
export interface Members {
  /** In the order they joined; `q` is looked for in name and address. */
  list(organizationId: number, filters?: { q?: string | undefined; role?: Role | undefined }): Promise<ListedMember[]>
  get(organizationId: number, user: string | number | undefined): Promise<Member>
  /** A merge patch of role, grants and denies. Throws `validation_failed`, `forbidden`, `last_owner`, `version_conflict`. */
  update(organizationId: number, user: string | undefined, patch: unknown, by: Giver, terms?: MemberTerms): Promise<ListedMember>
  /** Throws `forbidden`, `last_owner`, and `validation_failed` for a bad `transfer_to`. */
  remove(organizationId: number, user: string | undefined, body: unknown, by: Giver, terms?: MemberTerms): Promise<void>
  /** Somebody goes by themself. Throws `last_owner`. */
  leave(organizationId: number, userId: number, alongside?: Alongside<Member>): Promise<void>
  /** The giver becomes admin. Throws `forbidden`, `validation_failed`. */
  transferOwnership(organizationId: number, body: unknown, by: number, alongside?: Alongside<Ownership>): Promise<void>
}

interface MembersOptions {
  /** Whose rights change goes on under another token. */
  sessions: Pick<Sessions, "renewAll">
  catalog: Catalog
  clock: Pick<Clock, "now">
  permissions: Permissions
  outbox: Pick<Outbox, "write">
}

export function createMembers({ catalog, clock, permissions, sessions, outbox }: MembersOptions): Members {
  async function find(statements: Statements, organizationId: number, user: string | number | undefined): Promise<Member> {
    const member = await memberOf(statements, organizationId, parseId(user) ?? 0)
    if (!member) throw userNotFound()
    return member
  }
  /** What the giver is now; undefined for the instance. */
  async function giverOf(statements: Statements, organizationId: number, by: Giver): Promise<Membership | undefined> {
    if (by === "instance") return undefined
    const giver = await membershipOf(statements, organizationId, by)
    if (!giver || !organizationPermissions(giver, permissions).has("members:write")) throw lacking("members:write")
    return giver
  }
  async function withSites(statements: Statements, organizationId: number, members: readonly Member[]): Promise<ListedMember[]> {
    const rows = Map.groupBy(await listSiteRoles(statements, organizationId), ({ user_id }) => user_id)
    return members.map((member) => ({
      ...member,
      site_roles: (rows.get(member.user_id) ?? []).map(({ site_id, role }) => ({ site_id, role })),
    }))
  }
  async function end(statements: Statements, organizationId: number, before: Member, by: number | null): Promise<void> {
    await deleteMembership(statements, { organizationId, userId: before.user_id, now: clock.now(), by })
    if (before.role === "owner" && (await countOwners(statements, organizationId)) === 0) throw lastOwner()
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
        if (giver) refuseBeyond(giver, before, position, permissions)
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
        parseRemoval(body, new Set(staying.filter((id) => id !== before.user_id)))
        const giver = await giverOf(statements, organizationId, by)
        if (giver) refuseBeyond(giver, before, undefined, permissions)
        refuseOtherVersion(before, expected)
        await end(statements, organizationId, before, giver?.user_id ?? null)
        await alongside?.(statements, { before })
      })
    },
    async leave(organizationId, userId, alongside) {
      await catalog.transaction(async (statements) => {
        const before = await find(statements, organizationId, userId)
        await end(statements, organizationId, before, userId)
        await alongside?.(statements, { before })
      })
    },
    async transferOwnership(organizationId, body, by, alongside) {
      await catalog.transaction(async (statements) => {
        const members = await listMembers(statements, organizationId)
        const giver = members.find(({ user_id }) => user_id === by)
        const heirs = members.filter(({ user_id, role, status }) => user_id !== by && role !== "guest" && status === "active")
        const { user_id } = parseTransfer(body, new Set(heirs.map((heir) => heir.user_id)))
        if (giver?.role !== "owner") throw lacking("org:delete", "Only an owner passes an organization on.")
        const heir = heirs.find((member) => member.user_id === user_id)! // it was just looked for
        await updateMembership(statements, heir.id, { role: "owner", grants: [], denies: [] })
        await updateMembership(statements, giver.id, { role: "admin", grants: [], denies: [] })
        for (const user of [heir, giver]) await sessions.renewAll(statements, user.user_id)
        await alongside?.(statements, { before: { owner: giver.email }, after: { owner: heir.email } })
      })
    },
  }
}

/** After somebody has become one. */
async function refuseTooManyGuests(statements: Statements, organizationId: number, userId: number): Promise<void> {
  for (const { site_id } of await siteRolesOf(statements, userId))
    if ((await countGuests(statements, organizationId, site_id)) > ORGANIZATION.guestsPerSite) throw tooManyGuests()
}
