import { type UseQueryResult, useQuery } from "@tanstack/react-query"
import { get } from "./api.ts"
import { boot } from "./boot.ts"

/** A site as `GET /api/private/sites/{site}` shows it, as far as pages need it. */
export interface SiteShown {
  id: number
  name: string
  hosts: string[]
  timezone: string
  revenue_currency: string
  /** Absent until there is one. */
  first_event_at?: string | null
  version: number
  [more: string]: unknown
}

/** Undefined where the page is about no site that can be asked: nothing is asked then. */
export const useSite = (siteId: number | undefined): UseQueryResult<SiteShown, Error> =>
  useQuery({
    queryKey: ["site", siteId],
    queryFn: ({ signal }) => get<SiteShown>(`/api/private/sites/${siteId}`, signal),
    ...(boot.site?.id === siteId && { initialData: boot.site, initialDataUpdatedAt: performance.timeOrigin }),
    staleTime: 60_000,
    enabled: siteId !== undefined,
  })
