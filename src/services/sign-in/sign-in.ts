import { AppError } from "../../domain/error.ts"
import { type FactorRequiredResponse, type Proof, parseFactor, parseLogin, parseProof } from "../../domain/sign-in.ts"
import { caseKey } from "../../domain/text.ts"
import type { User } from "../../domain/user.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { passwordHashOf, replacePasswordHash, userByEmailKey, userById } from "../../store/catalog/users.ts"
import { type Audit, sessionEntry } from "../audit/audit.ts"
import type { MailQueue } from "../mail/mail.ts"
import { codesPausedEmail, recoveryCodeUsedEmail } from "../mail/texts.ts"
import type { Attempt, SignInLimits } from "./limits.ts"
import { type Tickets, ticketInvalid } from "./one-time-tokens.ts"
import type { Passkeys } from "./passkeys.ts"
import type { Passwords } from "./passwords.ts"
import type { SecondFactors } from "./second-factors.ts"
import type { FailedStep, Guest, NoteFailure, OpenSession, SignedIn } from "./session.ts"
import type { Self, Sessions } from "./sessions.ts"
import type { SsoRule } from "./sso-rule.ts"

/**
 * Sign-in with password and second factor. An unknown address, a disabled user and a wrong password give the same error,
 * `invalid_credentials`, after the same amount of work.
 */
export interface SignIn {
  /** Checks a password. The body has `email` and `password`. Throws `invalid_credentials`, `rate_limited`, `sso_required`. */
  byPassword(body: unknown, guest: Guest): Promise<SignedIn | FactorRequiredResponse>
  /** Checks a second factor. The body has `ticket`, and `code` or `recovery_code`. Throws `ticket_invalid`, `invalid_code`, `rate_limited`. */
  byFactor(body: unknown, guest: Guest): Promise<SignedIn & { recoveryCodesLeft?: number }>
  /**
   * Returns the result of `judge`, which checks a code of a user. Undefined means that the code is wrong: it then counts against the
   * account and the network. After too many wrong codes the user gets an email. Throws `invalid_code`, `rate_limited`.
   */
  judgeCode<T extends object>(tried: CodeTry, judge: () => Promise<T | undefined>): Promise<T>
  /** Whether a password is the one of a known user. A wrong password counts against the network. */
  verifies(user: User, password: string, guest: Pick<Guest, "actor" | "origin">): Promise<boolean>
}

/** The user whose code is checked, the client, and the purpose. */
export interface CodeTry {
  user: User
  guest: Pick<Guest, "actor" | "origin">
  step: FailedStep
}

export interface SignInOptions {
  catalog: Catalog
  passwords: Passwords
  tickets: Tickets
  limits: SignInLimits
  factors: SecondFactors
  openSession: OpenSession
  noteFailure: NoteFailure
  mail: MailQueue
  sso: Pick<SsoRule, "refuse">
}

const TICKET_MS = 5 * 60_000
/** An id that no user has. */
const NO_USER_ID = 0

