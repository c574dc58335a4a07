import { type Static, Type as t } from "@sinclair/typebox"
import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import { parseId } from "../domain/id.ts"
import { fault, isObject } from "../domain/shape.ts"
import { parsed, parsePasskey } from "../domain/sign-in-input.ts"
import { NameText } from "../domain/user.ts"
import { type Expected, refuseOtherVersion, refuseStaleBody } from "../domain/version.ts"
import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import {
  deletePasskey,
  insertPasskey,
  listPasskeys,
  type NewPasskey,
  type Passkey,
  passkeyOf,
  updatePasskeyName,
} from "../store/catalog/passkeys.ts"
import { replaceRecoveryCodes } from "../store/catalog/second-factors.ts"
import { type Audit, recorded } from "./audit.ts"
import { type Self, userDeed } from "./own-account.ts"
import { CHALLENGE_BYTES, CHALLENGE_MS, noPasskey, type PasskeyChallenge, type RelyingParty, userHandleOf } from "./passkeys.ts"
import type { RecoveryCodes } from "./recovery-codes.ts"
import type { SecondFactors } from "./second-factors.ts"
import type { Random } from "./secrets.ts"
import type { Sessions } from "./sessions.ts"
import { invalidCode } from "./sign-in.ts"
import type { Tickets } from "./tickets.ts"
import type { Totp } from "./totp.ts"
import { webauthn, webauthnParts } from "./webauthn.ts"

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
export interface OwnFactors {
  /** Nothing is active yet. */
  startTotp(self: Self): Promise<TotpStart>
  /** The body has `ticket` and `code`; the codes for emergencies are told this once. Throws `ticket_invalid`, `invalid_code`. */
  confirmTotp(self: Self, body: unknown): Promise<string[]>
  /** Throws `mfa_required_by_policy`, `invalid_state`. */
  disableTotp(self: Self): Promise<void>
  /** A new set, told this once; the old one is void. Throws `invalid_state` for somebody without a factor. */
  newRecoveryCodes(self: Self): Promise<string[]>
  passkeys(self: Self): Promise<Passkey[]>
  /** Throws `limit_reached`. */
  beginPasskey(self: Self): Promise<PasskeyChallenge>
  /** The body has `challenge_id`, `response` and perhaps a `name`. Throws `ticket_invalid`, `validation_failed`, `limit_reached`. */
  addPasskey(self: Self, body: unknown): Promise<Passkey>
  /** Throws `passkey_not_found`, `version_conflict`, `precondition_failed`. */
  renamePasskey(self: Self, id: string | undefined, patch: unknown, terms: PasskeyTerms): Promise<Passkey>
  /** Throws `passkey_not_found`, `mfa_required_by_policy`. */
  removePasskey(self: Self, id: string | undefined, terms: Pick<PasskeyTerms, "expected">): Promise<void>
}

export interface PasskeyTerms {
  expected: Expected
  current(passkey: Passkey): object
}

export interface OwnFactorsOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  random: Random
  audit: Audit
  sessions: Sessions
  tickets: Tickets
  totp: Totp
  recoveryCodes: RecoveryCodes
  factors: SecondFactors
  relyingParty(): RelyingParty
}

const TICKET_MS = 10 * 60_000
const PASSKEYS = 20
const PRODUCT = "Footfall"
/** ES256, EdDSA, RS256. */
const ALGORITHMS = [-7, -8, -257]
const Secret = t.String({ minLength: 1, maxLength: 1_024 })
const ConfirmInput = t.Object({ ticket: Secret, code: Secret }, { additionalProperties: false })
const NameInput = t.Object({ name: t.Optional(NameText) }, { additionalProperties: false })
const RenameInput = t.Object(
  { name: t.Optional(NameText), version: t.Optional(t.Integer({ minimum: 1 })) },
  { additionalProperties: false },
)

