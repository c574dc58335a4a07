import type { IDToken } from "openid-client"
import type { Clock } from "../../domain/clock.ts"
import type { IdentityProvider } from "../../domain/identity-provider.ts"
import type { Log } from "../../domain/log.ts"
import type { Outbound } from "../outbound/outbound.ts"
import { createOidcDiscovery, SKEW_SECONDS } from "./discovery.ts"

/** The values that tie a provider's response to the request. */
export interface OidcChecks {
  state: string
  nonce: string
  verifier: string
}

/** The verified claims of a provider about a user. */
export interface OidcClaims {
  subject: string
  email: string | undefined
  isEmailVerified: boolean
  name: string | undefined
  groups: readonly string[]
  /** Whether the provider has required more than a password. */
  mfa: boolean
  /** When the provider last authenticated the user, undefined if unknown. */
  authenticatedAt: number | undefined
}

/**
 * The OpenID Connect protocol: discovery, authorization code with PKCE, and validation of the ID token's signature, issuer, audience, nonce
 * and times. Rejects with a reason for the log.
 */
export interface OidcExchange {
  /** Returns the URL of the provider's sign-in page. With `reauthenticate` the provider asks even users who are signed in there. */
  authorizationUrl(provider: IdentityProvider, redirectUri: string, checks: OidcChecks, how?: { reauthenticate: boolean }): Promise<URL>
  /** Exchanges the code for verified claims. `answer` is the URL that the provider redirected the browser to. */
  claims(provider: IdentityProvider, answer: URL, checks: OidcChecks): Promise<OidcClaims>
  /** Returns the provider's logout URL, undefined if it has none or cannot be reached. */
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
    async authorizationUrl(provider, redirectUri, { state, nonce, verifier }, { reauthenticate } = { reauthenticate: false }) {
      const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await import("openid-client")
      const { config } = await configured(provider)
      return buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: provider.scopes,
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        ...(reauthenticate && { prompt: "login", max_age: "0" }),
      })
    },
    async claims(provider, answer, { state, nonce, verifier }) {
      const { authorizationCodeGrant, fetchUserInfo, getJwksCache } = await import("openid-client")
      const { config, of } = await configured(provider)
      const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true }
      const tokens = await authorizationCodeGrant(config, answer, checks)
      const cached = getJwksCache(config)
      if (cached && of.keys) of.keys.jwks = cached.jwks
      const claims = tokens.claims()! // present, because `idTokenExpected` is set
      refuseOddTimes(claims, clock.now())
      if (typeof claims.email === "string" || !of.metadata.userinfo_endpoint) return readClaims(claims, claims)
      return readClaims(claims, await fetchUserInfo(config, tokens.access_token, claims.sub))
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
        // The user is signed out of Footfall in any case.
        log.warn("an identity provider cannot be reached", { provider: provider.id, error })
        return undefined
      }
    },
  }
}

/** Rejects an ID token issued in the future. The library checks only its expiry. */
function refuseOddTimes({ iat }: IDToken, now: number): void {
  if (iat * 1_000 > now + SKEW_SECONDS * 1_000) throw new Error("the ID token was issued in the future")
}

type ClaimSource = Readonly<Record<string, unknown>>

function readClaims(token: IDToken, source: ClaimSource): OidcClaims {
  const { email, email_verified, name } = source
  const groups = source.groups ?? token.groups
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
