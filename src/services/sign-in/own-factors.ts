import { type Static, Type as t } from "@sinclair/typebox"
import { AppError } from "../domain/error.ts"
import { parsed } from "../domain/sign-in-input.ts"
import { type FactorChange, type FactorChangeOptions, factorChange } from "./factor-change.ts"
import { type Self, userDeed } from "./own-account.ts"
import { createOwnPasskeys, type OwnPasskeys, type OwnPasskeysOptions } from "./own-passkeys.ts"
import type { RecoveryCodes } from "./recovery-codes.ts"
import { invalidCode } from "./sign-in.ts"
import type { Totp } from "./totp.ts"

/** What somebody types into an app, or lets it read. */
export interface TotpStart {
  secret: string
  otpauth_uri: string
  qr_svg: string
  ticket: string
}

/**
 * The second factors of the own account. Each change ends all other sessions: whoever is signed in elsewhere signs in anew,
 * with the new factor.
 */
export interface OwnFactors extends OwnPasskeys {
  /** Nothing is active yet. */
  startTotp(self: Self): Promise<TotpStart>
  /** The body has `ticket` and `code`; the codes for emergencies are told this once. Throws `ticket_invalid`, `invalid_code`. */
  confirmTotp(self: Self, body: unknown): Promise<string[]>
  /** Throws `mfa_required_by_policy`, `invalid_state`. */
  disableTotp(self: Self): Promise<void>
  /** A new set, told this once; the old one is void. Throws `invalid_state` for somebody without a factor. */
  newRecoveryCodes(self: Self): Promise<string[]>
}

export interface OwnFactorsOptions extends FactorChangeOptions, Omit<OwnPasskeysOptions, keyof FactorChange> {
  totp: Totp
  recoveryCodes: RecoveryCodes
}

const TICKET_MS = 10 * 60_000
const Secret = t.String({ minLength: 1, maxLength: 1_024 })
const ConfirmInput = t.Object({ ticket: Secret, code: Secret }, { additionalProperties: false })

export function createOwnFactors(options: OwnFactorsOptions): OwnFactors {
  const { catalog, tickets, totp, recoveryCodes, factors } = options
  const change = factorChange(options)
  const { changed, dropOrphanedCodes } = change

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
      const fresh = await recoveryCodes.make()
      await catalog.transaction(async (statements) => {
        if (!(await totp.confirm(statements, self.user.id, sealed, code))) throw invalidCode()
        await tickets.use(statements, "totp_new", ticket)
        await fresh.keep(statements, self.user.id)
        await changed(statements, self, userDeed("accounts.totp.enable")(self.user))
      })
      return fresh.codes
    },
    async disableTotp(self) {
      await catalog.transaction(async (statements) => {
        if (!(await factors.of(self.user, statements)).totp)
          throw new AppError("invalid_state", "There is no app to take away.", { state: "off" })
        await totp.remove(statements, self.user.id)
        await dropOrphanedCodes(statements, self)
        await changed(statements, self, userDeed("accounts.totp.disable")(self.user))
      })
    },
    async newRecoveryCodes(self) {
      const fresh = await recoveryCodes.make()
      await catalog.transaction(async (statements) => {
        const present = await factors.of(self.user, statements)
        if (!present.totp && present.passkeys === 0) throw new AppError("invalid_state", "Add a second factor first.", { state: "off" })
        await fresh.keep(statements, self.user.id)
        await changed(statements, self, userDeed("accounts.recovery-codes.create")(self.user))
      })
      return fresh.codes
    },
  }
}
