import type { Configuration, CustomFetchOptions, IDToken, ServerMetadata } from "openid-client"
import type { Clock } from "../domain/clock.ts"
import type { IdentityProvider } from "../domain/identity-provider.ts"
import type { Log } from "../domain/log.ts"
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
}

/**
 * The protocol with a provider: discovery, authorization code with PKCE, and an ID token whose signature, issuer, audience,
 * nonce and times are right. Rejects for anything else, with a reason for the log.
 */
export interface OidcExchange {
  authorizationUrl(provider: IdentityProvider, redirectUri: string, checks: OidcChecks): Promise<URL>
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

/** Never `none`, and nothing that is signed with a secret we would have to share. */
export const ALGORITHMS: readonly string[] = ["RS256", "PS256", "ES256", "EdDSA", "Ed25519"]
const SKEW_SECONDS = 60
const DISCOVERED_MS = 60 * 60_000
/** A key that nobody knows makes us look for new ones, at most so often. */
const KEYS_EVERY_MS = 60_000

/** What is known of a provider. */
interface Known {
  metadata: ServerMetadata
  discoveredAt: number
  keys?: { body: string; fetchedAt: number; jwks?: object }
  fetching?: Promise<string>
}

export function createOidcExchange({ clock, outbound, log }: OidcExchangeOptions): OidcExchange {
  const known = new Map<string, Known>()
  const nameOf = ({ id, issuer }: IdentityProvider): string => `${id} ${issuer}`

  const fetchOver = (provider: IdentityProvider) => async (url: string, options: CustomFetchOptions | { method: string }) => {
    const { method, headers, body } = options as CustomFetchOptions
    const text = body == null ? undefined : String(body)
    // A code and the client's secret go to the provider alone.
    const sent = { method, headers: headers ?? {}, secretHeaders: ["authorization"], byOperator: provider.byOperator, follows: false }
    const answer = await outbound.fetch(url, { ...sent, ...(text !== undefined && { body: text }) })
    return new Response(answer.body as Uint8Array<ArrayBuffer>, { status: answer.status, headers: answer.headers })
  }

  /** Of parallel requests one goes out, and none within a minute of the one before. */
  async function keySet(provider: IdentityProvider, of: Known): Promise<Response> {
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

  async function discovered(provider: IdentityProvider): Promise<Known> {
    const found = known.get(nameOf(provider))
    if (found && clock.now() - found.discoveredAt < DISCOVERED_MS) return found
    const { discovery, customFetch } = await import("openid-client")
    const terms = { [customFetch]: fetchOver(provider), execute: await permissions(provider) }
    const config = await discovery(new URL(provider.issuer), provider.clientId, undefined, undefined, terms)
    const fresh: Known = { metadata: config.serverMetadata(), discoveredAt: clock.now(), ...(found?.keys && { keys: found.keys }) }
    known.set(nameOf(provider), fresh)
    return fresh
  }

  /** Whether plain HTTP may be asked at all is judged where requests go out. */
  async function permissions({ issuer }: IdentityProvider) {
    const { allowInsecureRequests } = await import("openid-client")
    return issuer.startsWith("http:") ? [allowInsecureRequests] : []
  }

  async function configured(provider: IdentityProvider): Promise<{ config: Configuration; of: Known }> {
    const client = await import("openid-client")
    const of = await discovered(provider)
    const { metadata } = of
    const metadataOfClient = {
      [client.clockTolerance]: SKEW_SECONDS,
      [client.clockSkew]: Math.round((clock.now() - Date.now()) / 1_000),
      // The library takes a list, although its type says one.
      id_token_signed_response_alg: ALGORITHMS as unknown as string,
    }
    const config = new client.Configuration(metadata, provider.clientId, metadataOfClient, await authentication(provider, metadata))
    const ask = fetchOver(provider)
    config[client.customFetch] = (url, options) => (url === metadata.jwks_uri ? keySet(provider, of) : ask(url, options))
    for (const permit of await permissions(provider)) permit(config)
    client.enableNonRepudiationChecks(config)
    if (of.keys?.jwks) {
      // The age is told by our clock.
      const age = Math.floor((clock.now() - of.keys.fetchedAt) / 1_000)
      const jwks = of.keys.jwks as Parameters<typeof client.setJwksCache>[1]["jwks"]
      client.setJwksCache(config, { jwks, uat: Math.floor(Date.now() / 1_000) - age })
    }
    return { config, of }
  }

  return {
    async authorizationUrl(provider, redirectUri, { state, nonce, verifier }) {
      const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await import("openid-client")
      const { config } = await configured(provider)
      return buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: provider.scopes,
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
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

async function authentication({ clientSecret }: IdentityProvider, { token_endpoint_auth_methods_supported: methods }: ServerMetadata) {
  const { ClientSecretBasic, ClientSecretPost, None } = await import("openid-client")
  if (clientSecret === undefined) return None()
  // Without a word of the provider the standard's own way holds.
  const takesPostAlone = methods?.includes("client_secret_post") && !methods.includes("client_secret_basic")
  return takesPostAlone ? ClientSecretPost(clientSecret) : ClientSecretBasic(clientSecret)
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
    mfa: Array.isArray(amr) && amr.some((method) => method === "mfa" || method === "hwk" || method === "otp"),
  }
}
