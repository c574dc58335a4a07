import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query"
import type { SiteSettingsResponse } from "../../../domain/site-response.ts"
import { get } from "../../api/api.ts"

export const sitePath = (siteId: number): string => `/api/private/sites/${siteId}`

/** Fetches the settings of a site. The query key is below that of the site, because a change of the site changes the version of its settings. */
export const useSettings = (siteId: number): UseQueryResult<SiteSettingsResponse, Error> =>
  useQuery({
    queryKey: ["site", siteId, "settings"],
    queryFn: ({ signal }) => get<SiteSettingsResponse>(`${sitePath(siteId)}/settings`, signal),
    staleTime: 60_000,
  })

/** Returns a function that reloads the site and its settings after a change. */
export function useRefreshSite(siteId: number): () => Promise<void> {
  const client = useQueryClient()
  return () => client.invalidateQueries({ queryKey: ["site", siteId] })
}
