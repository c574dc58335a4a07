/**
 * Measures how many rows per second the readers of row-level imports read from generated exports, without enrichment and storage.
 *
 *     bun scripts/bench/imports/readers.ts [rows] [source]
 */
import { fileHead } from "../../../plugins/imports/reading/text.ts"
import type { InputFile, Sink, Source } from "../../../plugins/imports/source.ts"
import { csvGeneric } from "../../../plugins/imports/sources/csv-generic/csv-generic.ts"
import { goatcounter } from "../../../plugins/imports/sources/goatcounter/goatcounter.ts"
import { simpleAnalytics } from "../../../plugins/imports/sources/simple-analytics.ts"
import { umami } from "../../../plugins/imports/sources/umami/umami.ts"
import { type GeneratedFile, recordCases } from "./records.ts"

const ROWS = Number(process.argv[2] ?? 1_000_000)
const PIECE_CHARS = 131_072

const uuid = (kind: string, number: number): string => {
  const text = new Bun.CryptoHasher("md5").update(`${kind}${number}`).digest("hex")
  return `${text.slice(0, 8)}-${text.slice(8, 12)}-4${text.slice(13, 16)}-8${text.slice(17, 20)}-${text.slice(20)}`
}
const timeOf = (row: number): string => new Date(1_700_000_000_000 + row * 7_000).toISOString()
const sqlTime = (row: number): string => timeOf(row).slice(0, 19).replace("T", " ")
const SITE = uuid("site", 1)
/** Rows per visitor. */
const PER_VISITOR = 4

const CLOUD_HEADER =
  "website_id,session_id,visit_id,event_id,hostname,browser,os,device,screen,language,country,region,city,url_path,url_query,utm_source,utm_medium,utm_campaign,utm_content,utm_term,referrer_path,referrer_query,referrer_domain,page_title,gclid,fbclid,msclkid,ttclid,li_fat_id,twclid,event_type,event_name,tag,distinct_id,created_at,job_id\n"
const BROWSERS = ["chrome", "safari", "firefox", "edge-chromium", "crios"]

const cloudEvents: GeneratedFile = {
  name: "website_event.csv",
  header: CLOUD_HEADER,
  rows: ROWS,
  row: (n) => {
    const visitor = Math.floor(n / PER_VISITOR)
    return `${SITE},${uuid("s", visitor)},${uuid("v", visitor)},${uuid("e", n)},shop.example,${BROWSERS[visitor % 5]},Windows 10,laptop,1920x1080,en-US,US,US-CA,Oakland,/page/${n % 500},,,,,,,/,,google.com,"Page ${n % 500}, of the shop",,,,,,,${n % 10 === 0 ? "2,signup" : "1,"},,,${sqlTime(n)},\n`
  },
}
const databaseEvents: GeneratedFile = {
  name: "website_event.csv",
  header: "event_id,website_id,session_id,visit_id,created_at,url_path,url_query,referrer_domain,page_title,event_type,event_name\n",
  rows: ROWS,
  row: (n) => {
    const visitor = Math.floor(n / PER_VISITOR)
    return `${uuid("e", n)},${SITE},${uuid("s", visitor)},${uuid("v", visitor)},${sqlTime(n)}+00,/page/${n % 500},,google.com,Page ${n % 500},${n % 10 === 0 ? "2,signup" : "1,"}\n`
  },
}
const sessions: GeneratedFile = {
  name: "session.csv",
  header: "session_id,website_id,browser,os,device,screen,language,country,region,city,created_at\n",
  rows: ROWS / PER_VISITOR,
  row: (n) => `${uuid("s", n)},${SITE},${BROWSERS[n % 5]},Windows 10,laptop,1920x1080,en-US,US,US-CA,Oakland,${sqlTime(n)}+00\n`,
}
const eventData: GeneratedFile = {
  name: "event_data.csv",
  header: "event_data_id,website_id,website_event_id,data_key,string_value,number_value,date_value,data_type,created_at\n",
  rows: ROWS,
  row: (n) => `${uuid("d", n)},${SITE},${uuid("e", n - (n % 2))},${n % 2 ? "plan" : "user"},value ${n % 100_000},,,1,${sqlTime(n)}+00\n`,
}
const dump: GeneratedFile = {
  name: "umami.sql",
  header: `-- PostgreSQL database dump\nCOPY public.website_event (${databaseEvents.header.trim().replaceAll(",", ", ")}) FROM stdin;\n`,
  rows: ROWS,
  row: (n) => databaseEvents.row(n).replaceAll(",", "\t") + (n === ROWS - 1 ? "\\.\n" : ""),
}
const goatcounterRows: GeneratedFile = {
  name: "goatcounter.csv",
  header: "2Path,Title,Event,UserAgent,Browser,System,Session,Bot,Referrer,Referrer scheme,Screen size,Location,FirstVisit,Date\n",
  rows: ROWS,
  row: (n) =>
    `/page/${n % 500},Page ${n % 500},0,,Chrome ${100 + (n % 20)},Windows 10,${(n >> 2).toString(16)}-8e4f5c975b8fee06,0,www.google.com,h,"1920,1080,1",US-CA,1,${timeOf(n).slice(0, 19)}Z\n`,
}
const dataPoints: GeneratedFile = {
  name: "datapoints.csv",
  header:
    "added_iso,hostname,path,query,is_unique,is_robot,document_referrer,utm_source,scrolled_percentage,duration_seconds,viewport_width,device_type,country_code,browser_name,browser_version,os_name,os_version,lang_region,lang_language,uuid,session_id,datapoint\n",
  rows: ROWS,
  row: (n) =>
    `${timeOf(n)},shop.example,/page/${n % 500},,${n % PER_VISITOR === 0},false,https://google.com/,,80,12,1200,desktop,US,chrome,${n % 120}.0,macos,14.2,us,en,${uuid("u", n)},${uuid("s", n >> 2)},pageview\n`,
}
const generic: GeneratedFile = {
  name: "events.csv",
  header: "Time,URL,Referrer,Event,Visitor,Country,Plan\n",
  rows: ROWS,
  row: (n) => `${sqlTime(n)},https://shop.example/page/${n % 500},https://google.com/,,${uuid("v", n >> 2)},US,pro\n`,
}
const MAPPING = {
  timestamp: "Time",
  url: "URL",
  referrer: "Referrer",
  event_name: "Event",
  visitor_id: "Visitor",
  country: "Country",
  props: { plan: "Plan" },
}

