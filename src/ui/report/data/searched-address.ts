import type { Suggestions } from "../../../domain/insight.ts"
import { QUERY } from "../../../domain/limits.ts"
import { type AddressFilter, rangeArguments, type SiteAddress } from "../../../domain/site-address.ts"
import type { CardTab } from "./card-tabs.ts"
import { isCoded } from "./code-names.ts"
import { useReport } from "./use-report.ts"
import { countryName } from "./value-text.ts"

interface Sought {
  address: SiteAddress
  /** False while the server is searching for names. */
  isKnown: boolean
  /** Whether more values matched than a filter accepts. */
  isCut: boolean
}

/** Returns the address with the search as an additional filter. Places are also searched by name. */
export function useSearchedAddress(address: SiteAddress, { dimension, property }: CardTab, search: string): Sought {
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
 * Fetches the codes of regions or cities whose code or name contains a text, most visitors first. Returns none if only codes match,
 * because a `contains` filter finds those.
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

const MAX_CODES = 50

/** Returns the codes of the countries whose names contain a text, at most as many as one filter accepts. */
function countryCodes(text: string): string[] {
  const wanted = text.toLowerCase()
  return CODES.filter((code) => code.toLowerCase() === wanted || countryName(code)?.toLowerCase().includes(wanted)).slice(0, MAX_CODES)
}

const LETTERS = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
/** All pairs of letters. Pairs that are not a country code have no name and never match. */
const CODES = LETTERS.flatMap((first) => LETTERS.map((second) => first + second))
