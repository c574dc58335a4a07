import { Type as t } from "@sinclair/typebox"
import type { ImportedKind } from "#plugin"
import { type ColumnRules, delimited, headerOf, type Row } from "../reading/delimited.ts"
import { fileName } from "../reading/unpack.ts"
import type { FileHead, InputFile, ReadOptions, Recognition, Sink, Source, SourceFile } from "../source.ts"
import { regionByName } from "./region-names.ts"
import {
  amountOf,
  countsOf,
  type DayAndHour,
  dayOf,
  hostOf,
  hoursIn,
  originTexts,
  pageOf,
  readLine,
  TotalsSums,
  textOf,
} from "./totals-rows.ts"
import { browserTraits, countryOf, deviceOf, placeTraits, systemTraits } from "./traits.ts"

/** Fathom: its CSV with all dimensions, that of its events, and the zip with one file per dimension. */
export const fathom: Source = {
  id: "fathom",
  title: "Fathom",
  kinds: ["aggregate"],
  formats: ["csv", "zip"],
  get files() {
    return FILES
  },
  options: t.Object({}),
  recognize,
  async read(files, options, sink) {
    for (const what of ["entry_pages", "exit_pages"]) sink.unsupported(what)
    for (const file of files) await readFile(file, options, sink)
  },
}

const UTM = ["utm_source", "utm_medium", "utm_campaign", "utm_content", "utm_term"]
const DIMENSIONS = [
  ...["hostname", "pathname", "browser", "operating_system", "device_type", "country_code", "state", "city"],
  ...["referrer_hostname", "referrer_pathname", ...UTM],
]
const METRICS = ["visits", "avg_duration", "bounce_rate"]

const FILES: readonly SourceFile[] = [
  { name: "pageviews", required: ["datetime", "uniques"], optional: ["pageviews", ...METRICS, ...DIMENSIONS] },
  { name: "events", required: ["datetime", "event_name", "completions"], optional: ["uniques", ...METRICS, ...DIMENSIONS] },
]

/** Names of columns in the files of the zip. */
const ALIASES: Readonly<Record<string, string>> = {
  date: "datetime",
  timestamp: "datetime",
  views: "pageviews",
  visitors: "uniques",
  "unique visitors": "uniques",
  "avg time on site": "avg_duration",
  "avg duration": "avg_duration",
  "average duration": "avg_duration",
  "bounce rate": "bounce_rate",
  host: "hostname",
  page: "pathname",
  path: "pathname",
  os: "operating_system",
  "operating system": "operating_system",
  device: "device_type",
  "device type": "device_type",
  country: "country_code",
  region: "state",
  referrer: "referrer_hostname",
  referrer_name: "referrer_hostname",
}

const rulesOf = ({ required, optional }: SourceFile): ColumnRules => ({ required, optional, aliases: ALIASES })
const has = (header: { has(column: string): boolean }, column: string): boolean =>
  header.has(column) || Object.entries(ALIASES).some(([alias, name]) => name === column && header.has(alias))

const ZIP_NAME = /^(?:(?:pageviews|events)-[a-z-].*|Browsers|Countries|DeviceTypes|Pages|Referrers|Site)\.csv$/

function recognize(file: FileHead): Recognition | undefined {
  const header = headerOf(file)
  if (!header) return undefined
  if (header.has("datetime") && header.has("completions") && header.has("event_name")) return { confidence: 1, table: "events" }
  if (header.has("datetime") && header.has("uniques")) return { confidence: 1, table: "pageviews" }
  if (!ZIP_NAME.test(fileName(file.name))) return undefined
  const isCount = ["uniques", "pageviews", "visits"].some((column) => has(header, column))
  if (has(header, "datetime") && has(header, "uniques")) return { confidence: 0.8, table: "pageviews" }
  if (!isCount) return undefined
  const message = `${file.name} has no days. Ask Fathom for the export with all dimensions, whose column datetime has them.`
  return { confidence: 0.8, refusal: { code: "needs_date_dimension", message } }
}

/** What a file is found to have in a first pass. */
interface Scale {
  /** Whether the bounce rates are percentages. Fractions are at most 1. */
  isPercent: boolean
  /** Whether all times are midnights, so that rows are whole days in UTC. */
  isDaily: boolean
}

const MIDNIGHT = /^\d{4}-\d\d-\d\d(?:[ T]00:00(?::00(?:\.0+)?)?(?:Z|\+00:?00)?)?$/

async function scaleOf(file: InputFile, rules: ColumnRules, options: ReadOptions, sink: Sink): Promise<Scale> {
  const scale: Scale = { isPercent: false, isDaily: true }
  const silent = { reject() {}, read() {}, warn() {}, check: () => sink.check() }
  for await (const rows of delimited(file, rules, options, silent)) {
    for (const row of rows) {
      if (Number(row.get("bounce_rate")) > 1) scale.isPercent = true
      if (scale.isDaily && !MIDNIGHT.test(row.get("datetime").trim())) scale.isDaily = false
    }
    if (scale.isPercent && !scale.isDaily) break
  }
  return scale
}

