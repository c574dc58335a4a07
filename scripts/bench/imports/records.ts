/** Generated logs and JSON exports for `import-readers.ts`. */
import type { Source } from "../../../plugins/imports/source.ts"
import { footfall } from "../../../plugins/imports/sources/footfall.ts"
import { ga4BigQuery } from "../../../plugins/imports/sources/ga4/bigquery.ts"
import { matomo } from "../../../plugins/imports/sources/matomo/matomo.ts"
import { coverageReader, NO_COVERAGE } from "../../../plugins/imports/sources/server-log/coverage.ts"
import { serverLog } from "../../../plugins/imports/sources/server-log.ts"

/** A generated file. `row` returns the text of an element, with its line end. */
export interface GeneratedFile {
  name: string
  header: string
  rows: number
  row(number: number): string
  /** Rows of an element that has several, such as a visit with its events. Default: 1. */
  perElement?: number
}

export interface ReaderCase {
  what: string
  source: Source
  files: readonly GeneratedFile[]
  own?: Record<string, unknown>
  more?: object
}

const START = 1_700_000_000_000
const STEP_MS = 700
const PER_VISIT = 4
const AGENT = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/121.0.0.0 Safari/537.36"
const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ")

const atOf = (n: number): number => START + n * STEP_MS
const isoOf = (n: number): string => new Date(atOf(n)).toISOString()
const apacheOf = (n: number): string => {
  const text = isoOf(n)
  return `${text.slice(8, 10)}/${MONTHS[Number(text.slice(5, 7)) - 1]}/${text.slice(0, 4)}:${text.slice(11, 19)} +0000`
}
const addressOf = (n: number): string => `203.0.${(n >> 10) & 255}.${(n >> 2) & 255}`
/** A quarter of the requests is static. */
const targetOf = (n: number): string => (n % 4 === 3 ? `/static/app-${n % 50}.js` : `/page/${n % 500}?from=list`)
const combinedLine = (n: number): string =>
  `${addressOf(n)} - - [${apacheOf(n)}] "GET ${targetOf(n)} HTTP/1.1" 200 ${n % 9000} "https://shop.example/" "${AGENT}"\n`

const LOGS: Readonly<Record<string, { header?: string; row(n: number): string; own?: Record<string, unknown> }>> = {
  combined: { row: combinedLine },
  vhost_combined: { row: (n) => `shop.example:443 ${combinedLine(n)}` },
  common: { row: (n) => `${addressOf(n)} - - [${apacheOf(n)}] "GET ${targetOf(n)} HTTP/1.1" 200 ${n % 9000}\n` },
  "w3c (IIS)": {
    header: "#Fields: date time s-sitename cs-method cs-uri-stem cs-uri-query s-port c-ip cs(User-Agent) cs(Referer) cs-host sc-status\n",
    row: (n) => {
      const [stem, query = "-"] = targetOf(n).split("?")
      const agent = AGENT.replaceAll(" ", "+")
      return `${isoOf(n).slice(0, 10)} ${isoOf(n).slice(11, 19)} W3SVC1 GET ${stem} ${query} 443 ${addressOf(n)} ${agent} - shop.example 200\n`
    },
  },
  "w3c (CloudFront)": {
    header:
      "#Fields: date time x-edge-location sc-bytes c-ip cs-method cs(Host) cs-uri-stem sc-status cs(Referer) cs(User-Agent) x-host-header\n",
    row: (n) =>
      [isoOf(n).slice(0, 10), isoOf(n).slice(11, 19), "FRA2", "512", addressOf(n), "GET", "d1.cloudfront.net", targetOf(n).split("?")[0]]
        .concat(["200", "-", AGENT.replaceAll(" ", "%2520"), "shop.example\n"])
        .join("\t"),
  },
  caddy: {
    row: (n) =>
      `{"level":"info","ts":${atOf(n) / 1000},"logger":"http.log.access","msg":"handled request","request":{"remote_ip":"${addressOf(n)}","proto":"HTTP/2.0","method":"GET","host":"shop.example","uri":"${targetOf(n)}","headers":{"User-Agent":["${AGENT}"],"Accept-Language":["en-US"]}},"duration":0.01,"size":512,"status":200}\n`,
  },
  nginx_json: {
    row: (n) =>
      `{"ip":"${addressOf(n)}","host":"shop.example","path":"${targetOf(n)}","status":"200","referrer":"-","user_agent":"${AGENT}","length":512,"date":"${isoOf(n)}"}\n`,
  },
  bunny: { row: (n) => `HIT|200|${atOf(n)}|512|390|${addressOf(n)}|-|https://shop.example${targetOf(n)}|WA|${AGENT}|${n}|DE\n` },
  custom: {
    row: combinedLine,
    own: {
      format: "custom",
      pattern: '$remote_addr - $remote_user [$time_local] "$request" $status $_ "$http_referer" "$http_user_agent"',
    },
  },
}

