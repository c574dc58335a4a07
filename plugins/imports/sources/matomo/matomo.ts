import { Type as t } from "@sinclair/typebox"
import type { VisitTraits } from "#plugin"
import { isObject, memoize } from "#plugin/worker"
import { jsonElements } from "../../reading/json.ts"
import { encodingOf, type ReadingSink } from "../../reading/text.ts"
import type { FileHead, InputFile, ReadOptions, Recognition, Sink, Source, SourceEvent } from "../../source.ts"
import { browserTraits, deviceOf, languageTag, placeTraits, sizeOf, stated, systemTraits } from "../traits.ts"
import { MATOMO_REPORTS, readReports, recognizeReport } from "./reports.ts"

const VISITS_TABLE = "Live.getLastVisitsDetails"

/** Matomo: pages of `Live.getLastVisitsDetails` as visits, and day CSVs of the Reporting API as totals. */
export const matomo: Source = {
  id: "matomo",
  title: "Matomo",
  kinds: ["rows", "aggregate"],
  formats: ["json", "ndjson", "csv"],
  files: [
    { name: VISITS_TABLE, required: ["idVisit", "actionDetails"], optional: ["visitorId", "userId", "siteCurrency"] },
    ...MATOMO_REPORTS,
  ],
  options: t.Object({}),
  recognize,
  async read(files, options, sink) {
    for (const file of files) if (file.recognition.table === VISITS_TABLE) await readVisits(file, options, sink)
    await readReports(
      files.filter(({ recognition }) => recognition.table !== VISITS_TABLE),
      options,
      sink,
    )
  },
}

