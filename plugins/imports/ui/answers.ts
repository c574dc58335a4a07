/** Queries of the area, the permissions of the user, and the texts for codes in responses. */
import { useQuery } from "@tanstack/react-query"
import { areaQueries, canOnSite, get, useMe } from "#plugin/ui"
import type { ImporterResponse, ImportResponse } from "../responses.ts"

export const importsPath = (siteId: number): string => `/api/private/sites/${siteId}/imports`
export const importsAddress = (siteId: number): string => `/sites/${siteId}/imports`

export const { useSiteQuery, useRefresh } = areaQueries("imports")

/** Fetches the available sources. They change only with a new version of the server. */
export const useImporters = () =>
  useQuery({
    queryKey: ["importers"],
    queryFn: ({ signal }) => get<{ data: ImporterResponse[] }>("/api/private/importers", signal),
    staleTime: Number.POSITIVE_INFINITY,
  })

/** Returns the name of a source, or its id while the names are unknown. */
export function useSourceTitle(): (source: string) => string {
  const { data } = useImporters()
  return (source) => data?.data.find((one) => one.source === source)?.title ?? source
}

export function useRights(siteId: number) {
  const me = useMe()
  return {
    writes: canOnSite(me, siteId, "imports:write"),
    /** Whether the user may count days twice. */
    allows: canOnSite(me, siteId, "site:write"),
    createsGoals: canOnSite(me, siteId, "goals:write"),
  }
}

type State = ImportResponse["state"]

/** Returns whether an import is in progress, so that its page must follow it. */
export const isOpen = (one: Pick<ImportResponse, "state" | "progress">): boolean =>
  one.state === "pending" || one.state === "running" || one.state === "undoing" || isExtending(one)

/** Returns whether a run adds lines to a stream, which stays completed meanwhile. */
export const isExtending = ({ state, progress }: Pick<ImportResponse, "state" | "progress">): boolean =>
  state === "completed" && progress !== null

/**
 * Returns whether reports leave out the totals of an import, because its days are those of another time zone than the site's. Visits have
 * no such days.
 */
export const isOfOtherZone = ({ kind, timezone }: Pick<ImportResponse, "kind" | "timezone">, siteZone: string | undefined): boolean =>
  kind !== "rows" && siteZone !== undefined && siteZone !== timezone

export const STATE_LABELS: Readonly<Record<State, string>> = {
  pending: "Waiting",
  running: "Importing",
  completed: "Completed",
  failed: "Failed",
  cancelled: "Cancelled",
  undoing: "Undoing",
  undone: "Undone",
}

export const PHASE_LABELS: Readonly<Record<string, string>> = {
  fetch: "Fetching reports",
  sort: "Sorting rows into visits",
  write: "Writing rows",
  complete: "Completing",
  undo: "Removing rows",
}

/** Reasons why rows are left out. */
export const SKIP_LABELS: Readonly<Record<string, string>> = {
  bot: "Bots",
  not_a_pageview: "Requests that are not pageviews",
  not_imported_type: "Types that can't be imported",
  already_imported: "Already imported",
  repeated_row: "Repeated rows",
  filtered: "Excluded by your options",
  revenue_invalid: "Invalid amounts (imported without revenue)",
  native: "On days with visits recorded by Footfall",
  beyond_retention: "Older than the retention of the site",
  in_future: "In the future",
}

export const REJECT_LABELS: Readonly<Record<string, string>> = {
  bad_date: "Invalid date",
  bad_number: "Invalid number",
  negative_count: "Negative count",
  bad_url: "Invalid URL",
  too_long: "Line too long",
  wrong_column_count: "Wrong number of columns",
}

const NAMES: Readonly<Record<string, string>> = {
  at: "Time",
  csv: "CSV",
  csv1: "CSV, version 1",
  csv2: "CSV, version 2",
  imported_custom_props: "Custom properties",
  os: "OS",
  url: "URL",
  website_event: "Events",
}

/** Turns a code such as `imported_entry_pages` into words. */
export function wordsOf(code: string): string {
  const words = code
    .replace(/^imported_/, "")
    .replace(/^utm_/, "UTM ")
    .replaceAll("_", " ")
  return NAMES[code] ?? words.charAt(0).toUpperCase() + words.slice(1)
}

/** Turns a code into words within a sentence: `entry pages`, but `UTM source`. */
export const wordsInText = (code: string): string => wordsOf(code).replace(/^[A-Z](?![A-Z])/, (letter) => letter.toLowerCase())
