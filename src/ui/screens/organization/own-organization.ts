import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query"
import type { OrganizationPolicy, Role } from "../../../domain/organization.ts"
import { get, getAll } from "../../api/api.ts"
import { type Me, useMe } from "../../api/session.ts"

export type OwnOrganization = Me["organizations"][number]

/** Properties of every section: the organization and the user's role in it. */
export interface SectionProps {
  organization: OwnOrganization
  me: Me
}

/** `GET /api/private/organizations/{organization}`. */
export interface OrganizationShown {
  id: number
  name: string
  role: Role
  policy: OrganizationPolicy
  counts: { members: number; sites: number; keys: number }
  version: number
}

export const organizationPath = (id: number): string => `/api/private/organizations/${id}`

export const may = ({ permissions }: OwnOrganization, permission: string): boolean => permissions.includes(permission)

export const useOrganization = (id: number): UseQueryResult<OrganizationShown, Error> =>
  useQuery({ queryKey: ["organization", id], queryFn: ({ signal }) => get<OrganizationShown>(organizationPath(id), signal) })

/** Returns a function that reloads lists of the organization and its counts. */
export function useRefresh(id: number): (...lists: readonly string[]) => Promise<void> {
  const client = useQueryClient()
  return async (...lists) => {
    await Promise.all([...lists, "organization"].map((list) => client.invalidateQueries({ queryKey: [list, id] })))
  }
}

export type OwnSite = Me["sites"][number]

/** Returns the sites of the organization that the user can see, by name. */
export function useOwnSites(organizationId: number): readonly OwnSite[] {
  const sites = useMe()?.sites ?? []
  return sites.filter((site) => site.organization_id === organizationId).toSorted((a, b) => a.name.localeCompare(b.name))
}

/** Row of `GET …/members`. */
export interface Member {
  user: { id: number; name: string; email: string }
  role: string
  grants: string[]
  denies: string[]
  site_roles: { site_id: number; role: string }[]
  mfa: boolean
  last_seen_at: string | null
  joined_at: string
  version: number
}

/** Fetches all members of the organization. */
export const useMembers = (organizationId: number, enabled = true) =>
  useQuery({
    queryKey: ["members", organizationId],
    queryFn: ({ signal }) => getAll<Member>(`${organizationPath(organizationId)}/members?`, signal),
    enabled,
  })
