import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query"
import type { AddressFilter } from "../../domain/site-address.ts"
import { getAll } from "./get-all.ts"

/** Saved filters of a site, as `GET /api/private/sites/{site}/segments` shows them. */
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

/** Also where the list is not shown just now: a page that is shown by a new segment looks for it in what is known. */
export function useRefreshSegments(siteId: number): () => Promise<void> {
  const client = useQueryClient()
  return () => client.invalidateQueries({ queryKey: [KEY, siteId], refetchType: "all" })
}
