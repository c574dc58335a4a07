import { type Actor, REDACTED } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { parseId } from "../../domain/id.ts"
import type { PrivatePage } from "../../domain/response.ts"
import { caseKey } from "../../domain/text.ts"
import { parseNewUser, parseUserPatch, type User } from "../../domain/user.ts"
import { type Expected, refuseOtherVersion, refuseStaleBody } from "../../domain/version.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { insertMembership } from "../../store/catalog/members.ts"
import { organizationById } from "../../store/catalog/organizations.ts"
import { revokeImpersonationsBy } from "../../store/catalog/sessions.ts"
import { insertUser, updateUserFields, userByEmailKey } from "../../store/catalog/users.ts"
import { organizationNotFound } from "../access/access.ts"
import type { Handover } from "../access/handover.ts"
import { type Audit, recorded, userEntry } from "../audit/audit.ts"
import type { Alongside } from "../definitions/site-things.ts"
import type { Outbox } from "../jobs/outbox.ts"
import type { EmailMessage, MailQueue } from "../mail/mail.ts"
import { passwordResetEmail, welcomeEmail } from "../mail/texts.ts"
import type { OneTimeTokens } from "../sign-in/one-time-tokens.ts"
import { type ResetPayload, resetLink } from "../sign-in/password-reset.ts"
import type { Passwords } from "../sign-in/passwords.ts"
import type { Sessions } from "../sign-in/sessions.ts"
import {
  actingOnUsers,
  createUserAccess,
  findUser,
  type ListedUser,
  listedUsers,
  pageOfUsers,
  readUserPaging,
  refuseNoAdmin,
  type UserAccess,
  userNotFound,
} from "./user-access.ts"

/** A user and, if no email was sent, the link to choose a password. The link is shown only once. */
export type LinkedUser = { user: ListedUser; link?: string }

/**
 * User management for instance admins and the command line. Each action writes one audit entry in its transaction. The transaction also
 * checks that an active instance admin remains, so that two concurrent requests cannot remove the last two.
 */
export interface ConsoleUsers extends UserAccess {
  /** Returns a page of users. Throws `invalid_query`, `invalid_cursor`. */
  list(query: Record<string, unknown>): Promise<PrivatePage<ListedUser>>
  /** Returns a user. Throws `user_not_found`, also for a deleted user. */
  get(id: string | number | undefined): Promise<ListedUser>
  /** Creates a user. Throws `validation_failed`, `email_taken`, `organization_not_found`. */
  create(actor: Actor, body: unknown, storeResponse?: Alongside<LinkedUser>): Promise<LinkedUser>
  /** Applies a merge patch to a user. Throws `validation_failed`, `email_taken`, `last_instance_admin`, `version_conflict`. */
  update(actor: Actor, id: string | undefined, patch: unknown, expected?: Expected): Promise<ListedUser>
  /** Emails a link to choose a new password, or returns it if the instance has no mail server. */
  resetPassword(actor: Actor, id: string | undefined, storeResponse?: Alongside<{ link?: string }>): Promise<{ link?: string }>
}

export interface ConsoleUsersOptions extends UserLinksOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  audit: Audit
  sessions: Sessions
  passwords: Passwords
  tokens: OneTimeTokens
  mail: MailQueue
  outbox: Pick<Outbox, "write">
  handover: Pick<Handover, "memberLeaves">
}

