import { useQuery } from "@tanstack/react-query"
import { isOwnPath } from "../../domain/own-path.ts"
import type { FactorRequiredResponse, SignInMethodsResponse } from "../../domain/sign-in.ts"
import { send } from "../api/api.ts"

/** Fetches the sign-in methods. With an email address they include the provider of the organization that proved its domain. */
export const useSignInMethods = (email = "") =>
  useQuery({
    queryKey: ["sign-in-methods", email],
    queryFn: ({ signal }) =>
      send<SignInMethodsResponse>(`/api/private/auth/oidc${email === "" ? "" : `?email=${encodeURIComponent(email)}`}`, {
        signal,
        isSignIn: true,
      }),
    placeholderData: (before) => before,
    staleTime: 60_000,
  })

/** Returns the URL that redirects to the identity provider. */
export const providerAddress = (id: string, asked: Record<string, string>): string =>
  `/api/private/auth/oidc/${encodeURIComponent(id)}/start?${new URLSearchParams(asked)}`

const REFUSALS: Readonly<Record<string, string>> = {
  oidc_failed:
    "Sign-in failed because the identity provider's response was invalid. Try again. If it keeps failing, contact the instance admin.",
  access_denied: "The identity provider denied access. Try again or use another sign-in method.",
  email_not_verified: "The identity provider hasn't verified your email address, so it can't be used to find your account.",
  not_allowed: "Your email address isn't allowed to sign in through this identity provider. Ask for an invitation.",
  unavailable: "The identity provider can't be reached. Try again in a minute or use another sign-in method.",
  rate_limited: "Too many attempts. Try again in a minute.",
  provider_not_found: "This identity provider no longer exists. Use another sign-in method.",
  insecure_connection: "Sign in over HTTPS. Over plain HTTP, others could read your data.",
  sso_required: "Your organization requires you to sign in through its own identity provider.",
}

/** Returns the message for an `error` in the URL; undefined if there is none. */
export const refusalText = (error: string | null): string | undefined =>
  error === null ? undefined : (REFUSALS[error] ?? "Sign-in failed. Try again.")

/** Returns the page to open after sign-in: the `next` parameter if it is a path of this instance, else the start page. */
export function nextPage(search: string): string {
  const next = new URLSearchParams(search).get("next")
  return next !== null && isOwnPath(next) ? next : "/"
}

/** Appends the `next` parameter to the path of another sign-in step. */
export const withNext = (path: string, search: string): string => {
  const next = nextPage(search)
  return next === "/" ? path : `${path}?next=${encodeURIComponent(next)}`
}

/** Ticket for an accepted password, passed from the sign-in page to the second-factor page. Held in memory only; it expires after five minutes. */
let pending: FactorRequiredResponse | undefined

export const pendingFactor = (): FactorRequiredResponse | undefined => pending
export const setPendingFactor = (wanted: FactorRequiredResponse | undefined): void => {
  pending = wanted
}