export function createOwnFactors(options: OwnFactorsOptions): OwnFactors {
  const { catalog, clock, random, audit, sessions, tickets, totp, recoveryCodes, factors, relyingParty } = options

  /** What every change of factors brings with it. */
  async function changed(statements: Statements, { user, session, actor }: Self, action: string): Promise<void> {
    await sessions.revokeAll(statements, user.id, session.id)
    await audit.write(statements, actor, userDeed(action)(user))
  }
  /** Codes for emergencies stand in for a factor: without one there is nothing to stand in for. */
  async function dropOrphanedCodes(statements: Statements, self: Self): Promise<void> {
    const left = await factors.of(self.user, statements)
    if (left.totp || left.passkeys > 0) return
    if (await factors.isWanted(self.user, statements)) throw requiredByPolicy()
    await replaceRecoveryCodes(statements, self.user.id, [])
  }
  async function refuseTooMany(statements: Statements, userId: number): Promise<Passkey[]> {
    const own = await listPasskeys(statements, userId)
    if (own.length >= PASSKEYS)
      throw new AppError("limit_reached", `You may have ${PASSKEYS} passkeys`, { limit: PASSKEYS, resource: "passkeys" })
    return own
  }
  async function find(statements: Statements, { user }: Self, id: string | undefined): Promise<Passkey> {
    const found = await passkeyOf(statements, user.id, parseId(id) ?? 0)
    if (!found) throw noPasskey()
    return found
  }

  return {
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
        await changed(statements, self, "accounts.totp.enable")
      })
      return fresh.codes
    },
    async disableTotp(self) {
      await catalog.transaction(async (statements) => {
        if (!(await factors.of(self.user, statements)).totp)
          throw new AppError("invalid_state", "There is no app to take away.", { state: "off" })
        await totp.remove(statements, self.user.id)
        await dropOrphanedCodes(statements, self)
        await changed(statements, self, "accounts.totp.disable")
      })
    },
    async newRecoveryCodes(self) {
      const fresh = await recoveryCodes.make()
      await catalog.transaction(async (statements) => {
        const present = await factors.of(self.user, statements)
        if (!present.totp && present.passkeys === 0) throw new AppError("invalid_state", "Add a second factor first.", { state: "off" })
        await fresh.keep(statements, self.user.id)
        await changed(statements, self, "accounts.recovery-codes.create")
      })
      return fresh.codes
    },
    passkeys: ({ user }) => listPasskeys(catalog, user.id),
    async beginPasskey({ user }) {
      const own = await refuseTooMany(catalog, user.id)
      const { generateRegistrationOptions } = await webauthn()
      const asked = await generateRegistrationOptions({
        rpName: PRODUCT,
        rpID: relyingParty().id,
        userID: new TextEncoder().encode(userHandleOf(user.id)),
        userName: user.email,
        userDisplayName: user.name,
        challenge: Uint8Array.from(random(CHALLENGE_BYTES)),
        timeout: CHALLENGE_MS,
        attestationType: "none",
        supportedAlgorithmIDs: ALGORITHMS,
        authenticatorSelection: { residentKey: "required", userVerification: "required" },
        excludeCredentials: own.map(({ credential_id, transports }) => ({ id: credential_id, transports: [...transports] })),
      })
      const payload = { challenge: asked.challenge }
      const challenge_id = await tickets.issue(catalog, { kind: "passkey_new", userId: user.id, payload, lifeMs: CHALLENGE_MS })
      return { options: asked, challenge_id }
    },
    async addPasskey(self, body) {
      const { name = "Passkey", ...answer } = parseNewPasskey(body)
      const { user_id, payload } = await tickets.use(catalog, "passkey_new", answer.challenge_id)
      const made =
        user_id === self.user.id
          ? await credentialIn(answer.response, (payload as { challenge: string }).challenge, relyingParty())
          : undefined
      if (!made) throw badPasskey()
      return catalog.transaction(async (statements) => {
        await refuseTooMany(statements, self.user.id)
        const passkey = await insertPasskey(statements, { ...made, user_id: self.user.id, name, created_at: clock.now() })
        // A device that has shown it before, to whomever.
        if (!passkey) throw badPasskey()
        await changed(statements, self, "accounts.passkey.create")
        return passkey
      })
    },
    renamePasskey: (self, id, patch, { expected, current }) =>
      catalog.transaction(async (statements) => {
        const before = await find(statements, self, id)
        const { name = before.name, version } = parsed(RenameInput, patch)
        refuseOtherVersion(before, expected)
        refuseStaleBody(before, version, current)
        if (name === before.name) return before
        const after = await updatePasskeyName(statements, before.id, name)
        const describe = () => ({ action: "accounts.passkey.update", target: { type: "passkey", id: before.id, label: before.name } })
        await recorded<{ name: string }>(audit, self.actor, describe)(statements, { before: { name: before.name }, after: { name } })
        return after
      }),
    async removePasskey(self, id, { expected }) {
      await catalog.transaction(async (statements) => {
        const before = await find(statements, self, id)
        refuseOtherVersion(before, expected)
        await deletePasskey(statements, before.id)
        await dropOrphanedCodes(statements, self)
        await changed(statements, self, "accounts.passkey.delete")
      })
    },
  }
}

/** Throws `validation_failed`. */
function parseNewPasskey(body: unknown) {
  const { name, ...rest } = isObject(body) ? body : {}
  const named = parsed(NameInput, name === undefined ? {} : { name })
  return { ...parsePasskey(isObject(body) ? rest : body), ...named }
}

type MadeCredential = Pick<NewPasskey, "credential_id" | "public_key" | "algorithm" | "sign_count" | "transports" | "backed_up">

/** The new key, undefined for whatever is wrong about the answer. */
async function credentialIn(response: object, challenge: string, { id, origin }: RelyingParty): Promise<MadeCredential | undefined> {
  const { verifyRegistrationResponse } = await webauthn()
  const { cose, decodeCredentialPublicKey } = await webauthnParts()
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      // The library looks at every part of it.
      response: response as Parameters<typeof verifyRegistrationResponse>[0]["response"],
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: id,
      requireUserVerification: true,
      supportedAlgorithmIDs: ALGORITHMS,
    })
    if (!verified) return undefined
    const { credential, credentialBackedUp } = registrationInfo
    return {
      credential_id: credential.id,
      public_key: credential.publicKey,
      algorithm: Number(decodeCredentialPublicKey(credential.publicKey).get(cose.COSEKEYS.alg)),
      sign_count: credential.counter,
      transports: (credential.transports ?? []).filter((name) => /^[a-z-]{1,20}$/.test(name)).slice(0, 10),
      backed_up: credentialBackedUp,
    }
  } catch {
    return undefined
  }
}

const requiredByPolicy = () => new AppError("mfa_required_by_policy", "Add another second factor before you take the last one away.")

const badPasskey = () =>
  new AppError("validation_failed", "1 field is not valid.", {
    errors: [fault("/response", "invalid_passkey", "is no answer to this challenge")],
  })
