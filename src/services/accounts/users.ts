import type { Clock } from "../domain/clock.ts"
import { AppError, type Fault } from "../domain/error.ts"
import type { Organization } from "../domain/organization.ts"
import type { SiteDefaults } from "../domain/site-input.ts"
import { caseKey } from "../domain/text.ts"
import { parseSetUp, type User } from "../domain/user.ts"
import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import { insertMembership } from "../store/catalog/memberships.ts"
import { insertOrganization, lonelyOrganization, updateOrganization } from "../store/catalog/organizations.ts"
import { insertSetup, isSetUp } from "../store/catalog/setup.ts"
import { insertUser, listUsers, updatePassword, userByEmailKey } from "../store/catalog/users.ts"
import type { Passwords } from "./passwords.ts"
import { inSlices } from "./slices.ts"

/** Who and what an instance begins with. */
export interface FirstUser {
  user: User
  organization: Organization
}

export interface Users {
  /** Whether there was ever a user. */
  isSetUp(): Promise<boolean>
  /**
   * Makes the first user, instance admin and owner of the first organization; where the command line has made one already, of
   * that, which takes the name that is given. Of parallel calls exactly one wins; the
   * others and all later ones throw `already_set_up`, for ever. The body has `email`, `name`, `password`, `organization`, and
   * perhaps a `site`, which is judged and left to the caller.
   */
  setUp(body: unknown, alongside?: (statements: Statements, first: FirstUser) => Promise<void>): Promise<FirstUser>
  /** What is wrong with the body of a set-up; nothing is made. */
  setUpFaults(body: unknown): Promise<readonly Fault[]>
  /** By id ascending. */
  list(): Promise<User[]>
  /** In any case of letters. */
  byEmail(email: string): Promise<User | undefined>
  /** `alongside` runs in the same transaction. Throws `not_found`, `validation_failed`. */
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
        const user = (await insertUser(statements, admin))! // nobody has the address: there is no user yet
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
    list: () => inSlices((slice) => listUsers(catalog, slice)),
    byEmail,
    async setPassword(email, password, alongside) {
      const user = await byEmail(email)
      if (!user) throw new AppError("not_found", "Nobody has this e-mail address")
      const hash = await passwords.hash(await passwords.accept(password, { email: user.email }))
      await catalog.transaction(async (statements) => {
        await updatePassword(statements, user.id, hash)
        await alongside?.(statements, user)
      })
      return user
    },
  }
}

/** Sites and keys that were made before anybody was there must not lie where nobody sees them. */
async function firstOrganization(statements: Statements, name: string, now: number): Promise<Organization> {
  const waiting = await lonelyOrganization(statements)
  if (!waiting) return insertOrganization(statements, { name, now })
  return updateOrganization(statements, waiting.id, { name, policy: waiting.policy }, now)
}

export const alreadySetUp = () => new AppError("already_set_up", "The first user was made already")
