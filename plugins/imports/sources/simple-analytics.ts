import { Type as t } from "@sinclair/typebox"
import type { VisitTraits } from "#plugin"
import { memoize } from "#plugin/worker"
import { type ColumnRules, delimited, headerOf, type Row } from "../reading/delimited.ts"
import type { FileHead, InputFile, ReadOptions, Recognition, Sink, Source, SourceEvent } from "../source.ts"
import { HashIndex } from "./hash-index.ts"
import { fromLocal, localDays, parseTime } from "./times.ts"
import { browserTraits, deviceOf, languageTag, placeTraits, sizeOf, stated, systemTraits } from "./traits.ts"

const UTM = ["utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"] as const
const METADATA = /^metadata\.(.+)_(?:text|int|bool|date)$/i

const RULES = {
  required: ["added_iso"],
  optional: ["added_unix", "hostname", "hostname_original", "path", "query", "path_and_query", "query_and_path", "is_unique", "is_robot"]
    .concat(["document_referrer", "referrer_hostname", ...UTM, "scrolled_percentage", "duration_seconds", "viewport_width"])
    .concat(["viewport_height", "screen_width", "screen_height", "user_agent", "device_type", "country_code", "browser_name"])
    .concat(["browser_version", "os_name", "os_version", "lang_region", "lang_language", "uuid", "session_id", "datapoint"]),
  accepts: (name: string) => METADATA.test(name),
} satisfies ColumnRules

/** Columns by which a file is recognized that lacks `added_iso`. */
const MARKS = ["added_unix", "hostname_original", "is_unique", "document_referrer", "lang_region", "datapoint", "query_and_path"]

/** Simple Analytics: the CSV of raw data points, a row per pageview and event. */
export const simpleAnalytics: Source = {
  id: "simple_analytics",
  title: "Simple Analytics",
  kinds: ["rows"],
  formats: ["csv", "zip"],
  files: [{ name: "datapoints.csv", required: RULES.required, optional: [...RULES.optional, "metadata.<key>_text|int|bool|date"] }],
  options: t.Object({}),
  recognize: recognizeDataPoints,
  async read(files, options, sink) {
    for (const file of files) await new DataPointReader(file, options, sink).read()
  },
}

function recognizeDataPoints(file: FileHead): Recognition | undefined {
  const header = headerOf(file)
  if (header?.has("added_iso") && header.names.length > 1) return { confidence: 0.95, table: "datapoints" }
  return header && MARKS.filter((mark) => header.has(mark)).length >= 3 ? { confidence: 0.6, table: "datapoints" } : undefined
}

/**
 * Reads a file. There is no id of a visitor: each unique row is a new one, and other rows belong to the unique row of their session. Rows
 * without a session belong to the latest unique row of their day with the same host, country, browser and device. They wait for a second
 * pass, because exports are not always in order of time; until then, only the times of unique rows without a session are held: 8 bytes each.
 */
class DataPointReader {
  readonly #hasUnique: boolean
  readonly #metadata: readonly (readonly [column: string, key: string])[]
  readonly #dayOf: (at: number) => string
  readonly #fromLocal: ReturnType<typeof fromLocal>
  /** Sessions with a unique row. */
  readonly #sessions = new HashIndex()
  /** Times of unique rows without a session, by day, host, country, browser and device. */
  readonly #uniques = new Map<string, number[]>()
  #waiting = 0
  #approximate = false

