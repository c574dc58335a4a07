import { type AddressFilter, rangeArguments } from "../../domain/site-address.ts"
import { useSiteAddress } from "../address.ts"
import { isExact } from "./filter-words.ts"
import { useReport } from "./use-report.ts"

/** Dimensions of which the browser cannot name the codes, as it can those of countries. */
const CODED = ["region", "city"]

/** Names of the codes that a filter holds, as far as they occurred in the period: an address has the codes alone. */
export function useCodeNames(filter: AddressFilter): ReadonlyMap<string, string> {
  const { address } = useSiteAddress()
  const { dimension, operator, values } = filter
  const alone = { ...address, filters: [{ ...filter, operator: "is" as const }], segment: undefined, cohort: undefined }
  const given = { ...rangeArguments(alone), dimension, metrics: ["visitors"], limit: values.length }
  const isAsked = CODED.includes(dimension) && isExact(operator) && values.length > 0
  const { data } = useReport("breakdown", given, { enabled: isAsked, refetchMs: false })
  return new Map(isAsked ? data?.rows.flatMap(({ value, label }) => (label === undefined ? [] : [[value, label] as const])) : [])
}
