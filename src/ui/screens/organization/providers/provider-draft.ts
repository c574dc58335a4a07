import type { ProviderResponse } from "../../../../domain/provider-input.ts"

export interface MappedGroup {
  group: string
  role: string
  siteIds: readonly number[]
}

/** Form entries of a provider. */
export interface ProviderDraft {
  name: string
  issuer: string
  clientId: string
  /** Empty to keep the current secret. */
  secret: string
  /** Whether to remove the current secret. */
  dropsSecret: boolean
  scopes: string
  /** One per line. */
  domains: string
  jit: boolean
  groups: readonly MappedGroup[]
  ssoOnly: boolean
  enabled: boolean
}

export const EMPTY: ProviderDraft = {
  name: "",
  issuer: "",
  clientId: "",
  secret: "",
  dropsSecret: false,
  scopes: "openid email profile",
  domains: "",
  jit: false,
  groups: [],
  ssoOnly: false,
  enabled: true,
}

export const draftOfProvider = (provider: ProviderResponse): ProviderDraft => ({
  name: provider.name,
  issuer: provider.issuer,
  clientId: provider.client_id,
  secret: "",
  dropsSecret: false,
  scopes: provider.scopes,
  domains: provider.allowed_domains.join("\n"),
  jit: provider.jit,
  groups: Object.entries(provider.role_map).map(([group, { role, site_ids = [] }]) => ({ group, role, siteIds: site_ids })),
  ssoOnly: provider.sso_only,
  enabled: provider.enabled,
})

/** Converts the entries to the request body. An absent secret is kept; null removes it. */
export const bodyOfProvider = (draft: ProviderDraft): object => ({
  name: draft.name,
  issuer: draft.issuer.trim(),
  client_id: draft.clientId.trim(),
  ...(draft.secret !== "" ? { client_secret: draft.secret } : draft.dropsSecret && { client_secret: null }),
  scopes: draft.scopes.trim().replace(/\s+/g, " "),
  allowed_domains: draft.domains.split(/[\s,]+/).filter((domain) => domain !== ""),
  jit: draft.jit,
  role_map: Object.fromEntries(
    draft.groups
      .filter(({ group }) => group.trim() !== "")
      .map(({ group, role, siteIds }) => [group.trim(), { role, ...(role === "guest" && { site_ids: siteIds }) }]),
  ),
  sso_only: draft.ssoOnly,
  enabled: draft.enabled,
})