/** Generates the content in advance, so that only reading is measured. */
function inputFile(source: Source, { name, header, rows, row }: GeneratedFile): InputFile {
  const pieces: Uint8Array[] = []
  let text = header
  for (let n = 0; n < rows; n++) {
    text += row(n)
    if (text.length < PIECE_CHARS && n < rows - 1) continue
    pieces.push(new TextEncoder().encode(text))
    text = ""
  }
  const head = fileHead(name, pieces[0]!.subarray(0, 65_536))
  return {
    ...head,
    recognition: source.recognize(head, {}) ?? { confidence: 1 },
    async *chunks() {
      yield* pieces
    },
  }
}

async function measure(
  what: string,
  source: Source,
  generated: readonly GeneratedFile[],
  own: Record<string, unknown> = {},
  more: object = {},
): Promise<void> {
  if (!what.startsWith(process.argv[3] ?? "")) return
  const files = generated.map((file) => inputFile(source, file))
  let events = 0
  const sink = { event: () => void events++, totals: () => {}, reject: () => {}, skip: () => {}, read: () => {}, warn: () => {} }
  const unused = { refund: () => {}, unsupported: () => {}, choices: () => {}, mapping: () => {}, check: () => {} }
  const options = {
    timezone: "Europe/Berlin",
    siteTimezone: "Europe/Berlin",
    hostname: "",
    currency: "EUR",
    isPreview: false,
    own,
    ...more,
  }
  Bun.gc(true)
  const before = process.memoryUsage().rss
  const [start, cpu] = [performance.now(), process.cpuUsage()]
  await source.read(files, options, { ...sink, ...unused } satisfies Sink)
  const seconds = (performance.now() - start) / 1_000
  const used = process.cpuUsage(cpu)
  const memory = Math.round((process.memoryUsage().rss - before) / 2 ** 20)
  const rows = generated.reduce((sum, { rows, perElement = 1 }) => sum + rows * perElement, 0)
  const perCpu = Math.round((rows * 1e6) / (used.user + used.system)).toLocaleString("en")
  console.log(
    `${what.padEnd(52)} ${Math.round(rows / seconds).toLocaleString("en")} rows/s  ${perCpu} rows per CPU second  ${events} events  +${memory} MiB`,
  )
}

await measure("umami, cloud", umami, [cloudEvents])
await measure("umami, database with sessions", umami, [databaseEvents, sessions])
await measure("umami, database with sessions and event data", umami, [databaseEvents, sessions, eventData])
await measure("umami, pg_dump", umami, [dump])
await measure("goatcounter, CSV 2", goatcounter, [goatcounterRows])
await measure("simple_analytics", simpleAnalytics, [dataPoints])
await measure("csv_generic, events", csvGeneric, [generic], { mapping: MAPPING })
for (const { what, source, files, own, more } of recordCases(ROWS)) await measure(what, source, files, own, more)
