import { type Actor, REDACTED } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { AppError, type Fault } from "../../domain/error.ts"
import type { Organization } from "../../domain/organization.ts"
import type { SiteDefaults } from "../../domain/site-input.ts"
import { caseKey } from "../../domain/text.ts"
import { parseSetUp, type User } from "../../domain/user.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { insertMembership } from "../../store/catalog/members.ts"
import { voidTickets } from "../../store/catalog/one-time-tokens.ts"
import { insertOrganization, soleEmptyOrganization, updateOrganization } from "../../store/catalog/organizations.ts"
import { insertSetup, insertUser, isSetUp, listUsers, updatePassword, userByEmailKey, userNames } from "../../store/catalog/users.ts"
import { userEntry } from "../audit/audit.ts"
import { inSlices } from "../lists/paging.ts"
import { passwordChangedEmail } from "../mail/texts.ts"
import type { Passwords } from "../sign-in/passwords.ts"
import { type ConsoleUsersOptions, createConsoleUsers } from "./admin-users.ts"

/** The first user of an instance and their organization. */
export interface FirstUser {
  user: User
  organization: Organization
}

export interface Users {
  /** Whether the instance has ever had a user. */
  isSetUp(): Promise<boolean>
  /**
   * Creates the first user as instance admin and owner of the first organization. If the command line has already created an
   * organization, the user becomes its owner and it takes the given name. Exactly one of several parallel calls succeeds; the others and
   * all later calls throw `already_set_up`. The body has `email`, `name`, `password`, `organization` and optionally a `site`, which is
   * validated here and created by the caller.
   */
  setUp(body: unknown, alongside?: (statements: Statements, first: FirstUser) => Promise<void>): Promise<FirstUser>
  /** Returns the problems of a set-up body without creating anything. */
  setUpFaults(body: unknown): Promise<readonly Fault[]>
  /** Returns all users by ascending id. */
  list(): Promise<User[]>
  /** Returns the names of users by id. */
  names(ids: Iterable<number>): Promise<Map<number, string>>
  /** Returns the user with this email address, ignoring case. */
  byEmail(email: string): Promise<User | undefined>
  /** Sets a password. `alongside` runs in the same transaction. Throws `not_found`, `validation_failed`. */
  setPassword(email: string, password: string, alongside?: (statements: Statements, user: User) => Promise<void>): Promise<User>
}

interface UsersOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  passwords: Passwords
  siteDefaults: SiteDefaults
}

export function createUsers({ catalog, clock, passwords, siteDefaults }: UsersOptions): Users {
  const byEmail = (email: string) => userByEmailKey(catalog, caseKey(email.trim()))
  const accepted = async (body: unknown) => parseSetUp(body, { isCommon: await passwords.common(), siteDefaults })
  return {
    isSetUp: () => isSetUp(catalog),
    async setUp(body, alongside) {
      if (await isSetUp(catalog)) throw alreadySetUp()
      const { email, name, password, organization } = await accepted(body)
      const password_hash = await passwords.hash(password)
      return catalog.transaction(async (statements) => {
        if (await isSetUp(statements)) throw alreadySetUp()
        const now = clock.now()
        const admin = { email, email_key: caseKey(email), name, password_hash, is_instance_admin: true, created_at: now }
        const user = (await insertUser(statements, admin))! // the address is free, because there is no user yet
        const owned = await firstOrganization(statements, organization, now)
        await insertMembership(statements, { organizationId: owned.id, userId: user.id, role: "owner", now })
        await insertSetup(statements, { userId: user.id, now })
        await alongside?.(statements, { user, organization: owned })
        return { user, organization: owned }
      })
    },
    async setUpFaults(body) {
      try {
        await accepted(body)
        return []
      } catch (error) {
        if (error instanceof AppError && error.code === "validation_failed") return error.members.errors ?? []
        throw error
      }
    },
    names: async (ids) => new Map((await userNames(catalog, [...new Set(ids)])).map(({ id, name }) => [id, name])),
    list: () => inSlices((slice) => listUsers(catalog, slice)),
    byEmail,
    async setPassword(email, password, alongside) {
      const user = await byEmail(email)
      if (!user) throw new AppError("not_found", "There is no user with this email address.")
      const hash = await passwords.hash(await passwords.accept(password, { email: user.email }))
      await catalog.transaction(async (statements) => {
        await updatePassword(statements, user.id, hash)
        await alongside?.(statements, user)
      })
      return user
    },
  }
}

