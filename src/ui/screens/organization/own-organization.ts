import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query"
import type { MemberResponse } from "../../../domain/membership.ts"
import type { OrganizationResponse } from "../../../domain/organization.ts"
import { get, getAll } from "../../api/api.ts"
import { type Me, useMe } from "../../api/session.ts"

export type OwnOrganization = Me["organizations"][number]

/** Properties of every section: the organization and the user's role in it. */
export interface SectionProps {
  organization: OwnOrganization
  me: Me
}

export const organizationPath = (id: number): string => `/api/private/organizations/${id}`

export const can = ({ permissions }: OwnOrganization, permission: string): boolean => permissions.includes(permission)

export const useOrganization = (id: number): UseQueryResult<OrganizationResponse, Error> =>
  useQuery({ queryKey: ["organization", id], queryFn: ({ signal }) => get<OrganizationResponse>(organizationPath(id), signal) })

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

/** Fetches all members of the organization. */
export const useMembers = (organizationId: number, enabled = true) =>
  useQuery({
    queryKey: ["members", organizationId],
    queryFn: ({ signal }) => getAll<MemberResponse>(`${organizationPath(organizationId)}/members?`, signal),
    enabled,
  })
