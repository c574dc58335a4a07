import { Type as t } from "@sinclair/typebox"
import type { AuditEntry } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { parseId } from "../../domain/id.ts"
import { fault, isObject } from "../../domain/shape.ts"
import { parsed, parsePasskey } from "../../domain/sign-in.ts"
import { NameText } from "../../domain/user.ts"
import { type Expected, refuseOtherVersion, refuseStaleBody } from "../../domain/version.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import {
  deletePasskey,
  insertPasskey,
  listPasskeys,
  type NewPasskey,
  type Passkey,
  passkeyOf,
  updatePasskeyName,
} from "../../store/catalog/second-factors.ts"
import { type Audit, recorded } from "../audit/audit.ts"
import type { Random } from "../secrets/secrets.ts"
import type { Tickets } from "./one-time-tokens.ts"
import type { FactorChange } from "./own-factors.ts"
import {
  CHALLENGE_BYTES,
  CHALLENGE_MS,
  noPasskey,
  type PasskeyChallenge,
  type RelyingParty,
  userHandleOf,
  webauthn,
  webauthnParts,
} from "./passkeys.ts"
import type { Self } from "./sessions.ts"

/** Changes to a user's own passkeys. */
export interface OwnPasskeys {
  passkeys(self: Self): Promise<Passkey[]>
  /** Starts the registration of a passkey. Throws `limit_reached`. */
  beginPasskey(self: Self): Promise<PasskeyChallenge>
  /** Adds a passkey. The body has `challenge_id`, `response` and optionally a `name`. Throws `ticket_invalid`, `validation_failed`, `limit_reached`. */
  addPasskey(self: Self, body: unknown): Promise<Passkey>
  /** Renames a passkey. Throws `passkey_not_found`, `version_conflict`, `precondition_failed`. */
  renamePasskey(self: Self, id: string | undefined, patch: unknown, terms: PasskeyTerms): Promise<Passkey>
  /** Removes a passkey. Throws `passkey_not_found`, `mfa_required_by_policy`. */
  removePasskey(self: Self, id: string | undefined, terms: Pick<PasskeyTerms, "expected">): Promise<void>
}

interface PasskeyTerms {
  expected: Expected
  current(passkey: Passkey): object
}

export interface OwnPasskeysOptions extends FactorChange {
  catalog: Catalog
  clock: Pick<Clock, "now">
  random: Random
  audit: Audit
  tickets: Tickets
  relyingParty(): RelyingParty
}

const MAX_PASSKEYS = 20
const PRODUCT = "Footfall"
const NameInput = t.Object({ name: t.Optional(NameText) }, { additionalProperties: false })
const RenameInput = t.Object(
  { name: t.Optional(NameText), version: t.Optional(t.Integer({ minimum: 1 })) },
  { additionalProperties: false },
)

export function createOwnPasskeys(options: OwnPasskeysOptions): OwnPasskeys {
  const { catalog, clock, random, audit, tickets, relyingParty, changed, dropOrphanedCodes } = options

  async function refuseTooMany(statements: Statements, userId: number): Promise<Passkey[]> {
    const own = await listPasskeys(statements, userId)
    if (own.length >= MAX_PASSKEYS)
      throw new AppError("limit_reached", `You can have up to ${MAX_PASSKEYS} passkeys. Remove one before you add another.`, {
        limit: MAX_PASSKEYS,
        resource: "passkeys",
      })
    return own
  }
  async function find(statements: Statements, { user }: Self, id: string | undefined): Promise<Passkey> {
    const found = await passkeyOf(statements, user.id, parseId(id) ?? 0)
    if (!found) throw noPasskey()
    return found
  }

  return {
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
          ? await verifyRegistration(answer.response, (payload as { challenge: string }).challenge, relyingParty())
          : undefined
      if (!made) throw badPasskey()
      return catalog.transaction(async (statements) => {
        await refuseTooMany(statements, self.user.id)
        const passkey = await insertPasskey(statements, { ...made, user_id: self.user.id, name, created_at: clock.now() })
        // The passkey is registered already, for this user or another one.
        if (!passkey) throw badPasskey()
        await changed(statements, self, passkeyEntry("create", passkey))
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
        await recorded<{ name: string }>(audit, self.actor, () => passkeyEntry("update", before))(statements, {
          before: { name: before.name },
          after: { name },
        })
        return after
      }),
    async removePasskey(self, id, { expected }) {
      await catalog.transaction(async (statements) => {
        const before = await find(statements, self, id)
        refuseOtherVersion(before, expected)
        await deletePasskey(statements, before.id)
        await dropOrphanedCodes(statements, self)
        await changed(statements, self, passkeyEntry("delete", before))
      })
    },
  }
}

const passkeyEntry = (verb: string, { id, name }: Passkey): AuditEntry => ({
  action: `accounts.passkey.${verb}`,
  target: { type: "passkey", id, label: name },
})

/** Reads the body of a registration. Throws `validation_failed`. */
function parseNewPasskey(body: unknown) {
  const { name, ...rest } = isObject(body) ? body : {}
  const named = parsed(NameInput, name === undefined ? {} : { name })
  return { ...parsePasskey(isObject(body) ? rest : body), ...named }
}

const badPasskey = () =>
  new AppError("validation_failed", "1 field is not valid.", {
    errors: [fault("/response", "invalid_passkey", "must be a valid response to this challenge from a passkey that is not registered yet")],
  })

/** COSE ids of the supported signature algorithms: ES256, EdDSA, RS256. */
export const ALGORITHMS = [-7, -8, -257]

type NewCredential = Pick<NewPasskey, "credential_id" | "public_key" | "algorithm" | "sign_count" | "transports" | "backed_up">

/** Verifies the response to a registration and returns the new credential, undefined if the response is invalid. */
export async function verifyRegistration(
  response: object,
  challenge: string,
  { id, origin }: RelyingParty,
): Promise<NewCredential | undefined> {
  const { verifyRegistrationResponse } = await webauthn()
  const { cose, decodeCredentialPublicKey } = await webauthnParts()
  try {
    const { verified, registrationInfo } = await verifyRegistrationResponse({
      // Untrusted input: the library validates every part of it.
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