export function createSignIn(options: SignInOptions): SignIn {
  const { catalog, passwords, tickets, limits, factors, openSession, noteFailure, mail, sso } = options

  /** Checks the password of a user. Does the same work for unknown users: one query and one hash. */
  async function hasPassword(user: User | undefined, password: string): Promise<boolean> {
    const hash = await passwordHashOf(catalog, user?.id ?? NO_USER_ID)
    const { isRight, outdated } = await passwords.verify(password, hash)
    if (!isRight || user?.status !== "active") return false
    if (outdated) await replacePasswordHash(catalog, user.id, { old: hash!, fresh: await passwords.hash(password) })
    return true
  }

  async function judgeAttempt(attempt: Attempt, judge: () => Promise<boolean>): Promise<boolean> {
    // A password that could not be checked does not count as wrong.
    const isRight = await judge().catch((error) => {
      attempt.withdraw()
      throw error
    })
    if (isRight) attempt.succeed()
    return isRight
  }

  const judgeCode: SignIn["judgeCode"] = async ({ user, guest, step }, judge) => {
    const attempt = limits.code(guest.origin, user.id)
    const outcome = await judge().catch((error) => {
      // A code that could not be checked is not a wrong one.
      attempt.withdraw()
      throw error
    })
    if (outcome !== undefined) {
      attempt.succeed()
      return outcome
    }
    if (attempt.fail()) await mail.send(codesPausedEmail(user.email))
    await noteFailure(guest.actor, step, user.email)
    throw invalidCode()
  }

  async function factorRequired(user: User): Promise<FactorRequiredResponse | undefined> {
    const { totp, passkeys, recovery_codes_left } = await factors.of(user)
    if (!totp && passkeys === 0) return undefined
    const ticket = await tickets.issue(catalog, { kind: "mfa", userId: user.id, payload: {}, lifeMs: TICKET_MS })
    const methods: FactorRequiredResponse["methods"] = [...(totp ? ["totp" as const] : []), ...(passkeys > 0 ? ["passkey" as const] : [])]
    return { mfa_required: true, methods: recovery_codes_left > 0 ? [...methods, "recovery"] : methods, ticket }
  }

  return {
    async byPassword(body, guest) {
      const { email, password } = parseLogin(body)
      const account = caseKey(email)
      const attempt = limits.password(guest.origin, account)
      const user = await userByEmailKey(catalog, account)
      if (!(await judgeAttempt(attempt, () => hasPassword(user, password)))) {
        await noteFailure(guest.actor, "accounts.session.create", email)
        throw invalidCredentials()
      }
      await sso.refuse(user!, "own")
      const more = await factorRequired(user!)
      if (more) return more
      return catalog.transaction((statements) => openSession(statements, user!, { method: "password", mfa: false }, guest))
    },
    async byFactor(body, guest) {
      const { ticket, ...shown } = parseFactor(body)
      const { user_id } = await tickets.peek("mfa", ticket)
      const user = await userById(catalog, user_id ?? 0)
      if (user?.status !== "active") throw ticketInvalid()
      const signedIn = await judgeCode({ user, guest, step: "accounts.session.create" }, async () => {
        await tickets.try("mfa", ticket)
        const proof = await factors.prepare(user, shown)
        return catalog.transaction(async (statements) => {
          if (!(await proof.use(statements))) return undefined
          await tickets.use(statements, "mfa", ticket)
          const entered = await openSession(statements, user, { method: "password", mfa: true }, guest)
          const { recovery_codes_left } = await factors.of(user, statements)
          if (!("recovery_code" in shown)) return entered
          await mail.post(statements, recoveryCodeUsedEmail(user.email, recovery_codes_left))
          return { ...entered, recoveryCodesLeft: recovery_codes_left }
        })
      })
      mail.wake()
      return signedIn
    },
    judgeCode,
    async verifies(user, password, { actor, origin }) {
      const isRight = await judgeAttempt(limits.password(origin, caseKey(user.email)), () => hasPassword(user, password))
      if (!isRight) await noteFailure(actor, "accounts.session.prove", user.email)
      return isRight
    },
  }
}

export const invalidCredentials = () => new AppError("invalid_credentials", "The email address or the password is incorrect.")
export const invalidCode = () => new AppError("invalid_code", "The code is incorrect or was already used.")

/** Confirmation of a signed-in user's identity before sensitive actions. A confirmation is valid for 10 minutes. */
export interface Proofs {
  /**
   * Confirms the user's identity and returns the new token of the session. The body has `password`, `code` or the response of a passkey.
   * Throws `invalid_credentials`, `invalid_code`, `rate_limited`.
   */
  prove(self: Self, body: unknown): Promise<string>
}

interface ProofsOptions {
  catalog: Catalog
  audit: Audit
  sessions: Sessions
  signIn: SignIn
  factors: SecondFactors
  passkeys: Pick<Passkeys, "verify">
}

export function createProofs(options: ProofsOptions): Proofs {
  const { catalog, audit, sessions, signIn, factors, passkeys } = options

  async function judge(self: Self, proof: Proof): Promise<void> {
    if ("password" in proof) {
      if (!(await signIn.verifies(self.user, proof.password, self))) throw invalidCredentials()
    } else if ("code" in proof) await judgeCode(self, proof.code)
    else {
      const { userId } = await passkeys.verify(proof, self)
      if (userId !== self.user.id) throw invalidCredentials()
    }
  }

  async function judgeCode(self: Self, code: string): Promise<void> {
    await signIn.judgeCode({ user: self.user, guest: self, step: "accounts.session.prove" }, async () => {
      const { use } = await factors.prepare(self.user, { code })
      return (await catalog.transaction(use)) ? self : undefined
    })
  }

  return {
    async prove(self, body) {
      await judge(self, parseProof(body))
      const { session, actor } = self
      return catalog.transaction(async (statements) => {
        const token = await sessions.prove(statements, session.id)
        await audit.write(statements, actor, sessionEntry("accounts.session.prove", session.id))
        return token
      })
    },
  }
}
