import type { ImportedKind } from "#plugin"
import { languageOf, sizeClass } from "#plugin/worker"
import { jsonElements } from "../../reading/json.ts"
import { encodingOf } from "../../reading/text.ts"
import { fileName } from "../../reading/unpack.ts"
import { type FileHead, ImportFault, type InputFile, type ReadOptions, type Recognition, type Sink, type SourceFile } from "../../source.ts"
import { type DayAndHour, dayOf, hoursIn, originTexts, pageOf, readLine, TotalsSums, textOf, ValueFault } from "../totals-rows.ts"
import { browserTraits, placeTraits, systemTraits } from "../traits.ts"
import { originOf } from "./csv.ts"

/**
 * The JSON export of GoatCounter: a zip of NDJSON files with counts of first visits per path. They become visitors, because the export
 * has neither visits nor pageviews. `info.json` also holds the email address of its author, which is not read.
 */

type Texts = Readonly<Record<string, string>>
type Values = Readonly<Record<string, unknown>>

/** Files of names, by the id under which counts refer to them. */
const NAMES = ["paths", "refs", "browsers", "systems"] as const
type NameFile = (typeof NAMES)[number]

/** Files of counts per day, with the table that they fill. */
const DAILY: Readonly<Record<string, { kind: ImportedKind; column: string; texts: (values: Values, names: Names) => Texts }>> = {
  browser_stats: { kind: "imported_browsers", column: "browser_id", texts: ({ browser_id }, names) => names.texts("browsers", browser_id) },
  system_stats: {
    kind: "imported_operating_systems",
    column: "system_id",
    texts: ({ system_id }, names) => names.texts("systems", system_id),
  },
  location_stats: { kind: "imported_locations", column: "location", texts: ({ location }) => placeOf(stringOf(location)) },
  language_stats: {
    kind: "imported_languages",
    column: "language",
    texts: ({ language }) => ({ language: languageTagOf(stringOf(language)) }),
  },
  size_stats: { kind: "imported_sizes", column: "width", texts: ({ width }) => ({ size: sizeClass(Number(width)) }) },
}

export const GOATCOUNTER_JSON_FILES: readonly SourceFile[] = [
  { name: "info.json", required: ["export_version"], optional: [] },
  { name: "paths.jsonl", required: ["id", "path"], optional: ["title", "event"] },
  { name: "refs.jsonl", required: ["id", "ref", "ref_scheme"], optional: [] },
  { name: "browsers.jsonl", required: ["id", "name"], optional: ["version"] },
  { name: "systems.jsonl", required: ["id", "name"], optional: ["version"] },
  { name: "hit_stats.jsonl", required: ["hour", "path_id", "count"], optional: ["ref_id"] },
  ...Object.entries(DAILY).map(([name, { column }]) => ({
    name: `${name}.jsonl`,
    required: ["day", "path_id", column, "count"],
    optional: [],
  })),
]
/** Files of names that codes are resolved without. */
const UNUSED = ["locations", "languages"]
const TABLES: ReadonlySet<string> = new Set(["info", "hit_stats", ...NAMES, ...Object.keys(DAILY), ...UNUSED])
const PREFIX = "json_"

