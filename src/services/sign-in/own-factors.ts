import { type Static, Type as t } from "@sinclair/typebox"
import type { AuditEntry } from "../../domain/audit.ts"
import { AppError } from "../../domain/error.ts"
import { parsed } from "../../domain/sign-in.ts"
import type { Statements } from "../../store/catalog/catalog.ts"
import { replaceRecoveryCodes } from "../../store/catalog/second-factors.ts"
import { type Audit, userEntry } from "../audit/audit.ts"
import { refuseUntil, rememberedTimes } from "./limits.ts"
import { createOwnPasskeys, type OwnPasskeys, type OwnPasskeysOptions } from "./own-passkeys.ts"
import type { NewCodes, RecoveryCodes, SecondFactors, Totp } from "./second-factors.ts"
import type { Self, Sessions } from "./sessions.ts"
import { invalidCode } from "./sign-in.ts"

/** The secret of a new authenticator app, as text and as QR code. */
export interface TotpStart {
  secret: string
  otpauth_uri: string
  qr_svg: string
  ticket: string
}

/** Changes to a user's own second factors. Each change ends all other sessions, so that they need the new factor to sign in again. */
export interface OwnFactors extends OwnPasskeys {
  /** Starts the set-up of an authenticator app. It is not active until `confirmTotp`. */
  startTotp(self: Self): Promise<TotpStart>
  /** Activates the app and returns new recovery codes, which are shown only once. The body has `ticket` and `code`. Throws `ticket_invalid`, `invalid_code`, `rate_limited`. */
  confirmTotp(self: Self, body: unknown): Promise<string[]>
  /** Removes the authenticator app. Throws `mfa_required_by_policy`, `invalid_state`. */
  disableTotp(self: Self): Promise<void>
  /** Replaces the recovery codes and returns the new ones, which are shown only once. Throws `invalid_state` for a user without a second factor, `rate_limited`. */
  newRecoveryCodes(self: Self): Promise<string[]>
}

export interface OwnFactorsOptions extends FactorChangeOptions, Omit<OwnPasskeysOptions, keyof FactorChange> {
  totp: Totp
  recoveryCodes: RecoveryCodes
}

const TICKET_MS = 10 * 60_000
const HOUR_MS = 60 * 60_000
/** Maximum number of sets of recovery codes per user and hour. Each takes ten slow hashes. */
const CODE_SETS_PER_HOUR = 5
const Secret = t.String({ minLength: 1, maxLength: 1_024 })
const ConfirmInput = t.Object({ ticket: Secret, code: Secret }, { additionalProperties: false })

export function createOwnFactors(options: OwnFactorsOptions): OwnFactors {
  const { catalog, clock, tickets, totp, recoveryCodes, factors } = options
  const codeSets = rememberedTimes(clock.now, HOUR_MS)
  const change = factorChange(options)
  const { changed, dropOrphanedCodes } = change

  /** Creates recovery codes. Throws `rate_limited`. Called after all other checks, because it is slow. */
  function makeCodes({ user }: Self): Promise<NewCodes> {
    refuseUntil(codeSets.freeAt(String(user.id), CODE_SETS_PER_HOUR), clock.now())
    codeSets.note(String(user.id))
    return recoveryCodes.make()
  }
  async function refuseWithoutFactor(statements: Statements, { user }: Self): Promise<void> {
    const present = await factors.of(user, statements)
    if (!present.totp && present.passkeys === 0)
      throw new AppError("invalid_state", "Recovery codes stand in for a second factor. Add an authenticator app or a passkey first.", {
        state: "off",
      })
  }

  return {
    ...createOwnPasskeys({ ...options, ...change }),
    async startTotp({ user }) {
      const { secret, uri, qrSvg, seal } = await totp.begin(user.email)
      const payload = { sealed: seal(user.id).toBase64() }
      const ticket = await tickets.issue(catalog, { kind: "totp_new", userId: user.id, payload, lifeMs: TICKET_MS })
      return { secret, otpauth_uri: uri, qr_svg: qrSvg, ticket }
    },
    async confirmTotp(self, body) {
      const { ticket, code }: Static<typeof ConfirmInput> = parsed(ConfirmInput, body)
      const { user_id, payload } = await tickets.try("totp_new", ticket)
      if (user_id !== self.user.id) throw invalidCode()
      const sealed = Uint8Array.fromBase64((payload as { sealed: string }).sealed) // written above
      if (!(await totp.isRight(self.user.id, sealed, code))) throw invalidCode()
      const fresh = await makeCodes(self)
      await catalog.transaction(async (statements) => {
        if (!(await totp.confirm(statements, self.user.id, sealed, code))) throw invalidCode()
        await tickets.use(statements, "totp_new", ticket)
        await fresh.keep(statements, self.user.id)
        await changed(statements, self, userEntry("accounts.totp.enable")(self.user))
      })
      return fresh.codes
    },
    async disableTotp(self) {
      await catalog.transaction(async (statements) => {
        if (!(await factors.of(self.user, statements)).totp)
          throw new AppError("invalid_state", "Your account has no authenticator app to remove.", { state: "off" })
        await totp.remove(statements, self.user.id)
        await dropOrphanedCodes(statements, self)
        await changed(statements, self, userEntry("accounts.totp.disable")(self.user))
      })
    },
    async newRecoveryCodes(self) {
      await refuseWithoutFactor(catalog, self)
      const fresh = await makeCodes(self)
      await catalog.transaction(async (statements) => {
        await refuseWithoutFactor(statements, self)
        await fresh.keep(statements, self.user.id)
        await changed(statements, self, userEntry("accounts.recovery-codes.create")(self.user))
      })
      return fresh.codes
    },
  }
}

/** The steps that all changes to a user's own second factors share. They run in the transaction of the change. */
export interface FactorChange {
  /** Ends all other sessions and writes the audit entry. */
  changed(statements: Statements, self: Self, entry: AuditEntry): Promise<void>
  /**
   * Deletes the recovery codes if no second factor is left, because they only stand in for one. Throws `mfa_required_by_policy` if the user
   * must keep a factor.
   */
  dropOrphanedCodes(statements: Statements, self: Self): Promise<void>
}

interface FactorChangeOptions {
  audit: Audit
  sessions: Sessions
  factors: SecondFactors
}

function factorChange({ audit, sessions, factors }: FactorChangeOptions): FactorChange {
  return {
    async changed(statements, { user, session, actor }, entry) {
      await sessions.revokeAll(statements, user.id, session.id)
      await audit.write(statements, actor, entry)
    },
    async dropOrphanedCodes(statements, { user }) {
      const left = await factors.of(user, statements)
      if (left.totp || left.passkeys > 0) return
      if (await factors.isRequired(user, statements)) throw requiredByPolicy()
      await replaceRecoveryCodes(statements, user.id, [])
    },
  }
}

const requiredByPolicy = () =>
  new AppError("mfa_required_by_policy", "Two-factor authentication is required. Add another second factor before you remove the last one.")
