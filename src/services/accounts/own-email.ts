import { Type as t } from "@sinclair/typebox"
import type { Actor } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { AppError, refuseFaults } from "../../domain/error.ts"
import { inspect } from "../../domain/shape.ts"
import { parsed } from "../../domain/sign-in.ts"
import { caseKey } from "../../domain/text.ts"
import { EmailText, emailFaults, type User } from "../../domain/user.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { deleteOrganizationIdentities } from "../../store/catalog/oidc.ts"
import { updateEmail, userByEmailKey, userById } from "../../store/catalog/users.ts"
import { type Audit, userEntry } from "../audit/audit.ts"
import type { MailQueue } from "../mail/mail.ts"
import { addressChangeEmail, addressTakenEmail, confirmAddressEmail } from "../mail/texts.ts"
import type { Background } from "../runtime/tasks.ts"
import { refuseUntil, rememberedTimes } from "../sign-in/limits.ts"
import { type OneTimeTokens, tokenInvalid } from "../sign-in/one-time-tokens.ts"
import { actorAs } from "../sign-in/session.ts"
import type { Self, Sessions } from "../sign-in/sessions.ts"

/**
 * Changes of a user's email address. The address changes when the new one is confirmed. The old address gets a warning with a link that
 * reverts the change within 72 hours. A user confirms an unverified address by requesting a change to the same address.
 */
export interface OwnEmail {
  /** Requests a change. The body has `email`. If another user has the address, only an email to it says so. Throws `mail_unavailable`. */
  ask(self: Self, body: unknown): Promise<void>
  /** Confirms the new address. The body has `token`, which must belong to the signed-in user. Throws `token_invalid`. */
  confirm(self: Self, body: unknown): Promise<void>
  /** Cancels or reverts the change and ends all sessions of the user. The body has `token`. Throws `token_invalid`. */
  undo(body: unknown, actor: Actor): Promise<void>
}

interface OwnEmailOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  audit: Audit
  sessions: Sessions
  tokens: OneTimeTokens
  mail: MailQueue
  background: Background
  publicUrl(): string
}

const HOUR_MS = 60 * 60_000
const CONFIRM_MS = 24 * HOUR_MS
const UNDO_MS = 72 * HOUR_MS
const MAX_PER_HOUR = 5

const AskInput = t.Object({ email: EmailText }, { additionalProperties: false })
const TokenInput = t.Object({ token: t.String({ minLength: 1, maxLength: 1_024 }) }, { additionalProperties: false })
/** The payload of both links: the address that the account gets. */
interface Payload {
  email: string
  /** In an undo link: when the old address was verified, null if never. */
  verifiedAt?: number | null
}

export function createOwnEmail(options: OwnEmailOptions): OwnEmail {
  const { catalog, clock, audit, sessions, tokens, mail, background, publicUrl } = options
  const asked = rememberedTimes(clock.now, HOUR_MS)
  const linkTo = (page: string, token: string): string => `${publicUrl()}/${page}/${token}`

  async function begin(statements: Statements, user: User, email: string): Promise<void> {
    const holder = await userByEmailKey(statements, caseKey(email))
    if (holder && holder.id !== user.id) return mail.post(statements, addressTakenEmail(email))
    const isOwn = holder?.id === user.id
    const payload: Payload = { email: isOwn ? user.email : email }
    const token = await tokens.issue(statements, { purpose: "change_email", userId: user.id, payload, lifeMs: CONFIRM_MS })
    await mail.post(statements, confirmAddressEmail(email, linkTo("confirm-email", token)))
    if (isOwn) return
    const old: Payload = { email: user.email, verifiedAt: user.email_verified_at }
    // An attacker must not be able to invalidate the undo link of the first address by requesting a change to a third one.
    const terms = { purpose: "undo_email", userId: user.id, payload: old, lifeMs: UNDO_MS, keepsOlder: true } as const
    const undo = await tokens.issue(statements, terms)
    await mail.post(statements, addressChangeEmail(user.email, email, linkTo("undo-email", undo)))
  }

  async function give(statements: Statements, user: User, { email, verifiedAt }: Required<Payload>): Promise<void> {
    if (!(await updateEmail(statements, user.id, { email, emailKey: caseKey(email), verifiedAt }))) throw tokenInvalid()
  }

  return {
    async ask({ user, actor }, body) {
      const { fields, faults } = inspect(AskInput, body)
      refuseFaults([...faults, ...emailFaults(fields.email)])
      const email = fields.email! // present, because there is no fault
      if (!mail.isOn())
        throw new AppError(
          "mail_unavailable",
          "Email addresses cannot be changed because this instance has no mail server to confirm them with. Ask its administrator to set one up.",
        )
      refuseUntil(asked.freeAt(String(user.id), MAX_PER_HOUR), clock.now())
      asked.note(String(user.id))
      background.run(async () => {
        await catalog.transaction(async (statements) => {
          await begin(statements, user, email)
          await audit.write(statements, actor, { ...userEntry("accounts.email.ask-change")(user), changes: { email: [user.email, email] } })
        })
        mail.wake()
      })
    },
    async confirm({ user, actor }, body) {
      const { token } = parsed(TokenInput, body)
      const found = await tokens.peek("change_email", token)
      if (found.user_id !== user.id) throw tokenInvalid()
      await catalog.transaction(async (statements) => {
        const before = (await userById(statements, user.id))! // a signed-in user exists
        const { email } = (await tokens.use(statements, "change_email", token)).payload as Payload // written above
        await give(statements, before, { email, verifiedAt: clock.now() })
        // Before the address was confirmed, an organization's provider may have linked another person to it.
        if (before.email_verified_at === null) await deleteOrganizationIdentities(statements, user.id)
        await tokens.void(statements, user.id, "reset")
        await audit.write(statements, actor, { ...userEntry("accounts.email.change")(user), changes: { email: [before.email, email] } })
      })
    },
    async undo(body, actor) {
      const { token } = parsed(TokenInput, body)
      await tokens.peek("undo_email", token)
      await catalog.transaction(async (statements) => {
        const used = await tokens.use(statements, "undo_email", token)
        const { user_id, payload } = used
        const { email, verifiedAt = null } = payload as Payload // written above
        const before = await userById(statements, user_id)
        if (!before || before.status === "deleted") throw tokenInvalid()
        if (before.email !== email) await give(statements, before, { email, verifiedAt })
        await tokens.void(statements, user_id, "change_email", "reset")
        // The undo links of later changes were sent to the attacker's addresses and must not restore one of those.
        await tokens.voidLater(statements, "undo_email", used)
        await sessions.revokeAll(statements, user_id)
        const entry = { ...userEntry("accounts.email.undo")({ ...before, email }), changes: { email: [before.email, email] as const } }
        await audit.write(statements, actorAs(actor, { id: user_id, email }), entry)
      })
    },
  }
}
