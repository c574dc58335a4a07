import { AppError } from "../../domain/error.ts"
import { type IdentityProvider, readRoleMap } from "../../domain/identity-provider.ts"
import type { Log } from "../../domain/log.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { listProviders, providerById, type StoredProvider, verifiedDomain } from "../../store/catalog/oidc.ts"
import type { StoredSecrets } from "../key-rotation/stored-secrets.ts"

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
