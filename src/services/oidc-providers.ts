import { type IdentityProvider, readRoleMap } from "../domain/identity-provider.ts"
import type { Log } from "../domain/log.ts"
import type { Catalog } from "../store/catalog/catalog.ts"
import { provedDomain } from "../store/catalog/mail-domains.ts"
import { listProviders, providerById, type StoredProvider } from "../store/catalog/oidc.ts"
import type { Secrets } from "./secrets.ts"

/** The providers that people can sign in by: that of the operator, and those that were entered in the console. */
export interface OidcProviders {
  get(id: string): Promise<IdentityProvider | undefined>
  /** Those of the whole instance; and that of the organization that has proved the domain, if one is named. */
  listed(domain?: string): Promise<IdentityProvider[]>
}

/** Of the operator's own provider. */
export const OWN_PROVIDER = "oidc"

interface OidcProvidersOptions {
  catalog: Catalog
  secrets: Secrets
  log: Log
  own: IdentityProvider | undefined
}

/** Where the client secret of a stored provider is sealed. */
const providerSecretPlace = (id: string) => ({ table: "oidc_providers", row: id, purpose: "client_secret" })

export function createOidcProviders({ catalog, secrets, log, own }: OidcProvidersOptions): OidcProviders {
  function toProvider(stored: StoredProvider): IdentityProvider {
    const opened = stored.secret_sealed && secrets.open(stored.secret_sealed, providerSecretPlace(stored.id))
    const roleMap = readRoleMap(stored.role_map)
    if (!roleMap) log.warn("the role map of an identity provider cannot be read; it gives no roles", { provider: stored.id })
    return {
      id: stored.id,
      organizationId: stored.organization_id,
      name: stored.name,
      issuer: stored.issuer,
      clientId: stored.client_id,
      clientSecret: opened ? new TextDecoder().decode(opened) : undefined,
      scopes: stored.scopes,
      allowedDomains: stored.allowed_domains,
      jit: stored.jit,
      roleMap: roleMap ?? {},
      byOperator: false,
    }
  }
  return {
    async get(id) {
      if (id === OWN_PROVIDER) return own
      const stored = await providerById(catalog, id)
      return stored && toProvider(stored)
    },
    async listed(domain) {
      const proved = domain === undefined ? undefined : await provedDomain(catalog, domain)
      const stored = (await listProviders(catalog)).filter(
        ({ id, organization_id }) => id !== OWN_PROVIDER && (organization_id === null || organization_id === proved?.organization_id),
      )
      return [...(own ? [own] : []), ...stored.map(toProvider)]
    },
  }
}
