import type { VisitTraits } from "#plugin"
import { memoize } from "#plugin/worker"
import { delimited, headerOf, type Row } from "../../reading/delimited.ts"
import type { FileHead, InputFile, ReadOptions, Recognition, RejectCode, Sink, SourceFile } from "../../source.ts"
import { fromLocal, parseTime } from "../times.ts"
import { browserTraits, placeTraits, sizeOf, stated, systemTraits } from "../traits.ts"

/** The CSV export of GoatCounter: a row per pageview and event. The digit before `Path` in the header is the version of the format. */

const COMMON = ["Title", "Referrer", "Referrer scheme", "Browser", "Screen size", "Location", "FirstVisit"]
const REQUIRED = ["Event", "Session", "Bot", "Date"]
const VERSIONS: Readonly<Record<string, SourceFile>> = {
  "1": { name: "goatcounter-export.csv (version 1)", required: ["1Path", ...REQUIRED], optional: COMMON },
  "2": { name: "goatcounter-export.csv (version 2)", required: ["2Path", ...REQUIRED], optional: [...COMMON, "UserAgent", "System"] },
}
export const GOATCOUNTER_CSV_FILES: readonly SourceFile[] = Object.values(VERSIONS)

const PATH = /^(\d+)Path$/i
const CACHED_TRAITS = 20_000

/** Recognizes a CSV export by its header. The table is `csv` and the version. */
export function recognizeGoatcounterCsv(file: FileHead): Recognition | undefined {
  const version = versionOf(file)
  if (version === undefined) return undefined
  if (VERSIONS[version]) return { confidence: 0.98, table: `csv${version}` }
  const message = `${file.name} has version ${version} of GoatCounter's CSV format. Versions 1 and 2 can be imported: use the JSON export instead.`
  return { confidence: 0.9, refusal: { code: "unsupported_version", message } }
}

const versionOf = (file: FileHead): string | undefined =>
  headerOf(file)
    ?.names.map((name) => PATH.exec(name)?.[1])
    .find((version) => version !== undefined)

/** Reads CSV exports. */
export async function readGoatcounterCsv(files: readonly InputFile[], options: ReadOptions, sink: Sink): Promise<void> {
  for (const file of files) {
    const version = file.recognition.table?.slice("csv".length) ?? ""
    const rules = VERSIONS[version]
    if (!rules) continue
    for await (const rows of delimited(file, rules, options, sink)) {
      for (const row of rows) readRow({ file: file.name, version, row }, sink)
    }
  }
}

interface CsvRow {
  file: string
  version: string
  row: Row
}

const TRUE = new Set(["1", "true"])
const FALSE = new Set(["0", "false", ""])

function readRow({ file, version, row }: CsvRow, sink: Sink) {
  const reject = (code: RejectCode, column: string) => sink.reject(file, row.line, code, row.get(column))
  const bot = row.get("Bot").trim()
  if (!/^\d{0,9}$/.test(bot)) return reject("bad_number", "Bot")
  if (Number(bot) !== 0) return sink.skip("bot")
  const event = row.get("Event").trim().toLowerCase()
  if (!TRUE.has(event) && !FALSE.has(event)) return reject("bad_number", "Event")
  const at = parseTime(row.get("Date").trim(), UTC)
  if (at === undefined) return reject("bad_date", "Date")
  const path = row.get(`${version}Path`)
  if (path.trim() === "") return reject("bad_url", `${version}Path`)
  const isEvent = TRUE.has(event)
  // In version 1 the browser is the user agent.
  const userAgent = version === "1" ? row.get("Browser") : row.get("UserAgent")
  const browser = version === "1" ? "" : row.get("Browser")
  const { referrer, utm, source } = originOf(row.get("Referrer"), row.get("Referrer scheme").trim().toLowerCase())
  const traits = traitsOf([browser, row.get("System"), row.get("Screen size"), row.get("Location")].join(SEPARATOR))
  sink.event({
    file,
    line: row.line,
    at,
    name: isEvent ? path : "pageview",
    visitor: row.get("Session"),
    ...(!isEvent && { path: pathOf(path) }),
    title: row.get("Title"),
    ...(referrer !== undefined && { referrer }),
    ...(utm && { utm }),
    ...(userAgent !== "" && { userAgent }),
    traits: source === undefined ? traits : { ...traits, source },
  })
}

const UTC = fromLocal("UTC")

/** Returns a path with its slash. Site owners write paths themselves, and may leave it out. */
const pathOf = (path: string): string => (path.startsWith("/") || /^https?:\/\//i.test(path) ? path : `/${path}`)

/** What GoatCounter knows of the origin of a visit. */
export interface Origin {
  referrer?: string
  utm?: { utm_source: string }
  /** Name of the source. */
  source?: string
}

const HOST = /^[\w-]+(?:\.[\w-]+)+$/

/**
 * Returns the origin by its scheme: an address without `https://` (h), a name that GoatCounter has for a group of addresses (g), the value
 * of `utm_source`, `ref`, `src` or `source` (c), or another address, such as that of an app (o).
 */
export function originOf(referrer: string, scheme: string): Origin {
  const text = referrer.trim()
  if (text === "") return {}
  if (scheme === "c") return { utm: { utm_source: text } }
  if (scheme === "g" && !HOST.test(text)) return { source: text }
  return { referrer: text.includes("://") ? text : `${scheme === "o" ? "android-app" : "https"}://${text}` }
}

const SEPARATOR = "\u001f"

const traitsOf = memoize(CACHED_TRAITS, (text: string): Partial<VisitTraits> => {
  const [browser = "", system = "", size = "", location = ""] = text.split(SEPARATOR)
  const [country = "", region = ""] = location.trim().split("-")
  return stated({
    ...browserTraits(browser),
    ...systemTraits(system),
    size: sizeOf(size),
    ...placeTraits({ country, region }),
  })
})
