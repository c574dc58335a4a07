import { post } from "../api.ts"

/** Ends the session. The provider of an identity may want to hear of it too: then the server names where to go. */
export async function signOut(next = "/signin"): Promise<void> {
  const answer = await post<{ oidc_logout_url?: string } | undefined>("/api/private/auth/logout", {}, { isSignIn: true }).catch(
    () => undefined,
  )
  location.assign(answer?.oidc_logout_url ?? next)
}
