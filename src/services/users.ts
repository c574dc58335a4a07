import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import type { Organization } from "../domain/organization.ts"
import { caseKey } from "../domain/text.ts"
import { parsePassword, parseSetUp, type User } from "../domain/user.ts"
import type { Catalog } from "../store/catalog/catalog.ts"
import { insertMembership } from "../store/catalog/memberships.ts"
import { insertOrganization } from "../store/catalog/organizations.ts"
import { insertSetup, isSetUp } from "../store/catalog/setup.ts"
import { insertUser, listUsers, updatePasswordHash, userByEmailKey } from "../store/catalog/users.ts"
import type { Passwords } from "./passwords.ts"
import { inSlices } from "./slices.ts"

export interface Users {
  /** Whether there was ever a user. */
  isSetUp(): Promise<boolean>
  /**
   * Makes the first user, instance admin and owner of the first organization. Of parallel calls exactly one wins; the
   * others and all later ones throw `already_set_up`, for ever. The body has `email`, `name`, `password`, `organization`.
   */
  setUp(body: unknown): Promise<{ user: User; organization: Organization }>
  /** By id ascending. */
  list(): Promise<User[]>
  /** In any case of letters. */
  byEmail(email: string): Promise<User | undefined>
  /** Throws `not_found`, `validation_failed`. */
  setPassword(email: string, password: string): Promise<User>
}

export function createUsers({ catalog, clock, passwords }: { catalog: Catalog; clock: Pick<Clock, "now">; passwords: Passwords }): Users {
  const byEmail = (email: string) => userByEmailKey(catalog, caseKey(email.trim()))
  return {
    isSetUp: () => isSetUp(catalog),
    async setUp(body) {
      const { email, name, password, organization } = parseSetUp(body)
      if (await isSetUp(catalog)) throw alreadySetUp()
      const password_hash = await passwords.hash(password)
      return catalog.transaction(async (statements) => {
        if (await isSetUp(statements)) throw alreadySetUp()
        const now = clock.now()
        const admin = { email, email_key: caseKey(email), name, password_hash, is_instance_admin: true, created_at: now }
        const user = (await insertUser(statements, admin))! // nobody has the address: there is no user yet
        const owned = await insertOrganization(statements, { name: organization, now })
        await insertMembership(statements, { organizationId: owned.id, userId: user.id, role: "owner", now })
        await insertSetup(statements, { userId: user.id, now })
        return { user, organization: owned }
      })
    },
    list: () => inSlices((slice) => listUsers(catalog, slice)),
    byEmail,
    async setPassword(email, password) {
      const user = await byEmail(email)
      if (!user) throw new AppError("not_found", "Nobody has this e-mail address")
      await updatePasswordHash(catalog, user.id, await passwords.hash(parsePassword(password, user.email)))
      return user
    },
  }
}

const alreadySetUp = () => new AppError("already_set_up", "The first user was made already")
