import { isAddress, parseHost } from "#plugin/worker"
import type { Row } from "../../reading/delimited.ts"
import { countryOf, languageTag } from "../traits.ts"
import { type CsvKind, missingIn } from "./mapping.ts"
import { countIn, decimalText } from "./rows.ts"
import { orderShownBy, timeParser } from "./times.ts"

/** Proposes a mapping from the names of columns and the shape of their values. */

export interface ProposedColumn {
  column: string
  /** From 0 to 1. */
  confidence: number
  format?: "auto"
}

export interface Proposal {
  kind: CsvKind
  dimension?: string
  /** In the form of `options.mapping`. */
  mapping: Readonly<Record<string, ProposedColumn | Record<string, ProposedColumn>>>
  /** What the mapping lacks. */
  lacks?: string
}

interface Field {
  /** Names of columns, without case and separators, the surest first. */
  names: readonly string[]
  /** Whether a value can be one of the field. */
  fits: (value: string) => boolean
  /** Whether the values alone show what they are. */
  isTelling?: boolean
}

const isText = (value: string): boolean => value.length > 0
const isId = (value: string): boolean => /^\S{1,256}$/.test(value)
const isTime = (value: string): boolean =>
  timeParser("auto", (local) => local, "day_first")(value) !== undefined || orderShownBy(value) !== undefined
const isUrl = (value: string): boolean => /^https?:\/\/\S+$/i.test(value)
const isHost = (value: string): boolean => value.includes(".") && parseHost(value) !== undefined

const FIELDS: Readonly<Record<string, Field>> = {
  timestamp: {
    names: ["timestamp", "time", "datetime", "createdat", "occurredat", "eventtime", "servertime", "ts", "visittime", "date", "created"],
    fits: isTime,
    isTelling: true,
  },
  url: { names: ["url", "pageurl", "fullurl", "pagelocation", "location", "href", "address"], fits: isUrl, isTelling: true },
  path: {
    names: ["path", "pathname", "urlpath", "pagepath", "page", "uri", "requesturi"],
    fits: (value) => value.startsWith("/"),
    isTelling: true,
  },
  hostname: { names: ["hostname", "host", "domain", "site", "website"], fits: isHost },
  referrer: {
    names: ["referrer", "referer", "ref", "documentreferrer", "httpreferer", "referrerurl", "pagereferrer"],
    fits: (value) => isUrl(value) || /^[\w-]+(\.[\w-]+)+/.test(value),
  },
  user_agent: {
    names: ["useragent", "ua", "httpuseragent", "agent"],
    fits: (value) => /^\S+\/\S+/.test(value) && value.length > 10,
    isTelling: true,
  },
  ip: { names: ["ip", "ipaddress", "clientip", "remoteaddr", "remoteaddress"], fits: isAddress, isTelling: true },
  country: { names: ["country", "countrycode", "countryiso", "geocountry"], fits: (value) => countryOf(value) !== "" },
  region: { names: ["region", "regioncode", "state", "subdivision"], fits: isText },
  city: { names: ["city", "town"], fits: isText },
  event_name: { names: ["event", "eventname", "eventtype", "action", "name", "type"], fits: (value) => value.length <= 120 },
  visitor_id: { names: ["visitorid", "visitor", "anonymousid", "clientid", "deviceid", "cookieid", "userpseudoid"], fits: isId },
  visit_id: { names: ["visitid", "visit", "sessionid", "session"], fits: isId },
  user_id: { names: ["userid", "user", "customerid", "accountid", "distinctid", "uid"], fits: isId },
  title: { names: ["title", "pagetitle", "documenttitle"], fits: isText },
  utm_source: { names: ["utmsource", "campaignsource"], fits: isText },
  utm_medium: { names: ["utmmedium", "campaignmedium", "medium"], fits: isText },
  utm_campaign: { names: ["utmcampaign", "campaignname", "campaign"], fits: isText },
  utm_content: { names: ["utmcontent", "campaigncontent"], fits: isText },
  utm_term: { names: ["utmterm", "campaignterm", "keyword"], fits: isText },
  browser: { names: ["browser", "browsername"], fits: isText },
  os: { names: ["os", "osname", "operatingsystem", "system"], fits: isText },
  device: { names: ["device", "devicetype", "devicecategory"], fits: isText },
  language: { names: ["language", "lang", "locale"], fits: (value) => languageTag(value) !== "" },
  revenue: {
    names: ["revenue", "amount", "ordervalue", "price", "total", "value"],
    fits: (value) => /^[+-]?\d+(\.\d+)?$/.test(decimalText(value)),
  },
  currency: { names: ["currency", "currencycode"], fits: (value) => /^[a-z]{3}$/i.test(value) },
}

const isCount = (value: string): boolean => countIn(value) !== undefined
const DATE: Field = { ...FIELDS.timestamp!, names: ["date", "day", "datum", "timestamp", "time", "datetime"] }
const METRIC_FIELDS: Readonly<Record<string, Field>> = {
  visitors: { names: ["visitors", "uniquevisitors", "uniques", "users", "totalusers", "activeusers"], fits: isCount },
  visits: { names: ["visits", "sessions"], fits: isCount },
  pageviews: { names: ["pageviews", "views", "pageviewcount", "screenpageviews", "hits"], fits: isCount },
  bounces: { names: ["bounces"], fits: isCount },
  visit_duration: { names: ["visitduration", "totalduration", "duration", "timeonsite"], fits: isCount },
  events: { names: ["events", "eventcount"], fits: isCount },
}

