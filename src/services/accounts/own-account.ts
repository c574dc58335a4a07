import { Type as t } from "@sinclair/typebox"
import type { Session } from "../../domain/account.ts"
import { REDACTED } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { parseId } from "../../domain/id.ts"
import { memberEvent } from "../../domain/product-event.ts"
import { parsed, parsePasswordChange } from "../../domain/sign-in.ts"
import { patchProfile, type User } from "../../domain/user.ts"
import { type Expected, refuseOtherVersion, refuseStaleBody } from "../../domain/version.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { countOwners, deleteMembership, membershipsOf } from "../../store/catalog/members.ts"
import { voidTickets } from "../../store/catalog/one-time-tokens.ts"
import {
  anonymizeUser,
  countInstanceAdmins,
  deleteUserAccess,
  passwordHashOf,
  updatePassword,
  updateProfile,
  userById,
} from "../../store/catalog/users.ts"
import { organizationNotFound } from "../access/access.ts"
import type { Handover } from "../access/handover.ts"
import { type Audit, recorded, sessionEntry, userEntry } from "../audit/audit.ts"
import type { Outbox } from "../jobs/outbox.ts"
import type { MailQueue } from "../mail/mail.ts"
import { passwordChangedEmail } from "../mail/texts.ts"
import type { Members } from "../organizations/members.ts"
import type { Passwords } from "../sign-in/passwords.ts"
import type { Self, Sessions } from "../sign-in/sessions.ts"
import { invalidCredentials, type SignIn } from "../sign-in/sign-in.ts"

/** Changes that users make to their own account. Each change writes an audit entry. */
export interface OwnAccount {
  /** Applies a merge patch to the profile. Throws `validation_failed`, `version_conflict`, `precondition_failed`. */
  update(self: Self, patch: unknown, terms: { expected: Expected; current(user: User): object }): Promise<User>
  /** Changes the password and ends all other sessions. The body has `current` and `password`. Throws `invalid_credentials`, `validation_failed`. */
  changePassword(self: Self, body: unknown): Promise<void>
  sessions(self: Self): Promise<Session[]>
  /** Ends one of the user's sessions. Throws `session_not_found`. */
  endSession(self: Self, id: string | undefined): Promise<void>
  endOtherSessions(self: Self): Promise<void>
  /** Leaves an organization. The body has `organization_id`. Throws `organization_not_found`, `last_owner`. */
  leave(self: Self, body: unknown): Promise<void>
  /** Deletes the account. Throws `last_owner`, `last_instance_admin`. */
  remove(self: Self): Promise<void>
}

interface OwnAccountOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  audit: Audit
  sessions: Sessions
  passwords: Passwords
  mail: MailQueue
  signIn: SignIn
  members: Pick<Members, "leave">
  outbox: Pick<Outbox, "write">
  handover: Pick<Handover, "memberLeaves">
}

const LeaveInput = t.Object({ organization_id: t.Integer({ minimum: 1 }) }, { additionalProperties: false })

