import { Type as t } from "@sinclair/typebox"
import type { Actor } from "../domain/audit.ts"
import { REDACTED } from "../domain/audit.ts"
import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import { parseId } from "../domain/id.ts"
import { patchProfile } from "../domain/profile.ts"
import type { Session } from "../domain/session.ts"
import { parsed, parsePasswordChange } from "../domain/sign-in-input.ts"
import type { User } from "../domain/user.ts"
import { type Expected, refuseOtherVersion, refuseStaleBody } from "../domain/version.ts"
import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import { deleteMembership } from "../store/catalog/members.ts"
import { countOwners, membershipsOf } from "../store/catalog/memberships.ts"
import { voidTickets } from "../store/catalog/tickets.ts"
import {
  anonymizeUser,
  countInstanceAdmins,
  deleteWaysIn,
  passwordHashOf,
  updatePassword,
  updateProfile,
  userById,
} from "../store/catalog/users.ts"
import { organizationNotFound } from "./access.ts"
import { type Audit, recorded } from "./audit.ts"
import type { PostedMail } from "./mail.ts"
import { passwordChangedLetter } from "./mail-texts.ts"
import type { Members } from "./members.ts"
import type { Outbox } from "./outbox.ts"
import type { Passwords } from "./passwords.ts"
import { memberEvent } from "./product-events.ts"
import type { Person, Sessions } from "./sessions.ts"
import { invalidCredentials, type SignIn } from "./sign-in.ts"
import type { Origin } from "./sign-in-limits.ts"

/** Somebody who changes what is theirs. */
export type Self = Person & { actor: Actor; origin: Origin }

/** What people may do to their own account; each change leaves a row in the audit log. */
export interface OwnAccount {
  /** A merge patch. Throws `validation_failed`, `version_conflict`, `precondition_failed`. */
  update(self: Self, patch: unknown, terms: { expected: Expected; current(user: User): object }): Promise<User>
  /** The body has `current` and `password`. All other sessions end. Throws `invalid_credentials`, `validation_failed`. */
  changePassword(self: Self, body: unknown): Promise<void>
  sessions(self: Self): Promise<Session[]>
  /** Throws `session_not_found`. */
  endSession(self: Self, id: string | undefined): Promise<void>
  endOtherSessions(self: Self): Promise<void>
  /** The body has `organization_id`. Throws `organization_not_found`, `last_owner`. */
  leave(self: Self, body: unknown): Promise<void>
  /** Throws `last_owner`, `last_instance_admin`. */
  remove(self: Self): Promise<void>
}

interface OwnAccountOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  audit: Audit
  sessions: Sessions
  passwords: Passwords
  mail: PostedMail
  signIn: SignIn
  members: Pick<Members, "leave">
  outbox: Pick<Outbox, "write">
}

const LeaveInput = t.Object({ organization_id: t.Integer({ minimum: 1 }) }, { additionalProperties: false })

export function createOwnAccount(options: OwnAccountOptions): OwnAccount {
  const { catalog, clock, audit, sessions, passwords, mail, signIn, members, outbox } = options

  return {
    update: ({ user: { id }, actor }, patch, { expected, current }) =>
      catalog.transaction(async (statements) => {
        const before = (await userById(statements, id))! // whoever is signed in has a row
        const { profile, version } = patchProfile(before, patch)
        refuseOtherVersion(before, expected)
        refuseStaleBody(before, version, current)
        if (Bun.deepEquals({ ...before, ...profile }, before)) return before
        const after = await updateProfile(statements, id, profile)
        await recorded(audit, actor, userDeed("accounts.user.update"))(statements, { before, after })
        return after
      }),
    async changePassword(self, body) {
      const { user, session, actor } = self
      const { current, password } = parsePasswordChange(body)
      const accepted = await passwords.accept(password, { email: user.email })
      // Whoever signs in otherwise may have none yet.
      const hasOne = (await passwordHashOf(catalog, user.id)) !== null
      if (hasOne && !(await signIn.verifies(user, current ?? "", self))) throw invalidCredentials()
      const hash = await passwords.hash(accepted)
      await catalog.transaction(async (statements) => {
        await updatePassword(statements, user.id, hash)
        await voidTickets(statements, user.id, clock.now())
        await sessions.revokeAll(statements, user.id, session.id)
        await audit.write(statements, actor, { ...userDeed("accounts.password.change")(user), changes: { password: [REDACTED, REDACTED] } })
        await mail.post(statements, passwordChangedLetter(user.email))
      })
      mail.wake()
    },
    sessions: ({ user }) => sessions.list(user.id),
    async endSession({ user, actor }, idText) {
      const id = parseId(idText) ?? 0
      await catalog.transaction(async (statements) => {
        const own = (await sessions.list(user.id, statements)).some((session) => session.id === id)
        if (!own || !(await sessions.revoke(statements, id))) throw sessionNotFound()
        await audit.write(statements, actor, sessionDeed("accounts.session.end", id))
      })
    },
    async endOtherSessions({ user, session, actor }) {
      await catalog.transaction(async (statements) => {
        await sessions.revokeAll(statements, user.id, session.id)
        await audit.write(statements, actor, userDeed("accounts.session.end-others")(user))
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
        // First, while it still says who it was.
        await audit.write(statements, actor, userDeed("accounts.user.delete")(user))
        await removeUser(statements, user.id, clock.now(), outbox)
        await sessions.revokeAll(statements, user.id)
      })
    },
  }
}

/**
 * Takes somebody out of every organization and leaves a row without a name. Throws `last_owner` and `last_instance_admin`,
 * looked up in the transaction: two who go at the same time cannot both be the last but one.
 */
export async function removeUser(statements: Statements, userId: number, now: number, outbox: Pick<Outbox, "write">): Promise<void> {
  for (const { organization_id, role } of await membershipsOf(statements, userId)) {
    await deleteMembership(statements, { organizationId: organization_id, userId, now, by: userId })
    if (role === "owner" && (await countOwners(statements, organization_id)) === 0)
      throw new AppError("last_owner", "Make somebody else an owner of each of your organizations first, or delete it.")
    await outbox.write(statements, memberEvent("removed", { organizationId: organization_id, userId, role }))
  }
  const wasAdmin = (await userById(statements, userId))?.is_instance_admin
  await deleteWaysIn(statements, userId)
  await anonymizeUser(statements, userId, now)
  if (wasAdmin && (await countInstanceAdmins(statements)) === 0) throw lastInstanceAdmin()
}

async function refuseForeign(catalog: Catalog, userId: number, organizationId: number): Promise<void> {
  const own = (await membershipsOf(catalog, userId)).some(({ organization_id }) => organization_id === organizationId)
  if (!own) throw organizationNotFound()
}

export const userDeed =
  (action: string) =>
  ({ id, email }: Pick<User, "id" | "email">) => ({ action, target: { type: "user", id, label: email } })

export const sessionDeed = (action: string, id: number) => ({ action, target: { type: "session", id, label: "" } })

export const lastInstanceAdmin = () => new AppError("last_instance_admin", "Make somebody else an instance admin first.")
const sessionNotFound = () => new AppError("session_not_found", "You have no live session with this id.")
