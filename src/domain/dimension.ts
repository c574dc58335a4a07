/**
 * The dimensions: attributes that reports group and filter by. The flat name is used in the flat form (REST, MCP, dashboard
 * URLs), the query names in the array form; `dictionary` names the dictionary of the event store that holds its texts.
 */
import { TRAITS } from "./visit.ts"

/** The dictionaries of a site, which map numbers in the event store to texts. Number 0 is the missing value in each of them. */
export const DICTIONARIES = ["name", "page", "hostname", "title", ...TRAITS, "property", "currency"] as const
/** The name of a dictionary. The values of each property key have their own, named by the key's number in `property`. */
export type DictionaryName = (typeof DICTIONARIES)[number] | `property:${number}`

/** Numbers that these event names have in the dictionary `name` of every site. */
export const PAGEVIEW = 1
export const ENGAGEMENT = 2
export const VITALS = 3
export const FIXED_NAMES = ["", "pageview", "engagement", "vitals"] as const

interface DimensionFacts {
  level: "event" | "visit"
  /** Names in the array form; the first one is canonical. */
  query: readonly string[]
  dictionary: DictionaryName | undefined
  /** Whether `contains` and the like compare case-sensitively by default in the flat form (metrics.md section 10). */
  exactCase: boolean
  /** How a missing value is written in the flat form and in the array form. */
  missing: readonly [flat: string, query: string]
}

const visit = (name: string, dictionary: DictionaryName, more: Partial<DimensionFacts> = {}): DimensionFacts => ({
  level: "visit",
  query: [`visit:${name}`],
  dictionary,
  exactCase: false,
  missing: ["(none)", "(not set)"],
  ...more,
})
const event = (name: string, dictionary: DictionaryName | undefined, more: Partial<DimensionFacts> = {}): DimensionFacts => ({
  level: "event",
  query: [`event:${name}`],
  dictionary,
  exactCase: true,
  missing: ["(none)", "(not set)"],
  ...more,
})

/** All dimensions, in the order in which they are listed in documents and answers. `goal` and `property` are computed, not columns. */
export const DIMENSIONS = {
  page: event("page", "page"),
  title: event("title", "title"),
  entry_page: visit("entry_page", "page", { exactCase: true }),
  exit_page: visit("exit_page", "page", { exactCase: true }),
  hostname: event("hostname", "hostname", { exactCase: false, missing: ["(none)", "(none)"] }),
  source: visit("source", "source", { missing: ["Direct", "Direct / None"] }),
  referrer: visit("referrer", "referrer", { missing: ["Direct", "Direct / None"] }),
  channel: visit("channel", "channel"),
  utm_source: visit("utm_source", "utm_source"),
  utm_medium: visit("utm_medium", "utm_medium"),
  utm_campaign: visit("utm_campaign", "utm_campaign"),
  utm_term: visit("utm_term", "utm_term"),
  utm_content: visit("utm_content", "utm_content"),
  country: visit("country", "country", { query: ["visit:country", "visit:country_name"] }),
  region: visit("region", "region", { query: ["visit:region", "visit:region_name"] }),
  city: visit("city", "city", { query: ["visit:city", "visit:city_name"] }),
  device: visit("device", "device", { query: ["visit:device", "visit:screen"] }),
  size: visit("size", "size"),
  browser: visit("browser", "browser"),
  browser_version: visit("browser_version", "browser_version"),
  os: visit("os", "os"),
  os_version: visit("os_version", "os_version"),
  language: visit("language", "language"),
  event: event("name", "name"),
  goal: event("goal", undefined),
  property: event("props", undefined, { missing: ["(none)", "(none)"] }),
  // Only in the array form:
  entry_page_hostname: visit("entry_page_hostname", "hostname", { missing: ["(none)", "(none)"] }),
  exit_page_hostname: visit("exit_page_hostname", "hostname", { missing: ["(none)", "(none)"] }),
  click_id_type: visit("click_id_type", "click_id_type"),
} as const satisfies Record<string, DimensionFacts>

export type Dimension = keyof typeof DIMENSIONS
export const dimensionFacts = (name: Dimension): DimensionFacts => DIMENSIONS[name]

/** The dimensions of the flat form, in the order of the public documentation. */
export const FLAT_DIMENSIONS = (Object.keys(DIMENSIONS) as Dimension[]).filter(
  (name) => name !== "entry_page_hostname" && name !== "exit_page_hostname" && name !== "click_id_type",
)

export const CHANNELS = [
  "",
  "Cross-network",
  "Paid Shopping",
  "Paid Search",
  "Paid Social",
  "Paid Video",
  "Display",
  "Paid Other",
  "Organic Shopping",
  "Organic Social",
  "Organic Video",
  "AI Assistants",
  "Organic Search",
  "Email",
  "Affiliates",
  "Audio",
  "SMS",
  "Mobile Push",
  "Referral",
  "Direct",
] as const
export type Channel = (typeof CHANNELS)[number]
