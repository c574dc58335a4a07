import { getCountryForTimezone } from "countries-and-timezones"
import { Reader } from "mmdb-lib"
import type { ClientAddress } from "./client-address.ts"
import { remembered } from "./remembered.ts"

/** Where a visitor is. "" is missing. Region as ISO 3166-2, city by GeoNames number where the file has one. */
export interface Place {
  country: string
  region: string
  city: string
}

export const NOWHERE: Place = { country: "", region: "", city: "" }

/** The operator's own file of IP addresses, read again when it changes. */
export interface PlaceFile {
  find(address: ClientAddress): Place
  /** When the data was made, epoch ms; undefined while no file is readable. */
  builtAt(): number | undefined
  /** Reads the file if its time stamp changed. A file that cannot be read leaves the old one in use; the fault is returned. */
  refresh(): Promise<string | undefined>
}

/** The layouts in use: MaxMind nests everything, DB-IP has its names without codes, IPinfo and country-only files are flat. */
type Entry = {
  country?: { iso_code?: string } | string
  country_code?: string
  subdivisions?: { iso_code?: string }[]
  city?: { geoname_id?: number; names?: { en?: string } } | string
}

const WATCH_MS = 60_000
const COUNTRY = /^[A-Z]{2}$/
/** What proxies write for "unknown" and for the Tor network. */
const NO_COUNTRY = new Set(["XX", "T1", "ZZ", "A1", "A2", "AP"])

/** The browser's zone says the country without any IP database: the first country of the zone. "" for UTC and unknown zones. */
export const countryOfZone = remembered(1_000, (timezone: string): string =>
  timezone.length > 64 ? "" : (getCountryForTimezone(timezone)?.id ?? ""),
)

/** The country a proxy's header names; "" when it names none. */
export function countryOfHeader(value: string): string {
  const code = value.trim().toUpperCase()
  return COUNTRY.test(code) && !NO_COUNTRY.has(code) ? code : ""
}

export function openPlaceFile(path: string): PlaceFile {
  let reader: Reader<never> | undefined
  let readAt = Number.NaN
  return {
    // The library types each vendor's layout as one; what is really in the file is only known entry by entry.
    find: (address) => (reader ? placeFrom(reader.get(address.text) as Entry | null) : NOWHERE),
    builtAt: () => reader?.metadata.buildEpoch.getTime(),
    async refresh() {
      try {
        const file = Bun.file(path)
        const { mtimeMs } = await file.stat()
        if (mtimeMs === readAt) return undefined
        reader = new Reader(Buffer.from(await file.arrayBuffer()))
        readAt = mtimeMs
      } catch (error) {
        return error instanceof Error ? error.message : String(error)
      }
    },
  }
}

/** Reads the file now and whenever it has changed. Returns how to end that. */
export function watchPlaceFile(file: PlaceFile, onFault: (message: string) => void): () => void {
  let last: string | undefined
  const look = async () => {
    const fault = await file.refresh()
    // A file that stays unreadable is told of once.
    if (fault !== undefined && fault !== last) onFault(fault)
    last = fault
  }
  void look()
  const timer = setInterval(look, WATCH_MS)
  timer.unref()
  return () => clearInterval(timer)
}

function placeFrom(entry: Entry | null): Place {
  if (!entry) return NOWHERE
  const country = countryOfHeader((typeof entry.country === "string" ? entry.country : entry.country?.iso_code) ?? entry.country_code ?? "")
  if (country === "") return NOWHERE
  const subdivision = entry.subdivisions?.[0]?.iso_code
  return { country, region: subdivision ? `${country}-${subdivision}` : "", city: cityFrom(entry.city) }
}

function cityFrom(city: Entry["city"]): string {
  if (typeof city !== "object") return city ?? ""
  return city.geoname_id !== undefined ? String(city.geoname_id) : (city.names?.en ?? "")
}
