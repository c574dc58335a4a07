import { keepPreviousData, type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query"
import { useEffect } from "preact/hooks"
import type { Breakdown, GoalReport, Summary, Timeseries } from "../../domain/report.ts"
import type { FlatArguments } from "../../domain/site-address.ts"
import { boot } from "../boot.ts"
import { type StatsSource, useStatsSource } from "./source.ts"

interface Reports {
  summary: Summary
  timeseries: Timeseries
  breakdown: Breakdown
  goals: GoalReport
}

const FRESH_MS = 30_000

/**
 * A report of the page's site. While another question is answered the old answer stays (`isPlaceholderData`); a question that
 * is overtaken is cut off. Ranges up to now are asked again every minute.
 */
export function useReport<Name extends string>(
  report: Name,
  given: FlatArguments,
  { enabled = true, refetchMs = 60_000 }: { enabled?: boolean; refetchMs?: number | false } = {},
): UseQueryResult<Name extends keyof Reports ? Reports[Name] : unknown, Error> {
  const source = useStatsSource()
  return useQuery({
    ...question(source, report, given),
    initialData: () => firstAnswer(source.siteId, report, given),
    placeholderData: keepPreviousData,
    refetchInterval: refetchMs,
    enabled,
  }) as UseQueryResult<Name extends keyof Reports ? Reports[Name] : unknown, Error> // each report answers its own shape
}

export interface Asked {
  report: string
  given: FlatArguments
}

/** Asks what parts of the page that are drawn later will ask, so that all of it goes out as one call. */
export function useAskedAhead(all: readonly Asked[]): void {
  const client = useQueryClient()
  const source = useStatsSource()
  useEffect(() => {
    for (const { report, given } of all) void client.prefetchQuery(question(source, report, given))
  }, [])
}

const question = (source: StatsSource, report: string, given: FlatArguments) => ({
  queryKey: ["report", source.key, report, given],
  queryFn: ({ signal }: { signal: AbortSignal }) => source.ask(report, given, signal),
  staleTime: FRESH_MS,
})

/** What the page came with, once: later it would be old. */
function firstAnswer(siteId: number | undefined, report: string, given: FlatArguments): unknown {
  if (performance.now() > FRESH_MS) return undefined
  const wanted = JSON.stringify(given)
  return boot.reports?.find((one) => one.site === siteId && one.report === report && JSON.stringify(one.given) === wanted)?.data
}
