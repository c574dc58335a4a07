/** The signed-in user and the current site. The server embeds both in the page; later answers replace them. */

import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query"
import type { MeResponse, SignedOutResponse } from "../../domain/account.ts"
import type { Boot } from "../../domain/boot.ts"
import type { OwnSiteResponse } from "../../domain/site-response.ts"
import { get, post } from "./api.ts"

/** The signed-in user with all permissions. */
export type Me = MeResponse

/** The embedded data. Null outside of a browser, where tests import functions of the dashboard. */
export const boot = JSON.parse(globalThis.document?.getElementById("boot")?.textContent ?? "null") as Boot

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

/** Fetches a site. Fetches nothing if the id is undefined. */
export const useSite = (siteId: number | undefined): UseQueryResult<OwnSiteResponse, Error> =>
  useQuery({
    queryKey: ["site", siteId],
    queryFn: ({ signal }) => get<OwnSiteResponse>(`/api/private/sites/${siteId}`, signal),
    ...(boot.site?.id === siteId && { initialData: boot.site, initialDataUpdatedAt: performance.timeOrigin }),
    staleTime: 60_000,
    enabled: siteId !== undefined,
  })

/** Ends the session and leaves the page, for the identity provider's sign-out page if the server names one. */
export async function signOut(next = "/signin"): Promise<void> {
  const answer = await post<SignedOutResponse | undefined>("/api/private/auth/logout", {}, { isSignIn: true }).catch(() => undefined)
  location.assign(answer?.oidc_logout_url ?? next)
}
