import { type Actor, REDACTED } from "../domain/audit.ts"
import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import type { User } from "../domain/user.ts"
import { voidTickets } from "../store/catalog/tickets.ts"
import { type ConsoleUsersOptions, createConsoleUsers } from "./console/users.ts"
import { passwordChangedLetter } from "./mail-texts.ts"
import { userDeed } from "./own-account.ts"
import type { Users } from "./users.ts"

/** What the command line may do to users: what instance admins do in the console, and to give a password. Users go by address. */
export interface UserOperations {
  "user.list"(input: object): Promise<User[]>
  /** Without a password the link to choose one comes back, or goes out by mail. */
  "user.create"(input: NewUserWords): Promise<{ user: { id: number; email: string }; link?: string }>
  /** Ends all sessions. */
  "user.passwd"(input: { email: string; password: string }): Promise<User>
  "user.disable"(input: ByAddress): Promise<User>
  "user.enable"(input: ByAddress): Promise<User>
  "user.reset-mfa"(input: ByAddress): Promise<User>
  "user.grant-admin"(input: ByAddress): Promise<User>
  "user.revoke-admin"(input: ByAddress): Promise<User>
}

interface ByAddress {
  email: string
}

interface NewUserWords {
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
  /** Whoever sits at the command line. */
  actor: Actor
}

export function userOperations(options: UserOperationsOptions): UserOperations {
  const { users, actor, audit, sessions, tokens, mail, clock } = options
  const console = createConsoleUsers(options)

  async function find(email: string): Promise<User> {
    const user = await users.byEmail(email)
    if (!user) throw new AppError("not_found", "Nobody has this e-mail address")
    return user
  }
  /** Does something to a user, and shows the user as it is then. */
  const doing =
    (work: (id: string) => Promise<unknown>) =>
    async ({ email }: ByAddress): Promise<User> => {
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
        await audit.write(statements, actor, { ...userDeed("accounts.password.set")(changed), changes })
        await mail.post(statements, passwordChangedLetter(changed.email))
      })
      mail.wake()
      return user
    },
    "user.disable": doing((id) => console.disable(actor, id)),
    "user.enable": doing((id) => console.enable(actor, id)),
    "user.reset-mfa": doing((id) => console.resetSecondFactors(actor, id)),
    "user.grant-admin": doing((id) => console.update(actor, id, { is_instance_admin: true })),
    "user.revoke-admin": doing((id) => console.update(actor, id, { is_instance_admin: false })),
  }
}
