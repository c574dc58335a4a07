import { createContext } from "preact"
import { useCallback, useContext, useMemo } from "preact/hooks"
import { useLocation, useParams, useSearch } from "wouter"
import type { Dimension } from "../domain/dimension.ts"
import { type AddressFilter, readSiteAddress, type SiteAddress, writeSiteAddress } from "../domain/site-address.ts"

/** The id of the site in the address. */
export const useSiteId = (): number => Number(useParams<{ site: string }>().site)

/** A page with the address parts of a dashboard that is not a site's own, such as a shared view. */
export interface AddressPlace {
  /** The path in front of the parts; rows and cards link below it. */
  base: string
  /** Under which the browser remembers the period that was looked at last. */
  key: string
  /** What of an address holds there, where not all of it does. */
  holds?(address: SiteAddress): SiteAddress
}
/** Undefined: the pages of the site that the path names. */
export const AddressPlaceContext = createContext<AddressPlace | undefined>(undefined)

const PERIOD_KEY = "footfall.period."

/** The period that was looked at last at a place (of a site its id), if this browser remembers one. */
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
    // Storage may be forbidden; the address still says it all.
  }
}

export interface AddressOfSite {
  /** Of the site that the path names; NaN at another place. */
  siteId: number
  /** The path of the dashboard itself: `/sites/42`, `/share/s/…`. */
  base: string
  address: SiteAddress
  leftOut: readonly string[]
  /** Whether the address says which period it is about; without it that is the one looked at last, or the usual one. */
  namesPeriod: boolean
  /** The query of the address with these changes, for links; written from `writeSiteAddress`. */
  searchWith(changes: Partial<SiteAddress>): string
  /** A step of the person: a new entry in the history; `replace` corrects the present one. `path` is another page with the same parts. */
  go(changes: Partial<SiteAddress>, options?: { replace?: boolean; path?: string }): void
}

/** State of a site's page: what its address says. */
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
  const searchWith = useCallback((changes: Partial<SiteAddress>) => writeSiteAddress({ ...address, ...changes }), [address])
  const go = useCallback(
    (changes: Partial<SiteAddress>, { replace = false, path: to = path } = {}) => {
      const next = { ...address, ...changes }
      if (changes.period && !replace) rememberPeriod(key, next)
      navigate(`${to}${writeSiteAddress(next)}`, { replace })
    },
    [address, navigate, path, key],
  )
  return { siteId, base, address, leftOut, namesPeriod, searchWith, go }
}

const isSame = (a: Pick<AddressFilter, "dimension" | "property">, b: Pick<AddressFilter, "dimension" | "property">): boolean =>
  a.dimension === b.dimension && a.property === b.property

/** Whether a page shows less than all of its period. */
export const isFiltered = ({ filters, segment, cohort }: SiteAddress): boolean =>
  filters.length > 0 || segment !== undefined || cohort !== undefined

/** Whether a row of a card is among what is filtered for. */
export const isFilteredBy = (filters: readonly AddressFilter[], dimension: Dimension, value: string, property?: string): boolean =>
  filters.some(
    (filter) => isSame(filter, { dimension, ...(property && { property }) }) && filter.operator === "is" && filter.values.includes(value),
  )

/** A row is a filter: its value alone, and no filter when it was that already. */
export function toggledFilter(
  filters: readonly AddressFilter[],
  { dimension, property, operator = "is" }: { dimension: Dimension; property?: string; operator?: AddressFilter["operator"] },
  value: string,
): AddressFilter[] {
  const wanted: AddressFilter = { dimension, ...(property !== undefined && { property }), operator, values: [value] }
  const others = filters.filter((filter) => !(isSame(filter, wanted) && filter.operator === operator))
  return isFilteredBy(filters, dimension, value, property) && operator === "is" ? others : [...others, wanted]
}