/** Dimensions by the names of their columns. */
const DIMENSION_NAMES: readonly (readonly [name: string, dimension: string])[] = [
  ...["source", "channel", "referrer", "country", "region", "city", "device", "browser", "os", "language", "page", "hostname"].map(
    (name) => [name, name] as const,
  ),
  ...["utmsource", "utmmedium", "utmcampaign", "utmcontent", "utmterm"].map((name) => [name, name.replace("utm", "utm_")] as const),
  ["entrypage", "entry_page"],
  ["landingpage", "entry_page"],
  ["exitpage", "exit_page"],
  ["browserversion", "browser_version"],
  ["osversion", "os_version"],
  ["operatingsystem", "os"],
  ["path", "page"],
  ["pathname", "page"],
  ["url", "page"],
  ["referer", "referrer"],
  ["devicetype", "device"],
  ["countrycode", "country"],
  ["event", "event"],
  ["eventname", "event"],
  ["name", "event"],
]
const PROPERTY = /^(?:props?|property|properties|metadata|custom)[._:\s-]/i

/** Returns the property key in the name of a column such as `prop_plan`, or undefined for any other column. */
const propertyIn = (column: string): string | undefined => {
  const prefix = PROPERTY.exec(column)?.[0]
  return prefix === undefined ? undefined : column.slice(prefix.length).replace(/^[._:\s-]+/, "") || undefined
}

const NAME_SHARE = 0.6
/** Confidence of a match below which no column is proposed. */
const MIN_CONFIDENCE = 0.4

/** Proposes the kind of rows and a mapping. Properties are proposed only for columns that are named so, because others can hold names. */
export function proposeMapping(names: readonly string[], rows: readonly Row[]): Proposal {
  const columns = names.filter((name) => name !== "").map((name) => ({ name, values: valuesOf(name, rows) }))
  const metrics = matches(METRIC_FIELDS, columns)
  const isTotals = metrics.size > 0 && [...metrics.values()].every(({ confidence }) => confidence >= 0.8)
  return isTotals ? proposeTotals(columns, metrics) : proposeEvents(columns)
}

interface Column {
  name: string
  values: readonly string[]
}

const valuesOf = (name: string, rows: readonly Row[]): string[] =>
  rows.map((row) => row.get(name.toLowerCase()).trim()).filter((value) => value !== "")

function proposeEvents(columns: readonly Column[]): Proposal {
  const found = matches(FIELDS, columns)
  const used = new Set([...found.values()].map(({ column }) => column))
  const props = columns.flatMap(({ name }) => {
    const key = used.has(name) ? undefined : propertyIn(name)
    return key === undefined ? [] : [[key, { column: name, confidence: 0.8 }] as const]
  })
  return complete("events", undefined, found, Object.fromEntries(props))
}

function proposeTotals(columns: readonly Column[], metrics: ReadonlyMap<string, ProposedColumn>): Proposal {
  const taken = new Set([...metrics.values()].map(({ column }) => column))
  const rest = columns.filter(({ name }) => !taken.has(name))
  const found = new Map([...matches({ date: DATE }, rest), ...metrics])
  const date = found.get("date")?.column
  for (const { name } of rest) {
    const dimension = name === date ? undefined : DIMENSION_NAMES.find(([known]) => known === plain(name))?.[1]
    if (dimension === undefined) continue
    found.set("value", { column: name, confidence: 0.8 })
    return complete("daily_dimension", dimension, found, {})
  }
  return complete("daily_totals", undefined, found, {})
}

function complete(
  kind: CsvKind,
  dimension: string | undefined,
  found: ReadonlyMap<string, ProposedColumn>,
  props: Record<string, ProposedColumn>,
): Proposal {
  const timeField = kind === "events" ? "timestamp" : "date"
  const time = found.get(timeField)
  const fields = new Map([...found].filter(([field]) => field !== timeField).map(([field, { column }]) => [field, column]))
  const lacks = missingIn(kind, { dimension, hasTime: time !== undefined, fields })
  return {
    kind,
    ...(dimension !== undefined && { dimension }),
    mapping: {
      ...(time && { [timeField]: { ...time, format: "auto" as const } }),
      ...Object.fromEntries([...found].filter(([field]) => field !== timeField)),
      ...(Object.keys(props).length > 0 && { props }),
    },
    ...(lacks !== undefined && { lacks }),
  }
}

/** Assigns columns to fields, each once, the surest first. */
function matches(fields: Readonly<Record<string, Field>>, columns: readonly Column[]): Map<string, ProposedColumn> {
  const candidates = Object.entries(fields).flatMap(([field, rule]) =>
    columns.map((column) => ({ field, column: column.name, confidence: confidenceOf(rule, column) })),
  )
  const found = new Map<string, ProposedColumn>()
  const used = new Set<string>()
  for (const { field, column, confidence } of candidates.toSorted((a, b) => b.confidence - a.confidence)) {
    if (confidence < MIN_CONFIDENCE || found.has(field) || used.has(column)) continue
    used.add(column)
    found.set(field, { column, confidence })
  }
  // The order of the fields, not of the confidence.
  return new Map(Object.keys(fields).flatMap((field) => (found.has(field) ? [[field, found.get(field)!] as const] : [])))
}

const plain = (name: string): string => name.toLowerCase().replace(/[\s_.:-]+/g, "")

/** Rates a column: 0.6 for its name, less for its rarer ones, and 0.4 for the share of its values that fit. */
function confidenceOf({ names, fits, isTelling = false }: Field, { name, values }: Column): number {
  const place = names.indexOf(plain(name))
  const share = values.length === 0 ? 0.5 : values.filter(fits).length / values.length
  if (place < 0) return isTelling && values.length > 0 && share === 1 ? MIN_CONFIDENCE : 0
  if (share < 0.5) return 0
  return Math.round((NAME_SHARE - Math.min(place, 5) * 0.03 + (1 - NAME_SHARE) * share) * 100) / 100
}
