import { Type as t } from "@sinclair/typebox"
import { REDACTED } from "../domain/audit.ts"
import type { Clock } from "../domain/clock.ts"
import { refuseFaults } from "../domain/error.ts"
import { inspect, isObject } from "../domain/shape.ts"
import { parsed } from "../domain/sign-in-input.ts"
import { caseKey } from "../domain/text.ts"
import type { Catalog } from "../store/catalog/catalog.ts"
import { deleteOrganizationIdentities } from "../store/catalog/oidc.ts"
import { voidTickets } from "../store/catalog/tickets.ts"
import { markEmailVerified, updatePassword, userByEmailKey, userById } from "../store/catalog/users.ts"
import type { Audit } from "./audit.ts"
import type { Background } from "./background.ts"
import type { PostedMail } from "./mail.ts"
import { passwordChangedLetter, resetLetter } from "./mail-texts.ts"
import { type OneTimeTokens, tokenInvalid } from "./one-time-tokens.ts"
import { userDeed } from "./own-account.ts"
import type { Passwords } from "./passwords.ts"
import type { Sessions } from "./sessions.ts"
import { rememberedTimes } from "./sign-in-limits.ts"
import { actorAs, type Guest } from "./sign-in-session.ts"

/** A new password for whoever has forgotten the old one, by a link that is good for an hour. */
export interface PasswordReset {
  /** The body has `email`. Resolves at once and alike, whether anybody has the address or not. Throws `validation_failed`. */
  ask(body: unknown, guest: Pick<Guest, "actor" | "origin">): Promise<void>
  /**
   * A token for a link, for whoever hands it over otherwise; undefined for somebody who cannot sign in. Older ones are void.
   */
  token(userId: number): Promise<string | undefined>
  /** The body has `token` and `password`. Nobody is signed in by it. Throws `token_invalid`, `validation_failed`. */
  reset(body: unknown, guest: Pick<Guest, "actor" | "origin">): Promise<void>
}

interface PasswordResetOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  audit: Audit
  sessions: Sessions
  passwords: Passwords
  tokens: OneTimeTokens
  mail: PostedMail
  background: Background
  publicUrl(): string
}

const LIFE_MS = 60 * 60_000
const HOUR_MS = 60 * 60_000
const PER_ACCOUNT = 5
const PER_ADDRESS = 20

const AskInput = t.Object({ email: t.String({ minLength: 1, maxLength: 254 }) }, { additionalProperties: false })
const ResetInput = t.Object({ token: t.String({ minLength: 1, maxLength: 1_024 }) }, { additionalProperties: false })

export function createPasswordReset(options: PasswordResetOptions): PasswordReset {
  const { catalog, clock, audit, sessions, passwords, tokens, mail, background, publicUrl } = options
  const asked = rememberedTimes(clock.now, HOUR_MS)

  /** False when there were too many lately; the caller learns nothing of it. */
  function isBorne(name: string, limit: number): boolean {
    if (asked.freeAt(name, limit) > clock.now()) return false
    asked.note(name)
    return true
  }
  async function sendLink(email: string, actor: Guest["actor"]): Promise<void> {
    const user = await userByEmailKey(catalog, caseKey(email))
    if (user?.status !== "active" || !mail.isOn() || !isBorne(`account ${user.id}`, PER_ACCOUNT)) return
    await catalog.transaction(async (statements) => {
      const token = await tokens.issue(statements, { purpose: "reset", userId: user.id, payload: {}, lifeMs: LIFE_MS })
      await mail.post(statements, resetLetter(user.email, resetLink(publicUrl(), token)))
      await audit.write(statements, actor, userDeed("accounts.password.ask-reset")(user))
    })
    mail.wake()
  }

  return {
    async ask(body, { actor, origin }) {
      const { email } = parsed(AskInput, body)
      if (isBorne(`address ${origin.address}`, PER_ADDRESS)) background.run(() => sendLink(email, actor))
    },
    token: (userId) =>
      catalog.transaction(async (statements) => {
        const user = await userById(statements, userId)
        if (user?.status !== "active") return undefined
        return tokens.issue(statements, { purpose: "reset", userId, payload: {}, lifeMs: LIFE_MS })
      }),
    async reset(body, { actor }) {
      const { password, ...rest } = isObject(body) ? body : {}
      const { fields, faults } = inspect(ResetInput, isObject(body) ? rest : body)
      refuseFaults(faults)
      const token = fields.token! // no fault: it is there
      const user = await userById(catalog, (await tokens.look("reset", token)).user_id)
      if (user?.status !== "active") throw tokenInvalid()
      const hash = await passwords.hash(await passwords.accept(password, { email: user.email }))
      await catalog.transaction(async (statements) => {
        await tokens.use(statements, "reset", token)
        await updatePassword(statements, user.id, hash)
        // The link was sent to the address, so the address is theirs.
        await markEmailVerified(statements, user.id, clock.now())
        await deleteOrganizationIdentities(statements, user.id)
        await voidTickets(statements, user.id, clock.now())
        await sessions.revokeAll(statements, user.id)
        const deed = { ...userDeed("accounts.password.reset")(user), changes: { password: [REDACTED, REDACTED] as const } }
        await audit.write(statements, actorAs(actor, user), deed)
        await mail.post(statements, passwordChangedLetter(user.email))
      })
      mail.wake()
    },
  }
}

export const resetLink = (base: string, token: string): string => `${base}/reset/${token}`
