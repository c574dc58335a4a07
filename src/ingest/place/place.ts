import { getCountryForTimezone } from "countries-and-timezones"
import { Reader } from "mmdb-lib"
import type { PlaceNames } from "../../domain/place-names.ts"
import type { ClientAddress } from "../address/client-address.ts"
import { openOperatorFile, tellingOnce } from "../address/operator-file.ts"
import type { Setter } from "../draft.ts"
import { remembered } from "../remembered.ts"
import { PlaceCache, recordsOf } from "./mmdb.ts"

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
  /** The city by its English name, for people to read; "" when it has none. */
  cityName(address: ClientAddress): string
  /** English names of all regions and cities that it has codes of. Of a large file they take seconds once, in which all else goes on. */
  names(): Promise<PlaceNames>
  /** When the data was made, epoch ms; undefined while no file is readable. */
  builtAt(): number | undefined
  /** Reads the file if its time stamp changed. A file that cannot be read leaves the old one in use; the fault is returned. */
  refresh(): Promise<string | undefined>
}

/** The layouts in use: MaxMind nests everything, DB-IP has its names without codes, IPinfo and country-only files are flat. */
type Entry = {
  country?: { iso_code?: string | undefined } | string | undefined
  country_code?: string | undefined
  subdivisions?: { iso_code?: string | undefined; names?: { en?: string | undefined } }[]
  city?: { geoname_id?: number | undefined; names?: { en?: string | undefined } } | string | undefined
}

/** Of some hundred bytes each. */
const KEPT_ENTRIES = 20_000
const WATCH_MS = 60_000
const COUNTRY = /^[A-Z]{2}$/
/** Those of which every entry has one. */
const ENTRY_KEYS = ["country", "country_code", "city", "continent", "registered_country"]
/** Those of countries, regions, cities and their names. */
const PART_KEYS = ["iso_code", "names", "en"]
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

/** The country that a trusted proxy names ("" for none), else what the operator's file has of the address. */
export function placeOf(file: PlaceFile | undefined, address: ClientAddress | undefined, country: string): Place {
  if (country !== "") return { ...NOWHERE, country }
  return file && address ? file.find(address) : NOWHERE
}

export function openPlaceFile(path: string): PlaceFile {
  const file = openOperatorFile(path, (bytes) => contentOf(Buffer.from(bytes)))
  // The library types each vendor's layout as one; what is really in the file is only known entry by entry.
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
    reader: new Reader<never>(bytes, { cache: new PlaceCache(KEPT_ENTRIES, shortEntry) }),
    names() {
      names ??= readNames(bytes)
      return names
    },
  }
}

const NO_NAMES: PlaceNames = { region: new Map(), city: new Map() }

/** Records between two turns of everything else: a few milliseconds. */
const TOGETHER = 500

async function readNames(bytes: Buffer): Promise<PlaceNames> {
  const [region, city] = [new Map<string, string>(), new Map<string, string>()]
  let read = 0
  for (const record of recordsOf(bytes)) {
    const entry = record as Entry // as by address; what lies beside the entries has none of their parts
    const place = placeFrom(entry)
    keepName(region, place.region, entry.subdivisions?.[0]?.names?.en)
    keepName(city, place.city, cityNameFrom(entry))
    if (++read % TOGETHER === 0) await Bun.sleep(0)
  }
  return { region, city }
}

function keepName(names: Map<string, string>, code: string, name = ""): void {
  if (code !== "" && name !== "" && name !== code) names.set(code, name)
}

/** Reads the file now and whenever it has changed. Returns how to end that. */
export function watchPlaceFile(file: PlaceFile, onFault: (message: string) => void): () => void {
  const look = tellingOnce(file.refresh, onFault)
  void look()
  const timer = setInterval(look, WATCH_MS)
  timer.unref()
  return () => clearInterval(timer)
}

/** What is asked for of an entry; undefined for what is only a part of one: entries share their parts, and each needs them whole. */
export function shortEntry(value: unknown): Entry | undefined {
  if (typeof value !== "object" || value === null) return undefined
  if (!ENTRY_KEYS.some((key) => key in value) || PART_KEYS.some((key) => key in value)) return undefined
  const { country, country_code, subdivisions, city } = value as Entry // as by address
  // Flat entries name their city's number beside their country's code.
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
  // IPinfo's smaller files have the country's name there, and its code beside it.
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

/** First that answers: the country a trusted proxy names, the operator's file, the browser's time zone. */
export function setPlace(file: PlaceFile | undefined): Setter {
  return (draft) => {
    const { request, address, incoming } = draft
    const found = placeOf(file, address, request.country)
    draft.place = found.country === "" ? { ...NOWHERE, country: countryOfZone(incoming.timezone) } : found
  }
}
