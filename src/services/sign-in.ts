import { AppError } from "../domain/error.ts"
import { parseFactor, parseLogin } from "../domain/sign-in-input.ts"
import { caseKey } from "../domain/text.ts"
import type { User } from "../domain/user.ts"
import type { Catalog } from "../store/catalog/catalog.ts"
import { passwordHashOf, replacePasswordHash, userByEmailKey, userById } from "../store/catalog/users.ts"
import type { PostedMail } from "./mail.ts"
import { recoveryCodeUsedLetter } from "./mail-texts.ts"
import type { Passwords } from "./passwords.ts"
import type { SecondFactors } from "./second-factors.ts"
import type { NoteFailure } from "./sign-in-failures.ts"
import type { Attempt, SignInLimits } from "./sign-in-limits.ts"
import type { Guest, OpenSession, SignedIn } from "./sign-in-session.ts"
import type { SsoRule } from "./sso-rule.ts"
import { type Tickets, ticketInvalid } from "./tickets.ts"

/** The password was right, and something more is wanted. */
export interface FactorWanted {
  mfa_required: true
  methods: ("totp" | "passkey" | "recovery")[]
  ticket: string
}

/**
 * Signing in by password, and by what is asked for beside it. An unknown address, a disabled user and a wrong password are
 * one answer, `invalid_credentials`, after the same work.
 */
export interface SignIn {
  /** The body has `email` and `password`. Throws `rate_limited`, `sso_required`. */
  byPassword(body: unknown, guest: Guest): Promise<SignedIn | FactorWanted>
  /** The body has `ticket`, and `code` or `recovery_code`. Throws `ticket_invalid`, `invalid_code`, `rate_limited`. */
  byFactor(body: unknown, guest: Guest): Promise<SignedIn & { recoveryCodesLeft?: number }>
  /** Whether a password is that of a user who is known; a wrong one counts against where it came from. */
  verifies(user: User, password: string, guest: Pick<Guest, "actor" | "origin">): Promise<boolean>
}

export interface SignInOptions {
  catalog: Catalog
  passwords: Passwords
  tickets: Tickets
  limits: SignInLimits
  factors: SecondFactors
  openSession: OpenSession
  noteFailure: NoteFailure
  mail: PostedMail
  sso: Pick<SsoRule, "refuse">
}

const TICKET_MS = 5 * 60_000
/** An id that no user has. */
const NOBODY = 0

export function createSignIn(options: SignInOptions): SignIn {
  const { catalog, passwords, tickets, limits, factors, openSession, noteFailure, mail, sso } = options

  /** One hash is asked for and one is computed, whoever it is. */
  async function proved(user: User | undefined, password: string): Promise<boolean> {
    const hash = await passwordHashOf(catalog, user?.id ?? NOBODY)
    const { isRight, outdated } = await passwords.verify(password, hash)
    if (!isRight || user?.status !== "active") return false
    if (outdated) await replacePasswordHash(catalog, user.id, { old: hash!, fresh: await passwords.hash(password) })
    return true
  }

  async function attempted(attempt: Attempt, judge: () => Promise<boolean>): Promise<boolean> {
    // What could not be judged is nobody's failure.
    const isRight = await judge().catch((error) => {
      attempt.withdraw()
      throw error
    })
    if (isRight) attempt.succeed()
    return isRight
  }

  async function wanted(user: User): Promise<FactorWanted | undefined> {
    const { totp, passkeys, recovery_codes_left } = await factors.of(user)
    if (!totp && passkeys === 0) return undefined
    const ticket = await tickets.issue(catalog, { kind: "mfa", userId: user.id, payload: {}, lifeMs: TICKET_MS })
    const methods: FactorWanted["methods"] = [...(totp ? ["totp" as const] : []), ...(passkeys > 0 ? ["passkey" as const] : [])]
    return { mfa_required: true, methods: recovery_codes_left > 0 ? [...methods, "recovery"] : methods, ticket }
  }

  return {
    async byPassword(body, guest) {
      const { email, password } = parseLogin(body)
      const account = caseKey(email)
      const attempt = limits.password(guest.origin, account)
      const user = await userByEmailKey(catalog, account)
      if (!(await attempted(attempt, () => proved(user, password)))) {
        await noteFailure(guest.actor, "accounts.session.create", email)
        throw invalidCredentials()
      }
      await sso.refuse(user!, "own")
      const more = await wanted(user!)
      if (more) return more
      return catalog.transaction((statements) => openSession(statements, user!, { method: "password", mfa: false }, guest))
    },
    async byFactor(body, guest) {
      const { ticket, ...shown } = parseFactor(body)
      const { user_id } = await tickets.try("mfa", ticket)
      const user = await userById(catalog, user_id ?? 0)
      if (user?.status !== "active") throw ticketInvalid()
      const attempt = limits.code(guest.origin, user.id)
      const proof = await factors.prepare(user, shown).catch((error) => {
        attempt.withdraw()
        throw error
      })
      const signedIn = await catalog.transaction(async (statements) => {
        if (!(await proof.use(statements))) return undefined
        await tickets.use(statements, "mfa", ticket)
        const entered = await openSession(statements, user, { method: "password", mfa: true }, guest)
        const { recovery_codes_left } = await factors.of(user, statements)
        if (!("recovery_code" in shown)) return entered
        await mail.post(statements, recoveryCodeUsedLetter(user.email, recovery_codes_left))
        return { ...entered, recoveryCodesLeft: recovery_codes_left }
      })
      if (signedIn) {
        mail.wake()
        attempt.succeed()
        return signedIn
      }
      await noteFailure(guest.actor, "accounts.session.create", user.email)
      throw invalidCode()
    },
    async verifies(user, password, { actor, origin }) {
      const isRight = await attempted(limits.password(origin, caseKey(user.email)), () => proved(user, password))
      if (!isRight) await noteFailure(actor, "accounts.session.prove", user.email)
      return isRight
    },
  }
}

export const invalidCredentials = () => new AppError("invalid_credentials", "The e-mail address or the password is not right.")
export const invalidCode = () => new AppError("invalid_code", "The code is not right, or was used before.")
