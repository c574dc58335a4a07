import { send } from "./api.ts"
import { askForProof } from "./proof.ts"

/**
 * Resolves when the user has confirmed their identity recently, asking them if necessary. For requests that bypass `send`, such as
 * downloads. Rejects with `Cancelled` if the user cancels.
 */
export async function freshProof(): Promise<void> {
  const { reauth_until } = await send<{ reauth_until?: string }>("/api/private/auth/session")
  if (reauth_until === undefined) await askForProof()
}
