import type { VisitTraits } from "#plugin"
import { countryName, languageOf, sizeClass } from "#plugin/worker"

/**
 * Translates the names that other products have for browsers, systems, devices and places into those of Footfall, so that a report shows
 * one row for each. Names without a translation are kept.
 */

const BROWSERS: Readonly<Record<string, string>> = {
  android: "Android Browser",
  bb10: "BlackBerry",
  "chrome (ios)": "Chrome",
  "chrome (webview)": "Chrome",
  "chrome ios": "Chrome",
  "chrome mobile": "Chrome",
  "chrome mobile ios": "Chrome",
  "chrome webview": "Chrome",
  "chromium-webview": "Chrome",
  crios: "Chrome",
  "duckduckgo privacy browser": "DuckDuckGo",
  edge: "Microsoft Edge",
  "edge-chromium": "Microsoft Edge",
  "edge-ios": "Microsoft Edge",
  "edge (chromium)": "Microsoft Edge",
  "edge (ios)": "Microsoft Edge",
  facebook: "Facebook",
  "firefox (ios)": "Firefox",
  "firefox ios": "Firefox",
  "firefox mobile": "Firefox",
  fxios: "Firefox",
  ie: "Internet Explorer",
  instagram: "Instagram",
  ios: "Safari",
  "ios (webview)": "Safari",
  "ios-webview": "Safari",
  kakaotalk: "KakaoTalk",
  "mobile safari": "Safari",
  "opera-mini": "Opera",
  "opera mini": "Opera",
  "opera mobile": "Opera",
  "safari (in-app)": "Safari",
  samsung: "Samsung Internet",
  "samsung browser": "Samsung Internet",
  silk: "Amazon Silk",
  yandex: "Yandex Browser",
  yandexbrowser: "Yandex Browser",
}
/** Names that differ from Footfall's in case only. */
const SPELLINGS = ["Chrome", "Chromium", "Brave", "DuckDuckGo", "Firefox", "Internet Explorer", "Microsoft Edge", "Miui", "Opera"]
  .concat(["PhantomJS", "Safari", "Samsung Internet", "UC Browser", "Vivaldi", "Yandex Browser"])
  .concat(["Android", "BlackBerry", "iOS", "Linux", "Mac", "Windows", "Windows Phone"])

const SYSTEMS: Readonly<Record<string, string>> = {
  "android os": "Android",
  "blackberry os": "BlackBerry",
  "chrome os": "Chrome OS",
  chromeos: "Chrome OS",
  "chromium os": "Chrome OS",
  "gnu/linux": "Linux",
  "mac os": "Mac",
  "mac os x": "Mac",
  macintosh: "Mac",
  macos: "Mac",
  "os x": "Mac",
  "windows mobile": "Windows Phone",
}

const DEVICES: Readonly<Record<string, string>> = {
  desktop: "Desktop",
  laptop: "Desktop",
  mobile: "Mobile",
  "mobile phone": "Mobile",
  phablet: "Mobile",
  phone: "Mobile",
  smartphone: "Mobile",
  tablet: "Tablet",
}

const UNKNOWN = new Set(["", "unknown", "(unknown)", "(not set)", "(none)", "null", "other"])
const VERSIONED = /^(.*\S) +v?(\d[\w._-]*)$/
/** Versions of Windows are named by words too, such as `Windows XP` and `Windows Server 2003`. */
const WINDOWS = /^(windows)(?: +(\S.*))?$/i
const WINDOWS_OF_PHONES = /^windows +(?:phone|mobile)/i
const VERSION = /^v?(\d{1,9}(?:[._]\d{1,9})?)/

const spellings = new Map(SPELLINGS.map((name) => [name.toLowerCase(), name]))

/** Returns browser and version of a name such as `crios`, `edge-chromium` or `Chrome 86`. Empty ones are absent. */
export function browserTraits(name: string, version = ""): Partial<VisitTraits> {
  const [plain, inName] = version === "" ? versioned(name) : [name.trim(), ""]
  const key = plain.toLowerCase()
  if (UNKNOWN.has(key)) return {}
  return stated({ browser: BROWSERS[key] ?? spellings.get(key) ?? plain, browser_version: majorMinor(version || inName) })
}

