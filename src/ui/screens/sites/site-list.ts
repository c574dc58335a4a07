import { useQuery } from "@tanstack/react-query"
import { get } from "../../api/api.ts"

/** A row of `GET /api/private/sites`. */
export interface ListedSite {
  id: number
  name: string
  hosts: string[]
  organization: { id: number; name: string }
  pinned: boolean
  created_at: string
  first_event_at?: string
  current_visitors: number
  last_event_at: string | null
  /** Visitors in the last seven days. Absent if they cannot be counted at the moment. */
  visitors?: number
  visitors_by_day?: number[]
  change_percent?: number
}

interface Rows {
  data: ListedSite[]
  next_cursor: string | null
}

/** Maximum number of sites per page of the API. */
const LIMIT = 200
const FRESH_MS = 60_000

/** Fetches all sites of the user, page by page. */
async function allSites(more: string, signal: AbortSignal): Promise<ListedSite[]> {
  const sites: ListedSite[] = []
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page: Rows = await get<Rows>(
      `/api/private/sites?limit=${LIMIT}${more}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      signal,
    )
    sites.push(...page.data)
    cursor = page.next_cursor
  }
  return sites
}

interface SiteList {
  sites: ListedSite[] | undefined
  error: Error | null
  /** Whether the figures of the week are still loading. */
  isCounting: boolean
  retry(): void
}

/** Returns the sites at once and their week's figures when they are counted. If counting fails, the list stays without figures. */
export function useSiteList(): SiteList {
  const names = useQuery({
    queryKey: ["sites", "names"],
    queryFn: ({ signal }) => allSites("", signal),
    staleTime: FRESH_MS,
    refetchInterval: FRESH_MS,
  })
  const weeks = useQuery({
    queryKey: ["sites", "weeks"],
    queryFn: ({ signal }) => allSites("&sparkline=7d", signal),
    staleTime: FRESH_MS,
    refetchInterval: FRESH_MS,
  })
  const counted = new Map(weeks.data?.map((site) => [site.id, site]))
  return {
    sites: names.data?.map((site) => ({ ...weekOf(counted.get(site.id)), ...site })),
    error: names.error,
    isCounting: weeks.isPending,
    retry: () => void names.refetch(),
  }
}

const weekOf = (site: ListedSite | undefined): Pick<ListedSite, "visitors" | "visitors_by_day" | "change_percent"> => ({
  ...(site?.visitors !== undefined && { visitors: site.visitors }),
  ...(site?.visitors_by_day && { visitors_by_day: site.visitors_by_day }),
  ...(site?.change_percent !== undefined && { change_percent: site.change_percent }),
})
