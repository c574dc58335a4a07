import type { Suggestions } from "../../../domain/insight.ts"
import { QUERY } from "../../../domain/limits.ts"
import { type AddressFilter, rangeArguments, type SiteAddress } from "../../../domain/site-address.ts"
import { isCoded } from "../../stats/code-names.ts"
import { countryCodes } from "../../stats/country-codes.ts"
import { useReport } from "../../stats/use-report.ts"
import type { CardTab } from "./card-tabs.ts"

interface Sought {
  address: SiteAddress
  /** Not yet while the server looks for names. */
  isKnown: boolean
  /** More was found than a filter takes, or than was looked at. */
  isCut: boolean
}

/** What is sought is one filter more; of places also their names are. */
export function useSoughtAddress(address: SiteAddress, { dimension, property }: CardTab, search: string): Sought {
  const { found, isKnown, isCut } = useNamedCodes(address, { dimension, search })
  if (search === "") return { address, isKnown: true, isCut: false }
  const codes = dimension === "country" ? countryCodes(search) : found.slice(0, QUERY.flatValues)
  const filter: AddressFilter = {
    dimension,
    ...(property !== undefined && { property }),
    ...(codes.length > 0 ? { operator: "is", values: codes } : { operator: "contains", values: [search] }),
  }
  return { address: { ...address, filters: [...address.filters, filter] }, isKnown, isCut }
}

/**
 * Codes of the regions or cities that hold a text, or whose names do, most visitors first; none where no name adds any to those
 * that hold it themselves: a filter finds all of these.
 */
function useNamedCodes(address: SiteAddress, { dimension, search }: Pick<CardTab, "dimension"> & { search: string }) {
  const isAsked = search !== "" && isCoded(dimension)
  const given = { ...rangeArguments(address), dimension, q: search.slice(0, QUERY.wildcardChars), limit: QUERY.flatValues + 1 }
  const { data, isPending, isPlaceholderData } = useReport("values", given, { enabled: isAsked, refetchMs: false })
  const isKnown = !isAsked || !(isPending || isPlaceholderData)
  const values = isAsked && isKnown ? ((data as Suggestions | undefined)?.data ?? []).map(({ value }) => value) : []
  const holds = (value: string) => value.toLowerCase().includes(search.toLowerCase())
  return { found: values.every(holds) ? [] : values, isKnown, isCut: values.length > QUERY.flatValues }
}
