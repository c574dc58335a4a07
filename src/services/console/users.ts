import { type Actor, type Deed, REDACTED } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { parseId } from "../../domain/id.ts"
import { caseKey } from "../../domain/text.ts"
import type { User } from "../../domain/user.ts"
import { parseNewUser, parseUserPatch, parseUserRemoval } from "../../domain/user-input.ts"
import { type Expected, refuseOtherVersion, refuseStaleBody } from "../../domain/version.ts"
import { revokePersonalKeys } from "../../store/catalog/api-keys.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { memberOf, updateMembership } from "../../store/catalog/members.ts"
import { insertMembership, membershipOf } from "../../store/catalog/memberships.ts"
import { organizationById } from "../../store/catalog/organizations.ts"
import { revokeImpersonationsBy } from "../../store/catalog/sessions.ts"
import { deleteSecondFactors, organizationsOwnedAlone, updateUserFields, updateUserState } from "../../store/catalog/user-states.ts"
import { countInstanceAdmins, insertUser, userById } from "../../store/catalog/users.ts"
import { organizationNotFound } from "../access.ts"
import { type Audit, recorded } from "../audit.ts"
import type { PostedMail } from "../mail.ts"
import type { Letter } from "../mail-port.ts"
import { resetLetter } from "../mail-texts.ts"
import type { OneTimeTokens } from "../one-time-tokens.ts"
import { lastInstanceAdmin, removeUser, userDeed } from "../own-account.ts"
import type { PrivatePage } from "../paging.ts"
import { resetLink } from "../password-reset.ts"
import type { Passwords } from "../passwords.ts"
import type { Sessions } from "../sessions.ts"
import { factorsResetLetter, welcomeLetter } from "./user-letters.ts"
import { type ListedUser, listedUsers, pageOfUsers, readUserPaging } from "./user-list.ts"

/** A user with the link to choose a password, where no mail brings it: shown this once. */
export type LinkedUser = { user: ListedUser; link?: string }

/**
 * What instance admins and the command line do to users. Each act leaves one row in the audit log, in its transaction; whether
 * an instance admin is left is looked up there too, so that two requests cannot take each other down.
 */
export interface ConsoleUsers {
  /** Throws `invalid_query`, `invalid_cursor`. */
  list(query: Record<string, unknown>): Promise<PrivatePage<ListedUser>>
  /** Throws `user_not_found`, also for one that was deleted. */
  get(id: string | number | undefined): Promise<ListedUser>
  /** Throws `validation_failed`, `email_taken`, `organization_not_found`. */
  create(actor: Actor, body: unknown): Promise<LinkedUser>
  /** A merge patch. Throws `validation_failed`, `email_taken`, `last_instance_admin`, `version_conflict`. */
  update(actor: Actor, id: string | undefined, patch: unknown, expected?: Expected): Promise<ListedUser>
  /** Sessions, personal keys and impersonations end at once; memberships stay. Throws `last_instance_admin`. */
  disable(actor: Actor, id: string | undefined): Promise<ListedUser>
  enable(actor: Actor, id: string | undefined): Promise<ListedUser>
  /** Mails a link, or answers it. */
  resetPassword(actor: Actor, id: string | undefined): Promise<{ link?: string }>
  /** The user is told by mail. */
  resetSecondFactors(actor: Actor, id: string | undefined): Promise<ListedUser>
  signOut(actor: Actor, id: string | undefined): Promise<void>
  /**
   * The body says who owns what the user owns alone: `{transfer: [{organization_id, user_id}]}`. Throws `sole_owner` with the
   * organizations, `last_instance_admin`, `validation_failed`.
   */
  remove(actor: Actor, id: string | undefined, body: unknown): Promise<void>
}

export interface ConsoleUsersOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  audit: Audit
  sessions: Sessions
  passwords: Passwords
  tokens: OneTimeTokens
  mail: PostedMail
  /** Under which people reach the instance. */
  publicUrl(): string
}

const HOUR_MS = 3_600_000
const RESET_MS = HOUR_MS
/** Whoever was just made may be away for a while. */
const WELCOME_MS = 7 * 24 * HOUR_MS

