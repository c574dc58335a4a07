import { type UseQueryResult, useQuery } from "@tanstack/react-query"
import { get } from "./api.ts"
import { boot } from "./boot.ts"

/** The fields of `GET /api/private/sites/{site}` that pages need. */
export interface SiteShown {
  id: number
  name: string
  hosts: string[]
  timezone: string
  revenue_currency: string
  /** Absent until the first event. */
  first_event_at?: string | null
  version: number
  [more: string]: unknown
}

/** Fetches a site. Fetches nothing if the id is undefined. */
export const useSite = (siteId: number | undefined): UseQueryResult<SiteShown, Error> =>
  useQuery({
    queryKey: ["site", siteId],
    queryFn: ({ signal }) => get<SiteShown>(`/api/private/sites/${siteId}`, signal),
    ...(boot.site?.id === siteId && { initialData: boot.site, initialDataUpdatedAt: performance.timeOrigin }),
    staleTime: 60_000,
    enabled: siteId !== undefined,
  })
