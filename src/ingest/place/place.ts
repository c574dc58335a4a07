import { getCountryForTimezone } from "countries-and-timezones"
import { Reader } from "mmdb-lib"
import type { PlaceNames } from "../../domain/place-names.ts"
import type { ClientAddress } from "../address/client-address.ts"
import { openOperatorFile, reportOnce } from "../address/operator-file.ts"
import type { Setter } from "../draft.ts"
import { memoize } from "../memoize.ts"
import { PlaceCache, recordsOf } from "./mmdb.ts"

/** The location of a visitor. "" is missing. */
export interface Place {
  /** ISO 3166-1 alpha-2 code. */
  country: string
  /** ISO 3166-2 code. */
  region: string
  /** GeoNames number when the file contains it, otherwise the name. */
  city: string
}

export const NOWHERE: Place = { country: "", region: "", city: "" }

/** The operator's IP geolocation file, read again when it changes. */
export interface PlaceFile {
  find(address: ClientAddress): Place
  /** Returns the English name of the city, or "" when the file has none. */
  cityName(address: ClientAddress): string
  /** Returns the English names of all regions and cities by code. Takes seconds at first use of a large file, without blocking. */
  names(): Promise<PlaceNames>
  /** Returns the build time of the data in epoch ms, or undefined while no file can be read. */
  builtAt(): number | undefined
  /** Reads the file if its time stamp changed. When it cannot be read, the old content stays in use and the fault is returned. */
  refresh(): Promise<string | undefined>
}

/** The union of the layouts in use: MaxMind nests everything, DB-IP has names without codes, IPinfo and country-only files are flat. */
type Entry = {
  country?: { iso_code?: string | undefined } | string | undefined
  country_code?: string | undefined
  subdivisions?: { iso_code?: string | undefined; names?: { en?: string | undefined } }[]
  city?: { geoname_id?: number | undefined; names?: { en?: string | undefined } } | string | undefined
}

/** Maximum number of cached entries, each a few hundred bytes. */
const CACHED_ENTRIES = 20_000
const WATCH_MS = 60_000
const COUNTRY = /^[A-Z]{2}$/
/** Keys of which every entry has at least one. */
const ENTRY_KEYS = ["country", "country_code", "city", "continent", "registered_country"]
/** Keys that occur only in parts of an entry: countries, regions, cities and their names. */
const PART_KEYS = ["iso_code", "names", "en"]
/** Codes that proxies send for unknown addresses and for the Tor network. */
const NO_COUNTRY = new Set(["XX", "T1", "ZZ", "A1", "A2", "AP"])

/** Returns the first country of a time zone, which needs no IP database; "" for UTC and unknown zones. */
export const countryOfZone = memoize(1_000, (timezone: string): string =>
  timezone.length > 64 ? "" : (getCountryForTimezone(timezone)?.id ?? ""),
)

/** Returns the country code in the header of a proxy, or "" when it contains none. */
export function countryOfHeader(value: string): string {
  const code = value.trim().toUpperCase()
  return COUNTRY.test(code) && !NO_COUNTRY.has(code) ? code : ""
}

/** Returns the country that a trusted proxy named, or else the place of the address in the operator's file. */
export function placeOf(file: PlaceFile | undefined, address: ClientAddress | undefined, country: string): Place {
  if (country !== "") return { ...NOWHERE, country }
  return file && address ? file.find(address) : NOWHERE
}

export function openPlaceFile(path: string): PlaceFile {
  const file = openOperatorFile(path, (bytes) => contentOf(Buffer.from(bytes)))
  // The library has one type per vendor, but the layout is only known once an entry is read.
  const entryOf = (address: ClientAddress) => (file.content()?.reader.get(address.text) ?? null) as Entry | null
  return {
    find: (address) => placeFrom(entryOf(address)),
    cityName: (address) => cityNameFrom(entryOf(address)),
    names: () => file.content()?.names() ?? Promise.resolve(NO_NAMES),
    builtAt: () => file.content()?.reader.metadata.buildEpoch.getTime(),
    refresh: async () => (await file.refresh())?.message,
  }
}