export function createConsoleUsers(options: ConsoleUsersOptions): ConsoleUsers {
  const { catalog, clock, audit, sessions, passwords, tokens, mail } = options

  async function shown(id: number): Promise<ListedUser> {
    const found = (await listedUsers(catalog, clock.now())).find((user) => user.id === id)
    if (!found) throw userNotFound()
    return found
  }

  /** An act on one user, in one transaction with its row in the log. */
  async function act(
    actor: Actor,
    idText: string | undefined,
    verb: string,
    work: (statements: Statements, user: User) => Promise<Deed["changes"]>,
  ): Promise<User> {
    return catalog.transaction(async (statements) => {
      const user = await find(statements, idText)
      const changes = await work(statements, user)
      if (changes) await audit.write(statements, actor, { ...userDeed(`admin.user.${verb}`)(user), changes })
      return user
    })
  }

  /** Posts the letter with the link; without a mail server, or when no mail is wanted, the link comes back. */
  async function linkFor(
    statements: Statements,
    { id, email }: User,
    { lifeMs, letter, isMailed = true }: { lifeMs: number; letter: (to: string, link: string) => Letter; isMailed?: boolean },
  ): Promise<string | undefined> {
    const token = await tokens.issue(statements, { purpose: "reset", userId: id, payload: {}, lifeMs })
    const link = resetLink(options.publicUrl(), token)
    if (!isMailed || !mail.isOn()) return link
    await mail.post(statements, letter(email, link))
    return undefined
  }

  return {
    async list(query) {
      const paging = readUserPaging(query)
      return pageOfUsers(await listedUsers(catalog, clock.now()), paging)
    },
    get: (id) => shown(parseId(id) ?? 0),
    async create(actor, body) {
      const { password, membership, send_invitation, ...fields } = parseNewUser(body)
      const password_hash = password === undefined ? null : await passwords.hash(await passwords.accept(password, { email: fields.email }))
      const made = await catalog.transaction(async (statements) => {
        const now = clock.now()
        const user = await insertUser(statements, { ...fields, email_key: caseKey(fields.email), password_hash, created_at: now })
        if (!user) throw emailTaken()
        if (membership) await join(statements, user.id, membership, now)
        await recorded<User>(audit, actor, userDeed("admin.user.create"))(statements, { after: user })
        if (password_hash !== null) return { id: user.id }
        return {
          id: user.id,
          link: await linkFor(statements, user, { lifeMs: WELCOME_MS, letter: welcomeLetter, isMailed: send_invitation }),
        }
      })
      mail.wake()
      return { user: await shown(made.id), ...(made.link !== undefined && { link: made.link }) }
    },
    async update(actor, idText, patch, expected) {
      const { version, ...fields } = parseUserPatch(patch)
      const current = await shown(parseId(idText) ?? 0)
      await catalog.transaction(async (statements) => {
        const before = await find(statements, idText)
        refuseOtherVersion(before, expected)
        refuseStaleBody(before, version, () => current)
        const after = { ...before, ...fields }
        if (Bun.deepEquals(after, before)) return
        if (!(await updateUserFields(statements, before.id, { ...after, email_key: caseKey(after.email) }))) throw emailTaken()
        if (before.is_instance_admin !== after.is_instance_admin) {
          await sessions.renewAll(statements, before.id)
          await revokeImpersonationsBy(statements, before.id, clock.now())
          await refuseNoAdmin(statements)
        }
        await recorded<User>(audit, actor, userDeed("admin.user.update"))(statements, { before, after })
      })
      return shown(current.id!)
    },
    async disable(actor, idText) {
      const { id } = await act(actor, idText, "disable", async (statements, user) => {
        if (user.status === "disabled") return undefined
        const now = clock.now()
        await updateUserState(statements, user.id, now)
        await sessions.revokeAll(statements, user.id)
        await revokeImpersonationsBy(statements, user.id, now)
        await revokePersonalKeys(statements, user.id, { now, by: actor.kind === "user" ? (actor.id ?? null) : null })
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
    async resetPassword(actor, idText) {
      let link: string | undefined
      await act(actor, idText, "reset-password", async (statements, user) => {
        link = await linkFor(statements, user, { lifeMs: RESET_MS, letter: resetLetter })
        return { reset_link: [null, REDACTED] }
      })
      mail.wake()
      return link === undefined ? {} : { link }
    },
    async resetSecondFactors(actor, idText) {
      const user = await act(actor, idText, "reset-mfa", async (statements, { id, email }) => {
        await deleteSecondFactors(statements, id)
        await sessions.revokeAll(statements, id)
        await mail.post(statements, factorsResetLetter(email))
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
      const heirs = parseUserRemoval(body)
      await act(actor, idText, "delete", async (statements, user) => {
        await handOver(statements, user.id, heirs)
        const now = clock.now()
        await revokeImpersonationsBy(statements, user.id, now)
        await revokePersonalKeys(statements, user.id, { now, by: actor.kind === "user" ? (actor.id ?? null) : null })
        await sessions.revokeAll(statements, user.id)
        await removeUser(statements, user.id, now)
        return { email: [user.email, null] }
      })
    },
  }
}

async function find(statements: Statements, idText: string | undefined): Promise<User> {
  const user = await userById(statements, parseId(idText) ?? 0)
  if (!user || user.status === "deleted") throw userNotFound()
  return user
}

async function join(
  statements: Statements,
  userId: number,
  { organizationId, role }: { organizationId: number; role: Parameters<typeof insertMembership>[1]["role"] },
  now: number,
): Promise<void> {
  if (!(await organizationById(statements, organizationId))) throw organizationNotFound()
  await insertMembership(statements, { organizationId, userId, role, now })
}

/** Every organization that the user owns alone gets another owner, one of its active members. */
async function handOver(statements: Statements, userId: number, heirs: ReadonlyMap<number, number>): Promise<void> {
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

async function refuseNoAdmin(statements: Statements): Promise<void> {
  if ((await countInstanceAdmins(statements)) === 0) throw lastInstanceAdmin()
}

const userNotFound = () => new AppError("user_not_found", "No user has this id")
const emailTaken = () => new AppError("email_taken", "Another user has this address")
