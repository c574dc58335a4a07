import { Type as t } from "@sinclair/typebox"
import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { type PasskeyResponse, parsed, parsePasskey } from "../../domain/sign-in.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import { listPasskeys, type Passkey, passkeyByCredential, updatePasskeyUse } from "../../store/catalog/second-factors.ts"
import { userById } from "../../store/catalog/users.ts"
import type { Audit } from "../audit/audit.ts"
import type { Random } from "../secrets/secrets.ts"
import type { SignInLimits } from "./limits.ts"
import type { Tickets } from "./one-time-tokens.ts"
import { actorAs, type Guest, type NoteFailure, type OpenSession, type SignedIn } from "./session.ts"
import { invalidCredentials } from "./sign-in.ts"
import type { SsoRule } from "./sso-rule.ts"

/** The site that passkeys are bound to: the host of the base URL (`id`) and its origin. */
export interface RelyingParty {
  id: string
  origin: string
}

/** The options that a browser needs to use or create a passkey. */
export interface PasskeyChallenge {
  /** Options for `navigator.credentials` in their JSON form. */
  options: object
  challenge_id: string
}

/** A valid response of a passkey. `use` records its use in the caller's transaction. */
export interface PasskeyProof {
  userId: number
  use(statements: Statements): Promise<void>
}

/**
 * Sign-in with passkeys. The device must have verified its user, so a passkey counts as two factors. An unknown credential and a wrong
 * signature give the same error, `invalid_credentials`.
 */
export interface Passkeys {
  /** Starts a sign-in. With the `ticket` of a correct password in the body, only passkeys of that user are accepted. */
  begin(body: unknown, guest: Pick<Guest, "origin">): Promise<PasskeyChallenge>
  /** Completes a sign-in. The body has `challenge_id` and `response`. Throws `invalid_credentials`, `ticket_invalid`, `sso_required`. */
  signIn(body: unknown, guest: Guest): Promise<SignedIn>
  /** Verifies a response. Its challenge cannot be used again, even if the response is invalid. */
  verify(
    answer: { challenge_id: string; response: PasskeyResponse },
    guest: Pick<Guest, "actor" | "origin">,
  ): Promise<PasskeyProof & { mfaTicket?: string }>
}

export interface PasskeysOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  random: Random
  audit: Audit
  tickets: Tickets
  limits: SignInLimits
  openSession: OpenSession
  noteFailure: NoteFailure
  relyingParty(): RelyingParty
  sso: Pick<SsoRule, "refuse">
}

export const CHALLENGE_MS = 5 * 60_000
export const CHALLENGE_BYTES = 32
/** Maximum number of challenges per minute from one address. Every view of the sign-in page requests one. */
const CHALLENGES_PER_MINUTE = 60
const ANSWERS_PER_MINUTE = 20

const BeginInput = t.Object({ ticket: t.Optional(t.String({ minLength: 1, maxLength: 1_024 })) }, { additionalProperties: false })

interface Payload {
  challenge: string
  mfaTicket?: string
}

