import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query"
import { getAll } from "../../api/api.ts"
import type { FunnelShown } from "./funnel-draft.ts"

export const funnelsPath = (siteId: number): string => `/api/private/sites/${siteId}/funnels`

export const useFunnels = (siteId: number): UseQueryResult<FunnelShown[], Error> =>
  useQuery({
    queryKey: ["funnels", siteId],
    queryFn: ({ signal }) => getAll<FunnelShown>(`${funnelsPath(siteId)}?`, signal),
    staleTime: 60_000,
  })

/** Returns a function that reloads the funnels and the reports. */
export function useRefreshFunnels(siteId: number): () => Promise<void> {
  const client = useQueryClient()
  return async () => {
    await Promise.all([["funnels", siteId], ["report"]].map((queryKey) => client.invalidateQueries({ queryKey })))
  }
}
