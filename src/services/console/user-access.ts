import { type Actor, REDACTED, userBehind } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { parseUserRemoval } from "../../domain/user-input.ts"
import { revokePersonalKeys } from "../../store/catalog/api-keys.ts"
import { revokeImpersonationsBy } from "../../store/catalog/sessions.ts"
import { deleteSecondFactors, updateUserState } from "../../store/catalog/user-states.ts"
import type { PostedMail } from "../mail.ts"
import type { Outbox } from "../outbox.ts"
import { removeUser } from "../own-account.ts"
import type { Sessions } from "../sessions.ts"
import { type ActOnUser, refuseNoAdmin } from "./user-act.ts"
import { handOver } from "./user-heirs.ts"
import { factorsResetLetter } from "./user-letters.ts"
import type { ListedUser } from "./user-list.ts"

/** What ends a user's access, for a while or for good, and what gives it back. */
export interface UserAccess {
  /** Sessions, personal keys and impersonations end at once; memberships stay. Throws `last_instance_admin`. */
  disable(actor: Actor, id: string | undefined): Promise<ListedUser>
  enable(actor: Actor, id: string | undefined): Promise<ListedUser>
  /** The user is told by mail. */
  resetSecondFactors(actor: Actor, id: string | undefined): Promise<ListedUser>
  signOut(actor: Actor, id: string | undefined): Promise<void>
  /**
   * The body says who owns what the user owns alone: `{transfer: [{organization_id, user_id}]}`. Throws `sole_owner` with the
   * organizations, `last_instance_admin`, `validation_failed`.
   */
  remove(actor: Actor, id: string | undefined, body: unknown): Promise<void>
}

interface UserAccessOptions {
  clock: Pick<Clock, "now">
  sessions: Pick<Sessions, "revokeAll">
  mail: Pick<PostedMail, "post" | "wake">
  outbox: Pick<Outbox, "write">
  act: ActOnUser
  shown(id: number): Promise<ListedUser>
}

export function createUserAccess({ clock, sessions, mail, outbox, act, shown }: UserAccessOptions): UserAccess {
  return {
    async disable(actor, idText) {
      const { id } = await act(actor, idText, "disable", async (statements, user) => {
        if (user.status === "disabled") return undefined
        const now = clock.now()
        await updateUserState(statements, user.id, now)
        await sessions.revokeAll(statements, user.id)
        await revokeImpersonationsBy(statements, user.id, now)
        await revokePersonalKeys(statements, user.id, { now, by: userBehind(actor) })
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
        await revokePersonalKeys(statements, user.id, { now, by: userBehind(actor) })
        await sessions.revokeAll(statements, user.id)
        await removeUser(statements, user.id, now, outbox)
        return { email: [user.email, null] }
      })
    },
  }
}
