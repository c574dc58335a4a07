import { Type as t } from "@sinclair/typebox"
import type { Actor } from "../domain/audit.ts"
import type { Clock } from "../domain/clock.ts"
import { AppError, refuseFaults } from "../domain/error.ts"
import { inspect } from "../domain/shape.ts"
import { parsed } from "../domain/sign-in-input.ts"
import { caseKey } from "../domain/text.ts"
import { EmailText, emailFaults, type User } from "../domain/user.ts"
import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import { deleteOrganizationIdentities } from "../store/catalog/oidc.ts"
import { updateEmail, userByEmailKey, userById } from "../store/catalog/users.ts"
import type { Audit } from "./audit.ts"
import type { Background } from "./background.ts"
import type { PostedMail } from "./mail.ts"
import { addressTakenLetter, confirmEmailLetter, emailWarningLetter } from "./mail-texts.ts"
import { type OneTimeTokens, tokenInvalid } from "./one-time-tokens.ts"
import { type Self, userDeed } from "./own-account.ts"
import type { Sessions } from "./sessions.ts"
import { rememberedTimes } from "./sign-in-limits.ts"
import { actorAs } from "./sign-in-session.ts"

/**
 * Another address for the own account. It changes when the new one is confirmed; the old one is warned, and can undo it for
 * 72 hours. The own address confirms itself in the same way.
 */
export interface OwnEmail {
  /** The body has `email`. Resolves alike when somebody has it already: the mail says so. Throws `mail_unavailable`. */
  ask(self: Self, body: unknown): Promise<void>
  /** The body has `token`, of the user who is signed in. Throws `token_invalid`. */
  confirm(self: Self, body: unknown): Promise<void>
  /** The body has `token`. The address stays or comes back, and everybody is signed out. Throws `token_invalid`. */
  undo(body: unknown, actor: Actor): Promise<void>
}

interface OwnEmailOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  audit: Audit
  sessions: Sessions
  tokens: OneTimeTokens
  mail: PostedMail
  background: Background
  publicUrl(): string
}

const HOUR_MS = 60 * 60_000
const CONFIRM_MS = 24 * HOUR_MS
const UNDO_MS = 72 * HOUR_MS
const PER_HOUR = 5

const AskInput = t.Object({ email: EmailText }, { additionalProperties: false })
const TokenInput = t.Object({ token: t.String({ minLength: 1, maxLength: 1_024 }) }, { additionalProperties: false })
/** Of both links: the address that the account gets. */
interface Payload {
  email: string
  /** Of an undo: whether the old address was known to be theirs. */
  verifiedAt?: number | null
}

export function createOwnEmail(options: OwnEmailOptions): OwnEmail {
  const { catalog, clock, audit, sessions, tokens, mail, background, publicUrl } = options
  const asked = rememberedTimes(clock.now, HOUR_MS)
  const linkTo = (page: string, token: string): string => `${publicUrl()}/${page}/${token}`

  async function begin(statements: Statements, user: User, email: string): Promise<void> {
    const holder = await userByEmailKey(statements, caseKey(email))
    if (holder && holder.id !== user.id) return mail.post(statements, addressTakenLetter(email))
    const isOwn = holder?.id === user.id
    const payload: Payload = { email: isOwn ? user.email : email }
    const token = await tokens.issue(statements, { purpose: "change_email", userId: user.id, payload, lifeMs: CONFIRM_MS })
    await mail.post(statements, confirmEmailLetter(email, linkTo("confirm-email", token)))
    if (isOwn) return
    const old: Payload = { email: user.email, verifiedAt: user.email_verified_at }
    // Whoever takes an account over must not void the undo of the first address by asking for a third one.
    const terms = { purpose: "undo_email", userId: user.id, payload: old, lifeMs: UNDO_MS, keepsOlder: true } as const
    const undo = await tokens.issue(statements, terms)
    await mail.post(statements, emailWarningLetter(user.email, email, linkTo("undo-email", undo)))
  }

  async function give(statements: Statements, user: User, { email, verifiedAt }: Required<Payload>): Promise<void> {
    if (!(await updateEmail(statements, user.id, { email, emailKey: caseKey(email), verifiedAt }))) throw tokenInvalid()
  }

  return {
    async ask({ user, actor }, body) {
      const { fields, faults } = inspect(AskInput, body)
      refuseFaults([...faults, ...emailFaults(fields.email)])
      const email = fields.email! // no fault: it is there
      if (!mail.isOn()) throw new AppError("mail_unavailable", "Without a mail server an address cannot be confirmed.")
      const wait = Math.ceil((asked.freeAt(String(user.id), PER_HOUR) - clock.now()) / 1_000)
      if (wait > 0) throw new AppError("rate_limited", `Too many mails. Try again in ${wait} s.`, { retry_after: wait })
      asked.note(String(user.id))
      background.run(async () => {
        await catalog.transaction(async (statements) => {
          await begin(statements, user, email)
          await audit.write(statements, actor, { ...userDeed("accounts.email.ask-change")(user), changes: { email: [user.email, email] } })
        })
        mail.wake()
      })
    },
    async confirm({ user, actor }, body) {
      const { token } = parsed(TokenInput, body)
      const found = await tokens.look("change_email", token)
      if (found.user_id !== user.id) throw tokenInvalid()
      await catalog.transaction(async (statements) => {
        const before = (await userById(statements, user.id))! // whoever is signed in has a row
        const { email } = (await tokens.use(statements, "change_email", token)).payload as Payload // written above
        await give(statements, before, { email, verifiedAt: clock.now() })
        // An organization's provider may have linked whoever claimed the address before it was confirmed.
        if (before.email_verified_at === null) await deleteOrganizationIdentities(statements, user.id)
        await tokens.void(statements, user.id, "reset")
        await audit.write(statements, actor, { ...userDeed("accounts.email.change")(user), changes: { email: [before.email, email] } })
      })
    },
    async undo(body, actor) {
      const { token } = parsed(TokenInput, body)
      await tokens.look("undo_email", token)
      await catalog.transaction(async (statements) => {
        const used = await tokens.use(statements, "undo_email", token)
        const { user_id, payload } = used
        const { email, verifiedAt = null } = payload as Payload // written above
        const before = await userById(statements, user_id)
        if (!before || before.status === "deleted") throw tokenInvalid()
        if (before.email !== email) await give(statements, before, { email, verifiedAt })
        await tokens.void(statements, user_id, "change_email", "reset")
        // Whoever changed it once more has been warned at an address of theirs, and must not bring that one back.
        await tokens.voidLater(statements, "undo_email", used)
        await sessions.revokeAll(statements, user_id)
        const deed = { ...userDeed("accounts.email.undo")({ ...before, email }), changes: { email: [before.email, email] as const } }
        await audit.write(statements, actorAs(actor, { id: user_id, email }), deed)
      })
    },
  }
}