const action = (n: number, k: number): string =>
  `{"type":"action","url":"https://shop.example/page/${(n + k) % 500}","pageTitle":"Page ${(n + k) % 500}","timestamp":${Math.floor(atOf(n) / 1000) + k * 30},"timeSpent":"30"}`
const matomoVisit = (n: number): string =>
  `{"idVisit":"${n}","visitorId":"${n.toString(16).padStart(16, "0")}","siteCurrency":"EUR","browserName":"Chrome","browserVersion":"${n % 120}.0","operatingSystemName":"Windows","operatingSystemVersion":"10","deviceType":"Desktop","languageCode":"en-us","countryCode":"us","regionCode":"CA","city":"Oakland","resolution":"1920x1080","referrerType":"search","referrerName":"Google","referrerUrl":"https://www.google.com/","actionDetails":[${Array.from({ length: PER_VISIT }, (_, k) => action(n, k)).join(",")}]}\n`

const bigQueryRow = (n: number): string =>
  `{"event_date":"20231114","event_timestamp":"${atOf(n)}002","event_name":"${n % 10 === 0 ? "sign_up" : "page_view"}","event_params":[{"key":"page_location","value":{"string_value":"https://shop.example/page/${n % 500}"}},{"key":"page_title","value":{"string_value":"Page ${n % 500}"}},{"key":"ga_session_id","value":{"int_value":"${n >> 2}"}},{"key":"engagement_time_msec","value":{"int_value":"12"}}],"user_pseudo_id":"${n >> 2}.17","device":{"category":"desktop","operating_system":"Windows","operating_system_version":"Windows 10","language":"en-us","web_info":{"browser":"Chrome","browser_version":"${n % 120}.0","hostname":"shop.example"}},"geo":{"country":"United States","region":"California","city":"Oakland"},"collected_traffic_source":{"manual_source":"google","manual_medium":"organic"}}\n`

const archiveEvent = (n: number, k: number): string =>
  `{"at":${atOf(n) + k * 30_000},"name":"pageview","page":"/page/${(n + k) % 500}","hostname":"shop.example","title":"Page ${(n + k) % 500}","interactive":true,"props":[]}`
const archiveVisit = (n: number): string =>
  `{"visitor_kind":"rotating","started_at":${atOf(n)},"duration":90000,"pageviews":4,"counted_events":4,"interactive":4,"engaged":0,"entry_page":"/","exit_page":"/","entry_page_hostname":"shop.example","exit_page_hostname":"shop.example","source":"Google","referrer":"google.com","channel":"Organic Search","utm_source":"","utm_medium":"","utm_campaign":"","utm_term":"","utm_content":"","click_id_type":"","country":"US","region":"US-CA","city":"5378538","device":"Desktop","size":"1440+","browser":"Chrome","browser_version":"121.0","os":"Windows","os_version":"10","language":"en-US","import_id":0,"events":[${Array.from({ length: PER_VISIT }, (_, k) => archiveEvent(n, k)).join(",")}],"visitor":"${n.toString(16).padStart(16, "0")}"}\n`
const MANIFEST = '{"format":"footfall-site","version":1}\n'

/** Returns the cases for a number of rows. */
export function recordCases(rows: number): ReaderCase[] {
  const log = ({ header = "", row }: (typeof LOGS)[string]): GeneratedFile => ({ name: "access.log", header, rows, row })
  const visits = (name: string, row: GeneratedFile["row"]): GeneratedFile => ({
    name,
    header: "",
    rows: rows / PER_VISIT,
    row,
    perElement: PER_VISIT,
  })
  const coverage = coverageReader(NO_COVERAGE, new Uint8Array(32))
  return [
    ...Object.entries(LOGS).map(([format, given]) => ({
      what: `server_log, ${format}`,
      source: serverLog,
      files: [log(given)],
      ...(given.own && { own: given.own }),
    })),
    { what: "server_log, combined, first run of a stream", source: serverLog, files: [log(LOGS.combined!)], more: { coverage } },
    { what: "server_log, combined, second run over the same lines", source: serverLog, files: [log(LOGS.combined!)], more: { coverage } },
    { what: "matomo, visits", source: matomo, files: [visits("visits.ndjson", matomoVisit)] },
    { what: "ga4_bigquery", source: ga4BigQuery, files: [{ name: "events.ndjson", header: "", rows, row: bigQueryRow }] },
    {
      what: "footfall",
      source: footfall,
      files: [visits("visits.ndjson", archiveVisit), { name: "manifest.json", header: MANIFEST, rows: 1, row: () => "" }],
    },
  ]
}
