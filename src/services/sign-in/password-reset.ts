import { Type as t } from "@sinclair/typebox"
import { REDACTED } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { refuseFaults } from "../../domain/error.ts"
import { inspect, isObject } from "../../domain/shape.ts"
import { parsed } from "../../domain/sign-in.ts"
import { caseKey } from "../../domain/text.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { deleteOrganizationIdentities } from "../../store/catalog/oidc.ts"
import { voidTickets } from "../../store/catalog/one-time-tokens.ts"
import { markEmailVerified, updatePassword, userByEmailKey, userById } from "../../store/catalog/users.ts"
import { type Audit, userEntry } from "../audit/audit.ts"
import type { MailQueue } from "../mail/mail.ts"
import { passwordChangedEmail, passwordResetEmail } from "../mail/texts.ts"
import type { Background } from "../runtime/tasks.ts"
import { rememberedTimes, type SignInLimits } from "./limits.ts"
import { type OneTimeTokens, tokenInvalid } from "./one-time-tokens.ts"
import type { Passwords } from "./passwords.ts"
import { actorAs, type Guest } from "./session.ts"
import type { Sessions } from "./sessions.ts"

/** Password resets by an emailed link that is valid for one hour. */
export interface PasswordReset {
  /** Requests a link. The body has `email`. Resolves immediately, so that neither the response nor its time reveals whether an account exists. Throws `validation_failed`. */
  ask(body: unknown, guest: Pick<Guest, "actor" | "origin">): Promise<void>
  /** Sets the new password without signing the user in. The body has `token` and `password`. Throws `rate_limited`, `token_invalid`, `validation_failed`. */
  reset(body: unknown, guest: Pick<Guest, "actor" | "origin">): Promise<void>
}

interface PasswordResetOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  audit: Audit
  sessions: Sessions
  passwords: Passwords
  tokens: OneTimeTokens
  limits: Pick<SignInLimits, "request">
  mail: MailQueue
  background: Background
  publicUrl(): string
}

const LIFE_MS = 60 * 60_000
const HOUR_MS = 60 * 60_000
const MAX_PER_ACCOUNT = 5
const MAX_PER_ADDRESS = 20
/** Maximum number of resets per minute from one address. */
const RESETS_PER_MINUTE = 20

/** The payload of a reset token. */
export interface ResetPayload {
  /** Whether the link was emailed to the address of the account. Opening it then verifies the address. */
  mailed: boolean
}

const AskInput = t.Object({ email: t.String({ minLength: 1, maxLength: 254 }) }, { additionalProperties: false })
const ResetInput = t.Object({ token: t.String({ minLength: 1, maxLength: 1_024 }) }, { additionalProperties: false })

export function createPasswordReset(options: PasswordResetOptions): PasswordReset {
  const { catalog, clock, audit, sessions, passwords, tokens, limits, mail, background, publicUrl } = options
  const asked = rememberedTimes(clock.now, HOUR_MS)

  /** Counts a request and returns whether it is within the limit. Requests beyond it are dropped without an error. */
  function isWithinLimit(name: string, limit: number): boolean {
    if (asked.freeAt(name, limit) > clock.now()) return false
    asked.note(name)
    return true
  }
  async function sendLink(email: string, actor: Guest["actor"]): Promise<void> {
    const user = await userByEmailKey(catalog, caseKey(email))
    if (user?.status !== "active" || !mail.isOn() || !isWithinLimit(`account ${user.id}`, MAX_PER_ACCOUNT)) return
    await catalog.transaction(async (statements) => {
      const payload: ResetPayload = { mailed: true }
      const token = await tokens.issue(statements, { purpose: "reset", userId: user.id, payload, lifeMs: LIFE_MS })
      await mail.post(statements, passwordResetEmail(user.email, resetLink(publicUrl(), token)))
      await audit.write(statements, actor, userEntry("accounts.password.ask-reset")(user))
    })
    mail.wake()
  }

  return {
    async ask(body, { actor, origin }) {
      const { email } = parsed(AskInput, body)
      if (isWithinLimit(`address ${origin.address}`, MAX_PER_ADDRESS)) background.run(() => sendLink(email, actor))
    },
    async reset(body, { actor, origin }) {
      limits.request(origin, "reset", RESETS_PER_MINUTE)
      const { password, ...rest } = isObject(body) ? body : {}
      const { fields, faults } = inspect(ResetInput, isObject(body) ? rest : body)
      refuseFaults(faults)
      const token = fields.token! // present, because there is no fault
      const user = await userById(catalog, (await tokens.peek("reset", token)).user_id)
      if (user?.status !== "active") throw tokenInvalid()
      const hash = await passwords.hash(await passwords.accept(password, { email: user.email }))
      await catalog.transaction(async (statements) => {
        const { mailed } = (await tokens.use(statements, "reset", token)).payload as Partial<ResetPayload> // missing in tokens issued by older versions
        await updatePassword(statements, user.id, hash)
        if (mailed) await markEmailVerified(statements, user.id, clock.now())
        await deleteOrganizationIdentities(statements, user.id)
        await voidTickets(statements, user.id, clock.now())
        await sessions.revokeAll(statements, user.id)
        const entry = { ...userEntry("accounts.password.reset")(user), changes: { password: [REDACTED, REDACTED] as const } }
        await audit.write(statements, actorAs(actor, user), entry)
        await mail.post(statements, passwordChangedEmail(user.email))
      })
      mail.wake()
    },
  }
}

export const resetLink = (base: string, token: string): string => `${base}/reset/${token}`
