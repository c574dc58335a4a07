import { Type as t } from "@sinclair/typebox"
import type { VisitTraits } from "#plugin"
import { isObject, memoize } from "#plugin/worker"
import { jsonElements } from "../../reading/json.ts"
import { encodingOf } from "../../reading/text.ts"
import type { FileHead, ReadOptions, Sink, Source, SourceEvent } from "../../source.ts"
import { regionByName } from "../region-names.ts"
import { browserTraits, countryOf, deviceOf, languageTag, stated, systemTraits } from "../traits.ts"

/**
 * The tables `events_YYYYMMDD` that Google Analytics 4 exports to BigQuery, as NDJSON or as one JSON array. Numbers of 64 bits are texts in
 * both.
 */
export const ga4BigQuery: Source = {
  id: "ga4_bigquery",
  title: "Google Analytics 4 (BigQuery)",
  kinds: ["rows"],
  formats: ["json", "ndjson"],
  files: [
    {
      name: "events",
      required: ["event_timestamp", "event_name"],
      optional: ["event_date", "event_params", "user_id", "user_pseudo_id", "device", "geo"].concat([
        "collected_traffic_source",
        "traffic_source",
        "ecommerce",
      ]),
    },
  ],
  options: t.Object({}),
  recognize: ({ text }: FileHead) =>
    /^\s*[[{]/.test(text) &&
    ['"event_name"', '"event_timestamp"'].every((name) => text.includes(name)) &&
    /"event_params"|"user_pseudo_id"/.test(text)
      ? { confidence: 0.95, table: "events" }
      : undefined,
  async read(files, options, sink) {
    const read = rowReader(options, sink)
    for (const file of files) {
      for await (const group of jsonElements(file, encodingOf(file, options.encoding), sink)) {
        for (const { line, value } of group) read(file.name, line, value)
      }
    }
  },
}

type Json = Readonly<Record<string, unknown>>
const NOTHING: Json = {}
const part = (value: Json, name: string): Json => {
  const found = value[name]
  return isObject(found) ? found : NOTHING
}

/** Returns a scalar as text. Placeholders for a missing value are "". */
const textOf = (value: unknown): string => {
  if (typeof value === "number" || typeof value === "boolean") return String(value)
  return typeof value !== "string" || MISSING.has(value) ? "" : value
}
const MISSING = new Set(["(not set)", "(none)", "(not provided)", "(other)", "(data not available)", "(direct)", "(organic)", "(referral)"])

/** Events of Google Analytics' own that say how long a page was in use, and no more. */
const ENGAGEMENT = new Set(["session_start", "first_visit", "user_engagement", "scroll"])
const PURCHASES = new Set(["purchase", "in_app_purchase", "ecommerce_purchase"])
/** Parameters that are read as columns, or describe the measurement instead of the event. */
const NO_PROPS = new Set(
  `page_location page_referrer page_title ga_session_id ga_session_number engagement_time_msec session_engaged engaged_session_event
  entrances batch_page_id batch_ordering_id debug_mode ignore_referrer campaign campaign_id source medium term content gclid dclid srsltid
  synthetic_bundle firebase_conversion firebase_event_origin`.split(/\s+/),
)

function rowReader({ currency: siteCurrency, hostname }: ReadOptions, sink: Sink) {
  return (file: string, line: number, row: Json) => {
    const name = textOf(row.event_name)
    const at = timeOf(row.event_timestamp)
    if (at === undefined) return sink.reject(file, line, "bad_date", textOf(row.event_timestamp))
    if (name === "") return sink.reject(file, line, "wrong_column_count", "")
    const params = paramsOf(row.event_params)
    const ecommerce = part(row, "ecommerce")
    const transaction = textOf(ecommerce.transaction_id) || (params.get("transaction_id") ?? "")
    const currency = params.get("currency") || siteCurrency
    const host = textOf(part(part(row, "device"), "web_info").hostname)
    if (name === "refund") {
      const id = textOf(row.event_timestamp)
      const amount = decimalText(ecommerce.refund_value || params.get("value"))
      return sink.refund({ file, line, at, id, order: transaction, hostname: host, amount, currency })
    }
    const engagement = ENGAGEMENT.has(name) ? engagementOf(name, params) : undefined
    if (ENGAGEMENT.has(name) && !engagement) return sink.skip("not_imported_type")
    const event: SourceEvent = {
      file,
      line,
      at,
      name: engagement ? "engagement" : name === "page_view" ? "pageview" : name,
      ...visitorOf(row),
      hostname: host || (params.has("page_location") ? "" : hostname),
      url: params.get("page_location") ?? "/",
      title: params.get("page_title") ?? "",
      referrer: params.get("page_referrer") ?? "",
      ...originOf(row, params),
    }
    const id = params.get("ga_session_id")
    if (id) event.visit = id
    event.traits = { ...event.traits, ...traitsOf(row) }
    if (engagement) event.engagement = engagement
    if (event.name !== "pageview" && !engagement) event.props = propsOf(params, transaction)
    if (PURCHASES.has(name)) {
      const amount = decimalText(ecommerce.purchase_revenue ?? params.get("value"))
      if (amount !== "") event.revenue = { amount, currency }
    }
    sink.event(event)
  }
}

/** Converts microseconds, which are a text of 16 digits, to milliseconds. */
function timeOf(value: unknown): number | undefined {
  const text = textOf(value)
  return /^\d{14,17}$/.test(text) ? Number(text.slice(0, -3)) : undefined
}

function paramsOf(value: unknown): Map<string, string> {
  const params = new Map<string, string>()
  for (const param of Array.isArray(value) ? (value as unknown[]) : []) {
    if (!isObject(param) || typeof param.key !== "string") continue
    const { string_value, int_value, float_value, double_value } = part(param, "value")
    const text = textOf(string_value ?? int_value ?? float_value ?? double_value)
    if (text !== "") params.set(param.key, text)
  }
  return params
}

const DIGITS = 15

/**
 * Returns an amount as the decimal text that was meant. The column is binary: of a sum such as 59.980000000000004, the digits after the
 * fifteenth are noise.
 */
function decimalText(value: unknown): string {
  const text = textOf(value)
  const digits = text.replace(/[^\d]/g, "").replace(/^0+/, "")
  const number = Number(text)
  if (digits.length <= DIGITS || !Number.isFinite(number) || Math.abs(number) >= 10 ** DIGITS) return text
  return String(Number(number.toPrecision(DIGITS)))
}

/** Users are named by a cookie, or by the site's own id where the cookie is refused. */
function visitorOf(row: Json): Pick<SourceEvent, "visitor" | "visitorKind" | "userId"> {
  const device = textOf(row.user_pseudo_id)
  const userId = textOf(row.user_id)
  const user = userId === "" ? {} : { userId }
  if (device !== "") return { visitor: device, visitorKind: "device", ...user }
  return userId === "" ? { visitor: "" } : { visitor: `user ${userId}`, visitorKind: "user", ...user }
}

function engagementOf(name: string, params: ReadonlyMap<string, string>): SourceEvent["engagement"] {
  const engagedMs = Number(params.get("engagement_time_msec") ?? 0)
  const scroll = Number(params.get("percent_scrolled") ?? 0)
  const hasScroll = name === "scroll" && scroll > 0 && scroll <= 100
  if (!(engagedMs > 0) && !hasScroll) return undefined
  return { engagedMs: engagedMs > 0 ? Math.round(engagedMs) : 0, ...(hasScroll && { scrollDepth: Math.round(scroll) }) }
}

function propsOf(params: ReadonlyMap<string, string>, transaction: string): [key: string, value: string][] {
  const props = [...params].filter(([key]) => !NO_PROPS.has(key) && key !== "transaction_id" && key !== "order_id")
  return transaction === "" ? props : [["order_id", transaction], ...props]
}

/** Values that Google Analytics derives itself, which are no tags of a campaign. */
const DERIVED_MEDIUMS = new Set(["organic", "referral"])

/** Returns the campaign. `traffic_source` is that of the user's first visit, and therefore read only in it. */
function originOf(row: Json, params: ReadonlyMap<string, string>): Pick<SourceEvent, "utm" | "traits"> {
  const collected = part(row, "collected_traffic_source")
  const manual = (name: string): string => textOf(collected[`manual_${name}`])
  const isFirst = params.get("ga_session_number") === "1"
  const first = isFirst ? part(row, "traffic_source") : NOTHING
  const own = [manual("source"), manual("medium"), manual("campaign_name")]
  const [source = "", medium = "", campaign = ""] =
    [
      own,
      [params.get("source") ?? "", params.get("medium") ?? "", params.get("campaign") ?? ""],
      [textOf(first.source), textOf(first.medium), textOf(first.name)],
    ].find((values) => values.some((value) => value !== "")) ?? []
  const clickId = textOf(collected.gclid) === "" ? {} : { click_id_type: "gclid" }
  if (campaign === "" && DERIVED_MEDIUMS.has(medium)) return { traits: stated({ source, ...clickId }) }
  const utm = {
    utm_source: source,
    utm_medium: medium,
    utm_campaign: campaign,
    utm_term: manual("term") || (params.get("term") ?? ""),
    utm_content: manual("content") || (params.get("content") ?? ""),
  }
  return { utm, traits: clickId }
}

/** Rows repeat a few thousand devices and places. */
const traitsOf = (row: Json): Partial<VisitTraits> => traitsOfParts(JSON.stringify([row.device, row.geo]))

const traitsOfParts = memoize(20_000, (json: string): Partial<VisitTraits> => {
  const [device, geo] = (JSON.parse(json) as unknown[]).map((value) => (isObject(value) ? value : NOTHING)) as [Json, Json] // written by `traitsOf`
  const web = part(device, "web_info")
  const system = textOf(device.operating_system) || textOf(web.operating_system)
  // The version repeats the name, as in `Macintosh Intel 10.15`.
  const lastWord =
    textOf(device.operating_system_version)
      .split(/[^\w.]+/)
      .at(-1) ?? ""
  const version = /\d/.test(lastWord) ? lastWord.slice(lastWord.search(/\d/)) : ""
  const browser = textOf(web.browser) || textOf(device.browser)
  const country = countryOf(textOf(geo.country))
  return stated({
    ...browserTraits(browser, textOf(web.browser_version) || textOf(device.browser_version)),
    ...systemTraits(system, version),
    device: deviceOf(textOf(device.category)),
    language: languageTag(textOf(device.language)),
    country,
    region: regionByName(country, textOf(geo.region)),
    city: textOf(geo.city),
  })
})
