import type { IDToken } from "openid-client"
import type { Clock } from "../domain/clock.ts"
import type { IdentityProvider } from "../domain/identity-provider.ts"
import type { Log } from "../domain/log.ts"
import { createOidcDiscovery, SKEW_SECONDS } from "./oidc-discovery.ts"
import type { Outbound } from "./outbound.ts"

/** What a sign-in at a provider is tied to. */
export interface OidcChecks {
  state: string
  nonce: string
  verifier: string
}

/** What a provider says of somebody, once all of it has been proved. */
export interface OidcClaims {
  subject: string
  email: string | undefined
  isEmailVerified: boolean
  name: string | undefined
  groups: readonly string[]
  /** The provider asked for more than a password. */
  mfa: boolean
  /** When it last asked who they are; undefined when it does not say. */
  authenticatedAt: number | undefined
}

/**
 * The protocol with a provider: discovery, authorization code with PKCE, and an ID token whose signature, issuer, audience,
 * nonce and times are right. Rejects for anything else, with a reason for the log.
 */
export interface OidcExchange {
  /** `anew`: whoever is signed in there is asked all the same. */
  authorizationUrl(provider: IdentityProvider, redirectUri: string, checks: OidcChecks, how?: { anew: boolean }): Promise<URL>
  /** `answer` is the address the provider sent the browser to. */
  claims(provider: IdentityProvider, answer: URL, checks: OidcChecks): Promise<OidcClaims>
  /** Where the provider ends its own session; undefined when it has no such page, or cannot be reached. */
  logoutUrl(provider: IdentityProvider, returnTo: string): Promise<string | undefined>
}

interface OidcExchangeOptions {
  clock: Pick<Clock, "now">
  outbound: Pick<Outbound, "fetch">
  log: Log
}

export function createOidcExchange({ clock, outbound, log }: OidcExchangeOptions): OidcExchange {
  const { discovered, configured } = createOidcDiscovery({ clock, outbound })

  return {
    async authorizationUrl(provider, redirectUri, { state, nonce, verifier }, { anew } = { anew: false }) {
      const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await import("openid-client")
      const { config } = await configured(provider)
      return buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: provider.scopes,
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        ...(anew && { prompt: "login", max_age: "0" }),
      })
    },
    async claims(provider, answer, { state, nonce, verifier }) {
      const { authorizationCodeGrant, fetchUserInfo, getJwksCache } = await import("openid-client")
      const { config, of } = await configured(provider)
      const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true }
      const tokens = await authorizationCodeGrant(config, answer, checks)
      const cached = getJwksCache(config)
      if (cached && of.keys) of.keys.jwks = cached.jwks
      const claims = tokens.claims()! // expected above, so it is there
      refuseOddTimes(claims, clock.now())
      if (typeof claims.email === "string" || !of.metadata.userinfo_endpoint) return shownClaims(claims, claims)
      return shownClaims(claims, await fetchUserInfo(config, tokens.access_token, claims.sub))
    },
    async logoutUrl(provider, returnTo) {
      try {
        const { metadata } = await discovered(provider)
        const page = metadata.end_session_endpoint
        if (page === undefined || !/^https?:/.test(page)) return undefined
        const url = new URL(page)
        url.searchParams.set("client_id", provider.clientId)
        url.searchParams.set("post_logout_redirect_uri", returnTo)
        return url.href
      } catch (error) {
        // Whoever signs out has signed out here all the same.
        log.warn("an identity provider cannot be reached", { provider: provider.id, error })
        return undefined
      }
    },
  }
}

/** The library looks at the end; a token from the future is as wrong as one of the past. */
function refuseOddTimes({ iat }: IDToken, now: number): void {
  if (iat * 1_000 > now + SKEW_SECONDS * 1_000) throw new Error("the ID token was issued in the future")
}

type Said = Readonly<Record<string, unknown>>

function shownClaims(token: IDToken, said: Said): OidcClaims {
  const { email, email_verified, name } = said
  const groups = said.groups ?? token.groups
  const amr: unknown = token.amr
  return {
    subject: token.sub,
    email: typeof email === "string" ? email : undefined,
    isEmailVerified: email_verified === true,
    name: typeof name === "string" ? name : undefined,
    groups: Array.isArray(groups) ? groups.filter((group) => typeof group === "string") : [],
    authenticatedAt: typeof token.auth_time === "number" ? token.auth_time * 1_000 : undefined,
    mfa: Array.isArray(amr) && amr.some((method) => method === "mfa" || method === "hwk" || method === "otp"),
  }
}
