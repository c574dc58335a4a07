import { send } from "./api.ts"
import { askForProof } from "./proof.ts"

/**
 * For what cannot ask by itself, such as a file that the browser fetches: resolves when who it is was proved lately, after asking
 * where that is needed. Rejects with `Cancelled` when they would rather not.
 */
export async function freshProof(): Promise<void> {
  const { reauth_until } = await send<{ reauth_until?: string }>("/api/private/auth/session")
  if (reauth_until === undefined) await askForProof()
}
