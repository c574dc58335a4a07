import { type UseQueryResult, useQuery } from "@tanstack/react-query"
import { get } from "../../api/api.ts"

/** Dropped events of a site in a range, as returned by `GET /api/private/sites/{site}/drops`. */
export interface DropsShown {
  days: string[]
  rows: { reason: string; total: number; counts: number[]; entries: { entry: string; count: number }[] }[]
  counters: { counter: string; total: number }[]
}

/** Fetches the drops of a range, given as a query string: `period=28d` or `from=…&to=…`. */
export const useDrops = (siteId: number | undefined, range: string): UseQueryResult<DropsShown, Error> =>
  useQuery({
    queryKey: ["drops", siteId, range],
    queryFn: ({ signal }) => get<DropsShown>(`/api/private/sites/${siteId}/drops?${range}`, signal),
    staleTime: 60_000,
    enabled: siteId !== undefined,
  })
