import { type Actor, type AuditEntry, actingUserId, REDACTED } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { parseId } from "../../domain/id.ts"
import { API } from "../../domain/limits.ts"
import { ROLES } from "../../domain/membership.ts"
import type { PrivatePage } from "../../domain/response.ts"
import type { Site } from "../../domain/site.ts"
import { caseKey } from "../../domain/text.ts"
import { parseUserRemoval, type User } from "../../domain/user.ts"
import { revokePersonalKeys } from "../../store/catalog/api-keys.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import {
  listOpenInvitations,
  listUserFacts,
  type OpenInvitation,
  type SessionFacts,
  type UserFacts,
} from "../../store/catalog/instance-lists.ts"
import { listSiteMembers, memberOf, membershipOf, updateMembership } from "../../store/catalog/members.ts"
import { revokeImpersonationsBy } from "../../store/catalog/sessions.ts"
import { countInstanceAdmins, deleteSecondFactors, organizationsOwnedAlone, updateUserState, userById } from "../../store/catalog/users.ts"
import type { Handover } from "../access/handover.ts"
import type { Keys } from "../api-keys/api-keys.ts"
import { type Audit, userEntry } from "../audit/audit.ts"
import type { Outbox } from "../jobs/outbox.ts"
import { inSlices, type Place, readSortedPaging, type SortedPaging, sortedPage } from "../lists/paging.ts"
import type { MailQueue } from "../mail/mail.ts"
import { factorsResetEmail } from "../mail/texts.ts"
import type { Sessions } from "../sign-in/sessions.ts"
import { lastInstanceAdmin, removeUser } from "./own-account.ts"

/** Disabling, enabling, signing out and deleting users. */
export interface UserAccess {
  /** Disables a user. Their sessions, personal API keys and impersonations end immediately; memberships remain. Throws `last_instance_admin`. */
  disable(actor: Actor, id: string | undefined): Promise<ListedUser>
  enable(actor: Actor, id: string | undefined): Promise<ListedUser>
  /** Removes all second factors, ends all sessions and notifies the user by email. */
  resetSecondFactors(actor: Actor, id: string | undefined): Promise<ListedUser>
  signOut(actor: Actor, id: string | undefined): Promise<void>
  /**
   * Deletes a user. The body names new owners for the organizations that only this user owns:
   * `{transfer: [{organization_id, user_id}]}`. Throws `sole_owner` with these organizations, `last_instance_admin`,
   * `validation_failed`.
   */
  remove(actor: Actor, id: string | undefined, body: unknown): Promise<void>
}

interface UserAccessOptions {
  clock: Pick<Clock, "now">
  sessions: Pick<Sessions, "revokeAll">
  mail: Pick<MailQueue, "post" | "wake">
  outbox: Pick<Outbox, "write">
  handover: Pick<Handover, "memberLeaves">
  act: ActOnUser
  shown(id: number): Promise<ListedUser>
}

export function createUserAccess(options: UserAccessOptions): UserAccess {
  const { clock, sessions, mail, act, shown } = options
  return {
    async disable(actor, idText) {
      const { id } = await act(actor, idText, "disable", async (statements, user) => {
        if (user.status === "disabled") return undefined
        const now = clock.now()
        await updateUserState(statements, user.id, now)
        await sessions.revokeAll(statements, user.id)
        await revokeImpersonationsBy(statements, user.id, now)
        await revokePersonalKeys(statements, user.id, { now, by: actingUserId(actor) })
        await refuseNoAdmin(statements)
        return { status: ["active", "disabled"] }
      })
      return shown(id)
    },
    async enable(actor, idText) {
      const { id } = await act(actor, idText, "enable", async (statements, user) => {
        if (user.status === "active") return undefined
        await updateUserState(statements, user.id, null)
        return { status: ["disabled", "active"] }
      })
      return shown(id)
    },
    async resetSecondFactors(actor, idText) {
      const user = await act(actor, idText, "reset-mfa", async (statements, { id, email }) => {
        await deleteSecondFactors(statements, id)
        await sessions.revokeAll(statements, id)
        await mail.post(statements, factorsResetEmail(email))
        return { second_factors: [REDACTED, null] }
      })
      mail.wake()
      return shown(user.id)
    },
    async signOut(actor, idText) {
      await act(actor, idText, "sign-out", async (statements, { id }) => {
        await sessions.revokeAll(statements, id)
        return {}
      })
    },
    async remove(actor, idText, body) {
      const newOwners = parseUserRemoval(body)
      await act(actor, idText, "delete", async (statements, user) => {
        await transferOrganizations(statements, user.id, newOwners)
        const now = clock.now()
        await revokeImpersonationsBy(statements, user.id, now)
        await revokePersonalKeys(statements, user.id, { now, by: actingUserId(actor) })
        await sessions.revokeAll(statements, user.id)
        await removeUser(statements, user.id, actingUserId(actor), options)
        return { email: [user.email, null] }
      })
    },
  }
}

