/**
 * The URL of a site's page contains its whole state: period, comparison, filters and open tabs. Both the browser and the server
 * read it; the server runs the first queries before the browser requests them.
 *
 * Unknown and malformed parts are ignored and reported, never refused, so that old bookmarks keep working.
 */
import { type Dimension, FLAT_DIMENSIONS } from "./dimension.ts"
import { OPERATORS, type Operator } from "./filter.ts"
import { DIVISORS, FLAT_METRICS, type FlatMetric } from "./metric.ts"
import { COMPARISONS, PERIODS, type Period } from "./period.ts"

export const ADDRESS_INTERVALS = ["auto", "hour", "day", "week", "month"] as const
export type AddressInterval = (typeof ADDRESS_INTERVALS)[number]
// Copies of the limits of reports: the browser loads this file first, without `limits.ts`. A test compares the two.
export const MAX_FILTERS = 10
export const MAX_VALUES = 50
export const MAX_VALUE_CHARACTERS = 2_000
export const MAX_KEY_CHARACTERS = 300
const MAX_CHARACTERS = 4_096

/** A condition in a URL. `property` is the key for dimension `property`. */
export interface AddressFilter {
  dimension: Dimension
  property?: string
  operator: Operator
  values: string[]
}

export interface SiteAddress {
  period: Period | "custom"
  /** Local days, inclusive. Only for period `custom`. */
  from?: string
  to?: string
  compare: (typeof COMPARISONS)[number]
  compareFrom?: string
  compareTo?: string
  match: "weekday" | "date"
  metric: FlatMetric
  interval: AddressInterval
  /** Filters that must all match. */
  filters: AddressFilter[]
  /** Filters of which one must match, in addition to those that must all match. Empty, or at least two. */
  any: AddressFilter[]
  segment?: number | undefined
  cohort?: number | undefined
  imports: boolean
  /** The open tab of each card, unless it is the first one. */
  cards: Record<string, string>
}

export const DEFAULT_ADDRESS: SiteAddress = {
  period: "28d",
  compare: "previous_period",
  match: "weekday",
  metric: "visitors",
  interval: "auto",
  filters: [],
  any: [],
  imports: true,
  cards: {},
}

export interface ReadAddress {
  address: SiteAddress
  /** Parts of the query string that were not recognized. */
  leftOut: string[]
  /** Whether the URL names the period, as opposed to the default. */
  namesPeriod: boolean
}

/** Reads the query string of a URL, with or without its question mark. */
export function readSiteAddress(search: string): ReadAddress {
  const leftOut: string[] = []
  const address: SiteAddress = { ...DEFAULT_ADDRESS, filters: [], any: [], cards: {} }
  if (search.length > MAX_CHARACTERS) return { address, leftOut: ["the URL is too long"], namesPeriod: false }
  const query = new URLSearchParams(search)
  const choose = <Name extends string>(key: string, choices: readonly Name[], set: (name: Name) => void) => {
    const value = query.get(key)
    if (value === null) return
    if ((choices as readonly string[]).includes(value))
      set(value as Name) // just looked up
    else leftOut.push(`${key} ${value}`)
  }
  choose("period", [...PERIODS, "custom"], (period) => {
    address.period = period
  })
  choose("compare", COMPARISONS, (compare) => {
    address.compare = compare
  })
  choose("match", ["weekday", "date"], (match) => {
    address.match = match
  })
  choose("metric", FLAT_METRICS, (metric) => {
    address.metric = metric
  })
  choose("interval", ADDRESS_INTERVALS, (interval) => {
    address.interval = interval
  })
  choose("imports", ["true", "false"], (imports) => {
    address.imports = imports === "true"
  })
  readDays(query, address, leftOut)
  for (const key of ["segment", "cohort"] as const) {
    const value = query.get(key)
    if (value === null) continue
    if (/^[1-9]\d{0,15}$/.test(value)) address[key] = Number(value)
    else leftOut.push(`${key} ${value}`)
  }
  const { filters, any } = address
  const readAll = (key: string, list: AddressFilter[]) => {
    for (const text of query.getAll(key)) {
      const filter = filters.length + any.length < MAX_FILTERS ? readFilter(text) : undefined
      if (filter) list.push(filter)
      else leftOut.push(text)
    }
  }
  readAll("f", filters)
  readAll("any", any)
  // A single alternative is a filter like any other.
  if (any.length === 1) filters.push(...any.splice(0))
  for (const part of (query.get("cards") ?? "").split(",").filter(Boolean)) {
    const [card, tab] = part.split(":")
    if (card && tab) address.cards[card] = tab
    else leftOut.push(`cards ${part}`)
  }
  return { address, leftOut, namesPeriod: query.has("period") && address.period === query.get("period") }
}

function readDays(query: URLSearchParams, address: SiteAddress, leftOut: string[]): void {
  const [from, to] = dayPair(query, "from", "to", leftOut)
  if (address.period === "custom") {
    if (from && to) Object.assign(address, { from, to })
    else {
      address.period = DEFAULT_ADDRESS.period
      leftOut.push("period custom")
    }
  }
  const [compareFrom, compareTo] = dayPair(query, "compare_from", "compare_to", leftOut)
  if (address.compare !== "custom") return
  if (compareFrom && compareTo) Object.assign(address, { compareFrom, compareTo })
  else {
    address.compare = DEFAULT_ADDRESS.compare
    leftOut.push("compare custom")
  }
}

function dayPair(query: URLSearchParams, first: string, last: string, leftOut: string[]): [string?, string?] {
  const from = query.get(first)
  const to = query.get(last)
  if (from === null && to === null) return []
  if (from !== null && to !== null && isDay(from) && isDay(to) && from <= to) return [from, to]
  leftOut.push(`${first} ${from ?? ""} ${last} ${to ?? ""}`.trim())
  return []
}

