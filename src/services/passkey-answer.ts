import type { NewPasskey } from "../store/catalog/passkeys.ts"
import type { RelyingParty } from "./passkeys.ts"
import { webauthn, webauthnParts } from "./webauthn.ts"

/** ES256, EdDSA, RS256. */
export const ALGORITHMS = [-7, -8, -257]

type MadeCredential = Pick<NewPasskey, "credential_id" | "public_key" | "algorithm" | "sign_count" | "transports" | "backed_up">

/** The new key, undefined for whatever is wrong about the answer. */
export async function credentialIn(response: object, challenge: string, { id, origin }: RelyingParty): Promise<MadeCredential | undefined> {
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