/**
 * Makes another active member the owner of every organization that only this user owns. `newOwners` maps organization ids to user ids.
 * Throws `sole_owner` with the organizations that have no valid new owner.
 */
export async function transferOrganizations(statements: Statements, userId: number, newOwners: ReadonlyMap<number, number>): Promise<void> {
  const alone = await organizationsOwnedAlone(statements, userId)
  const left: { id: number; name: string }[] = []
  for (const organization of alone) {
    const newOwnerId = newOwners.get(organization.id)
    const member = newOwnerId === undefined || newOwnerId === userId ? undefined : await memberOf(statements, organization.id, newOwnerId)
    const membership = member?.status === "active" ? await membershipOf(statements, organization.id, member.user_id) : undefined
    if (membership) await updateMembership(statements, membership.id, { role: "owner", grants: [], denies: [] })
    else left.push(organization)
  }
  if (left.length > 0)
    throw new AppError(
      "sole_owner",
      "The user is the only owner of some organizations. Name another active member as the new owner of each of them.",
      {
        organizations: left,
      },
    )
}

/**
 * An action on one user and its audit entry, in one transaction. `work` returns the changes, undefined if there are none: then no entry
 * is written. Throws `user_not_found`.
 */
export type ActOnUser = (
  actor: Actor,
  idText: string | undefined,
  verb: string,
  work: (statements: Statements, user: User) => Promise<AuditEntry["changes"]>,
) => Promise<User>

export const actingOnUsers =
  (catalog: Catalog, audit: Audit): ActOnUser =>
  (actor, idText, verb, work) =>
    catalog.transaction(async (statements) => {
      const user = await findUser(statements, idText)
      const changes = await work(statements, user)
      if (changes) await audit.write(statements, actor, { ...userEntry(`admin.user.${verb}`)(user), changes })
      return user
    })

/** Returns a user. Throws `user_not_found`, also for a deleted user. */
export async function findUser(statements: Statements, idText: string | undefined): Promise<User> {
  const user = await userById(statements, parseId(idText) ?? 0)
  if (!user || user.status === "deleted") throw userNotFound()
  return user
}

/** Throws `last_instance_admin` if no active instance admin remains. Call it after a change, in its transaction. */
export async function refuseNoAdmin(statements: Statements): Promise<void> {
  if ((await countInstanceAdmins(statements)) === 0) throw lastInstanceAdmin()
}

export const userNotFound = () => new AppError("user_not_found", "There is no user with this id.")

/** The API keys and members that lose access to a site when it is transferred to another organization. */
export interface DetachedAccess {
  api_keys: { id: number; name: string }[]
  site_members: { user_id: number; email: string; role: string }[]
}

interface EndingsOptions {
  catalog: Catalog
  keys: Pick<Keys, "list">
  sessions: Pick<Sessions, "revoke">
  audit: Pick<Audit, "write">
}

/** Lets instance admins end sessions of users and see who loses access to a transferred site. */
export function createEndings({ catalog, keys, sessions, audit }: EndingsOptions) {
  return {
    async detachedBy({ id, organization_id }: Site): Promise<DetachedAccess> {
      const named = (await keys.list(organization_id)).filter(({ site_ids, revoked_at }) => revoked_at === null && site_ids?.includes(id))
      const members = await listSiteMembers(catalog, id)
      return {
        api_keys: named.map((key) => ({ id: key.id, name: key.name })),
        site_members: members.map(({ user_id, email, role }) => ({ user_id, email, role })),
      }
    },
    async endSession(actor: Actor, { id, email }: Pick<SessionFacts, "id" | "email">): Promise<void> {
      await catalog.transaction(async (statements) => {
        if (!(await sessions.revoke(statements, id))) return
        await audit.write(statements, actor, { action: "admin.session.end", target: { type: "session", id, label: email } })
      })
    },
  }
}

