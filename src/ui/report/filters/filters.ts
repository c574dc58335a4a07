import { type UseQueryResult, useQuery, useQueryClient } from "@tanstack/react-query"
import type { Dimension } from "../../../domain/dimension.ts"
import { OPERATORS, type Operator } from "../../../domain/filter.ts"
import { QUERY } from "../../../domain/limits.ts"
import type { SavedFilter, SegmentResponse } from "../../../domain/segment.ts"
import { type AddressFilter, rangeArguments } from "../../../domain/site-address.ts"
import { getAll } from "../../api/api.ts"
import { NO_FILTERS, useSiteAddress } from "../../browser/address.ts"
import { dimensionLabel, operatorText } from "../../text/labels.ts"
import { visible } from "../../text/safe-text.tsx"
import { valueText } from "../data/figures.ts"
import { useReport } from "../data/reports.ts"

/** Returns a filter as a sentence: Page is /pricing or /plans. `names` replaces codes. */
export const filterText = ({ dimension, property, operator, values }: AddressFilter, names?: ReadonlyMap<string, string>): string => {
  const shown = isExact(operator) ? values.map((value) => valueText(dimension, value, names?.get(value))) : values
  return `${dimensionLabel(dimension, property)} ${operatorText(operator)} ${shown.map(visible).join(" or ")}`
}

/** Returns whether the operator compares whole values. Only then can values be picked from a list. */
export const isExact = (operator: Operator): boolean => operator === "is" || operator === "is_not"

/** Returns the operators that a dimension supports. Goals support two. */
export const operatorsOf = (dimension: Dimension): readonly Operator[] => (dimension === "goal" ? ["is", "contains"] : OPERATORS)

/** Dimensions whose codes only the server can name. Country codes are named by the browser. */
const CODED = ["region", "city"] as const
type Coded = (typeof CODED)[number]

export const isCoded = (dimension: Dimension): dimension is Coded => CODED.some((one) => one === dimension)

/** Returns the names of the codes in filters, as far as they occurred in the period. URLs and segments contain only codes. */
export function useCodeNames(filters: readonly AddressFilter[]): ReadonlyMap<string, string> {
  const [regions, cities] = [useNamesOf("region", filters), useNamesOf("city", filters)]
  return new Map([...regions, ...cities])
}

/** Returns filters as sentences with the names of their codes. */
export function useFilterTexts(filters: readonly AddressFilter[]): string[] {
  const names = useCodeNames(filters)
  return filters.map((filter) => filterText(filter, names))
}

/** Fetches the names with one query for all filters. Identical queries of other parts of the page share the answer. */
function useNamesOf(dimension: Coded, filters: readonly AddressFilter[]): [code: string, name: string][] {
  const { address } = useSiteAddress()
  const exact = filters.filter((filter) => filter.dimension === dimension && isExact(filter.operator))
  const values = [...new Set(exact.flatMap(({ values }) => values))].slice(0, QUERY.flatValues)
  const alone = { ...address, ...NO_FILTERS, filters: [{ dimension, operator: "is" as const, values }] }
  const given = { ...rangeArguments(alone), dimension, metrics: ["visitors"], limit: values.length }
  const { data } = useReport("breakdown", given, { enabled: values.length > 0, refetchMs: false })
  if (values.length === 0 || !data) return []
  return data.rows.flatMap(({ value, label }) => (label === undefined ? [] : [[value, label] as [string, string]]))
}

/** Returns saved filters in the form of the URL. The server has validated them; without an operator they mean `is`. */
export const addressFilters = (filters: readonly SavedFilter[]): AddressFilter[] =>
  filters.map((filter) => ({ ...filter, operator: filter.operator ?? "is", values: filter.values.map(String) }) as AddressFilter)

const KEY = "segments"

export const segmentsPath = (siteId: number): string => `/api/private/sites/${siteId}/segments`

export const useSegments = (siteId: number | undefined, enabled = true): UseQueryResult<SegmentResponse[], Error> =>
  useQuery({
    queryKey: [KEY, siteId],
    queryFn: ({ signal }) => getAll<SegmentResponse>(`${segmentsPath(siteId!)}?`, signal),
    staleTime: 60_000,
    enabled: enabled && siteId !== undefined,
  })

/** Returns a function that refetches the segments even if no list is shown, because a page with a new segment needs its name. */
export function useRefreshSegments(siteId: number): () => Promise<void> {
  const client = useQueryClient()
  return () => client.invalidateQueries({ queryKey: [KEY, siteId], refetchType: "all" })
}
