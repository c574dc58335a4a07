import { type Actor, REDACTED } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import type { User } from "../../domain/user.ts"
import { voidTickets } from "../../store/catalog/one-time-tokens.ts"
import { userEntry } from "../audit/entries.ts"
import { passwordChangedEmail } from "../mail/texts.ts"
import { type ConsoleUsersOptions, createConsoleUsers } from "./admin-users.ts"
import type { Users } from "./users.ts"

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
