import { createContext } from "preact"
import { useContext } from "preact/hooks"
import type { FlatArguments } from "../../domain/site-address.ts"

/** Where the reports of a page come from: a site for a member, or a shared view for a stranger. */
export interface StatsSource {
  /** Distinguishes it in the cache. */
  key: string
  siteId: number | undefined
  timezone: string
  currency: string
  /** Any report of the statistics by its name, with arguments as JSON. */
  ask(report: string, given: FlatArguments, signal: AbortSignal): Promise<unknown>
  /** Address of a file with everything that matches, where files may be taken. */
  exportAddress: ((report: string, given: FlatArguments) => string) | undefined
  /** Whether the filters may be changed here. */
  filters: boolean
  /** Whether a part of the page (`sources`, `busy_hours` …, as shared views name them) is shown here. */
  shows(section: string): boolean
  can(permission: string): boolean
}

export const StatsSourceContext = createContext<StatsSource | undefined>(undefined)

/** Throws where no page has said what its reports are about. */
export function useStatsSource(): StatsSource {
  const source = useContext(StatsSourceContext)
  if (!source) throw new Error("No site's statistics are shown here")
  return source
}

/** Arguments as a query string takes them: lists with commas, filters as JSON. */
export function asQuery(given: FlatArguments): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue
    query.set(name, name === "filters" ? JSON.stringify(value) : Array.isArray(value) ? value.join(",") : String(value))
  }
  return query.toString()
}

/** The same for a file: a breakdown is taken by its dimension, and files have no comparison and no limit. */
export const asFileQuery = (report: string, { dimension, compare: _, match_weekday: __, limit: ___, ...given }: FlatArguments): string =>
  asQuery({ ...given, type: report === "breakdown" ? dimension : report, format: "csv" })
