/** Queries and texts of the report on searches. */
import { useInfiniteQuery, useQuery } from "@tanstack/react-query"
import { get, numberText, queryOf, type SiteAddress, useSiteAddress, valueText } from "#plugin/ui"
import type { Group } from "../../search/request.ts"
import type { SearchReport } from "../../search/responses.ts"
import { sitePath } from "../answers.ts"

export type Row = SearchReport["rows"][number]

export const GROUPS: readonly { id: Group; label: string }[] = [
  { id: "query", label: "Queries" },
  { id: "page", label: "Pages" },
  { id: "country", label: "Countries" },
  { id: "device", label: "Devices" },
  { id: "date", label: "Dates" },
]

export const TYPE_LABELS: Readonly<Record<string, string>> = {
  web: "Web",
  image: "Images",
  video: "Videos",
  news: "News",
  discover: "Discover",
}
export const ENGINE_LABELS: Readonly<Record<string, string>> = { google: "Google", bing: "Bing" }
const DEVICE_LABELS: Readonly<Record<string, string>> = { desktop: "Desktop", mobile: "Mobile", tablet: "Tablet" }

/** What the page shows in addition to its period. */
const CHOICES = ["group", "query", "page", "country", "device", "type", "engine", "sort"] as const
export type Choices = Partial<Record<(typeof CHOICES)[number], string>>
export const FILTERS = ["query", "page", "country", "device"] as const
export type Filter = (typeof FILTERS)[number]

/** Returns the choices in the URL, and a function that changes them. Commas and colons in them are escaped, because these separate the choices. */
export function useChoices(): [Choices, (changes: Choices) => void] {
  const { address, go } = useSiteAddress()
  const choices = Object.fromEntries(CHOICES.flatMap((name) => (address.cards[name] ? [[name, unescaped(address.cards[name])]] : [])))
  return [
    choices,
    (changes) => {
      const next = Object.entries({ ...choices, ...changes }).filter(([, value]) => value !== "")
      go({ cards: Object.fromEntries(next.map(([name, value]) => [name, escaped(value)])) })
    },
  ]
}

/** Escapes a text with `~`, because the router decodes percent signs of the URL. */
const escaped = (text: string): string => encodeURIComponent(text).replaceAll("~", "%7E").replaceAll("%", "~")

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("~", "%"))
  } catch {
    return text
  }
}

const isGroup = (text: string | undefined): text is Group => GROUPS.some(({ id }) => id === text)
export const groupOf = ({ group }: Choices): Group => (isGroup(group) ? group : "query")
export const filtersOf = (choices: Choices): Filter[] => FILTERS.filter((name) => choices[name])

/** Returns the arguments of a report: its range, filters, type and engine. */
function argumentsOf({ period, from = "", to = "" }: SiteAddress, choices: Choices): Record<string, string> {
  return {
    ...(period === "custom" ? { from, to } : { period }),
    ...Object.fromEntries(filtersOf(choices).map((name) => [name, choices[name]!])), // they are set
    ...(choices.type && { search_type: choices.type }),
    ...(choices.engine && { engine: choices.engine }),
  }
}

const reportPath = (siteId: number): string => `${sitePath(siteId)}/search-console/report`

/** Returns the arguments of the table: those of the report, its group and its order. */
function tableArguments(address: SiteAddress, choices: Choices): Record<string, string> {
  const { sort = "" } = choices
  return {
    ...argumentsOf(address, choices),
    group_by: groupOf(choices),
    ...(sort && { sort: sort.replace("-", ""), order: sort.startsWith("-") ? "desc" : "asc" }),
  }
}

/** Returns the address of the table as CSV, with all rows. */
export const csvAddress = (siteId: number, address: SiteAddress, choices: Choices): string =>
  `${reportPath(siteId)}.csv${queryOf(tableArguments(address, choices))}`

/** Fetches the groups of the report, page by page, with the totals. */
export function useReport(siteId: number, address: SiteAddress, choices: Choices) {
  const asked = tableArguments(address, choices)
  return useInfiniteQuery({
    queryKey: ["search-console", siteId, asked],
    queryFn: ({ pageParam, signal }) => get<SearchReport>(`${reportPath(siteId)}${queryOf({ ...asked, cursor: pageParam })}`, signal),
    initialPageParam: "",
    getNextPageParam: (last) => last.next_cursor ?? undefined,
    placeholderData: (before) => before,
    retry: false,
  })
}

/** Fetches the days of the report for the chart. */
export function useDays(siteId: number, address: SiteAddress, choices: Choices, enabled: boolean) {
  const asked = { ...argumentsOf(address, choices), group_by: "date", limit: "200" }
  return useQuery({
    queryKey: ["search-console", siteId, asked, "days"],
    queryFn: async ({ signal }) => {
      const days: Row[] = []
      let cursor: string | null = ""
      while (cursor !== null) {
        const page: SearchReport = await get<SearchReport>(`${reportPath(siteId)}${queryOf({ ...asked, cursor })}`, signal)
        days.push(...page.rows)
        cursor = page.next_cursor
      }
      return days
    },
    placeholderData: (before) => before,
    enabled,
  })
}

/** Returns the value of a row as people read it. */
export function keyText(group: Group | Filter, key: string): string {
  if (group === "country") return key === "" ? "Unknown" : valueText("country", key)
  return group === "device" ? (DEVICE_LABELS[key] ?? key) : key
}

/** Formats a mean position with one decimal, as the search engines do, so that the decimals of a column stand below each other. */
export const positionText = (position: number | null): string =>
  position === null ? "–" : numberText(position, { minimumFractionDigits: 1, maximumFractionDigits: 1 })

export const METRICS = ["clicks", "impressions", "ctr", "position"] as const
export type Metric = (typeof METRICS)[number]
export const METRIC_LABELS: Readonly<Record<Metric, string>> = {
  clicks: "Clicks",
  impressions: "Impressions",
  ctr: "Click rate",
  position: "Position",
}
