import { createContext } from "preact"
import { useCallback, useContext, useMemo } from "preact/hooks"
import { useLocation, useParams, useSearch } from "wouter"
import type { Dimension } from "../../domain/dimension.ts"
import { type AddressFilter, readSiteAddress, type SiteAddress, writeSiteAddress } from "../../domain/site-address.ts"

/** Returns the id of the site in the URL. */
export const useSiteId = (): number => Number(useParams<{ site: string }>().site)

/** A page with the URL parameters of a dashboard outside of `/sites/:site`, such as a shared view. */
interface AddressPlace {
  /** Path of the page, to which rows and cards link. */
  base: string
  /** Key under which the browser stores the last period. */
  key: string
  /** Further parameters in the URL of the page, which stay when the address changes. */
  keeps?: readonly string[]
  /** Whether the page supports filters of which only one must match. Default: true. */
  hasAlternatives?: boolean
  /** Removes the parts of an address that the page does not support. */
  holds?(address: SiteAddress): SiteAddress
}
/** The page's place. Undefined on the pages of a site. */
export const AddressPlaceContext = createContext<AddressPlace | undefined>(undefined)

const PERIOD_KEY = "footfall.period."

/** Returns the last period of a place, if this browser has stored one. The key of a site is its id. */
export function lastPeriod(key: string): string | undefined {
  try {
    return localStorage.getItem(PERIOD_KEY + key) ?? undefined
  } catch {
    return undefined // storage may be forbidden
  }
}

function rememberPeriod(key: string, { period, from, to }: SiteAddress): void {
  const text = period === "custom" ? `period=custom&from=${from}&to=${to}` : `period=${period}`
  try {
    localStorage.setItem(PERIOD_KEY + key, text)
  } catch {
    // Storage may be forbidden; the URL contains everything anyway.
  }
}

export interface AddressOfSite {
  /** Id of the site in the path; NaN on other pages. */
  siteId: number
  /** The path of the dashboard itself: `/sites/42`, `/share/s/…`. */
  base: string
  address: SiteAddress
  leftOut: readonly string[]
  /** Whether the URL contains a period. Otherwise the last or the default period applies. */
  namesPeriod: boolean
  /** Returns the query string with these changes, for links. */
  searchWith(changes: Partial<SiteAddress>): string
  /** Navigates with these changes and adds a history entry; `replace` replaces the current one. `path` is another page with the same parameters. */
  go(changes: Partial<SiteAddress>, options?: { replace?: boolean; path?: string }): void
}

/** Returns the state of a site's page, which is stored in the URL, and functions to change it. */
export function useSiteAddress(): AddressOfSite {
  const siteId = useSiteId()
  const place = useContext(AddressPlaceContext)
  const base = place?.base ?? `/sites/${siteId}`
  const key = place?.key ?? String(siteId)
  const search = useSearch()
  const [path, navigate] = useLocation()
  const { address, leftOut, namesPeriod } = useMemo(() => {
    const given = readSiteAddress(search)
    const remembered = given.namesPeriod ? undefined : lastPeriod(key)
    const read = remembered === undefined ? given : { ...readSiteAddress(`${remembered}&${search}`), namesPeriod: false }
    return place?.holds ? { ...read, address: place.holds(read.address) } : read
  }, [search, key, place])
  const searchWith = useCallback(
    (changes: Partial<SiteAddress>) => withParameters(writeSiteAddress({ ...address, ...changes }), search, place?.keeps),
    [address, search, place],
  )
  const go = useCallback(
    (changes: Partial<SiteAddress>, { replace = false, path: to = path } = {}) => {
      const next = { ...address, ...changes }
      if (changes.period && !replace) rememberPeriod(key, next)
      navigate(`${to}${searchWith(changes)}`, { replace })
    },
    [address, navigate, path, key, searchWith],
  )
  return { siteId, base, address, leftOut, namesPeriod, searchWith, go }
}

/** Returns a query string with some of the parameters of another one. */
function withParameters(written: string, search: string, names: readonly string[] = []): string {
  const present = [...new URLSearchParams(search)].filter(([name]) => names.includes(name))
  if (present.length === 0) return written
  return `${written === "" ? "?" : `${written}&`}${new URLSearchParams(present)}`
}

const isSame = (a: Pick<AddressFilter, "dimension" | "property">, b: Pick<AddressFilter, "dimension" | "property">): boolean =>
  a.dimension === b.dimension && a.property === b.property

/** Returns whether any filter, segment or cohort is active. */
export const isFiltered = ({ filters, any, segment, cohort }: SiteAddress): boolean =>
  filters.length + any.length > 0 || segment !== undefined || cohort !== undefined

/** The changes to an address that remove every filter. */
export const NO_FILTERS = { filters: [], any: [], segment: undefined, cohort: undefined }

/** Returns whether the page is filtered by this value. */
export const isFilteredBy = (filters: readonly AddressFilter[], dimension: Dimension, value: string, property?: string): boolean =>
  filters.some(
    (filter) => isSame(filter, { dimension, ...(property && { property }) }) && filter.operator === "is" && filter.values.includes(value),
  )

/** Returns the filters after toggling a value: filters by it alone, or removes the filter if it was active. */
export function toggledFilter(
  filters: readonly AddressFilter[],
  { dimension, property, operator = "is" }: { dimension: Dimension; property?: string; operator?: AddressFilter["operator"] },
  value: string,
): AddressFilter[] {
  const wanted: AddressFilter = { dimension, ...(property !== undefined && { property }), operator, values: [value] }
  const others = filters.filter((filter) => !(isSame(filter, wanted) && filter.operator === operator))
  return isFilteredBy(filters, dimension, value, property) && operator === "is" ? others : [...others, wanted]
}
