import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query"
import { get } from "./api.ts"

/** The questions of an area about a site: `path` is that below the address of the site, and `useRefresh` is for after a write. */
export function areaQueries(area: string) {
  return {
    /** An answer stays until the next one is there. */
    useSiteQuery: <Data>(siteId: number, path: string, enabled = true): UseQueryResult<Data, Error> =>
      useQuery({
        queryKey: [area, siteId, path],
        queryFn: ({ signal }) => get<Data>(`/api/private/sites/${siteId}/${path}`, signal),
        placeholderData: (before) => before,
        enabled,
      }),
    /** Everything of the area about the site is asked again. */
    useRefresh(siteId: number): () => Promise<void> {
      const client = useQueryClient()
      return () => client.invalidateQueries({ queryKey: [area, siteId] })
    },
  }
}
