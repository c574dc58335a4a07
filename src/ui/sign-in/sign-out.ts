import { post } from "../api/api.ts"

/** Ends the session and leaves the page, for the identity provider's sign-out page if the server names one. */
export async function signOut(next = "/signin"): Promise<void> {
  const answer = await post<{ oidc_logout_url?: string } | undefined>("/api/private/auth/logout", {}, { isSignIn: true }).catch(
    () => undefined,
  )
  location.assign(answer?.oidc_logout_url ?? next)
}
