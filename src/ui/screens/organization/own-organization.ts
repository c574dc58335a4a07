import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query"
import type { OrganizationPolicy, Role } from "../../../domain/organization.ts"
import { get } from "../../api.ts"
import type { Me } from "../../boot.ts"
import { useMe } from "../../me.ts"
import { getAll } from "../../stats/get-all.ts"

export type OwnOrganization = Me["organizations"][number]

/** What every section is given: the organization as the person stands to it. */
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

/** Reads a list of the organization again, and all that counts its things. */
export function useRefresh(id: number): (...lists: readonly string[]) => Promise<void> {
  const client = useQueryClient()
  return async (...lists) => {
    await Promise.all([...lists, "organization"].map((list) => client.invalidateQueries({ queryKey: [list, id] })))
  }
}

export type OwnSite = Me["sites"][number]

/** Sites of the organization that the person sees, by name. */
export function useOwnSites(organizationId: number): readonly OwnSite[] {
  const sites = useMe()?.sites ?? []
  return sites.filter((site) => site.organization_id === organizationId).toSorted((a, b) => a.name.localeCompare(b.name))
}

/** A row of `GET …/members`. */
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

/** Everybody in the organization; the list is short enough to be whole. */
export const useMembers = (organizationId: number, enabled = true) =>
  useQuery({
    queryKey: ["members", organizationId],
    queryFn: ({ signal }) => getAll<Member>(`${organizationPath(organizationId)}/members?`, signal),
    enabled,
  })
