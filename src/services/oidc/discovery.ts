import type { Configuration, CustomFetchOptions, ServerMetadata } from "openid-client"
import type { Clock } from "../domain/clock.ts"
import type { IdentityProvider } from "../domain/identity-provider.ts"
import type { Outbound } from "./outbound.ts"

/** What is known of a provider. */
interface KnownProvider {
  metadata: ServerMetadata
  discoveredAt: number
  keys?: { body: string; fetchedAt: number; jwks?: object }
  fetching?: Promise<string>
}

/** What providers say of themselves, and the keys they sign with: asked for seldom, and only through the guarded client. */
interface OidcDiscovery {
  discovered(provider: IdentityProvider): Promise<KnownProvider>
  /** Ready for a sign-in, with what is known of the provider. */
  configured(provider: IdentityProvider): Promise<{ config: Configuration; of: KnownProvider }>
}

interface OidcDiscoveryOptions {
  clock: Pick<Clock, "now">
  outbound: Pick<Outbound, "fetch">
}

/** Never `none`, and nothing that is signed with a secret we would have to share. */
export const ALGORITHMS: readonly string[] = ["RS256", "PS256", "ES256", "EdDSA", "Ed25519"]
export const SKEW_SECONDS = 60
const DISCOVERED_MS = 60 * 60_000
/** A key that nobody knows makes us look for new ones, at most so often. */
const KEYS_EVERY_MS = 60_000

export function createOidcDiscovery({ clock, outbound }: OidcDiscoveryOptions): OidcDiscovery {
  const known = new Map<string, KnownProvider>()
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

  /** Whether plain HTTP may be asked at all is judged where requests go out. */
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

  return { discovered, configured }
}

async function authentication({ clientSecret }: IdentityProvider, { token_endpoint_auth_methods_supported: methods }: ServerMetadata) {
  const { ClientSecretBasic, ClientSecretPost, None } = await import("openid-client")
  if (clientSecret === undefined) return None()
  // Without a word of the provider the standard's own way holds.
  const takesPostAlone = methods?.includes("client_secret_post") && !methods.includes("client_secret_basic")
  return takesPostAlone ? ClientSecretPost(clientSecret) : ClientSecretBasic(clientSecret)
}
