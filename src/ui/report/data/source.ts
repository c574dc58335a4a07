import { createContext } from "preact"
import { useContext } from "preact/hooks"
import type { FlatArguments } from "../../../domain/site-address.ts"

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
