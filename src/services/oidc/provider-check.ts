import { AppError } from "../domain/error.ts"
import type { IdentityProvider } from "../domain/identity-provider.ts"
import { isObject } from "../domain/shape.ts"
import { ALGORITHMS } from "./oidc-discovery.ts"
import type { Outbound } from "./outbound.ts"

/** What a look at an identity provider has found. */
export interface OidcTest {
  ok: boolean
  steps: { name: string; ok: boolean; detail: string; ms: number }[]
  /** Claims that a sign-in needs, or makes use of. */
  claims: { name: string; needed: boolean; offered: boolean | null }[]
}

/** Asks a provider for what signing in by it takes; nobody is signed in, and no secret goes out. */
export async function lookAtProvider(outbound: Pick<Outbound, "fetch">, provider: IdentityProvider): Promise<OidcTest> {
  const steps: OidcTest["steps"] = []
  const ask = async (name: string, url: string, judge: (found: Record<string, unknown>) => string | undefined) => {
    const { found, detail, ms } = await jsonAt(outbound, url, provider)
    const wrong = detail ?? judge(found)
    steps.push({ name, ok: wrong === undefined, detail: wrong ?? "as it should be", ms })
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
    if (status !== 200) return { found: {}, detail: `it answered ${status}`, ms }
    const found: unknown = JSON.parse(new TextDecoder().decode(body))
    return isObject(found) ? { found, ms } : { found: {}, detail: "its answer is no JSON object", ms }
  } catch (error) {
    const says = error instanceof AppError ? error.message : "its answer is no JSON"
    return { found: {}, detail: says, ms: 0 }
  }
}

function judgeMetadata(found: Record<string, unknown>, { issuer }: IdentityProvider): string | undefined {
  if (found.issuer !== issuer) return "it calls itself by another issuer than the one that is set"
  for (const name of ["authorization_endpoint", "token_endpoint", "jwks_uri"])
    if (typeof found[name] !== "string" || !URL.canParse(found[name])) return `it names no ${name}`
  const signed = listOf(found.id_token_signing_alg_values_supported)
  if (signed && !signed.some((name) => ALGORITHMS.includes(name)))
    return `it signs with ${signed.join(", ")}; one of ${ALGORITHMS.join(", ")} is needed`
  const challenges = listOf(found.code_challenge_methods_supported)
  return challenges && !challenges.includes("S256") ? "it does not take PKCE with S256" : undefined
}

function judgeKeys({ keys }: Record<string, unknown>): string | undefined {
  const usable = (Array.isArray(keys) ? keys : []).filter((key) => isObject(key) && ["RSA", "EC", "OKP"].includes(String(key.kty)))
  return usable.length === 0 ? "it publishes no key that an ID token could be signed with" : undefined
}

function claimsOf({ roleMap }: IdentityProvider, metadata: Record<string, unknown> | undefined): OidcTest["claims"] {
  const offered = listOf(metadata?.claims_supported)
  const needed = ["sub", "email", "email_verified", ...(Object.keys(roleMap).some((group) => group !== "*") ? ["groups"] : [])]
  return [...new Set([...needed, "name", "groups"])].map((name) => ({
    name,
    needed: needed.includes(name),
    // Many say nothing of what they tell.
    offered: offered ? offered.includes(name) : null,
  }))
}

const listOf = (value: unknown): string[] | undefined => (Array.isArray(value) ? value.map(String) : undefined)
