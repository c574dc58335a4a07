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

export const REASON_WORDS: Readonly<Record<string, string>> = {
  unknown_site: "Unknown site",
  invalid: "Not a valid event",
  rate: "Too many from one address",
  prefetch: "Loaded ahead by a browser",
  bot: "Bots",
  host: "Hosts that are not the site's",
  ip: "Blocked addresses",
  datacenter: "Data centres",
  spam: "Spam referrers",
  probe: "Probes for weak spots",
  page: "Blocked pages",
  country: "Blocked countries",
  rule: "Your rules",
  gpc: "Browsers that object to being counted",
  duplicate: "Sent twice",
  no_visit: "Belongs to no visit",
}
