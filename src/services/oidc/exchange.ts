import type { Configuration, IDToken, ServerMetadata } from "openid-client"
import type { Clock } from "../../domain/clock.ts"
import type { IdentityProvider } from "../../domain/identity-provider.ts"
import type { Log } from "../../domain/log.ts"
import { oauthFetch } from "../outbound/oauth-fetch.ts"
import type { Outbound } from "../outbound/outbound.ts"

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

/** The cached metadata and keys of a provider. */
interface KnownProvider {
  metadata: ServerMetadata
  discoveredAt: number
  keys?: { body: string; fetchedAt: number; jwks?: object }
  fetching?: Promise<string>
}

/** Discovery of providers' metadata and signing keys. Both are cached and requested only through the outbound client. */
interface OidcDiscovery {
  discovered(provider: IdentityProvider): Promise<KnownProvider>
  /** Returns the client configuration for a sign-in, with the cached data of the provider. */
  configured(provider: IdentityProvider): Promise<{ config: Configuration; of: KnownProvider }>
}

interface OidcDiscoveryOptions {
  clock: Pick<Clock, "now">
  outbound: Pick<Outbound, "fetch">
}

/** Supported signature algorithms: asymmetric ones only, never `none`. */
export const ALGORITHMS: readonly string[] = ["RS256", "PS256", "ES256", "EdDSA", "Ed25519"]
export const SKEW_SECONDS = 60
const DISCOVERED_MS = 60 * 60_000
/** Minimum time between two requests for keys. An ID token with an unknown key triggers one. */
const KEYS_EVERY_MS = 60_000

function createOidcDiscovery({ clock, outbound }: OidcDiscoveryOptions): OidcDiscovery {
  const known = new Map<string, KnownProvider>()
  const nameOf = ({ id, issuer }: IdentityProvider): string => `${id} ${issuer}`

  const fetchOver = ({ byOperator }: IdentityProvider) => oauthFetch(outbound, { byOperator })

  /** Returns the keys of a provider. Parallel calls share one request, and at most one is sent per minute. */
  async function keySet(provider: IdentityProvider, of: KnownProvider): Promise<Response> {
    if (!of.keys || clock.now() - of.keys.fetchedAt >= KEYS_EVERY_MS) {
      of.fetching ??= fetchOver(provider)(of.metadata.jwks_uri!, { method: "GET" })
        .then((response) => response.text())
        .finally(() => {
          delete of.fetching
        })
      of.keys = { body: await of.fetching, fetchedAt: clock.now() }
    }
    return Response.json(JSON.parse(of.keys.body))
  }

  async function discovered(provider: IdentityProvider): Promise<KnownProvider> {
    const found = known.get(nameOf(provider))
    if (found && clock.now() - found.discoveredAt < DISCOVERED_MS) return found
    const { discovery, customFetch } = await import("openid-client")
    const terms = { [customFetch]: fetchOver(provider), execute: await permissions(provider) }
    const config = await discovery(new URL(provider.issuer), provider.clientId, undefined, undefined, terms)
    const fresh: KnownProvider = { metadata: config.serverMetadata(), discoveredAt: clock.now(), ...(found?.keys && { keys: found.keys }) }
    known.set(nameOf(provider), fresh)
    return fresh
  }

  /** Allows plain HTTP in the library. The outbound client decides whether such a request is sent. */
  async function permissions({ issuer }: IdentityProvider) {
    const { allowInsecureRequests } = await import("openid-client")
    return issuer.startsWith("http:") ? [allowInsecureRequests] : []
  }

  async function configured(provider: IdentityProvider): Promise<{ config: Configuration; of: KnownProvider }> {
    const client = await import("openid-client")
    const of = await discovered(provider)
    const { metadata } = of
    const metadataOfClient = {
      [client.clockTolerance]: SKEW_SECONDS,
      [client.clockSkew]: Math.round((clock.now() - Date.now()) / 1_000),
      // The library accepts a list, although its type is a string.
      id_token_signed_response_alg: ALGORITHMS as unknown as string,
    }
    const config = new client.Configuration(metadata, provider.clientId, metadataOfClient, await authentication(provider, metadata))
    const ask = fetchOver(provider)
    config[client.customFetch] = (url, options) => (url === metadata.jwks_uri ? keySet(provider, of) : ask(url, options))
    for (const permit of await permissions(provider)) permit(config)
    client.enableNonRepudiationChecks(config)
    if (of.keys?.jwks) {
      // The cache's age is measured with the clock of the instance.
      const age = Math.floor((clock.now() - of.keys.fetchedAt) / 1_000)
      const jwks = of.keys.jwks as Parameters<typeof client.setJwksCache>[1]["jwks"]
      client.setJwksCache(config, { jwks, uat: Math.floor(Date.now() / 1_000) - age })
    }
    return { config, of }
  }

  return { discovered, configured }
}

async function authentication({ clientSecret }: IdentityProvider, { token_endpoint_auth_methods_supported: methods }: ServerMetadata) {
  const { ClientSecretBasic, ClientSecretPost, None } = await import("openid-client")
  if (clientSecret === undefined) return None()
  // Without a preference of the provider, the default of the standard is HTTP Basic.
  const takesPostAlone = methods?.includes("client_secret_post") && !methods.includes("client_secret_basic")
  return takesPostAlone ? ClientSecretPost(clientSecret) : ClientSecretBasic(clientSecret)
}
