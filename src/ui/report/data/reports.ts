import { keepPreviousData, type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query"
import { createContext } from "preact"
import { useContext, useEffect } from "preact/hooks"
import type { Dimension } from "../../../domain/dimension.ts"
import type { BatchAnswer } from "../../../domain/insight.ts"
import type { Breakdown, GoalReport, Summary, Timeseries } from "../../../domain/report.ts"
import type { FlatArguments } from "../../../domain/site-address.ts"
import { Problem, post } from "../../api/api.ts"
import { boot } from "../../api/session.ts"

/** The source of a page's reports: a site for members, or a shared view for visitors without an account. */
export interface StatsSource {
  /** Key in the query cache. */
  key: string
  siteId: number | undefined
  timezone: string
  currency: string
  /** Fetches a report by its name. */
  ask(report: string, given: FlatArguments, signal: AbortSignal): Promise<unknown>
  /** Returns the URL of a CSV file with all matching rows. Undefined if exports are not allowed. */
  exportAddress: ((report: string, given: FlatArguments) => string) | undefined
  /** Whether the user can change the filters. */
  filters: boolean
  /** Dimensions by which the user can filter. Absent for all. */
  filterDimensions?: readonly Dimension[]
  /** Returns whether a panel is shown, by its name in shared views (`sources`, `busy_hours` …). */
  shows(section: string): boolean
  can(permission: string): boolean
}

export const StatsSourceContext = createContext<StatsSource | undefined>(undefined)

/** Returns the report source of the page. Throws outside of a `StatsSourceContext`. */
export function useStatsSource(): StatsSource {
  const source = useContext(StatsSourceContext)
  if (!source) throw new Error("There is no statistics source on this page")
  return source
}

/** Writes arguments as a query string: lists separated by commas, filters as JSON. */
export function asQuery(given: FlatArguments): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue
    query.set(name, name === "filters" ? JSON.stringify(value) : Array.isArray(value) ? value.join(",") : String(value))
  }
  return query.toString()
}

/** Writes the query string of a CSV export: a breakdown is named by its dimension, without comparison and limit. */
export const asFileQuery = (report: string, { dimension, compare: _, match_weekday: __, limit: ___, ...given }: FlatArguments): string =>
  asQuery({ ...given, type: report === "breakdown" ? dimension : report, format: "csv" })

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
    initialData: () => embeddedReport(source.siteId, report, given),
    placeholderData: keepPreviousData,
    refetchInterval: refetchMs,
    enabled,
  }) as UseQueryResult<Name extends keyof Reports ? Reports[Name] : unknown, Error> // `Reports` lists the shape of each report
}

interface ReportRequest {
  report: string
  given: FlatArguments
}

/** Fetches the reports of cards that are drawn later, so that all reports of a page are sent in one request. */
export function usePrefetchedReports(all: readonly ReportRequest[]): void {
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
function embeddedReport(siteId: number | undefined, report: string, given: FlatArguments): unknown {
  if (performance.now() > FRESH_MS) return undefined
  const wanted = JSON.stringify(given)
  return boot.reports?.find((one) => one.site === siteId && one.report === report && JSON.stringify(one.given) === wanted)?.data
}

interface Waiting {
  report: string
  given: FlatArguments
  signal: AbortSignal
  resolve(data: unknown): void
  reject(error: unknown): void
}

/** Maximum number of queries per request. Further queries are sent in another request. */
const MAX_QUERIES = 20

/** Combines reports that are requested at the same moment into one request, so that the first view of a dashboard needs only one. */
export function createBatch(siteId: number): (report: string, given: FlatArguments, signal: AbortSignal) => Promise<unknown> {
  let waiting: Waiting[] = []

  async function sendAll(): Promise<void> {
    // Queries that were superseded in the meantime are not sent.
    const all = waiting.filter(({ signal }) => !signal.aborted)
    waiting = []
    for (let start = 0; start < all.length; start += MAX_QUERIES) void sendSome(siteId, all.slice(start, start + MAX_QUERIES))
  }

  return (report, given, signal) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) setTimeout(sendAll)
      waiting.push({ report, given, signal, resolve, reject })
    })
}

async function sendSome(siteId: number, asked: readonly Waiting[]): Promise<void> {
  const queries = asked.map(({ report, given }, index) => ({ ...given, id: String(index), report }))
  try {
    const { results } = await post<BatchAnswer>(`/api/private/sites/${siteId}/stats/batch`, { queries }, { signal: abortedWhenAll(asked) })
    for (const [index, { resolve, reject }] of asked.entries()) {
      const { status, data, problem } = results[String(index)] ?? { status: 500 }
      if (status === 200) resolve(data)
      else reject(new Problem(status, problem?.code ?? "unknown", problem?.detail ?? "The report failed. Try again.", { ...problem }))
    }
  } catch (error) {
    for (const { reject } of asked) reject(error)
  }
}

/** Returns a signal that aborts the request once all of its queries were aborted. */
function abortedWhenAll(asked: readonly Waiting[]): AbortSignal {
  const controller = new AbortController()
  let left = asked.length
  for (const { signal } of asked)
    signal.addEventListener("abort", () => {
      left -= 1
      if (left === 0) controller.abort()
    })
  return controller.signal
}
