import {
  ArgumentReader,
  type OpenReport,
  type ReportOptions,
  refuseArguments,
  refuseNames,
  type Site,
  splitArguments,
  withAllFaults,
} from "#plugin"
import type { IntegrationsHost } from "../area.ts"
import { ENGINES, type Engine, SEARCH_TYPES, type SearchType } from "./search-type.ts"
import type { Detail } from "./storage.ts"

export const GROUPS = ["query", "page", "country", "device", "date"] as const
export type Group = (typeof GROUPS)[number]
export const SORTS = ["clicks", "impressions", "ctr", "position", "key"] as const
export type Sort = (typeof SORTS)[number]
export const DEVICES = ["desktop", "mobile", "tablet"] as const
export const FILTERS = ["page", "query", "country", "device"] as const
export type SearchFilter = (typeof FILTERS)[number]

export interface SearchRequest {
  open: OpenReport
  /** Days, inclusive. */
  from: string
  to: string
  groupBy: Group
  filters: Partial<Record<SearchFilter, string>>
  searchType: SearchType
  engine: Engine
  sort: Sort
  descending: boolean
  limit: number
  cursor: string | undefined
  /** Rows that are read. undefined for the totals, which exist by day only. */
  detail: Detail | undefined
}

const OWN = ["group_by", ...FILTERS, "search_type", "engine", "sort", "order", "limit", "cursor"] as const
const [MAX_LIMIT, DEFAULT_LIMIT] = [200, 50]
/** Largest number of rows of a file. */
export const WHOLE = 100_000

/** Parses the arguments of a report. Throws `invalid_query` with all faults. `isWhole` ignores paging. */
export async function readRequest(
  host: IntegrationsHost,
  site: Site,
  given: Record<string, unknown>,
  options: ReportOptions & { isWhole?: boolean },
): Promise<SearchRequest> {
  refuseNames(given, ["timezone", "metrics", "filters", "imports", "compare", "compare_from", "compare_to", "match_weekday"])
  const { own, ranged } = splitArguments(given, OWN)
  const form = options.form ?? "json"
  const opening = host.services.openReport("summary", site, ranged, options)
  const [open, fields] = await withAllFaults(form, opening, () => readOwn(own, form))
  const { from, to } = open.parsed.range
  return { open, from, to, ...fields, ...(options.isWhole && { limit: WHOLE, cursor: undefined }) }
}

function readOwn(given: Record<string, unknown>, form: "text" | "json"): Omit<SearchRequest, "open" | "from" | "to"> {
  const reader = new ArgumentReader(given, OWN)
  const groupBy = reader.choice("group_by", GROUPS) ?? "query"
  const country = reader.text("country", { min: 2, max: 2 })
  const filters = present({
    page: reader.text("page", { min: 1, max: 2_048 }),
    query: reader.text("query", { min: 1, max: 500 }),
    country: country?.toUpperCase(),
    device: reader.choice("device", DEVICES),
  })
  const searchType = reader.choice("search_type", SEARCH_TYPES) ?? "web"
  const engine = reader.choice("engine", ENGINES) ?? "google"
  const sort = reader.choice("sort", SORTS) ?? (groupBy === "date" ? "key" : "clicks")
  // The best position and the first day come first.
  const order = reader.choice("order", ["desc", "asc"]) ?? (sort === "position" || sort === "key" ? "asc" : "desc")
  if (sort === "key" && (groupBy === "query" || groupBy === "page"))
    reader.refuse({ pointer: "/sort", code: "unsupported_combination", detail: "Queries and pages can't be sorted by key." })
  const limit = reader.integer("limit", { min: 1, max: MAX_LIMIT }) ?? DEFAULT_LIMIT
  const cursor = reader.text("cursor", { min: 1, max: 500 })
  refuseCombinations(reader, { groupBy, filters, searchType, engine })
  refuseArguments(reader, form)
  const detail = detailOf(groupBy, filters)
  return { groupBy, filters, searchType, engine, sort, descending: order === "desc", limit, cursor, detail }
}

type Used = Pick<SearchRequest, "groupBy" | "filters" | "searchType" | "engine">

/** Refuses what search engines do not report together. */
function refuseCombinations(reader: ArgumentReader, { groupBy, filters, searchType, engine }: Used): void {
  const used = new Map<SearchFilter, string>()
  if (groupBy !== "date") used.set(groupBy, "group_by")
  for (const name of FILTERS) if (filters[name] !== undefined) used.set(name, name)
  const refuse = (dimension: SearchFilter, detail: string): void => {
    const argument = used.get(dimension)
    if (argument !== undefined) reader.refuse({ pointer: `/${argument}`, code: "unsupported_combination", detail })
  }
  if (used.has("page") || used.has("query"))
    for (const dimension of ["country", "device"] as const)
      refuse(dimension, "Pages and queries can't be combined with countries and devices.")
  if (searchType === "discover")
    for (const dimension of ["query", "device"] as const) refuse(dimension, "Discover reports neither queries nor devices.")
  if (engine === "google") return
  for (const dimension of ["country", "device"] as const) refuse(dimension, "Bing reports neither countries nor devices.")
  if (used.has("page")) refuse("query", "Bing does not report pages and queries together.")
  if (searchType !== "web")
    reader.refuse({ pointer: "/search_type", code: "unsupported_combination", detail: "Bing reports the search type web only." })
}

function detailOf(groupBy: Group, filters: SearchRequest["filters"]): Detail | undefined {
  const uses = (dimension: SearchFilter): boolean => groupBy === dimension || filters[dimension] !== undefined
  if (uses("query")) return "query"
  if (uses("page")) return "page"
  return uses("country") || uses("device") ? "place" : undefined
}

const present = (filters: Record<SearchFilter, string | undefined>): SearchRequest["filters"] =>
  Object.fromEntries(Object.entries(filters).filter(([, value]) => value !== undefined))