/** Returns the organization of the first user. Takes over one that the command line has created, so that its sites and keys get an owner. */
async function firstOrganization(statements: Statements, name: string, now: number): Promise<Organization> {
  const waiting = await soleEmptyOrganization(statements)
  if (!waiting) return insertOrganization(statements, { name, now })
  return updateOrganization(statements, waiting.id, { name, policy: waiting.policy }, now)
}

export const alreadySetUp = () => new AppError("already_set_up", "This instance is already set up: the first user exists.")

/** User management on the command line: the operations of the admin console, and setting a password. Users are named by their email address. */
export interface UserOperations {
  "user.list"(input: object): Promise<User[]>
  /** Creates a user. Without a password, the link to choose one is emailed, or returned if there is no mail server. */
  "user.create"(input: NewUserArguments): Promise<{ user: { id: number; email: string }; link?: string }>
  /** Sets a password and ends all sessions. */
  "user.passwd"(input: { email: string; password: string }): Promise<User>
  "user.disable"(input: UserAddress): Promise<User>
  "user.enable"(input: UserAddress): Promise<User>
  "user.reset-mfa"(input: UserAddress): Promise<User>
  "user.grant-admin"(input: UserAddress): Promise<User>
  "user.revoke-admin"(input: UserAddress): Promise<User>
}

interface UserAddress {
  email: string
}

interface NewUserArguments {
  email: string
  name: string
  password?: string | undefined
  organization_id?: number | undefined
  role?: string | undefined
  is_instance_admin: boolean
}

export interface UserOperationsOptions extends ConsoleUsersOptions {
  clock: Pick<Clock, "now">
  users: Users
  /** The operator at the command line. */
  actor: Actor
}

export function userOperations(options: UserOperationsOptions): UserOperations {
  const { users, actor, audit, sessions, tokens, mail, clock } = options
  const console = createConsoleUsers(options)

  async function find(email: string): Promise<User> {
    const user = await users.byEmail(email)
    if (!user) throw new AppError("not_found", "There is no user with this email address.")
    return user
  }
  /** Runs an operation on a user and returns the changed user. */
  const onUser =
    (work: (id: string) => Promise<unknown>) =>
    async ({ email }: UserAddress): Promise<User> => {
      const { id } = await find(email)
      await work(String(id))
      return find(email)
    }

  return {
    "user.list": () => users.list(),
    async "user.create"(words) {
      const { user, link } = await console.create(actor, { ...words, send_invitation: true })
      return { user: { id: user.id!, email: user.email! }, ...(link !== undefined && { link }) }
    },
    async "user.passwd"({ email, password }) {
      const user = await users.setPassword(email, password, async (statements, changed) => {
        await voidTickets(statements, changed.id, clock.now())
        await tokens.void(statements, changed.id, "reset")
        await sessions.revokeAll(statements, changed.id)
        const changes = { password: [REDACTED, REDACTED] as const }
        await audit.write(statements, actor, { ...userEntry("accounts.password.set")(changed), changes })
        await mail.post(statements, passwordChangedEmail(changed.email))
      })
      mail.wake()
      return user
    },
    "user.disable": onUser((id) => console.disable(actor, id)),
    "user.enable": onUser((id) => console.enable(actor, id)),
    "user.reset-mfa": onUser((id) => console.resetSecondFactors(actor, id)),
    "user.grant-admin": onUser((id) => console.update(actor, id, { is_instance_admin: true })),
    "user.revoke-admin": onUser((id) => console.update(actor, id, { is_instance_admin: false })),
  }
}