/** Returns system and version of a name such as `Mac OS`, `Windows 10` or `iOS 17.4`. Empty ones are absent. */
export function systemTraits(name: string, version = ""): Partial<VisitTraits> {
  const [plain, inName] = version === "" ? versioned(name) : [name.trim(), ""]
  const key = plain.toLowerCase()
  if (UNKNOWN.has(key)) return {}
  const os = SYSTEMS[key] ?? spellings.get(key) ?? plain
  return stated({ os, os_version: os === "Windows" ? version || inName : majorMinor(version || inName) })
}

/** Returns the class of a device, or "" when the name is empty or says that it is unknown. */
export const deviceOf = (name: string): string => {
  const key = name.trim().toLowerCase()
  return DEVICES[key] ?? (key !== "other" && UNKNOWN.has(key) ? "" : "Other")
}

function versioned(name: string): [name: string, version: string] {
  const text = name.trim()
  const [, windows, release = ""] = (WINDOWS_OF_PHONES.test(text) ? undefined : WINDOWS.exec(text)) ?? []
  if (windows !== undefined) return [windows, release]
  const [, plain = text, version = ""] = VERSIONED.exec(text) ?? []
  return [plain, version]
}

const majorMinor = (version: string): string => VERSION.exec(version)?.[1]?.replace("_", ".") ?? ""

/** Country codes that mean that the country is unknown or that stand for networks. */
const NO_COUNTRIES = new Set(["XX", "T1", "ZZ", "A1", "A2", "AP"])
let byName: ReadonlyMap<string, string> | undefined

/** Returns the ISO code of a country, given its code or its English name; otherwise "". */
export function countryOf(text: string): string {
  const name = text.trim()
  const code = name.toUpperCase()
  if (/^[A-Z]{2}$/.test(code)) return NO_COUNTRIES.has(code) ? "" : code === "UK" ? "GB" : code
  if (name === "") return ""
  byName ??= countriesByName()
  return byName.get(name.toLowerCase()) ?? ""
}

/** Codes of former countries, and reserved ones. They have the same names as the codes in use. */
const FORMER_CODES = new Set(["AN", "BU", "CS", "DD", "DY", "FX", "HV", "NH", "RH", "SU", "TP", "UK", "VD", "YD", "YU", "ZR"])

/** Returns the codes of all countries by their English names. */
function countriesByName(): ReadonlyMap<string, string> {
  const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
  const codes = letters.flatMap((first) => letters.map((second) => first + second))
  const named = codes.filter((code) => !NO_COUNTRIES.has(code) && !FORMER_CODES.has(code) && countryName(code) !== undefined)
  return new Map(named.map((code) => [countryName(code)!.toLowerCase(), code] as const))
}

const REGION = /^[A-Z]{2}-[A-Z0-9]{1,3}$/

/** Returns the ISO 3166-2 code of a region, which some exports write without the country; "" for anything else. */
export function regionOf(country: string, text: string): string {
  const region = text.trim().toUpperCase()
  if (REGION.test(region)) return region
  const code = `${country}-${region}`
  return region !== "" && REGION.test(code) ? code : ""
}

/** Returns the traits of a place. */
export function placeTraits({
  country,
  region = "",
  city = "",
}: {
  country: string
  region?: string
  city?: string
}): Partial<VisitTraits> {
  const code = countryOf(country)
  return stated({ country: code, region: regionOf(code, region), city: city.trim() })
}

/** Returns the class of a screen, given as `1920x1080`, `1920,1080,1` or a width. */
export const sizeOf = (screen: string): string => sizeClass(Number(/^\s*(\d{1,6})(?:\.\d*)?\s*(?:[x,×].*)?$/.exec(screen)?.[1] ?? 0))

/** Returns a language tag in its canonical spelling, or "". */
export const languageTag = (text: string): string => languageOf(text.trim())

/** Leaves out empty traits, so that they do not hide those that are derived from the user agent or the address. */
export function stated(traits: Partial<VisitTraits>): Partial<VisitTraits> {
  const known: Partial<Record<string, string>> = {}
  for (const [name, value] of Object.entries(traits)) if (value !== "") known[name] = value
  return known
}
