import { keepPreviousData, type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query"
import { useEffect } from "preact/hooks"
import type { Breakdown, GoalReport, Summary, Timeseries } from "../../../domain/report.ts"
import type { FlatArguments } from "../../../domain/site-address.ts"
import { boot } from "../../api/session.ts"
import { type StatsSource, useStatsSource } from "./source.ts"

interface Reports {
  summary: Summary
  timeseries: Timeseries
  breakdown: Breakdown
  goals: GoalReport
}

const FRESH_MS = 30_000

/**
 * Fetches a report of the page's site. The previous answer stays while a new query runs (`isPlaceholderData`), superseded queries
 * are aborted, and reports are refetched every minute.
 */
export function useReport<Name extends string>(
  report: Name,
  given: FlatArguments,
  { enabled = true, refetchMs = 60_000 }: { enabled?: boolean; refetchMs?: number | false } = {},
): UseQueryResult<Name extends keyof Reports ? Reports[Name] : unknown, Error> {
  const source = useStatsSource()
  return useQuery({
    ...reportQuery(source, report, given),
    initialData: () => firstAnswer(source.siteId, report, given),
    placeholderData: keepPreviousData,
    refetchInterval: refetchMs,
    enabled,
  }) as UseQueryResult<Name extends keyof Reports ? Reports[Name] : unknown, Error> // `Reports` lists the shape of each report
}

interface Asked {
  report: string
  given: FlatArguments
}

/** Fetches the reports of cards that are drawn later, so that all reports of a page are sent in one request. */
export function usePrefetchedReports(all: readonly Asked[]): void {
  const client = useQueryClient()
  const source = useStatsSource()
  useEffect(() => {
    for (const { report, given } of all) void client.prefetchQuery(reportQuery(source, report, given))
  }, [])
}

const reportQuery = (source: StatsSource, report: string, given: FlatArguments) => ({
  queryKey: ["report", source.key, report, given],
  queryFn: ({ signal }: { signal: AbortSignal }) => source.ask(report, given, signal),
  staleTime: FRESH_MS,
})

/** Returns the report that the server embedded in the page, unless it is outdated. */
function firstAnswer(siteId: number | undefined, report: string, given: FlatArguments): unknown {
  if (performance.now() > FRESH_MS) return undefined
  const wanted = JSON.stringify(given)
  return boot.reports?.find((one) => one.site === siteId && one.report === report && JSON.stringify(one.given) === wanted)?.data
}
