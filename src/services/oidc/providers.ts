import { Type as t } from "@sinclair/typebox"
import { AppError } from "../../domain/error.ts"
import { type IdentityProvider, readRoleMap } from "../../domain/identity-provider.ts"
import type { Log } from "../../domain/log.ts"
import type { ProviderTest } from "../../domain/provider-input.ts"
import { isObject } from "../../domain/shape.ts"
import { parsed } from "../../domain/sign-in.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { listProviders, providerById, type StoredProvider, verifiedDomain } from "../../store/catalog/oidc.ts"
import type { StoredSecrets } from "../key-rotation/stored-secrets.ts"
import type { Outbound } from "../outbound/outbound.ts"
import { ALGORITHMS } from "./exchange.ts"

/** The identity providers for sign-in: the operator's and those of organizations. */
export interface OidcProviders {
  /** Returns a provider. Throws `unavailable` if its client secret cannot be decrypted and must be entered again. */
  get(id: string): Promise<IdentityProvider | undefined>
  /** Returns the providers of the instance and, if a domain is given, those of the organization that has verified it. */
  listed(domain?: string): Promise<Pick<IdentityProvider, "id" | "name">[]>
}

/** Id of the operator's provider. */
export const OWN_PROVIDER = "oidc"

interface OidcProvidersOptions {
  catalog: Catalog
  secrets: Pick<StoredSecrets, "open">
  log: Log
  own: IdentityProvider | undefined
}

/** Decrypts a stored provider for a sign-in. Throws `unavailable` if its client secret cannot be decrypted. */
export async function openedProvider(stored: StoredProvider, secrets: Pick<StoredSecrets, "open">, log: Log): Promise<IdentityProvider> {
  const clientSecret = stored.secret_id === null ? undefined : await secrets.open(stored.secret_id)
  if (stored.secret_id !== null && clientSecret === undefined) {
    log.error("the client secret of an identity provider cannot be decrypted and must be entered again", { provider: stored.id })
    throw new AppError(
      "unavailable",
      "This identity provider cannot be used, because its client secret cannot be decrypted. Enter the secret again.",
      { retry_after: 600 },
    )
  }
  const roleMap = readRoleMap(stored.role_map)
  if (!roleMap) log.warn("the role map of an identity provider is invalid; it grants no roles", { provider: stored.id })
  return {
    id: stored.id,
    organizationId: stored.organization_id,
    name: stored.name,
    issuer: stored.issuer,
    clientId: stored.client_id,
    clientSecret,
    scopes: stored.scopes,
    allowedDomains: stored.allowed_domains,
    jit: stored.jit,
    roleMap: roleMap ?? {},
    byOperator: false,
  }
}

export function createOidcProviders({ catalog, secrets, log, own }: OidcProvidersOptions): OidcProviders {
  return {
    async get(id) {
      if (id === OWN_PROVIDER) return own
      const stored = await providerById(catalog, id)
      return stored && openedProvider(stored, secrets, log)
    },
    async listed(domain) {
      const proved = domain === undefined ? undefined : await verifiedDomain(catalog, domain)
      const stored = (await listProviders(catalog)).filter(
        ({ id, organization_id }) => id !== OWN_PROVIDER && (organization_id === null || organization_id === proved?.organization_id),
      )
      return [...(own ? [own] : []), ...stored]
    },
  }
}

/** Checks a provider's discovery document and keys, without signing in and without sending the client secret. */
export async function checkProvider(outbound: Pick<Outbound, "fetch">, provider: IdentityProvider): Promise<ProviderTest> {
  const steps: ProviderTest["steps"] = []
  const ask = async (name: string, url: string, judge: (found: Record<string, unknown>) => string | undefined) => {
    const { found, detail, ms } = await jsonAt(outbound, url, provider)
    const wrong = detail ?? judge(found)
    steps.push({ name, ok: wrong === undefined, detail: wrong ?? "OK", ms })
    return wrong === undefined ? found : undefined
  }
  const issuer = provider.issuer.replace(/\/$/, "")
  const metadata = await ask("discovery", `${issuer}/.well-known/openid-configuration`, (found) => judgeMetadata(found, provider))
  if (metadata) await ask("keys", String(metadata.jwks_uri), judgeKeys)
  return { ok: steps.every((step) => step.ok) && steps.length === 2, steps, claims: claimsOf(provider, metadata) }
}

async function jsonAt(
  outbound: Pick<Outbound, "fetch">,
  url: string,
  { byOperator }: IdentityProvider,
): Promise<{ found: Record<string, unknown>; detail?: string; ms: number }> {
  try {
    const { status, body, ms } = await outbound.fetch(url, { byOperator, headers: { accept: "application/json" } })
    if (status !== 200) return { found: {}, detail: `The provider responded with status ${status}.`, ms }
    const found: unknown = JSON.parse(new TextDecoder().decode(body))
    return isObject(found) ? { found, ms } : { found: {}, detail: "The response is not a JSON object.", ms }
  } catch (error) {
    const says = error instanceof AppError ? error.message : "The response is not JSON."
    return { found: {}, detail: says, ms: 0 }
  }
}

function judgeMetadata(found: Record<string, unknown>, { issuer }: IdentityProvider): string | undefined {
  if (found.issuer !== issuer) return "The discovery document names another issuer than the one configured."
  for (const name of ["authorization_endpoint", "token_endpoint", "jwks_uri"])
    if (typeof found[name] !== "string" || !URL.canParse(found[name])) return `The discovery document has no ${name}.`
  const signed = listOf(found.id_token_signing_alg_values_supported)
  if (signed && !signed.some((name) => ALGORITHMS.includes(name)))
    return `The provider signs ID tokens with ${signed.join(", ")}. Footfall supports ${ALGORITHMS.join(", ")}.`
  const challenges = listOf(found.code_challenge_methods_supported)
  return challenges && !challenges.includes("S256") ? "The provider does not support PKCE with S256." : undefined
}

function judgeKeys({ keys }: Record<string, unknown>): string | undefined {
  const usable = (Array.isArray(keys) ? keys : []).filter((key) => isObject(key) && ["RSA", "EC", "OKP"].includes(String(key.kty)))
  return usable.length === 0 ? "The provider publishes no key for verifying ID tokens." : undefined
}

function claimsOf({ roleMap }: IdentityProvider, metadata: Record<string, unknown> | undefined): ProviderTest["claims"] {
  const offered = listOf(metadata?.claims_supported)
  const needed = ["sub", "email", "email_verified", ...(Object.keys(roleMap).some((group) => group !== "*") ? ["groups"] : [])]
  return [...new Set([...needed, "name", "groups"])].map((name) => ({
    name,
    needed: needed.includes(name),
    // Many providers do not list their claims.
    offered: offered ? offered.includes(name) : null,
  }))
}

const listOf = (value: unknown): string[] | undefined => (Array.isArray(value) ? value.map(String) : undefined)

const OidcTestInput = t.Object(
  { provider: t.String({ minLength: 1, maxLength: 100 }) },
  { additionalProperties: false, title: "OidcTestInput" },
)

/** Checks a provider of the instance. Throws `validation_failed`, `provider_not_found`. */
export async function testProvider(
  { providers, outbound }: { providers: Pick<OidcProviders, "get">; outbound: Pick<Outbound, "fetch"> },
  body: unknown,
): Promise<ProviderTest> {
  const provider = await providers.get(parsed(OidcTestInput, body).provider)
  if (!provider) throw new AppError("provider_not_found", "There is no identity provider with this id.")
  return checkProvider(outbound, provider)
}
