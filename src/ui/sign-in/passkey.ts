/** Passkeys through the browser's WebAuthn API, with options and responses as JSON. */
import type { PasskeyChallengeResponse } from "../../domain/sign-in.ts"
import { Problem, post } from "../api/api.ts"

/** Response of a passkey in the form that the server expects. */
type PasskeyAnswer = { challenge_id: string; response: object }

export const canUsePasskeys = (): boolean => typeof PublicKeyCredential === "function"

/** The error when the user closed the browser's dialog or no device responded. */
const noPasskey = (detail: string) => new Problem(0, "no_passkey", detail)

/** Asks for a passkey: of the user with the ticket of a correct password, otherwise of any user. Throws `no_passkey`. */
export async function askPasskey(ticket?: string): Promise<PasskeyAnswer> {
  const { options, challenge_id } = await post<PasskeyChallengeResponse<PublicKeyCredentialRequestOptionsJSON>>(
    "/api/private/auth/passkey/options",
    ticket === undefined ? {} : { ticket },
    { isSignIn: true },
  )
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON?.(options) ?? requestOptions(options)
  return { challenge_id, response: await answerOf(navigator.credentials.get({ publicKey })) }
}

/** Creates a passkey for the signed-in user; the caller sends it with a name. Throws `no_passkey`. */
export async function makePasskey(): Promise<PasskeyAnswer> {
  const { options, challenge_id } = await post<PasskeyChallengeResponse<PublicKeyCredentialCreationOptionsJSON>>(
    "/api/private/me/passkeys",
    {},
  )
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON?.(options) ?? creationOptions(options)
  return { challenge_id, response: await answerOf(navigator.credentials.create({ publicKey })) }
}

async function answerOf(asking: Promise<Credential | null>): Promise<object> {
  const credential = await asking.catch((error: Error) => {
    throw noPasskey(
      error.name === "InvalidStateError" ? "This device already has a passkey for this account." : "No passkey was received. Try again.",
    )
  })
  if (!credential) throw noPasskey("No passkey was received. Try again.")
  const given = credential as PublicKeyCredential // only a public key was requested
  return typeof given.toJSON === "function" ? given.toJSON() : asJson(given)
}

// Browsers from before 2025 lack the JSON methods of the API.
const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (character) => character.charCodeAt(0))
const textOf = (bytes: ArrayBuffer | null | undefined): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes ?? new ArrayBuffer(0))))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "")
const named = (list: readonly PublicKeyCredentialDescriptorJSON[] = []): PublicKeyCredentialDescriptor[] =>
  list.map(({ id, transports }) => ({
    id: bytesOf(id),
    type: "public-key",
    ...(transports && { transports: transports as AuthenticatorTransport[] }),
  }))

const requestOptions = ({ challenge, allowCredentials, rpId, timeout }: PublicKeyCredentialRequestOptionsJSON) => ({
  challenge: bytesOf(challenge),
  allowCredentials: named(allowCredentials),
  userVerification: "required" as const,
  ...(rpId !== undefined && { rpId }),
  ...(timeout !== undefined && { timeout }),
})

const creationOptions = (options: PublicKeyCredentialCreationOptionsJSON): PublicKeyCredentialCreationOptions => ({
  rp: options.rp,
  challenge: bytesOf(options.challenge),
  user: { ...options.user, id: bytesOf(options.user.id) },
  pubKeyCredParams: options.pubKeyCredParams.map(({ alg }) => ({ alg, type: "public-key" })),
  excludeCredentials: named(options.excludeCredentials),
  authenticatorSelection: { residentKey: "required", userVerification: "required" },
  ...(options.timeout !== undefined && { timeout: options.timeout }),
})

function asJson({ id, rawId, type, response, authenticatorAttachment }: PublicKeyCredential): object {
  const shared = {
    id,
    rawId: textOf(rawId),
    type,
    clientExtensionResults: {},
    ...(authenticatorAttachment && { authenticatorAttachment }),
  }
  const clientDataJSON = textOf(response.clientDataJSON)
  if (response instanceof AuthenticatorAttestationResponse)
    return {
      ...shared,
      response: { clientDataJSON, attestationObject: textOf(response.attestationObject), transports: response.getTransports?.() ?? [] },
    }
  const { authenticatorData, signature, userHandle } = response as AuthenticatorAssertionResponse // the only other kind
  return {
    ...shared,
    response: {
      clientDataJSON,
      authenticatorData: textOf(authenticatorData),
      signature: textOf(signature),
      ...(userHandle && { userHandle: textOf(userHandle) }),
    },
  }
}
