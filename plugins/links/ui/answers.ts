/** Responses of the area's routes, the queries that fetch them, and the permissions of the user. */
import { type AreaItems, areaQueries, canInOrganization, canOnSite, itemsPath, useMe } from "#plugin/ui"
import type { DomainResponse, LinkResponse, TemplateResponse } from "../responses.ts"

export const LINKS: AreaItems<LinkResponse> = {
  ...{ path: "links", noun: "link", plural: "links", permission: "links:write" },
  nameOf: ({ slug }) => slug,
  isArchived: ({ state }) => state === "archived",
}
export const linksPath = (siteId: number): string => itemsPath(siteId, LINKS)
export const domainsPath = (siteId: number): string => itemsPath(siteId, { path: "link-domains" })
export const templatesPath = (siteId: number): string => itemsPath(siteId, { path: "utm-templates" })

export const { useSiteQuery, useRefresh } = areaQueries(LINKS.path)
export const useDomains = (siteId: number) => useSiteQuery<{ data: DomainResponse[] }>(siteId, "link-domains")
export const useTemplates = (siteId: number) => useSiteQuery<{ data: TemplateResponse[] }>(siteId, "utm-templates")

/** Returns the badges of archived and expired links and of links with a password. */
export const badgesOf = ({ state, has_password }: Pick<LinkResponse, "state" | "has_password">): string[] => [
  ...(state === "active" ? [] : [state]),
  ...(has_password ? ["password"] : []),
]

/** Returns the user's permissions concerning links. */
export function useRights(siteId: number) {
  const me = useMe()
  const organizationId = me?.sites.find(({ id }) => id === siteId)?.organization_id ?? 0
  return {
    organizationId,
    writes: canOnSite(me, siteId, LINKS.permission),
    ownsHosts: canInOrganization(me, organizationId, "org:write"),
    readsAudit: canInOrganization(me, organizationId, "audit:read"),
  }
}