function recognize(file: FileHead): Recognition | undefined {
  if (!/^\s*[[{]/.test(file.text)) return recognizeReport(file)
  const isVisits = ['"idVisit"', '"actionDetails"'].every((name) => file.text.includes(name))
  return isVisits ? { confidence: 0.95, table: VISITS_TABLE } : undefined
}

type Json = Readonly<Record<string, unknown>>

/** Returns a scalar as text. Matomo writes false for some missing values. */
const textOf = (value: unknown): string => (typeof value === "number" ? String(value) : typeof value === "string" ? value : "")

async function readVisits(file: InputFile, options: ReadOptions, sink: Sink): Promise<void> {
  const elements: ReadingSink = {
    // Rows are actions, which are counted one by one.
    read: () => {},
    reject(name, line, code, excerpt) {
      sink.read(1)
      sink.reject(name, line, code, excerpt)
    },
    warn: (code, message, name) => sink.warn(code, message, name),
    check: () => sink.check(),
  }
  for await (const group of jsonElements(file, encodingOf(file, options.encoding), elements)) {
    for (const { line, value } of group) readVisit(file.name, line, value, options, sink)
  }
}

function readVisit(file: string, line: number, visit: Json, { currency, hostname }: ReadOptions, sink: Sink) {
  const actions = Array.isArray(visit.actionDetails) ? (visit.actionDetails as unknown[]) : []
  sink.read(Math.max(1, actions.length))
  const id = textOf(visit.idVisit)
  if (id === "") return sink.reject(file, line, "wrong_column_count", "")
  if (actions.length === 0) return sink.skip("not_imported_type")
  const userId = textOf(visit.userId)
  const visitorId = textOf(visit.visitorId)
  const common = {
    file,
    line,
    visitor: visitorId || (userId === "" ? `visit ${id}` : `user ${userId}`),
    visitorKind: visitorId !== "" ? ("device" as const) : userId !== "" ? ("user" as const) : ("rotating" as const),
    visit: id,
    ...(userId !== "" && { userId }),
    ...originOf(visit),
  }
  const traits = { ...common.traits, ...traitsOf(visit) }
  const money = textOf(visit.siteCurrency).toUpperCase() || currency
  // A search within the site has no URL of its own: it belongs to the page before.
  let page = ""
  for (const action of actions) {
    const found = isObject(action) ? eventOf(action, money) : undefined
    if (!found || !isObject(action)) {
      sink.skip("not_imported_type")
      continue
    }
    const at = Number(textOf(action.timestamp) || Number.NaN) * 1_000
    if (!Number.isSafeInteger(at) || at <= 0) {
      sink.reject(file, line, "bad_date", textOf(action.timestamp))
      continue
    }
    const isElsewhere = action.type === "outlink" || action.type === "download"
    const url = isElsewhere ? page : textOf(action.url) || page
    if (url !== "") page = url
    sink.event({ ...common, ...found, at, ...(url === "" ? { path: "/", hostname } : { url }), traits })
  }
}

type ActionEvent = Pick<SourceEvent, "name" | "title" | "props" | "revenue">

/** Returns the event of an action, or undefined for one that is not imported, such as a goal or an impression of a content. */
function eventOf(action: Json, currency: string): ActionEvent | undefined {
  const url = textOf(action.url)
  switch (action.type) {
    case "action":
    case "search":
      return { name: "pageview", title: textOf(action.pageTitle) || textOf(action.title) }
    case "event":
      return eventName(action)
    case "outlink":
      return { name: "Outbound Link: Click", props: propsOf({ url }) }
    case "download":
      return { name: "File Download", props: propsOf({ url: url.replace(/[?#].*$/s, "") }) }
    case "ecommerceOrder": {
      const amount = textOf(action.revenue)
      const props = propsOf({ order_id: textOf(action.orderId) })
      return { name: "purchase", props, ...(amount !== "" && { revenue: { amount: numberIn(amount), currency } }) }
    }
    default:
      return undefined
  }
}

function eventName(action: Json): ActionEvent | undefined {
  const name = textOf(action.eventAction)
  if (name === "") return undefined
  const [category, label, value] = [textOf(action.eventCategory), textOf(action.eventName), textOf(action.eventValue)]
  return { name, props: propsOf({ category, name: label, value }) }
}

const propsOf = (values: Readonly<Record<string, string>>): [key: string, value: string][] =>
  Object.entries(values).filter(([, value]) => value !== "")

/** Channels of the kinds of referrers that are known without an address. */
const CHANNELS: Readonly<Record<string, string>> = { search: "Organic Search", social: "Organic Social" }

/** Returns where a visit came from. Matomo names the campaign, or gives the address of the referring page. */
function originOf(visit: Json): Pick<SourceEvent, "referrer" | "utm"> & { traits?: Partial<VisitTraits> } {
  const text = (name: string): string => textOf(visit[name])
  const [type, name, url] = [text("referrerType"), text("referrerName"), text("referrerUrl")]
  const referrer = url === "" ? {} : { referrer: url }
  if (type === "campaign") {
    const utm = {
      utm_source: text("campaignSource"),
      utm_medium: text("campaignMedium"),
      utm_campaign: text("campaignName") || name,
      utm_term: text("campaignKeyword") || text("referrerKeyword"),
      utm_content: text("campaignContent"),
    }
    return { ...referrer, utm }
  }
  if (url !== "" || name === "") return referrer
  if (type === "website") return { referrer: `https://${name}/` }
  const channel = CHANNELS[type]
  return channel === undefined ? {} : { traits: { source: name, channel } }
}

const TRAIT_FIELDS = ["browserName", "browserVersion", "operatingSystemName", "operatingSystemVersion", "deviceType", "resolution"].concat([
  "languageCode",
  "countryCode",
  "regionCode",
  "city",
])

/** Visits repeat a few thousand devices and places. */
const traitsOf = (visit: Json): Partial<VisitTraits> => traitsOfFields(JSON.stringify(TRAIT_FIELDS.map((name) => textOf(visit[name]))))

const traitsOfFields = memoize(20_000, (json: string): Partial<VisitTraits> => {
  const fields = JSON.parse(json) as string[] // written by `traitsOf`
  const [browser = "", version = "", system = "", systemVersion = "", device = "", resolution = "", language = "", ...place] = fields
  const [country = "", region = "", city = ""] = place
  return stated({
    ...browserTraits(browser, version),
    ...systemTraits(system, systemVersion),
    device: /^feature phone$/i.test(device) ? "Mobile" : deviceOf(device),
    size: sizeOf(resolution),
    language: languageTag(language),
    ...placeTraits({ country, region, city }),
  })
})

/** Returns the number in an amount such as `€ 12.50`. */
function numberIn(amount: string): string {
  const from = Math.max(0, amount.search(/[\d.-]/))
  let to = amount.length
  while (to > from && !/\d/.test(amount[to - 1]!)) to--
  return amount.slice(from, to)
}
