import { AppError } from "../domain/error.ts"
import { type IdentityProvider, readRoleMap } from "../domain/identity-provider.ts"
import type { Log } from "../domain/log.ts"
import type { Catalog } from "../store/catalog/catalog.ts"
import { provedDomain } from "../store/catalog/mail-domains.ts"
import { listProviders, providerById, type StoredProvider } from "../store/catalog/oidc-providers.ts"
import type { StoredSecrets } from "./stored-secrets.ts"

/** The providers that people can sign in by: that of the operator, and those that organizations have entered. */
export interface OidcProviders {
  /** Throws `unavailable` for one whose secret cannot be opened any more: it has to be entered again. */
  get(id: string): Promise<IdentityProvider | undefined>
  /** Those of the whole instance; and those of the organization that has proved the domain, if one is named. */
  listed(domain?: string): Promise<Pick<IdentityProvider, "id" | "name">[]>
}

/** Of the operator's own provider. */
export const OWN_PROVIDER = "oidc"

interface OidcProvidersOptions {
  catalog: Catalog
  secrets: Pick<StoredSecrets, "open">
  log: Log
  own: IdentityProvider | undefined
}

/** A stored provider as signing in takes one. Throws `unavailable` when its secret cannot be opened. */
export async function openedProvider(stored: StoredProvider, secrets: Pick<StoredSecrets, "open">, log: Log): Promise<IdentityProvider> {
  const clientSecret = stored.secret_id === null ? undefined : await secrets.open(stored.secret_id)
  if (stored.secret_id !== null && clientSecret === undefined) {
    log.error("the secret of an identity provider cannot be opened: it has to be entered again", { provider: stored.id })
    throw new AppError("unavailable", "The identity provider cannot be used until its secret is entered again.", { retry_after: 600 })
  }
  const roleMap = readRoleMap(stored.role_map)
  if (!roleMap) log.warn("the role map of an identity provider cannot be read; it gives no roles", { provider: stored.id })
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
      const proved = domain === undefined ? undefined : await provedDomain(catalog, domain)
      const stored = (await listProviders(catalog)).filter(
        ({ id, organization_id }) => id !== OWN_PROVIDER && (organization_id === null || organization_id === proved?.organization_id),
      )
      return [...(own ? [own] : []), ...stored]
    },
  }
}
