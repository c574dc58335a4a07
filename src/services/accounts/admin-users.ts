import { type Actor, REDACTED } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { parseId } from "../../domain/id.ts"
import { caseKey } from "../../domain/text.ts"
import type { User } from "../../domain/user.ts"
import { parseNewUser, parseUserPatch } from "../../domain/user-input.ts"
import { type Expected, refuseOtherVersion, refuseStaleBody } from "../../domain/version.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { insertMembership } from "../../store/catalog/memberships.ts"
import { organizationById } from "../../store/catalog/organizations.ts"
import { revokeImpersonationsBy } from "../../store/catalog/sessions.ts"
import { updateUserFields } from "../../store/catalog/user-states.ts"
import { insertUser } from "../../store/catalog/users.ts"
import { organizationNotFound } from "../access.ts"
import { type Audit, recorded } from "../audit.ts"
import type { PostedMail } from "../mail.ts"
import type { OneTimeTokens } from "../one-time-tokens.ts"
import type { Outbox } from "../outbox.ts"
import { userDeed } from "../own-account.ts"
import type { PrivatePage } from "../paging.ts"
import type { Passwords } from "../passwords.ts"
import type { Sessions } from "../sessions.ts"
import type { Alongside } from "../site-things.ts"
import { createUserAccess, type UserAccess } from "./user-access.ts"
import { actingOnUsers, findUser, refuseNoAdmin, userNotFound } from "./user-act.ts"
import { type UserLinksOptions, userLinks } from "./user-links.ts"
import { type ListedUser, listedUsers, pageOfUsers, readUserPaging } from "./user-list.ts"

/** A user with the link to choose a password, where no mail brings it: shown this once. */
export type LinkedUser = { user: ListedUser; link?: string }

/**
 * What instance admins and the command line do to users. Each act leaves one row in the audit log, in its transaction; whether
 * an instance admin is left is looked up there too, so that two requests cannot take each other down.
 */
export interface ConsoleUsers extends UserAccess {
  /** Throws `invalid_query`, `invalid_cursor`. */
  list(query: Record<string, unknown>): Promise<PrivatePage<ListedUser>>
  /** Throws `user_not_found`, also for one that was deleted. */
  get(id: string | number | undefined): Promise<ListedUser>
  /** Throws `validation_failed`, `email_taken`, `organization_not_found`. */
  create(actor: Actor, body: unknown, kept?: Alongside<LinkedUser>): Promise<LinkedUser>
  /** A merge patch. Throws `validation_failed`, `email_taken`, `last_instance_admin`, `version_conflict`. */
  update(actor: Actor, id: string | undefined, patch: unknown, expected?: Expected): Promise<ListedUser>
  /** Mails a link, or answers it. */
  resetPassword(actor: Actor, id: string | undefined, kept?: Alongside<{ link?: string }>): Promise<{ link?: string }>
}

export interface ConsoleUsersOptions extends UserLinksOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  audit: Audit
  sessions: Sessions
  passwords: Passwords
  tokens: OneTimeTokens
  mail: PostedMail
  outbox: Pick<Outbox, "write">
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
    async create(actor, body, kept) {
      const { password, membership, send_invitation, ...fields } = parseNewUser(body)
      const password_hash = password === undefined ? null : await passwords.hash(await passwords.accept(password, { email: fields.email }))
      const made = await catalog.transaction(async (statements) => {
        const now = clock.now()
        const user = await insertUser(statements, { ...fields, email_key: caseKey(fields.email), password_hash, created_at: now })
        if (!user) throw emailTaken()
        if (membership) await join(statements, user.id, membership, now)
        await recorded<User>(audit, actor, userDeed("admin.user.create"))(statements, { after: user })
        const link = password_hash === null ? await links.welcome(statements, user, send_invitation) : undefined
        const linked: LinkedUser = { user: await shown(user.id, statements), ...(link !== undefined && { link }) }
        await kept?.(statements, { after: linked })
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
        // Whoever reads the letters of the former address must not get in by one of them.
        if (before.email !== after.email) await tokens.void(statements, before.id, "reset", "change_email", "undo_email")
        if (before.is_instance_admin !== after.is_instance_admin) {
          await sessions.renewAll(statements, before.id)
          await revokeImpersonationsBy(statements, before.id, clock.now())
          await refuseNoAdmin(statements)
        }
        await recorded<User>(audit, actor, userDeed("admin.user.update"))(statements, { before, after })
      })
      return shown(current.id!)
    },
    async resetPassword(actor, idText, kept) {
      let made: { link?: string } = {}
      await act(actor, idText, "reset-password", async (statements, user) => {
        const link = await links.reset(statements, user)
        made = link === undefined ? {} : { link }
        await kept?.(statements, { after: made })
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
  if (!(await organizationById(statements, organizationId))) throw organizationNotFound()
  await insertMembership(statements, { organizationId, userId, role, now })
}

const emailTaken = () => new AppError("email_taken", "Another user has this address")
