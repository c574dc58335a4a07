import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import type { Organization } from "../domain/organization.ts"
import type { SiteDefaults } from "../domain/site-input.ts"
import { caseKey } from "../domain/text.ts"
import { parseSetUp, type User } from "../domain/user.ts"
import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import { insertMembership } from "../store/catalog/memberships.ts"
import { insertOrganization } from "../store/catalog/organizations.ts"
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
   * Makes the first user, instance admin and owner of the first organization. Of parallel calls exactly one wins; the
   * others and all later ones throw `already_set_up`, for ever. The body has `email`, `name`, `password`, `organization`, and
   * perhaps a `site`, which is judged and left to the caller.
   */
  setUp(body: unknown, alongside?: (statements: Statements, first: FirstUser) => Promise<void>): Promise<FirstUser>
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
  return {
    isSetUp: () => isSetUp(catalog),
    async setUp(body, alongside) {
      if (await isSetUp(catalog)) throw alreadySetUp()
      const { email, name, password, organization } = parseSetUp(body, { isCommon: await passwords.common(), siteDefaults })
      const password_hash = await passwords.hash(password)
      return catalog.transaction(async (statements) => {
        if (await isSetUp(statements)) throw alreadySetUp()
        const now = clock.now()
        const admin = { email, email_key: caseKey(email), name, password_hash, is_instance_admin: true, created_at: now }
        const user = (await insertUser(statements, admin))! // nobody has the address: there is no user yet
        const owned = await insertOrganization(statements, { name: organization, now })
        await insertMembership(statements, { organizationId: owned.id, userId: user.id, role: "owner", now })
        await insertSetup(statements, { userId: user.id, now })
        await alongside?.(statements, { user, organization: owned })
        return { user, organization: owned }
      })
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

export const alreadySetUp = () => new AppError("already_set_up", "The first user was made already")