/** Recognizes a file of the export by its name, and `info.json` by its content. The table is its name with the prefix `json_`. */
export function recognizeGoatcounterJson(file: FileHead): Recognition | undefined {
  const [, table = ""] = /^([a-z_]+)\.jsonl?$/.exec(fileName(file.name)) ?? []
  if (!TABLES.has(table) || !/^\s*(?:\{|$)/.test(file.text)) return undefined
  if (table !== "info") return { confidence: 0.7, table: `${PREFIX}${table}` }
  const version = /"export_version"\s*:\s*"?([\w.]+)/.exec(file.text)?.[1]
  if (version === undefined || !file.text.includes('"goatcounter_version"')) return undefined
  if (/^1(?:\.|$)/.test(version)) return { confidence: 1, table: `${PREFIX}info` }
  const message = `${file.name} has version ${version} of GoatCounter's JSON export. Version 1 can be imported: use the CSV export instead.`
  return { confidence: 0.9, refusal: { code: "unsupported_version", message } }
}

/** Reads a JSON export. Returns whether the files contain one. */
export async function readGoatcounterJson(files: readonly InputFile[], options: ReadOptions, sink: Sink): Promise<boolean> {
  const byTable = new Map(files.map((file) => [file.recognition.table?.replace(PREFIX, "") ?? "", file]))
  const isJson = files.some(({ recognition }) => recognition.table?.startsWith(PREFIX))
  if (!isJson) return false
  const names = new Names()
  for (const table of NAMES) {
    const file = byTable.get(table)
    if (file) await readNames(file, table, names, options, sink)
  }
  for (const what of ["visits", "pageviews", "entry_pages", "exit_pages"]) sink.unsupported(what)
  const hits = byTable.get("hit_stats")
  if (!hits) {
    const message = "The export has no hit_stats.jsonl, which holds the visitors. Send the zip as GoatCounter made it."
    throw new ImportFault("nothing_to_import", message)
  }
  if (!byTable.has("paths")) {
    const message = "The export has no paths.jsonl, which names the pages. Send the zip as GoatCounter made it."
    throw new ImportFault("nothing_to_import", message)
  }
  await readHits(hits, names, options, sink)
  const daily = Object.keys(DAILY).flatMap((table) => byTable.get(table) ?? [])
  if (daily.length > 0 && options.siteTimezone !== "UTC")
    sink.warn("utc_days", "GoatCounter counts browsers, systems, places, languages and sizes per day in UTC. Their days are kept.")
  for (const file of daily) await readDaily(file, names, options, sink)
  return true
}

const stringOf = (value: unknown): string => (typeof value === "string" ? value : "")

/** Names by file and id. */
class Names {
  readonly #texts: Record<NameFile, Map<unknown, Texts>> = { paths: new Map(), refs: new Map(), browsers: new Map(), systems: new Map() }
  readonly #events = new Set<unknown>()

  add(file: NameFile, values: Values): void {
    if (file === "paths" && isTrue(values.event)) this.#events.add(values.id)
    this.#texts[file].set(values.id, nameTexts(file, values))
  }

  /** Returns the texts of an id. One that has no name is that of a missing value. */
  texts(file: NameFile, id: unknown): Texts {
    return this.#texts[file].get(id) ?? (file === "refs" ? originTexts({}) : {})
  }

  isEvent(pathId: unknown): boolean {
    return this.#events.has(pathId)
  }
}

const isTrue = (value: unknown): boolean => value === true || value === 1 || value === "1" || value === "true"

function nameTexts(file: NameFile, values: Values): Texts {
  const [name, version] = [textOf(stringOf(values.name)), textOf(stringOf(values.version))]
  if (file === "browsers") return browserTraits(name, version)
  if (file === "systems") return systemTraits(name, version)
  if (file === "paths") return isTrue(values.event) ? { name: textOf(stringOf(values.path)) } : { page: pageOf(stringOf(values.path)) }
  const { source, referrer, utm } = originOf(stringOf(values.ref), stringOf(values.ref_scheme))
  return originTexts({ ...(source !== undefined && { source }), ...(referrer !== undefined && { referrer }), ...utm })
}

async function readNames(file: InputFile, table: NameFile, names: Names, options: ReadOptions, sink: Sink): Promise<void> {
  // Names are not rows of the import.
  const uncounted = { ...readingSink(sink), read: () => {} }
  for await (const elements of jsonElements(file, encodingOf(file, options.encoding), uncounted))
    for (const { value } of elements) names.add(table, value)
}

const readingSink = (sink: Sink) => ({
  reject: sink.reject.bind(sink),
  read: sink.read.bind(sink),
  warn: sink.warn.bind(sink),
  check: sink.check.bind(sink),
})

function countOf({ count }: Values): number {
  const value = typeof count === "string" && /^-?\d{1,15}$/.test(count) ? Number(count) : count
  if (typeof value !== "number" || !Number.isSafeInteger(value)) throw new ValueFault("bad_number", JSON.stringify(count) ?? "")
  if (value < 0) throw new ValueFault("negative_count", String(value))
  return value
}

async function readHits(file: InputFile, names: Names, options: ReadOptions, sink: Sink): Promise<void> {
  const [sums, hourOf] = [new TotalsSums(sink), hoursIn(options.siteTimezone)]
  for await (const elements of jsonElements(file, encodingOf(file, options.encoding), sink)) {
    for (const { line, value } of elements)
      readLine(sink, file.name, line, () => {
        const place = { file: file.name, line, ...hourOf(stringOf(value.hour)) }
        addHit({ place, counts: { visitors: countOf(value) } }, value, names, sums)
      })
  }
  sums.flush()
}

interface Hit {
  place: { file: string; line: number } & DayAndHour
  counts: { visitors: number }
}

/** Adds a count of first visits: of an event to the events, of a page to the pages, the sources and the whole site. */
function addHit({ place, counts }: Hit, { path_id, ref_id }: Values, names: Names, sums: TotalsSums): void {
  const texts = names.texts("paths", path_id)
  if (names.isEvent(path_id)) sums.add("imported_custom_events", { ...place, texts, counts })
  else {
    sums.add("imported_visitors", { ...place, texts: {}, counts })
    sums.add("imported_pages", { ...place, texts, counts })
    sums.add("imported_sources", { ...place, texts: names.texts("refs", ref_id), counts })
  }
}

async function readDaily(file: InputFile, names: Names, options: ReadOptions, sink: Sink): Promise<void> {
  const table = DAILY[file.recognition.table?.replace(PREFIX, "") ?? ""]
  if (!table) return
  const sums = new TotalsSums(sink)
  for await (const elements of jsonElements(file, encodingOf(file, options.encoding), sink)) {
    for (const { line, value } of elements) {
      // Counts of events are not those of visitors of the site.
      if (names.isEvent(value.path_id)) sink.skip("not_a_pageview")
      else
        readLine(sink, file.name, line, () => {
          const day = dayOf(stringOf(value.day).slice(0, 10))
          sums.add(table.kind, { file: file.name, line, day, texts: table.texts(value, names), counts: { visitors: countOf(value) } })
        })
    }
  }
  sums.flush()
}

const placeOf = (location: string): Texts => {
  const [country = "", region = ""] = location.trim().split("-")
  return placeTraits({ country, region })
}

/** Codes of ISO 639-3 that mean no language. */
const NO_LANGUAGE = new Set(["und", "mul", "mis", "zxx", ""])
/** Languages whose code stands for a part of what browsers name. */
const BROADER: Readonly<Record<string, string>> = { arb: "ar", cmn: "zh", pes: "fa", swh: "sw", zsm: "ms" }

/** Returns the tag of a language by its code of ISO 639-3, such as `en` for `eng`. */
function languageTagOf(code: string): string {
  const key = code.trim().toLowerCase()
  if (NO_LANGUAGE.has(key) || !/^[a-z]{2,3}(?:-[a-z0-9]+)*$/.test(key)) return ""
  return languageOf(BROADER[key] ?? Intl.getCanonicalLocales(key)[0] ?? key)
}
