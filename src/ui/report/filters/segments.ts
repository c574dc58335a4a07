import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query"
import type { AddressFilter } from "../../../domain/site-address.ts"
import { getAll } from "../../api/api.ts"

/** A segment of a site, as returned by `GET /api/private/sites/{site}/segments`. */
export interface SegmentShown {
  id: number
  name: string
  scope: "personal" | "site"
  filters: AddressFilter[]
  owner: number | null
  version: number
}

const KEY = "segments"

export const segmentsPath = (siteId: number): string => `/api/private/sites/${siteId}/segments`

export const useSegments = (siteId: number | undefined, enabled = true): UseQueryResult<SegmentShown[], Error> =>
  useQuery({
    queryKey: [KEY, siteId],
    queryFn: ({ signal }) => getAll<SegmentShown>(`${segmentsPath(siteId!)}?`, signal),
    staleTime: 60_000,
    enabled: enabled && siteId !== undefined,
  })

/** Returns a function that refetches the segments even if no list is shown, because a page with a new segment needs its name. */
export function useRefreshSegments(siteId: number): () => Promise<void> {
  const client = useQueryClient()
  return () => client.invalidateQueries({ queryKey: [KEY, siteId], refetchType: "all" })
}
