import type { Dimension } from "../../../domain/dimension.ts"
import { QUERY } from "../../../domain/limits.ts"
import { type AddressFilter, rangeArguments } from "../../../domain/site-address.ts"
import { useSiteAddress } from "../../browser/address.ts"
import { filterText, isExact } from "./filter-words.ts"
import { useReport } from "./use-report.ts"

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
  const alone = { ...address, filters: [{ dimension, operator: "is" as const, values }], segment: undefined, cohort: undefined }
  const given = { ...rangeArguments(alone), dimension, metrics: ["visitors"], limit: values.length }
  const { data } = useReport("breakdown", given, { enabled: values.length > 0, refetchMs: false })
  if (values.length === 0 || !data) return []
  return data.rows.flatMap(({ value, label }) => (label === undefined ? [] : [[value, label] as [string, string]]))
}
