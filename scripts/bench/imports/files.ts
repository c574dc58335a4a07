/** Exports of other products for the benchmark of imports, written to files, and the same events as native visits. */
import { closeSync, openSync, writeSync } from "node:fs"
import { personOf } from "../../../src/services/demo/people.ts"
import { type BenchVisit, benchData } from "../stores/data.ts"
import { DAY_MS } from "../stores/reports.ts"

export interface ImportSize {
  rows: number
  days: number
  seed: number
  /** End of the last day, epoch milliseconds. */
  end: number
}

/** Share of the generated events that Umami exports. It has no engagement. */
const EXPORTED = 0.55

/** Yields visits with exactly the given number of events, reduced to what an export of Umami can express. */
export function* exportableVisits({ rows, days, seed, end }: ImportSize): Generator<BenchVisit[]> {
  let left = rows
  for (const batch of benchData({ events: Math.ceil(rows / EXPORTED), sites: 1, days, seed, end })) {
    const visits: BenchVisit[] = []
    for (const visit of batch) {
      const counted = visit.events.filter(({ name }) => name !== "engagement").slice(0, left)
      if (counted.length === 0) continue
      left -= counted.length
      const events = counted.map(({ revenue: _, ...event }) => ({ ...event, props: [] }))
      visits.push({ ...visit, traits: { ...visit.traits, browser_version: "", os_version: "" }, events })
    }
    yield visits
    if (left === 0) return
  }
  throw new Error(`The generated traffic has ${left} events too few.`)
}

const UMAMI_HEADER =
  "website_id,session_id,visit_id,event_id,hostname,browser,os,device,screen,language,country,region,city,url_path,url_query,utm_source,utm_medium,utm_campaign,utm_content,utm_term,referrer_path,referrer_query,referrer_domain,page_title,gclid,fbclid,msclkid,ttclid,li_fat_id,twclid,event_type,event_name,tag,distinct_id,created_at,job_id"
const WEBSITE = "0b6b1d6e-7c0e-4d8f-9a53-5b6f6f1c2d3e"
/** A screen of each class. */
const SCREENS: Readonly<Record<string, string>> = {
  "<576": "390x844",
  "576-767": "600x960",
  "768-991": "820x1180",
  "992-1439": "1280x720",
  "1440+": "1920x1080",
}

/** Writes visits as `website_event.csv` of Umami Cloud. */
export function writeUmami(path: string, visits: Iterable<BenchVisit[]>): void {
  const file = new TextFile(path, UMAMI_HEADER)
  let [visitNumber, eventNumber] = [0, 0]
  for (const batch of visits) {
    for (const { visitor, traits, events } of batch) {
      const [domain = "", referrerPath = ""] = traits.referrer.split(/(?=\/)/, 2)
      const before = [WEBSITE, idOf(1, visitor), idOf(2, visitNumber++)]
      const client = [
        traits.browser,
        traits.os,
        traits.device.toLowerCase(),
        SCREENS[traits.size] ?? "",
        traits.language,
        traits.country,
        "",
        "",
      ]
      const utm = [traits.utm_source, traits.utm_medium, traits.utm_campaign, traits.utm_content, traits.utm_term]
      for (const { at, name, page, hostname, title } of events) {
        const type = name === "pageview" ? ["1", ""] : ["2", name]
        const time = new Date(at).toISOString().slice(0, 23).replace("T", " ")
        const cells = [...before, idOf(3, eventNumber++), hostname, ...client, page, "", ...utm, referrerPath, "", domain, `"${title}"`]
        file.line([...cells, traits.click_id_type === "gclid" ? "1" : "", "", "", "", "", "", ...type, "", "", time, ""].join(","))
      }
    }
  }
  file.close()
}

/** Returns an id that looks random, as ids of exports do, so that nothing profits from their order. */
function idOf(kind: number, number: number): string {
  const mix = (seed: number): string => {
    let hash = Math.imul(number ^ (seed * 0x9e3779b9), 0x85ebca6b)
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
    return ((hash ^ (hash >>> 16)) >>> 0).toString(16).padStart(8, "0")
  }
  const [first, second, third] = [mix(kind), mix(kind + 3), mix(kind + 6)]
  return `${first}-${second.slice(0, 4)}-4${second.slice(5)}-a${third.slice(5)}-${kind}${third.slice(0, 3)}${number.toString(16).padStart(8, "0")}`
}

/** Number of people in a log: addresses with user agents. */
const PEOPLE = 50_000
const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ")

/** Writes a combined log. A quarter of its requests is for static files. */
export function writeAccessLog(path: string, { rows, days, seed, end }: ImportSize): void {
  const file = new TextFile(path)
  const [from, step] = [end - days * DAY_MS, (days * DAY_MS) / rows]
  for (let row = 0; row < rows; row++) {
    const person = Math.imul(row >> 3, 0x9e3779b1) >>> 0
    const { address, userAgent } = personOf(seed, person % PEOPLE)
    const iso = new Date(from + row * step).toISOString()
    const time = `${iso.slice(8, 10)}/${MONTHS[Number(iso.slice(5, 7)) - 1]}/${iso.slice(0, 4)}:${iso.slice(11, 19)} +0000`
    const target = row % 4 === 3 ? `/static/app-${row % 50}.js` : `/products/${(person + row) % 500}?from=list`
    file.line(`${address} - - [${time}] "GET ${target} HTTP/1.1" 200 ${row % 9_000} "https://www.google.com/" "${userAgent}"`)
  }
  file.close()
}

const PAGES_HEADER =
  "date,hostname,page,visits,visitors,pageviews,total_scroll_depth,total_scroll_depth_visits,total_time_on_page,total_time_on_page_visits"
const LOCATIONS_HEADER = "date,country,region,city,visitors,visits,visit_duration,bounces,pageviews"

/** Writes two tables of Plausible, with half of the rows each, below a folder. Returns their paths. */
export function writePlausible(folder: string, { rows, days, end }: ImportSize): string[] {
  const pages = new TextFile(`${folder}/imported_pages_20240101_20241231.csv`, PAGES_HEADER)
  const locations = new TextFile(`${folder}/imported_locations_20240101_20241231.csv`, LOCATIONS_HEADER)
  const perDay = rows / 2 / days
  for (let row = 0; row < rows / 2; row++) {
    const day = new Date(end - DAY_MS * (days - Math.floor(row / perDay))).toISOString().slice(0, 10)
    const number = Math.floor(row % perDay)
    const [visitors, visits] = [1 + (row % 90), 1 + (row % 90) + (row % 7)]
    pages.line(
      `"${day}","shop.example.com","/products/${number}",${visits},${visitors},${visits + 3},${visits * 60},${visits},${visits * 30},${visits}`,
    )
    const region = number % 26
    locations.line(
      `"${day}","DE","DE-${String.fromCharCode(65 + region)}X",${number + 1},${visitors},${visits},${visits * 40},${row % 5},${visits + 3}`,
    )
  }
  pages.close()
  locations.close()
  return [pages.path, locations.path]
}

const BUFFER_CHARS = 1 << 20

/** A file of lines. */
class TextFile {
  readonly #file: number
  #text = ""

  constructor(
    readonly path: string,
    header?: string,
  ) {
    this.#file = openSync(path, "w")
    if (header !== undefined) this.line(header)
  }

  line(text: string): void {
    this.#text += `${text}\n`
    if (this.#text.length >= BUFFER_CHARS) this.#flush()
  }

  close(): void {
    this.#flush()
    closeSync(this.#file)
  }

  #flush(): void {
    const bytes = Buffer.from(this.#text)
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at)
    this.#text = ""
  }
}