async function readFile(file: InputFile, options: ReadOptions, sink: Sink): Promise<void> {
  const isEvents = file.recognition.table === "events"
  const rules = rulesOf(FILES[isEvents ? 1 : 0]!)
  const scale = await scaleOf(file, rules, options, sink)
  if (scale.isDaily && options.siteTimezone !== "UTC")
    sink.warn(
      "utc_days",
      `${file.name} has whole days in UTC. They are kept, although the days of the site begin at another hour.`,
      file.name,
    )
  const timeOf: (text: string) => DayAndHour = scale.isDaily
    ? (text) => ({ day: dayOf(text.trim().slice(0, 10)) })
    : hoursIn(options.siteTimezone)
  const header = headerOf(file, options)
  const tables = tablesOf((column) => header !== undefined && has(header, column))
  const [count, sums] = [countsOf(file.name, sink), new TotalsSums(sink)]
  for await (const rows of delimited(file, rules, options, sink)) {
    for (const row of rows)
      readLine(sink, file.name, row.line, () => {
        const place = { file: file.name, line: row.line, ...timeOf(row.get("datetime")) }
        if (isEvents) sums.add("imported_custom_events", { ...place, ...eventTotals(row, count) })
        else {
          const counts = visitCounts(row, scale, count)
          for (const [kind, texts] of tables) sums.add(kind, { ...place, texts: texts(row), counts: countsFor(kind, counts) })
        }
      })
  }
  sums.flush()
}

function eventTotals(row: Row, count: (text: string) => number) {
  const counts = { visitors: count(row.get("uniques")), events: count(row.get("completions")) }
  return { texts: { name: textOf(row.get("event_name")), path: pageOf(row.get("pathname")) }, counts }
}

interface VisitCounts {
  visitors: number
  pageviews: number
  visits: number
  bounces: number
  visit_duration: number
}

function visitCounts(row: Row, { isPercent }: Scale, count: (text: string) => number): VisitCounts {
  const visits = count(row.get("visits"))
  const rate = amountOf(row.get("bounce_rate")) / (isPercent ? 100 : 1)
  return {
    visitors: count(row.get("uniques")),
    pageviews: count(row.get("pageviews")),
    visits,
    bounces: Math.round(Math.min(rate, 1) * visits),
    visit_duration: Math.round(amountOf(row.get("avg_duration")) * visits),
  }
}

const countsFor = (kind: ImportedKind, counts: VisitCounts): Readonly<Record<string, number>> =>
  kind === "imported_pages" ? { visitors: counts.visitors, visits: counts.visits, pageviews: counts.pageviews } : { ...counts }

type TableTexts = readonly [kind: ImportedKind, texts: (row: Row) => Readonly<Record<string, string>>]

/** Returns the tables that a file fills: those of the dimensions it has. Totals come from the file with all of them, or without any. */
function tablesOf(hasColumn: (column: string) => boolean): readonly TableTexts[] {
  const tables: readonly (readonly [column: string, ...TableTexts])[] = [
    ["pathname", "imported_pages", (row) => ({ hostname: hostOf(row.get("hostname")), page: pageOf(row.get("pathname")) })],
    ["referrer_hostname", "imported_sources", originOf],
    ["country_code", "imported_locations", placeOf],
    ["device_type", "imported_devices", (row) => ({ device: deviceOf(row.get("device_type")) })],
    ["browser", "imported_browsers", (row) => browserTraits(textOf(row.get("browser")))],
    ["operating_system", "imported_operating_systems", (row) => systemTraits(textOf(row.get("operating_system")))],
  ]
  const filled = tables.filter(([column]) => hasColumn(column)).map(([, kind, texts]): TableTexts => [kind, texts])
  const dimensions = DIMENSIONS.filter((column) => column !== "hostname" && hasColumn(column)).length
  const isWhole = filled.length > 1 || dimensions === 0
  return isWhole ? [["imported_visitors", () => ({})], ...filled] : filled
}

function placeOf(row: Row): Readonly<Record<string, string>> {
  const [country, state] = [countryOf(row.get("country_code")), row.get("state").trim()]
  return placeTraits({ country, region: regionByName(country, state) || state, city: textOf(row.get("city")) })
}

function originOf(row: Row): Readonly<Record<string, string>> {
  const host = hostOf(row.get("referrer_hostname"))
  const path = textOf(row.get("referrer_pathname"))
  const tags = Object.fromEntries(UTM.map((tag) => [tag, row.get(tag)]))
  return originTexts({ ...tags, referrer: host === "" ? "" : `${host}${path}` })
}