export function isDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false
  const at = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text)
}

/** Parses `dimension:operator:value[|value…]` or `property:<key>:operator:value…`. Returns undefined for anything else. */
export function readFilter(text: string): AddressFilter | undefined {
  const [dimension, ...rest] = text.split(":")
  if (!dimension || !(FLAT_DIMENSIONS as readonly string[]).includes(dimension)) return undefined
  const property = dimension === "property" ? plain(rest.shift() ?? "") : undefined
  const [operator, ...valueParts] = rest
  if (property === "" || !(OPERATORS as readonly string[]).includes(operator ?? "")) return undefined
  const values = valueParts.join(":").split("|").map(plain)
  if (values.length > MAX_VALUES || values.some((value) => value === undefined || value === "")) return undefined
  if (dimension === "property" && property === undefined) return undefined
  // No report supports other operators for goals, so every report of the page would be refused.
  if (dimension === "goal" && operator !== "is" && operator !== "contains") return undefined
  if ((property?.length ?? 0) > MAX_KEY_CHARACTERS || values.some((value) => value!.length > MAX_VALUE_CHARACTERS)) return undefined
  return {
    dimension: dimension as Dimension, // just looked up
    ...(property !== undefined && { property }),
    operator: operator as Operator, // just looked up
    values: values as string[],
  }
}

function plain(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

const escaped = (text: string): string => text.replace(/[%:|]/g, (character) => encodeURIComponent(character))

export function writeFilter({ dimension, property, operator, values }: AddressFilter): string {
  const name = property === undefined ? dimension : `${dimension}:${escaped(property)}`
  return `${name}:${operator}:${values.map(escaped).join("|")}`
}

/** Formats the query string of a URL, with its question mark unless it is empty. Default values are left out. */
export function writeSiteAddress(address: SiteAddress): string {
  const query = new URLSearchParams()
  const put = (key: string, value: string | number | boolean | undefined, usual?: string | boolean) => {
    if (value !== undefined && value !== usual) query.append(key, String(value))
  }
  // The period is always written, so that a link shows the same to everyone.
  put("period", address.period)
  if (address.period === "custom") {
    put("from", address.from)
    put("to", address.to)
  }
  put("compare", address.compare, DEFAULT_ADDRESS.compare)
  if (address.compare === "custom") {
    put("compare_from", address.compareFrom)
    put("compare_to", address.compareTo)
  }
  put("match", address.match, DEFAULT_ADDRESS.match)
  put("metric", address.metric, DEFAULT_ADDRESS.metric)
  put("interval", address.interval, DEFAULT_ADDRESS.interval)
  for (const filter of address.filters) put("f", writeFilter(filter))
  for (const filter of address.any) put("any", writeFilter(filter))
  put("segment", address.segment)
  put("cohort", address.cohort)
  put("imports", address.imports, true)
  const cards = Object.entries(address.cards).map(([card, tab]) => `${card}:${tab}`)
  put("cards", cards.length === 0 ? undefined : cards.join(","))
  // These characters are not escaped, because people read and share the URLs.
  const text = query.toString().replaceAll("%3A", ":").replaceAll("%2F", "/").replaceAll("%7C", "|").replaceAll("%2C", ",")
  return text === "" ? "" : `?${text}`
}

/** Arguments of the flat form, as a JSON object. */
export type FlatArguments = Record<string, unknown>

/** Returns the range and filters of a URL, which every report uses. */
export function rangeArguments(address: SiteAddress): FlatArguments {
  const filters: object[] = [...address.filters]
  if (address.any.length > 0) filters.push({ any: address.any })
  if (address.segment !== undefined) filters.push({ dimension: "segment", operator: "is", values: [String(address.segment)] })
  if (address.cohort !== undefined) filters.push({ dimension: "cohort", operator: "is", values: [String(address.cohort)] })
  return {
    ...(address.period === "custom" ? { from: address.from, to: address.to } : { period: address.period }),
    ...(filters.length > 0 && { filters }),
    ...(!address.imports && { imports: false }),
  }
}

/** Returns the arguments of the comparison. Empty when there is no range to compare with. */
export function comparisonArguments({ period, compare, compareFrom, compareTo, match }: SiteAddress): FlatArguments {
  if (compare === "none" || (period === "all" && compare !== "custom")) return {}
  if (compare === "custom") return { compare, compare_from: compareFrom, compare_to: compareTo }
  return { compare, ...(match === "weekday" && { match_weekday: true }) }
}

/** The metrics of the figure strip. */
export const STRIP_METRICS = ["visitors", "visits", "pageviews", "views_per_visit", "bounce_rate", "visit_duration"] as const

/** Returns the additional metrics of a strip without filters. They are a separate query, because only those with a value are shown. */
export const moreMetrics = (seesRevenue: boolean): FlatMetric[] => [
  "conversion_rate",
  ...(seesRevenue ? (["revenue"] as const) : []),
  "engaged_time",
]

export const summaryArguments = (address: SiteAddress, metrics: readonly string[] = STRIP_METRICS): FlatArguments => ({
  ...rangeArguments(address),
  ...comparisonArguments(address),
  metrics: [...metrics],
})

/** Returns the arguments of the timeseries. They include the divisor of the metric, to distinguish points without data from 0. */
export const timeseriesArguments = (address: SiteAddress): FlatArguments => ({
  ...rangeArguments(address),
  ...comparisonArguments(address),
  metrics: [address.metric, DIVISORS[address.metric]].filter(Boolean),
  ...(address.interval !== "auto" && { interval: address.interval }),
})