/** A user in the list of the admin console, or an invited person who has no account yet. */
export type ListedUser = Omit<UserFacts, "id" | "status"> & {
  /** Null while the invitation is not accepted. */
  id: number | null
  status: UserFacts["status"] | "invited"
  invitation_id?: number
}

const STATUSES = ["active", "invited", "disabled"] as const
const MFA = ["true", "false"] as const
const SORTS = ["email", "created_at", "last_seen_at"] as const

const PARAMETERS = ["q", "role", "status", "organization", "mfa", "sort"] as const

/** Reads filters and cursor of the user list. `q` is searched for in names and email addresses. Throws `invalid_query`, `invalid_cursor`. */
export const readUserPaging = (query: Record<string, unknown>) =>
  readSortedPaging("admin/users", query, PARAMETERS, (reader) => ({
    q: reader.text("q", { min: 0, max: API.searchChars }) ?? "",
    role: reader.choice("role", ROLES),
    status: reader.choice("status", STATUSES),
    organization: reader.integer("organization", { min: 1, max: Number.MAX_SAFE_INTEGER }),
    mfa: reader.choice("mfa", MFA),
    sort: reader.choice("sort", SORTS) ?? "email",
  }))

type Filters = ReturnType<typeof readUserPaging>["filters"]

/** Returns all users and invited people. Reads them in slices, so that no statement blocks the catalog for long. */
export async function listedUsers(catalog: Statements, now: number): Promise<ListedUser[]> {
  const users = await inSlices((slice) => listUserFacts(catalog, now, slice))
  const invited = (await inSlices((slice) => listOpenInvitations(catalog, now, slice))).filter(({ has_account }) => !has_account)
  const byAddress = Map.groupBy(invited, ({ email_key }) => email_key)
  return [...users, ...[...byAddress.values()].map(invitedUser)]
}

/** Returns a page of the users that match the filters. */
export const pageOfUsers = (all: readonly ListedUser[], paging: SortedPaging<Filters>): PrivatePage<ListedUser> =>
  sortedPage(
    all.filter((user) => fits(user, paging.filters)),
    (user) => placeOf(user, paging.filters.sort),
    paging,
  )

/** Returns the sort key of a user: by address, or the most recent first. Ids break ties, and invitations come after users. */
function placeOf(user: ListedUser, sort: Filters["sort"]): Place {
  const id = user.id ?? 2 ** 50 + user.invitation_id!
  return sort === "email" ? [caseKey(user.email), id] : [-(user[sort] ?? 0), -id]
}

function fits(user: ListedUser, { q, role, status, organization, mfa }: Filters): boolean {
  const part = caseKey(q)
  const has = user.organizations.filter(
    (each) => (role === undefined || each.role === role) && (organization === undefined || each.id === organization),
  )
  return (
    [user.name, user.email].some((each) => caseKey(each).includes(part)) &&
    (status === undefined || user.status === status) &&
    ((role === undefined && organization === undefined) || has.length > 0) &&
    (mfa === undefined || (user.totp || user.passkeys > 0) === (mfa === "true"))
  )
}

function invitedUser(invitations: OpenInvitation[]): ListedUser {
  const [first] = invitations // a group is never empty
  return {
    id: null,
    invitation_id: first!.id,
    email: first!.email,
    name: "",
    status: "invited",
    is_instance_admin: false,
    organizations: invitations.map(({ organization_id, organization, role }) => ({ id: organization_id, name: organization, role })),
    totp: false,
    passkeys: 0,
    password: false,
    oidc: [],
    created_at: first!.created_at,
    last_login_at: null,
    last_seen_at: null,
    sessions: 0,
    api_keys: 0,
    version: 1,
  }
}
