import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query"
import { get } from "./api.ts"

/** Returns the query hooks of a plugin for a site. `path` is relative to the site's route; `useRefresh` is for use after a write. */
export function areaQueries(area: string) {
  return {
    /** Fetches a route of the site. The previous answer stays visible until the next one arrives. */
    useSiteQuery: <Data>(siteId: number, path: string, enabled = true): UseQueryResult<Data, Error> =>
      useQuery({
        queryKey: [area, siteId, path],
        queryFn: ({ signal }) => get<Data>(`/api/private/sites/${siteId}/${path}`, signal),
        placeholderData: (before) => before,
        enabled,
      }),
    /** Returns a function that refetches all queries of the plugin about the site. */
    useRefresh(siteId: number): () => Promise<void> {
      const client = useQueryClient()
      return () => client.invalidateQueries({ queryKey: [area, siteId] })
    },
  }
}
