import { Type as t } from "@sinclair/typebox"
import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import { type PasskeyResponse, parsed, parsePasskey } from "../domain/sign-in-input.ts"
import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import { listPasskeys, type Passkey, passkeyByCredential, updatePasskeyUse } from "../store/catalog/passkeys.ts"
import { userById } from "../store/catalog/users.ts"
import type { Audit } from "./audit.ts"
import type { Random } from "./secrets.ts"
import { invalidCredentials } from "./sign-in.ts"
import type { NoteFailure } from "./sign-in-failures.ts"
import type { SignInLimits } from "./sign-in-limits.ts"
import { actorAs, type Guest, type OpenSession, type SignedIn } from "./sign-in-session.ts"
import type { SsoRule } from "./sso-rule.ts"
import type { Tickets } from "./tickets.ts"
import { webauthn } from "./webauthn.ts"

/** Where passkeys belong: the host of the base address, and the origin pages of it have. */
export interface RelyingParty {
  id: string
  origin: string
}

/** What a browser is asked for. */
export interface PasskeyChallenge {
  /** As `navigator.credentials` takes it, in JSON. */
  options: object
  challenge_id: string
}

/** A right answer. `use` notes it, in the caller's transaction. */
export interface PasskeyProof {
  userId: number
  use(statements: Statements): Promise<void>
}

/**
 * Signing in by passkey. The device must have verified its user, so a passkey is two factors at once. An unknown credential
 * and a wrong signature are one answer, `invalid_credentials`.
 */
export interface Passkeys {
  /** The body may have the `ticket` of a password that was right: then only passkeys of that user are asked for. */
  begin(body: unknown, guest: Pick<Guest, "origin">): Promise<PasskeyChallenge>
  /** The body has `challenge_id` and `response`. Throws `ticket_invalid`, `sso_required`. */
  signIn(body: unknown, guest: Guest): Promise<SignedIn>
  /** A challenge is used up by its answer, right or wrong. */
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
/** Challenges a minute from one address: a page asks for one whenever it is shown. */
const CHALLENGES_PER_MINUTE = 60
const ANSWERS_PER_MINUTE = 20

const BeginInput = t.Object({ ticket: t.Optional(t.String({ minLength: 1, maxLength: 1_024 })) }, { additionalProperties: false })

interface Payload {
  challenge: string
  mfaTicket?: string
}

export function createPasskeys(options: PasskeysOptions): Passkeys {
  const { catalog, clock, random, audit, tickets, limits, openSession, noteFailure, relyingParty, sso } = options

  /** The user, the new count and whether the key is backed up; undefined for whatever is wrong about the answer. */
  async function judged(passkey: Passkey, challenge: string, response: PasskeyResponse) {
    const { verifyAuthenticationResponse } = await webauthn()
    const { id, origin } = relyingParty()
    const credential = { id: passkey.credential_id, publicKey: Uint8Array.from(passkey.public_key), counter: 0 }
    try {
      const { verified, authenticationInfo } = await verifyAuthenticationResponse({
        // It was sent by whoever wants to come in: the library looks at every part of it.
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

  /** A device counts its signatures. One that counts from further back is a copy of it. */
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
      const userId = ticket === undefined ? null : (await tickets.look("mfa", ticket)).user_id
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

/** A page of ours in a frame of somebody else's must not be a way in. */
function isTopFrame(response: PasskeyResponse): boolean {
  const { clientDataJSON } = response.response as { clientDataJSON: string } // the library has just read it
  return JSON.parse(Buffer.from(clientDataJSON, "base64url").toString()).crossOrigin !== true
}

/** A device that names its user must name the one whose key it is. */
function isOf({ user_id }: Passkey, response: PasskeyResponse): boolean {
  const { userHandle } = response.response as { userHandle?: string | null } // the library has just read it
  return !userHandle || Buffer.from(userHandle, "base64url").toString() === userHandleOf(user_id)
}

/** Under which a device keeps the keys of a user. */
export const userHandleOf = (userId: number): string => `user-${userId}`

export const noPasskey = () => new AppError("passkey_not_found", "You have no passkey with this id.")