export function createConsoleUsers(options: ConsoleUsersOptions): ConsoleUsers {
  const { catalog, clock, audit, sessions, passwords, tokens, mail } = options
  const act = actingOnUsers(catalog, audit)
  const links = userLinks(options)

  async function shown(id: number, statements: Statements = catalog): Promise<ListedUser> {
    const found = (await listedUsers(statements, clock.now())).find((user) => user.id === id)
    if (!found) throw userNotFound()
    return found
  }

  return {
    ...createUserAccess({ ...options, act, shown }),
    async list(query) {
      const paging = readUserPaging(query)
      return pageOfUsers(await listedUsers(catalog, clock.now()), paging)
    },
    get: (id) => shown(parseId(id) ?? 0),
    async create(actor, body, storeResponse) {
      const { password, membership, send_invitation, ...fields } = parseNewUser(body)
      const accepted = password === undefined ? undefined : await passwords.accept(password, { email: fields.email })
      // Hashing is slow, so conflicts are detected before it. The transaction checks them again.
      if (await userByEmailKey(catalog, caseKey(fields.email))) throw emailTaken()
      if (membership) await refuseUnknownOrganization(catalog, membership.organizationId)
      const password_hash = accepted === undefined ? null : await passwords.hash(accepted)
      const made = await catalog.transaction(async (statements) => {
        const now = clock.now()
        const user = await insertUser(statements, { ...fields, email_key: caseKey(fields.email), password_hash, created_at: now })
        if (!user) throw emailTaken()
        if (membership) await join(statements, user.id, membership, now)
        await recorded<User>(audit, actor, userEntry("admin.user.create"))(statements, { after: user })
        const link = password_hash === null ? await links.welcome(statements, user, send_invitation) : undefined
        const linked: LinkedUser = { user: await shown(user.id, statements), ...(link !== undefined && { link }) }
        await storeResponse?.(statements, { after: linked })
        return linked
      })
      mail.wake()
      return made
    },
    async update(actor, idText, patch, expected) {
      const { version, ...fields } = parseUserPatch(patch)
      const current = await shown(parseId(idText) ?? 0)
      await catalog.transaction(async (statements) => {
        const before = await findUser(statements, idText)
        refuseOtherVersion(before, expected)
        refuseStaleBody(before, version, () => current)
        const after = { ...before, ...fields }
        if (Bun.deepEquals(after, before)) return
        if (!(await updateUserFields(statements, before.id, { ...after, email_key: caseKey(after.email) }))) throw emailTaken()
        // A person who can read the mailbox of the old address must not be able to sign in with a link sent there.
        if (before.email !== after.email) await tokens.void(statements, before.id, "reset", "change_email", "undo_email")
        if (before.is_instance_admin !== after.is_instance_admin) {
          await sessions.renewAll(statements, before.id)
          await revokeImpersonationsBy(statements, before.id, clock.now())
          await refuseNoAdmin(statements)
        }
        await recorded<User>(audit, actor, userEntry("admin.user.update"))(statements, { before, after })
      })
      return shown(current.id!)
    },
    async resetPassword(actor, idText, storeResponse) {
      let made: { link?: string } = {}
      await act(actor, idText, "reset-password", async (statements, user) => {
        const link = await links.reset(statements, user)
        made = link === undefined ? {} : { link }
        await storeResponse?.(statements, { after: made })
        return { reset_link: [null, REDACTED] }
      })
      mail.wake()
      return made
    },
  }
}

async function join(
  statements: Statements,
  userId: number,
  { organizationId, role }: { organizationId: number; role: Parameters<typeof insertMembership>[1]["role"] },
  now: number,
): Promise<void> {
  await refuseUnknownOrganization(statements, organizationId)
  await insertMembership(statements, { organizationId, userId, role, now })
}

async function refuseUnknownOrganization(statements: Statements, id: number): Promise<void> {
  if (!(await organizationById(statements, id))) throw organizationNotFound()
}

const emailTaken = () => new AppError("email_taken", "Another user has this email address.")

/** Creates links to choose a password. A link is emailed, or returned if there is no mail server or no email is wanted. */
interface UserLinks {
  welcome(statements: Statements, user: User, isMailed: boolean): Promise<string | undefined>
  reset(statements: Statements, user: User): Promise<string | undefined>
}

export interface UserLinksOptions {
  tokens: Pick<OneTimeTokens, "issue">
  mail: Pick<MailQueue, "isOn" | "post">
  /** Returns the base URL of the instance. */
  publicUrl(): string
}

const HOUR_MS = 3_600_000
const RESET_MS = HOUR_MS
/** A new user may not read the email for some days. */
const WELCOME_MS = 7 * 24 * HOUR_MS

interface Terms {
  lifeMs: number
  compose: (to: string, link: string) => EmailMessage
  isMailed: boolean
}

export function userLinks({ tokens, mail, publicUrl }: UserLinksOptions): UserLinks {
  async function linkFor(statements: Statements, { id, email }: User, { lifeMs, compose, isMailed }: Terms): Promise<string | undefined> {
    const payload: ResetPayload = { mailed: isMailed && mail.isOn() }
    const token = await tokens.issue(statements, { purpose: "reset", userId: id, payload, lifeMs })
    const link = resetLink(publicUrl(), token)
    if (!payload.mailed) return link
    await mail.post(statements, compose(email, link))
    return undefined
  }
  return {
    welcome: (statements, user, isMailed) => linkFor(statements, user, { lifeMs: WELCOME_MS, compose: welcomeEmail, isMailed }),
    reset: (statements, user) => linkFor(statements, user, { lifeMs: RESET_MS, compose: passwordResetEmail, isMailed: true }),
  }
}
