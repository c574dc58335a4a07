import type { Configuration } from "openid-client"
import type { Clock } from "../../domain/clock.ts"
import { failureCode } from "../outbound/failure.ts"
import { oauthFetch } from "../outbound/oauth-fetch.ts"
import type { Outbound, OutboundAnswer } from "../outbound/outbound.ts"
import { ConnectionFailure } from "./failure.ts"
import type { ConnectionProvider } from "./providers.ts"

/** The values that tie the provider's answer to the request. They are secret, and the caller stores them with the state of the browser. */
export interface OAuthChecks {
  state: string
  nonce: string
  verifier: string
}

export interface IssuedTokens {
  accessToken: string
  /** Epoch milliseconds. */
  expiresAt: number
  /** Absent if the provider keeps the earlier one valid. */
  refreshToken?: string
  /** Scopes that were granted. */
  scopes: readonly string[]
}

/** The account that has granted access. */
export interface GrantedAccount {
  id: string
  label: string
}

/** The OAuth protocol with one provider: authorization code with PKCE, refresh, assertions and revocation. Throws `ConnectionFailure`. */
export interface OAuthClient {
  authorizationUrl(scopes: readonly string[], redirectUri: string, checks: OAuthChecks): Promise<URL>
  /** Exchanges the code in `answer`, the URL to which the provider sent the browser. */
  exchange(answer: URL, checks: OAuthChecks, scopes: readonly string[]): Promise<IssuedTokens & { account: GrantedAccount }>
  refresh(refreshToken: string, scopes: readonly string[]): Promise<IssuedTokens>
  assert(assertion: string, scopes: readonly string[]): Promise<IssuedTokens>
  /** Ends a grant at the provider. Failures are ignored: the tokens are deleted here in any case. */
  revoke(token: string): Promise<void>
}

interface OAuthClientOptions {
  clock: Pick<Clock, "now">
  outbound: Pick<Outbound, "fetch">
}

const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
/** Life of an access token whose issuer names none. */
const DEFAULT_LIFE_SECONDS = 3_600
const SKEW_SECONDS = 60

export function createOAuthClient(provider: ConnectionProvider, { clock, outbound }: OAuthClientOptions): OAuthClient {
  /** Runs an exchange with the token URL, and translates its failures. */
  async function ask<Result>(work: (config: Configuration, library: typeof import("openid-client")) => Promise<Result>): Promise<Result> {
    const library = await import("openid-client")
    let last: OutboundAnswer | undefined
    const config = configurationOf(library, (answer) => {
      last = answer
    })
    try {
      return await work(config, library)
    } catch (error) {
      throw error instanceof ConnectionFailure ? error : translated(error, last)
    }
  }

  function configurationOf(library: typeof import("openid-client"), onAnswer: (answer: OutboundAnswer) => void): Configuration {
    const metadata = {
      issuer: provider.issuer,
      authorization_endpoint: provider.authorizationUrl,
      token_endpoint: provider.tokenUrl,
      revocation_endpoint: provider.revocationUrl,
    }
    const { client } = provider
    const own = { [library.clockTolerance]: SKEW_SECONDS, [library.clockSkew]: Math.round((clock.now() - Date.now()) / 1_000) }
    const proof = client?.secret === undefined ? library.None() : library.ClientSecretPost(client.secret)
    const config = new library.Configuration(metadata, client?.id ?? "footfall", own, proof)
    config[library.customFetch] = oauthFetch(outbound, { byOperator: provider.byOperator, onAnswer })
    // The outbound client decides whether a request without TLS is sent.
    if (provider.byOperator) library.allowInsecureRequests(config)
    return config
  }

  const issued = (
    tokens: { access_token: string; refresh_token?: string; scope?: string; expires_in?: number },
    scopes: readonly string[],
  ): IssuedTokens => ({
    accessToken: tokens.access_token,
    expiresAt: clock.now() + (tokens.expires_in ?? DEFAULT_LIFE_SECONDS) * 1_000,
    ...(tokens.refresh_token !== undefined && { refreshToken: tokens.refresh_token }),
    // A provider that leaves the scopes out has granted those that were asked for (RFC 6749, section 5.1).
    scopes: tokens.scope?.split(" ").filter((scope) => scope !== "") ?? scopes,
  })

  return {
    async authorizationUrl(scopes, redirectUri, { state, nonce, verifier }) {
      if (!provider.client) throw new ConnectionFailure("not_configured")
      return ask(async (config, { buildAuthorizationUrl, calculatePKCECodeChallenge }) =>
        buildAuthorizationUrl(config, {
          ...provider.parameters,
          redirect_uri: redirectUri,
          scope: [...provider.accountScopes, ...scopes].join(" "),
          state,
          nonce,
          code_challenge: await calculatePKCECodeChallenge(verifier),
          code_challenge_method: "S256",
        }),
      )
    },
    async exchange(answer, { state, nonce, verifier }, scopes) {
      if (!provider.client) throw new ConnectionFailure("not_configured")
      return ask(async (config, { authorizationCodeGrant }) => {
        const checks = { pkceCodeVerifier: verifier, expectedState: state, expectedNonce: nonce, idTokenExpected: true }
        const tokens = await authorizationCodeGrant(config, answer, checks)
        const claims = tokens.claims()! // present, because `idTokenExpected` is set
        const label = typeof claims.email === "string" ? claims.email.slice(0, 320) : claims.sub
        return { ...issued(tokens, scopes), account: { id: claims.sub, label } }
      })
    },
    refresh: (refreshToken, scopes) =>
      ask(async (config, { refreshTokenGrant }) => issued(await refreshTokenGrant(config, refreshToken), scopes)),
    assert: (assertion, scopes) =>
      ask(async (config, { genericGrantRequest }) => issued(await genericGrantRequest(config, JWT_BEARER, { assertion }), scopes)),
    revoke: (token) => ask((config, { tokenRevocation }) => tokenRevocation(config, token)).catch(() => {}),
  }
}

/** Returns what a failed exchange means. `last` is the last answer of the provider, if there was any. */
function translated(error: unknown, last: OutboundAnswer | undefined): ConnectionFailure {
  const { error: code, cause } = error as { error?: unknown; cause?: unknown } // the fields of the library's errors
  const outbound = failureCode(error) ?? failureCode(cause)
  if (outbound === "outbound_disabled") return new ConnectionFailure("outbound_disabled")
  if (outbound !== undefined) return new ConnectionFailure("unavailable")
  if (last?.status === 429) return new ConnectionFailure("quota", last.retryAfterMs)
  if (code === "invalid_grant") return new ConnectionFailure("needs_reauth")
  if (code === "access_denied") return new ConnectionFailure("denied")
  if (code === "invalid_scope") return new ConnectionFailure("scope_not_granted")
  if (code === "invalid_client" || code === "unauthorized_client" || code === "deleted_client")
    return new ConnectionFailure("client_rejected")
  return new ConnectionFailure("unavailable", last?.retryAfterMs)
}
