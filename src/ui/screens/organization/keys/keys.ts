import { useQuery } from "@tanstack/react-query"
import { getAll } from "../../../api/api.ts"
import { visible } from "../../../text/safe-text.tsx"
import { type OwnSite, organizationPath } from "../own-organization.ts"

/** API key as `GET …/api-keys` returns it. */
export interface ApiKey {
  id: number
  name: string
  prefix: string
  last4: string
  scopes: string[]
  site_access: "all" | "list"
  site_ids: number[] | null
  ip_allow: string[]
  rate_limit: number | null
  personal: boolean
  created_by: { id: number; name: string; email: string } | null
  created_at: string
  expires_at: string | null
  last_used_at: string | null
  last_used_ip_prefix: string | null
  state: "active" | "expired" | "revoked"
  owner_left: boolean
  version: number
}

export const keysPath = (organizationId: number): string => `${organizationPath(organizationId)}/api-keys`

export const useApiKeys = (organizationId: number, state: string, enabled = true) =>
  useQuery({
    queryKey: ["api-keys", organizationId, state],
    queryFn: ({ signal }) => getAll<ApiKey>(`${keysPath(organizationId)}?${state === "" ? "" : `state=${state}&`}`, signal),
    enabled,
  })

const SHOWN = 3

/** Describes in words which sites a key can access. */
export function reachWords({ site_ids }: Pick<ApiKey, "site_ids">, sites: readonly OwnSite[]): string {
  if (site_ids === null) return "all sites, including future ones"
  if (site_ids.length === 0) return "no sites"
  const names = site_ids.map((id) => visible(sites.find((site) => site.id === id)?.name ?? `site ${id}`))
  return names.length > SHOWN ? `${names.slice(0, SHOWN).join(", ")} and ${names.length - SHOWN} more` : names.join(", ")
}
