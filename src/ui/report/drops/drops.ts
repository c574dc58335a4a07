import { type UseQueryResult, useQuery } from "@tanstack/react-query"
import { get } from "../api.ts"

/** What the rules of a site kept out in a range, as `GET /api/private/sites/{site}/drops` shows it. */
export interface DropsShown {
  days: string[]
  rows: { reason: string; total: number; counts: number[]; entries: { entry: string; count: number }[] }[]
  counters: { counter: string; total: number }[]
}

/** `range` is the query string of the range: `period=28d`, `from=…&to=…`. */
export const useDrops = (siteId: number | undefined, range: string): UseQueryResult<DropsShown, Error> =>
  useQuery({
    queryKey: ["drops", siteId, range],
    queryFn: ({ signal }) => get<DropsShown>(`/api/private/sites/${siteId}/drops?${range}`, signal),
    staleTime: 60_000,
    enabled: siteId !== undefined,
  })