  constructor(
    private readonly file: InputFile,
    private readonly options: ReadOptions,
    private readonly sink: Sink,
  ) {
    const header = headerOf(file, options)
    this.#hasUnique = header?.has("is_unique") ?? false
    this.#metadata = (header?.names ?? []).flatMap((name) => {
      const key = METADATA.exec(name)?.[1]
      return key === undefined ? [] : [[name.toLowerCase(), key] as const]
    })
    this.#dayOf = localDays(options.siteTimezone)
    this.#fromLocal = fromLocal(options.sourceTimezone ?? "UTC")
  }

  async read(): Promise<void> {
    const { file, options, sink } = this
    for await (const rows of delimited(file, RULES, options, sink)) for (const row of rows) this.#readRow(row)
    if (this.#waiting > 0) {
      for (const times of this.#uniques.values()) times.sort((a, b) => a - b)
      // The rows were counted, and the faulty ones rejected, in the first pass.
      const silent = { read: () => {}, reject: () => {}, warn: () => {}, check: () => sink.check() }
      for await (const rows of delimited(file, RULES, options, silent)) for (const row of rows) this.#readWaiting(row)
    }
    if (!this.#approximate) return
    const message = `${file.name} has rows without session_id. Their visitors and visits are found by host, country, browser and device, which is approximate.`
    sink.warn("visits_approximate", message, file.name)
  }

  #readRow(row: Row) {
    const { sink } = this
    if (isTrue(row.get("is_robot"))) return sink.skip("bot")
    const at = this.#timeOf(row)
    if (at === undefined) return sink.reject(this.file.name, row.line, "bad_date", row.get("added_iso"))
    const session = row.get("session_id").trim()
    const isUnique = isTrue(row.get("is_unique"))
    if (session === "") {
      this.#approximate = true
      if (!this.#hasUnique) return this.#emit(row, at, "")
      if (!isUnique) return void this.#waiting++
      const group = this.#group(row, at)
      const times = this.#uniques.get(group) ?? []
      if (times.length === 0) this.#uniques.set(group, times)
      times.push(at)
      return this.#emit(row, at, visitorAt(group, at, times))
    }
    // A session with several unique rows has as many visitors. Its other rows belong to the latest of them in the file.
    const known = this.#sessions.get(session) ?? 0
    const number = isUnique ? known + 1 : known
    if (isUnique) this.#sessions.set(session, number)
    this.#emit(row, at, number > 1 ? `session ${session} ${number}` : `session ${session}`)
  }

  #readWaiting(row: Row) {
    if (isTrue(row.get("is_robot")) || row.get("session_id").trim() !== "" || isTrue(row.get("is_unique"))) return
    const at = this.#timeOf(row)
    if (at === undefined) return
    const group = this.#group(row, at)
    const time = (this.#uniques.get(group) ?? []).findLast((unique) => unique <= at)
    this.#emit(row, at, time === undefined ? "" : visitorAt(group, time))
  }

  #timeOf(row: Row): number | undefined {
    return parseTime(row.get("added_iso").trim(), this.#fromLocal)
  }

  #group(row: Row, at: number): string {
    const columns = ["hostname", "country_code", "browser_name", "device_type"].map((column) => row.get(column))
    return [this.#dayOf(at), ...columns].join("\u001f")
  }

  #emit(row: Row, at: number, visitor: string): void {
    const datapoint = row.get("datapoint").trim()
    const event: SourceEvent = {
      file: this.file.name,
      line: row.line,
      at,
      name: datapoint === "" ? "pageview" : datapoint,
      visitor,
      ...pageOf(row),
      ...referrerOf(row),
      utm: Object.fromEntries(UTM.map((name) => [name, row.get(name)] as const).filter(([, value]) => value !== "")),
      ...(row.get("user_agent") !== "" && { userAgent: row.get("user_agent") }),
      traits: traitsOf(TRAIT_COLUMNS.map((column) => row.get(column)).join(SEPARATOR)),
    }
    const props = this.#metadata.map(([column, key]) => [key, row.get(column)] as const).filter(([, value]) => value !== "")
    this.sink.event(props.length > 0 ? { ...event, props } : event)
    const engagement = event.name === "pageview" ? engagementOf(row) : undefined
    // An engagement follows its pageview, at the same moment so that it stays in the visit.
    if (engagement) this.sink.event({ ...event, name: "engagement", engagement })
  }
}

const isTrue = (text: string): boolean => /^\s*(?:true|1)\s*$/i.test(text)

/** Names the visitor of a unique row. Rows of one moment, which follow each other in the file, are different visitors. */
function visitorAt(group: string, at: number, times: readonly number[] = []): string {
  let others = 0
  while (times[times.length - 2 - others] === at) others++
  return others > 0 ? `unique ${group} ${at} ${others}` : `unique ${group} ${at}`
}

function pageOf(row: Row): Pick<SourceEvent, "hostname" | "path"> {
  const hostname = (row.get("hostname") || row.get("hostname_original")).trim()
  const query = row.get("query").trim().replace(/^\?/, "")
  const path = row.get("path") || row.get("path_and_query") || row.get("query_and_path")
  return {
    ...(hostname !== "" && { hostname }),
    ...((path !== "" || query !== "") && { path: query === "" || path.includes("?") ? path : `${path || "/"}?${query}` }),
  }
}

function referrerOf(row: Row): { referrer?: string } {
  const referrer = (row.get("document_referrer") || row.get("referrer_hostname")).trim()
  if (referrer === "") return {}
  return { referrer: referrer.includes("://") ? referrer : `https://${referrer}` }
}

/** Returns the engagement of a pageview, or undefined if it is not known. */
function engagementOf(row: Row): SourceEvent["engagement"] | undefined {
  const seconds = numberOf(row.get("duration_seconds"))
  const scrolled = numberOf(row.get("scrolled_percentage"))
  if (seconds === undefined && scrolled === undefined) return undefined
  return {
    engagedMs: Math.round((seconds ?? 0) * 1_000),
    ...(scrolled !== undefined && { scrollDepth: Math.min(100, Math.round(scrolled)) }),
  }
}

const numberOf = (text: string): number | undefined => (/^\s*\d+(?:\.\d+)?\s*$/.test(text) ? Number(text) : undefined)

const SEPARATOR = "\u001f"
const CACHED_TRAITS = 20_000
const TRAIT_COLUMNS = ["browser_name", "browser_version", "os_name", "os_version", "device_type", "country_code"].concat([
  "viewport_width",
  "screen_width",
  "lang_language",
  "lang_region",
])

const traitsOf = memoize(CACHED_TRAITS, (text: string): Partial<VisitTraits> => {
  const [
    browser = "",
    version = "",
    os = "",
    osVersion = "",
    device = "",
    country = "",
    viewport = "",
    screen = "",
    language = "",
    region = "",
  ] = text.split(SEPARATOR)
  return stated({
    ...browserTraits(browser, version),
    ...systemTraits(os, osVersion),
    device: deviceOf(device),
    size: sizeOf(viewport) || sizeOf(screen),
    language: languageTag(language === "" || region === "" || region.includes("-") ? region || language : `${language}-${region}`),
    ...placeTraits({ country }),
  })
})