export function createPasskeys(options: PasskeysOptions): Passkeys {
  const { catalog, clock, random, audit, tickets, limits, openSession, noteFailure, relyingParty, sso } = options

  /** Verifies a response and returns its signature counter and backup state, undefined if the response is invalid. */
  async function judged(passkey: Passkey, challenge: string, response: PasskeyResponse) {
    const { verifyAuthenticationResponse } = await webauthn()
    const { id, origin } = relyingParty()
    const credential = { id: passkey.credential_id, publicKey: Uint8Array.from(passkey.public_key), counter: 0 }
    try {
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        // Untrusted input: the library validates every part of it.
        response: response as unknown as Parameters<typeof verifyAuthenticationResponse>[0]["response"],
        expectedChallenge: challenge,
        expectedOrigin: origin,
        expectedRPID: id,
        credential,
        requireUserVerification: true,
      })
      return verified && isTopFrame(response) && isOf(passkey, response) ? authenticationInfo : undefined
    } catch {
      return undefined
    }
  }

  async function verify(
    { challenge_id, response }: { challenge_id: string; response: PasskeyResponse },
    { actor, origin }: Pick<Guest, "actor" | "origin">,
  ): Promise<PasskeyProof & { mfaTicket?: string }> {
    limits.request(origin, "passkey", ANSWERS_PER_MINUTE)
    const { user_id, payload } = await tickets.use(catalog, "passkey", challenge_id)
    const { challenge, mfaTicket } = payload as Payload // written below
    const passkey = typeof response.id === "string" ? await passkeyByCredential(catalog, response.id) : undefined
    const info = passkey && (user_id === null || passkey.user_id === user_id) ? await judged(passkey, challenge, response) : undefined
    if (!passkey || !info) {
      await noteFailure(actor, "accounts.session.create", "")
      throw invalidCredentials()
    }
    await refuseCopy(passkey, info.newCounter, actor)
    return {
      userId: passkey.user_id,
      use: (statements) =>
        updatePasskeyUse(statements, passkey.id, { signCount: info.newCounter, backedUp: info.credentialBackedUp, at: clock.now() }),
      ...(mfaTicket !== undefined && { mfaTicket }),
    }
  }

  /** Throws `invalid_credentials` if the signature counter did not increase, because then the passkey is a copy. */
  async function refuseCopy(passkey: Passkey, count: number, actor: Guest["actor"]): Promise<void> {
    if (count === 0 || passkey.sign_count === 0 || count > passkey.sign_count) return
    await audit.writeAlone(actor, {
      action: "accounts.passkey.use",
      target: { type: "passkey", id: passkey.id, label: passkey.name },
      outcome: "failed",
      changes: { sign_count: [passkey.sign_count, count] },
    })
    throw invalidCredentials()
  }

  return {
    verify,
    async begin(body, { origin }) {
      limits.request(origin, "passkey-challenge", CHALLENGES_PER_MINUTE)
      const { ticket } = parsed(BeginInput, body)
      const userId = ticket === undefined ? null : (await tickets.peek("mfa", ticket)).user_id
      const known = userId === null ? [] : await listPasskeys(catalog, userId)
      const { generateAuthenticationOptions } = await webauthn()
      const asked = await generateAuthenticationOptions({
        rpID: relyingParty().id,
        challenge: Uint8Array.from(random(CHALLENGE_BYTES)),
        timeout: CHALLENGE_MS,
        userVerification: "required",
        allowCredentials: known.map(({ credential_id, transports }) => ({ id: credential_id, transports: [...transports] })),
      })
      const payload: Payload = { challenge: asked.challenge, ...(ticket !== undefined && { mfaTicket: ticket }) }
      const challenge_id = await tickets.issue(catalog, { kind: "passkey", userId, payload, lifeMs: CHALLENGE_MS })
      return { options: asked, challenge_id }
    },
    async signIn(body, guest) {
      const proof = await verify(parsePasskey(body), guest)
      const user = await userById(catalog, proof.userId)
      if (user?.status !== "active") throw invalidCredentials()
      await sso.refuse(user, "own")
      return catalog.transaction(async (statements) => {
        if (proof.mfaTicket !== undefined) await tickets.use(statements, "mfa", proof.mfaTicket)
        await proof.use(statements)
        return openSession(statements, user, { method: "passkey", mfa: true }, { ...guest, actor: actorAs(guest.actor, user) })
      })
    },
  }
}

/** Whether the response was created in a top-level page. Our page in a frame of another site must not sign anyone in. */
function isTopFrame(response: PasskeyResponse): boolean {
  const { clientDataJSON } = response.response as { clientDataJSON: string } // validated by the library
  return JSON.parse(Buffer.from(clientDataJSON, "base64url").toString()).crossOrigin !== true
}

/** Whether the user that the device names, if any, owns the passkey. */
function isOf({ user_id }: Passkey, response: PasskeyResponse): boolean {
  const { userHandle } = response.response as { userHandle?: string | null } // validated by the library
  return !userHandle || Buffer.from(userHandle, "base64url").toString() === userHandleOf(user_id)
}

/** Returns the handle under which devices store the passkeys of a user. */
export const userHandleOf = (userId: number): string => `user-${userId}`

export const noPasskey = () => new AppError("passkey_not_found", "You have no passkey with this id.")

/**
 * Loads the passkey library on first use. Its polyfill is imported first, because bundling would otherwise move it behind the code that
 * needs it.
 */
export async function webauthn() {
  await import("reflect-metadata")
  return import("@simplewebauthn/server")
}

/** Loads the library's helpers for decoding single values. */
export async function webauthnParts() {
  await import("reflect-metadata")
  return import("@simplewebauthn/server/helpers")
}
