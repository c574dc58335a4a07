/** The signed-in user and the current site. The server embeds both in the page; later answers replace them. */
import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query"
import type { FlatArguments } from "../../domain/site-address.ts"
import { get, post } from "./api.ts"

export interface Me {
  user: {
    id: number
    email: string
    email_verified: boolean
    name: string
    is_instance_admin: boolean
    mfa: { totp: boolean; passkeys: number; recovery_codes_left: number }
    locale: string | null
    time_format: string | null
    theme: string | null
    shortcuts: boolean
    start_page: string | null
    version: number
  }
  organizations: { id: number; name: string; role: string; policy: Record<string, unknown>; permissions: string[] }[]
  sites: { id: number; name: string; organization_id: number; role: string; permissions: string[] }[]
  /** Ids of the enabled plugins. */
  features: string[]
  makes_organizations: boolean
  impersonation?: { by: string; mode: string; expires_at: string }
}

/** Data that the server embeds in the page (`src/http/dashboard/boot.ts`). */
interface Boot {
  version: string
  build: string
  setup_needed: boolean
  me?: Me
  factor_missing?: boolean
  site?: SiteShown
  reports?: { site: number; report: string; given: FlatArguments; data: unknown }[]
}

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

/** The fields of `GET /api/private/sites/{site}` that pages need. */
export interface SiteShown {
  id: number
  name: string
  hosts: string[]
  timezone: string
  revenue_currency: string
  /** Absent until the first event. */
  first_event_at?: string | null
  version: number
  [more: string]: unknown
}

/** Fetches a site. Fetches nothing if the id is undefined. */
export const useSite = (siteId: number | undefined): UseQueryResult<SiteShown, Error> =>
  useQuery({
    queryKey: ["site", siteId],
    queryFn: ({ signal }) => get<SiteShown>(`/api/private/sites/${siteId}`, signal),
    ...(boot.site?.id === siteId && { initialData: boot.site, initialDataUpdatedAt: performance.timeOrigin }),
    staleTime: 60_000,
    enabled: siteId !== undefined,
  })

/** Ends the session and leaves the page, for the identity provider's sign-out page if the server names one. */
export async function signOut(next = "/signin"): Promise<void> {
  const answer = await post<{ oidc_logout_url?: string } | undefined>("/api/private/auth/logout", {}, { isSignIn: true }).catch(
    () => undefined,
  )
  location.assign(answer?.oidc_logout_url ?? next)
}
