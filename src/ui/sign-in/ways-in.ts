import { useQuery } from "@tanstack/react-query"
import { send } from "../api.ts"

/** How people come in besides the password, and whether mails can be sent. */
export interface WaysIn {
  data: { id: string; name: string }[]
  mail: boolean
}

/** With an address also the provider of the organization that has proved its domain. */
export const useWaysIn = (email = "") =>
  useQuery({
    queryKey: ["ways-in", email],
    queryFn: ({ signal }) =>
      send<WaysIn>(`/api/private/auth/oidc${email === "" ? "" : `?email=${encodeURIComponent(email)}`}`, { signal, isSignIn: true }),
    placeholderData: (before) => before,
    staleTime: 60_000,
  })

/** A page of the server's that sends the browser to the provider. */
export const providerAddress = (id: string, asked: Record<string, string>): string =>
  `/api/private/auth/oidc/${encodeURIComponent(id)}/start?${new URLSearchParams(asked)}`

const REFUSALS: Readonly<Record<string, string>> = {
  oidc_failed: "The identity provider's answer could not be used. Try again; if it stays so, tell whoever runs this instance.",
  access_denied: "The identity provider was told not to let you in. Try again, or sign in otherwise.",
  email_not_verified: "The identity provider has not verified your e-mail address, so no account can be found by it.",
  not_allowed: "Your address is not among those that this identity provider may let in here. Ask for an invitation.",
  unavailable: "The identity provider cannot be reached. Try again in a minute, or sign in otherwise.",
  rate_limited: "Too many tries from here. Wait a minute.",
  provider_not_found: "This identity provider is not there any more. Sign in otherwise.",
  insecure_connection: "Sign in over https: over plain HTTP others could read along.",
  sso_required: "Your organization wants you to sign in through its own identity provider.",
}

/** What an `error` in the address means; undefined where there is none. */
export const refusalWords = (error: string | null): string | undefined =>
  error === null ? undefined : (REFUSALS[error] ?? "Signing in came to nothing. Try again.")
