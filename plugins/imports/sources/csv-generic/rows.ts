import type { ImportedRow, VisitTraits } from "#plugin"
import { memoize } from "#plugin/worker"
import type { Row } from "../../reading/delimited.ts"
import type { Sink, SourceEvent } from "../../source.ts"
import { browserTraits, countryOf, deviceOf, languageTag, placeTraits, stated, systemTraits } from "../traits.ts"
import { type CsvMapping, DIMENSIONS, METRICS, type Metric } from "./mapping.ts"

/** Turns the rows of a delimited file into events or totals, by a mapping. */

export interface RowReading {
  file: string
  mapping: CsvMapping
  /** Currency of amounts without one. */
  currency: string
  sink: Sink
  time: (text: string) => number | undefined
  /** Names the local day of an instant. */
  dayOf: (at: number) => string
}

const UTM = ["utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"] as const
const SEPARATOR = "\u001f"
const CACHED_TRAITS = 20_000

/** Returns the function that reads a row as an event. */
export function eventReader({ file, mapping, currency, sink, time }: RowReading): (row: Row) => void {
  const timeColumn = mapping.time.column.toLowerCase()
  const columns = new Map([...mapping.fields].map(([field, column]) => [field, column.toLowerCase()]))
  const props = mapping.props.map(([key, column]) => [key, column.toLowerCase()] as const)
  return (row) => {
    const value = (field: string): string => {
      const column = columns.get(field)
      return column === undefined ? "" : row.get(column).trim()
    }
    const at = time(row.get(timeColumn))
    if (at === undefined) return sink.reject(file, row.line, "bad_date", row.get(timeColumn))
    const page = pageOf(value("url"), value("path"))
    if (page === undefined) return sink.reject(file, row.line, "bad_url", value("url"))
    const { referrer, source } = originOf(value("referrer"))
    const traits = traitsOf(["browser", "os", "device", "language", "country", "region", "city"].map(value).join(SEPARATOR))
    const revenue = value("revenue")
    sink.event({
      file,
      line: row.line,
      at,
      name: value("event_name") || "pageview",
      ...visitorOf(value),
      ...page,
      ...present("hostname", value("hostname")),
      ...present("referrer", referrer),
      ...present("title", value("title")),
      utm: Object.fromEntries(UTM.map((name) => [name, value(name)] as const).filter(([, tag]) => tag !== "")),
      traits: source === "" ? traits : { ...traits, source },
      props: props.map(([key, column]) => [key, row.get(column)] as const).filter(([, text]) => text.trim() !== ""),
      ...(revenue !== "" && { revenue: { amount: decimalText(revenue), currency: value("currency") || currency } }),
    })
  }
}

/** Returns what names the visitor: an id, otherwise address and user agent, otherwise the visit. */
function visitorOf(value: (field: string) => string): Pick<SourceEvent, "visitor" | "visit" | "userId" | "sender" | "userAgent"> {
  const [visitor, visit, userId] = [value("visitor_id"), value("visit_id"), value("user_id")]
  const [address, userAgent] = [value("ip"), value("user_agent")]
  const ids = { ...present("visit", visit), ...present("userId", userId) }
  if (visitor === "" && userId === "" && address !== "") return { ...ids, visitor: "", sender: { address, userAgent } }
  return { ...ids, ...present("userAgent", userAgent), visitor: visitor || (userId === "" && visit !== "" ? `visit ${visit}` : "") }
}

