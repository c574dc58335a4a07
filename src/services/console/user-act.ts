import type { Actor, Deed } from "../../domain/audit.ts"
import { AppError } from "../../domain/error.ts"
import { parseId } from "../../domain/id.ts"
import type { User } from "../../domain/user.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { countInstanceAdmins, userById } from "../../store/catalog/users.ts"
import type { Audit } from "../audit.ts"
import { lastInstanceAdmin, userDeed } from "../own-account.ts"

/**
 * An act on one user, in one transaction with its row in the log. `work` returns what has changed, undefined where nothing has.
 * Throws `user_not_found`.
 */
export type ActOnUser = (
  actor: Actor,
  idText: string | undefined,
  verb: string,
  work: (statements: Statements, user: User) => Promise<Deed["changes"]>,
) => Promise<User>

export const actingOnUsers =
  (catalog: Catalog, audit: Audit): ActOnUser =>
  (actor, idText, verb, work) =>
    catalog.transaction(async (statements) => {
      const user = await findUser(statements, idText)
      const changes = await work(statements, user)
      if (changes) await audit.write(statements, actor, { ...userDeed(`admin.user.${verb}`)(user), changes })
      return user
    })

/** Throws `user_not_found`, also for one that was deleted. */
export async function findUser(statements: Statements, idText: string | undefined): Promise<User> {
  const user = await userById(statements, parseId(idText) ?? 0)
  if (!user || user.status === "deleted") throw userNotFound()
  return user
}

/** After a change, in its transaction. Throws `last_instance_admin`. */
export async function refuseNoAdmin(statements: Statements): Promise<void> {
  if ((await countInstanceAdmins(statements)) === 0) throw lastInstanceAdmin()
}

export const userNotFound = () => new AppError("user_not_found", "No user has this id")