export function createOwnAccount(options: OwnAccountOptions): OwnAccount {
  const { catalog, clock, audit, sessions, passwords, mail, signIn, members } = options

  return {
    update: ({ user: { id }, actor }, patch, { expected, current }) =>
      catalog.transaction(async (statements) => {
        const before = (await userById(statements, id))! // a signed-in user exists
        const { profile, version } = patchProfile(before, patch)
        refuseOtherVersion(before, expected)
        refuseStaleBody(before, version, current)
        if (Bun.deepEquals({ ...before, ...profile }, before)) return before
        const after = await updateProfile(statements, id, profile)
        await recorded(audit, actor, userEntry("accounts.user.update"))(statements, { before, after })
        return after
      }),
    async changePassword(self, body) {
      const { user, session, actor } = self
      const { current, password } = parsePasswordChange(body)
      const accepted = await passwords.accept(password, { email: user.email })
      // A user who signs in with a passkey or an identity provider may not have a password yet.
      const hasOne = (await passwordHashOf(catalog, user.id)) !== null
      if (hasOne && !(await signIn.verifies(user, current ?? "", self))) throw invalidCredentials()
      const hash = await passwords.hash(accepted)
      await catalog.transaction(async (statements) => {
        await updatePassword(statements, user.id, hash)
        await voidTickets(statements, user.id, clock.now())
        await sessions.revokeAll(statements, user.id, session.id)
        await audit.write(statements, actor, {
          ...userEntry("accounts.password.change")(user),
          changes: { password: [REDACTED, REDACTED] },
        })
        await mail.post(statements, passwordChangedEmail(user.email))
      })
      mail.wake()
    },
    sessions: ({ user }) => sessions.list(user.id),
    async endSession({ user, actor }, idText) {
      const id = parseId(idText) ?? 0
      await catalog.transaction(async (statements) => {
        const own = (await sessions.list(user.id, statements)).some((session) => session.id === id)
        if (!own || !(await sessions.revoke(statements, id))) throw sessionNotFound()
        await audit.write(statements, actor, sessionEntry("accounts.session.end", id))
      })
    },
    async endOtherSessions({ user, session, actor }) {
      await catalog.transaction(async (statements) => {
        await sessions.revokeAll(statements, user.id, session.id)
        await audit.write(statements, actor, userEntry("accounts.session.end-others")(user))
      })
    },
    async leave({ user, actor }, body) {
      const { organization_id } = parsed(LeaveInput, body)
      await refuseForeign(catalog, user.id, organization_id)
      await members.leave(
        organization_id,
        user.id,
        recorded(audit, actor, () => ({
          action: "accounts.membership.leave",
          target: { type: "user", id: user.id, label: user.email },
          organizationId: organization_id,
        })),
      )
    },
    async remove({ user, actor }) {
      await catalog.transaction(async (statements) => {
        // Written before the removal, which deletes the email address.
        await audit.write(statements, actor, userEntry("accounts.user.delete")(user))
        await removeUser(statements, user.id, user.id, options)
        await sessions.revokeAll(statements, user.id)
      })
    },
  }
}

/**
 * Removes a user from every organization and anonymizes their row. `by` is the id of the author. Throws `last_owner` and `last_instance_admin`. Both are checked in the
 * transaction, so that the last two owners or admins cannot be removed at the same time.
 */
export async function removeUser(
  statements: Statements,
  userId: number,
  by: number | null,
  { clock, outbox, handover }: Pick<OwnAccountOptions, "clock" | "outbox" | "handover">,
): Promise<void> {
  const now = clock.now()
  for (const { organization_id, role } of await membershipsOf(statements, userId)) {
    await deleteMembership(statements, { organizationId: organization_id, userId, now, by: userId })
    if (role === "owner" && (await countOwners(statements, organization_id)) === 0)
      throw new AppError(
        "last_owner",
        "You are the only owner of an organization. Make another member its owner, or delete the organization, and try again.",
      )
    await handover.memberLeaves(statements, { organizationId: organization_id, userId, by })
    await outbox.write(statements, memberEvent("removed", { organizationId: organization_id, userId, role }))
  }
  const wasAdmin = (await userById(statements, userId))?.is_instance_admin
  await deleteUserAccess(statements, userId)
  await anonymizeUser(statements, userId, now)
  if (wasAdmin && (await countInstanceAdmins(statements)) === 0) throw lastInstanceAdmin()
}

async function refuseForeign(catalog: Catalog, userId: number, organizationId: number): Promise<void> {
  const own = (await membershipsOf(catalog, userId)).some(({ organization_id }) => organization_id === organizationId)
  if (!own) throw organizationNotFound()
}

export const lastInstanceAdmin = () =>
  new AppError("last_instance_admin", "At least one active instance admin must remain. Make another user an instance admin first.")
const sessionNotFound = () => new AppError("session_not_found", "You have no active session with this id.")