const HOST = /^(?:[\p{L}\p{N}_-]+\.)+[\p{L}\p{N}-]{2,}(?::\d+)?(?:[/?#]|$)/u

/** Returns the page of an event; undefined for a URL that is none. */
function pageOf(url: string, path: string): Pick<SourceEvent, "url" | "path"> | undefined {
  if (url === "") return path === "" ? {} : { path: path.startsWith("/") || /^https?:\/\//i.test(path) ? path : `/${path}` }
  if (/^https?:\/\//i.test(url)) return { url }
  if (url.startsWith("/")) return { path: url }
  return HOST.test(url) ? { url: `https://${url}` } : undefined
}

const NO_SOURCE = new Set(["", "direct", "(direct)", "none", "(none)", "-", "null"])

/** Returns a referring address, or the name of a source, which some exports have instead. */
function originOf(text: string): { referrer: string; source: string } {
  if (text.includes("://")) return { referrer: text, source: "" }
  if (HOST.test(text)) return { referrer: `https://${text}`, source: "" }
  return { referrer: "", source: NO_SOURCE.has(text.toLowerCase()) ? "" : text }
}

const traitsOf = memoize(CACHED_TRAITS, (text: string): Partial<VisitTraits> => {
  const [browser = "", os = "", device = "", language = "", country = "", region = "", city = ""] = text.split(SEPARATOR)
  return stated({
    ...browserTraits(browser),
    ...systemTraits(os),
    device: deviceOf(device),
    language: languageTag(language),
    ...placeTraits({ country, region, city }),
  })
})

/** Returns a field unless its value is empty. */
const present = <Name extends string>(name: Name, value: string): Partial<Record<Name, string>> =>
  value === "" ? {} : ({ [name]: value } as Record<Name, string>) // a computed name has the type string

/** Returns an amount with a decimal point and without separators of thousands: `1,234.50`, `1.234,50` and `19,99` are amounts too. */
export function decimalText(text: string): string {
  const digits = text.replace(/[\s\u00a0\u202f']/g, "")
  if (/^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(digits)) return digits.replaceAll(",", "")
  if (/^[+-]?\d{1,3}(?:\.\d{3})+,\d+$/.test(digits)) return digits.replaceAll(".", "").replace(",", ".")
  return /^[+-]?\d+,\d{1,4}$/.test(digits) ? digits.replace(",", ".") : digits
}

/** Values of a dimension as Footfall stores them. Dimensions without a function are stored as they are. */
const STORED_VALUES: Readonly<Record<string, (text: string) => string>> = {
  country: countryOf,
  device: deviceOf,
  browser: (text) => browserTraits(text).browser ?? "",
  os: (text) => systemTraits(text).os ?? "",
  language: languageTag,
  page: (text) => pathIn(text),
  entry_page: (text) => pathIn(text),
  exit_page: (text) => pathIn(text),
}

/** Returns the path of a page, which some exports write as a URL. */
const pathIn = (text: string): string => text.replace(/^https?:\/\/[^/?#]+/i, "") || (text === "" ? "" : "/")

/** Returns the function that reads a row as totals of a day. Rounds numbers with decimals and warns of them. */
export function totalsReader({ file, mapping, sink, time, dayOf }: RowReading): (row: Row) => void {
  const dimension = mapping.kind === "daily_dimension" ? DIMENSIONS[mapping.dimension ?? ""] : undefined
  const timeColumn = mapping.time.column.toLowerCase()
  const valueColumn = mapping.fields.get("value")?.toLowerCase() ?? ""
  const metrics = METRICS.flatMap((metric) => {
    const column = mapping.fields.get(metric)?.toLowerCase()
    return column === undefined ? [] : [{ metric, column }]
  })
  const counts = countsOf(metrics, dimension?.counts, (ignored) => {
    sink.warn(
      "metrics_ignored",
      `Totals by ${mapping.dimension} have no ${ignored.join(", ")}. These columns of ${file} are not imported.`,
      file,
    )
  })
  const store = (dimension && STORED_VALUES[dimension.column]) ?? ((text: string) => text)
  return (row) => {
    const at = time(row.get(timeColumn))
    if (at === undefined) return sink.reject(file, row.line, "bad_date", row.get(timeColumn))
    const values: Record<string, number> = {}
    for (const { count, column } of counts) {
      const number = countIn(row.get(column))
      if (number === undefined) return sink.reject(file, row.line, "bad_number", row.get(column))
      if (number < 0) return sink.reject(file, row.line, "negative_count", row.get(column))
      if (!Number.isInteger(number)) sink.warn("rounded", `${file} has counts with decimals, which are rounded.`, file)
      values[count] = Math.round(number)
    }
    const texts: ImportedRow["texts"] = dimension ? { [dimension.column]: store(row.get(valueColumn).trim()) } : {}
    sink.totals(dimension?.kind ?? "imported_visitors", { file, line: row.line, day: dayOf(at), texts, counts: values })
  }
}

/** Returns which column holds which count. Without a dimension, the counts are the metrics. */
function countsOf(
  metrics: readonly { metric: Metric; column: string }[],
  counts: Readonly<Record<string, Metric>> | undefined,
  warn: (ignored: readonly string[]) => void,
): { count: string; column: string }[] {
  if (!counts) return metrics.map(({ metric, column }) => ({ count: metric, column }))
  const ignored = metrics.filter(({ metric }) => !Object.values(counts).includes(metric))
  if (ignored.length > 0) warn(ignored.map(({ metric }) => metric))
  return Object.entries(counts).flatMap(([count, metric]) =>
    metrics.filter((given) => given.metric === metric).map(({ column }) => ({ count, column })),
  )
}

const COUNT = /^[+-]?\d+(?:\.\d+)?$/
const MAX_COUNT = 4_294_967_295

/** Returns a count, which can have separators of thousands (`1,234`); 0 for an empty cell; undefined for anything else. */
export function countIn(text: string): number | undefined {
  const digits = text.replace(/[\s\u00a0\u202f']/g, "")
  if (digits === "") return 0
  const plain = /^[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?$/.test(digits) ? digits.replaceAll(",", "") : digits
  const number = COUNT.test(plain) ? Number(plain) : Number.NaN
  return Math.abs(number) <= MAX_COUNT ? number : undefined
}
