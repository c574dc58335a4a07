import { useQuery, useQueryClient } from "@tanstack/react-query"
import { get } from "./api.ts"
import { boot, type Me } from "./boot.ts"

const KEY = ["me"]

/** Returns the signed-in user with all permissions, the only source of permissions in the dashboard. Undefined if no one is signed in. */
export function useMe(): Me | undefined {
  const { data } = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => get<Me>("/api/private/me", signal),
    ...(boot.me && { initialData: boot.me }),
    staleTime: 60_000,
    enabled: boot.me !== undefined,
  })
  return data
}

/** Returns a function that refetches the signed-in user, after a change of the account, a role or the sites. */
export function useRefreshMe(): () => Promise<void> {
  const client = useQueryClient()
  return () => client.invalidateQueries({ queryKey: KEY })
}

export const canOnSite = (me: Me | undefined, siteId: number, permission: string): boolean =>
  me?.sites.find(({ id }) => id === siteId)?.permissions.includes(permission) ?? false

export const canInOrganization = (me: Me | undefined, organizationId: number, permission: string): boolean =>
  me?.organizations.find(({ id }) => id === organizationId)?.permissions.includes(permission) ?? false
