import { useQuery } from "@tanstack/react-query"
import { get } from "../../api.ts"

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
  /** Of the last seven days; absent where they cannot be counted now. */
  visitors?: number
  visitors_by_day?: number[]
  change_percent?: number
}

interface Rows {
  data: ListedSite[]
  next_cursor: string | null
}

/** As many as one call may hold. */
const LIMIT = 200
const FRESH_MS = 60_000

/** Every site of the person; page by page, because one call holds so many. */
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

export interface SiteList {
  sites: ListedSite[] | undefined
  error: Error | null
  /** While the figures of the week are still asked for. */
  isCounting: boolean
  retry(): void
}

/** Names come at once, their week's figures when they are counted; where they fail the list stands without them. */
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
