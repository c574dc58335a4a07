import { useQuery } from "@tanstack/react-query"
import type { PrivatePage } from "../../../domain/response.ts"
import type { ListedSiteResponse } from "../../../domain/site-response.ts"
import { get } from "../../api/api.ts"

/** Maximum number of sites per page of the API. */
const LIMIT = 200
const FRESH_MS = 60_000

/** Fetches all sites of the user, page by page. */
async function allSites(more: string, signal: AbortSignal): Promise<ListedSiteResponse[]> {
  const sites: ListedSiteResponse[] = []
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page: PrivatePage<ListedSiteResponse> = await get<PrivatePage<ListedSiteResponse>>(
      `/api/private/sites?limit=${LIMIT}${more}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      signal,
    )
    sites.push(...page.data)
    cursor = page.next_cursor
  }
  return sites
}

interface SiteList {
  sites: ListedSiteResponse[] | undefined
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

const weekOf = (site: ListedSiteResponse | undefined): Pick<ListedSiteResponse, "visitors" | "visitors_by_day" | "change_percent"> => ({
  ...(site?.visitors !== undefined && { visitors: site.visitors }),
  ...(site?.visitors_by_day && { visitors_by_day: site.visitors_by_day }),
  ...(site?.change_percent !== undefined && { change_percent: site.change_percent }),
})

export const SORTS = ["visitors", "name", "change", "created"] as const
export type Sort = (typeof SORTS)[number]

/** Returns the sites whose name or host contains the text, sorted, pinned sites first. Sites without a figure come last. */
export function ordered(sites: readonly ListedSiteResponse[], wanted: string, sort: Sort): ListedSiteResponse[] {
  const part = wanted.trim().toLowerCase()
  const found = sites.filter(({ name, hosts }) => [name, ...hosts].some((text) => text.toLowerCase().includes(part)))
  return found.sort((a, b) => Number(b.pinned) - Number(a.pinned) || compare(a, b, sort) || a.id - b.id)
}

function compare(a: ListedSiteResponse, b: ListedSiteResponse, sort: Sort): number {
  if (sort === "name") return a.name.localeCompare(b.name)
  if (sort === "created") return b.created_at.localeCompare(a.created_at)
  const of = (site: ListedSiteResponse) => (sort === "visitors" ? site.visitors : site.change_percent) ?? Number.NEGATIVE_INFINITY
  const [left, right] = [of(a), of(b)]
  return left === right ? 0 : right - left
}

/** Groups sites by organization, sorted by name. Returns one unnamed group if there is only one organization. */
export function grouped(sites: readonly ListedSiteResponse[]): { name: string | undefined; sites: ListedSiteResponse[] }[] {
  const groups = [...Map.groupBy(sites, ({ organization }) => organization.id).values()]
  if (groups.length < 2) return [{ name: undefined, sites: [...sites] }]
  return groups.map((own) => ({ name: own[0]!.organization.name, sites: own })).sort((a, b) => a.name.localeCompare(b.name))
}

const DAY_MS = 86_400_000
/** Minimum visitors of a day for a spike. Lower numbers vary too much by chance. */
const MIN_SPIKE_VISITORS = 100
/** Multiple of the usual visitors that counts as a spike. */
const SPIKE = 3

/** Returns why a site needs attention, or undefined. `now` is in epoch milliseconds. */
export function troubleOf(site: ListedSiteResponse, now: number): string | undefined {
  if (site.last_event_at === null) return "Waiting for the first event"
  const quiet = Math.floor((now - Date.parse(site.last_event_at)) / DAY_MS)
  if (quiet >= 1) return quiet === 1 ? "No data for 1 day" : `No data for ${quiet} days`
  const days = site.visitors_by_day ?? []
  const today = days.at(-1) ?? 0
  const usual = days.slice(0, -1).reduce((sum, count) => sum + count, 0) / Math.max(1, days.length - 1)
  return usual > 0 && today >= MIN_SPIKE_VISITORS && today > SPIKE * usual ? "More visitors than usual today" : undefined
}