function contentOf(bytes: Buffer) {
  let names: Promise<PlaceNames> | undefined
  return {
    reader: new Reader<never>(bytes, { cache: new PlaceCache(CACHED_ENTRIES, reducedEntry) }),
    names() {
      names ??= readNames(bytes)
      return names
    },
  }
}

const NO_NAMES: PlaceNames = { region: new Map(), city: new Map() }

/** Records that are read before the event loop gets a turn: a few milliseconds. */
const RECORDS_PER_TURN = 500

async function readNames(bytes: Buffer): Promise<PlaceNames> {
  const [region, city] = [new Map<string, string>(), new Map<string, string>()]
  let read = 0
  for (const record of recordsOf(bytes)) {
    const entry = record as Entry // records that are not entries have none of the fields that are read
    const place = placeFrom(entry)
    addName(region, place.region, entry.subdivisions?.[0]?.names?.en)
    addName(city, place.city, cityNameFrom(entry))
    if (++read % RECORDS_PER_TURN === 0) await Bun.sleep(0)
  }
  return { region, city }
}

function addName(names: Map<string, string>, code: string, name = ""): void {
  if (code !== "" && name !== "" && name !== code) names.set(code, name)
}

/** Reads the file now and after every change. Returns the function that ends this. */
export function watchPlaceFile(file: PlaceFile, onFault: (message: string) => void): () => void {
  const refresh = reportOnce(file.refresh, onFault)
  void refresh()
  const timer = setInterval(refresh, WATCH_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/**
 * Returns the fields of an entry that are used, or undefined for a value that is only a part of an entry. Parts are shared between
 * entries and must stay whole.
 */
export function reducedEntry(value: unknown): Entry | undefined {
  if (typeof value !== "object" || value === null) return undefined
  if (!ENTRY_KEYS.some((key) => key in value) || PART_KEYS.some((key) => key in value)) return undefined
  const { country, country_code, subdivisions, city } = value as Entry // the layout is only known once an entry is read
  // Only flat entries have a `geoname_id` of their own; in others it belongs to a part.
  if ("geoname_id" in value && typeof country !== "string") return undefined
  return {
    country: typeof country === "object" ? { iso_code: country.iso_code } : country,
    country_code,
    subdivisions: [{ iso_code: subdivisions?.[0]?.iso_code }],
    city: typeof city === "object" ? { geoname_id: city.geoname_id, names: { en: city.names?.en } } : city,
  }
}

function placeFrom(entry: Entry | null): Place {
  if (!entry) return NOWHERE
  const named = typeof entry.country === "string" ? entry.country : entry.country?.iso_code
  // IPinfo's smaller files have the country's name in `country` and its code in `country_code`.
  const country = countryOfHeader(named ?? "") || countryOfHeader(entry.country_code ?? "")
  if (country === "") return NOWHERE
  const subdivision = entry.subdivisions?.[0]?.iso_code
  return { country, region: subdivision ? `${country}-${subdivision}` : "", city: cityFrom(entry.city) }
}

const cityNameFrom = (entry: Entry | null): string => (typeof entry?.city === "object" ? entry.city.names?.en : entry?.city) ?? ""

function cityFrom(city: Entry["city"]): string {
  if (typeof city !== "object") return city ?? ""
  return city.geoname_id !== undefined ? String(city.geoname_id) : (city.names?.en ?? "")
}

/** Sets the place by the country that a trusted proxy named, or else the operator's file, or else the browser's time zone. */
export function setPlace(file: PlaceFile | undefined): Setter {
  return (draft) => {
    const { request, address, incoming } = draft
    const found = placeOf(file, address, request.country)
    draft.place = found.country === "" ? { ...NOWHERE, country: countryOfZone(incoming.timezone) } : found
  }
}
