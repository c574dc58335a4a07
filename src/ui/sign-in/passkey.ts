/** Passkeys by the browser's own API, with options and answers in JSON as the server writes and reads them. */
import { Problem, post } from "../api.ts"

/** As the server wants it back. */
export type PasskeyAnswer = { challenge_id: string; response: object }
type Challenge<Options> = { options: Options; challenge_id: string }

export const canUsePasskeys = (): boolean => typeof PublicKeyCredential === "function"

/** Somebody closed the browser's box, or no device answered. */
const noPasskey = (detail: string) => new Problem(0, "no_passkey", detail)

/** Asks for a passkey: of whoever has the ticket of a right password, else of anybody. Throws `no_passkey`. */
export async function askPasskey(ticket?: string): Promise<PasskeyAnswer> {
  const { options, challenge_id } = await post<Challenge<PublicKeyCredentialRequestOptionsJSON>>(
    "/api/private/auth/passkey/options",
    ticket === undefined ? {} : { ticket },
    { isSignIn: true },
  )
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON?.(options) ?? requestOptions(options)
  return { challenge_id, response: await answerOf(navigator.credentials.get({ publicKey })) }
}

/** Makes a passkey for the own account; the caller sends it with a name. Throws `no_passkey`. */
export async function makePasskey(): Promise<PasskeyAnswer> {
  const { options, challenge_id } = await post<Challenge<PublicKeyCredentialCreationOptionsJSON>>("/api/private/me/passkeys", {})
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON?.(options) ?? creationOptions(options)
  return { challenge_id, response: await answerOf(navigator.credentials.create({ publicKey })) }
}

async function answerOf(asking: Promise<Credential | null>): Promise<object> {
  const credential = await asking.catch((error: Error) => {
    throw noPasskey(
      error.name === "InvalidStateError" ? "This device has a passkey for the account already." : "No passkey was given. Try again.",
    )
  })
  if (!credential) throw noPasskey("No passkey was given. Try again.")
  const given = credential as PublicKeyCredential // nothing else was asked for
  return typeof given.toJSON === "function" ? given.toJSON() : asJson(given)
}

// Browsers of before 2025 have the API without its JSON.
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
