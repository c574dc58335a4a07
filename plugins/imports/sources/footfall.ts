import { Type as t } from "@sinclair/typebox"
import type { ImportedKind, VisitorKind, VisitTraits } from "#plugin"
import { currencyDecimals, IMPORTED_TABLES, isObject, WHOLE_DAY } from "#plugin/worker"
import { jsonElements } from "../reading/json.ts"
import { decoded, encodingOf, lines, type ReadingSink } from "../reading/text.ts"
import { fileName } from "../reading/unpack.ts"
import {
  type FileHead,
  ImportFault,
  type InputFile,
  type ReadOptions,
  type Recognition,
  type Sink,
  type Source,
  type SourceEvent,
} from "../source.ts"

/**
 * The archive of a site, as `services/export/takeout.ts` writes it, in the versions 1 and 2. Its texts are those that were stored, so they
 * are taken as they are. Nothing has to be removed from them: only CSV files mark texts that a spreadsheet would run.
 */
export const footfall: Source = {
  id: "footfall",
  title: "Footfall",
  kinds: ["rows", "aggregate"],
  formats: ["zip"],
  files: ["manifest.json", "visits.ndjson", "imported.ndjson", "clicks.ndjson", "opens.ndjson"]
    .concat(["goals.json", "funnels.json", "annotations.json", "segments.json"])
    .map((name) => ({ name, required: [], optional: [] })),
  options: t.Object({
    create_definitions: t.Optional(
      t.Boolean({ description: "Whether to create the goals, funnels, segments and annotations of the archive. Default: false." }),
    ),
  }),
  recognize,
  async read(files, options, sink) {
    await checkManifest(files)
    for (const file of files) await readFile(file, options, sink)
  },
}

const FORMAT = "footfall-site"
const VERSIONS = [1, 2]
/** A visit with all of its events is one line. */
const MAX_VISIT_BYTES = 16 * 1024 ** 2
const DEFINITIONS = ["goals", "funnels", "annotations", "segments"] as const
const RECORDS = ["clicks", "opens"]

function recognize({ name, text }: FileHead): Recognition | undefined {
  const base = fileName(name)
  if (base === "manifest.json" && text.includes(`"${FORMAT}"`)) return { confidence: 1, table: "manifest" }
  if (base === "visits.ndjson" && (text.trim() === "" || /^\{[^\n]*"visitor_kind"/.test(text))) return { confidence: 0.9, table: "visits" }
  if (base === "imported.ndjson") return { confidence: 0.5, table: "imported" }
  const dot = base.lastIndexOf(".")
  const [plain, extension] = dot === -1 ? [base, ""] : [base.slice(0, dot), base.slice(dot + 1)]
  if (extension === "json" && DEFINITIONS.some((known) => known === plain)) return { confidence: 0.1, table: plain }
  if (extension === "ndjson" && RECORDS.includes(plain)) return { confidence: 0.1, table: plain }
  // A plugin names its files after itself.
  return extension === "ndjson" && /^[a-z]+_[a-z_]+$/.test(plain) ? { confidence: 0.01, table: "plugin" } : undefined
}

async function checkManifest(files: readonly InputFile[]): Promise<void> {
  const file = files.find(({ recognition }) => recognition.table === "manifest")
  if (!file) {
    const message = "The archive has no manifest.json with its version. Send the zip as it was exported, without unpacking it."
    throw new ImportFault("unrecognized_source", message)
  }
  let text = ""
  for await (const piece of decoded(file, encodingOf(file))) text += piece
  const { format, version } = parseObject(text, file.name)
  if (format === FORMAT && VERSIONS.includes(version as number)) return
  const message = `${file.name} states version ${String(version).slice(0, 20)} of the archive, but only versions 1 and 2 can be read.`
  throw new ImportFault("unsupported_version", `${message} Export the site with a version of Footfall that is not newer than this one.`)
}

function parseObject(text: string, name: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (isObject(value)) return value
  } catch {
    // Reported below, like JSON that is no object.
  }
  throw new ImportFault("invalid_archive", `${name} is not a JSON object, so the archive is damaged. Export the site again.`)
}

async function readFile(file: InputFile, options: ReadOptions, sink: Sink): Promise<void> {
  const { table } = file.recognition
  if (table === "visits") return readVisits(file, sink)
  if (table === "imported") return readImported(file, options, sink)
  if (RECORDS.includes(table ?? "")) return countRecords(file, sink)
  const definitions = DEFINITIONS.find((name) => name === table)
  if (definitions && options.own.create_definitions === true) return readDefinitions(file, definitions, sink)
  if (table !== "plugin") return
  sink.warn("plugin_file_ignored", `${file.name} belongs to a plugin and is not imported.`, file.name)
}

/** Reports elements that are refused as a row each. Those that are read are counted by their rows. */
const rowSink = (sink: Sink): ReadingSink => ({
  read: () => {},
  reject(file, line, code, excerpt) {
    sink.read(1)
    sink.reject(file, line, code, excerpt)
  },
  warn: (code, message, file) => sink.warn(code, message, file),
  check: () => sink.check(),
})

async function readVisits(file: InputFile, sink: Sink): Promise<void> {
  for await (const group of jsonElements(file, "utf-8", rowSink(sink), MAX_VISIT_BYTES)) {
    for (const { line, value } of group) readVisit(file.name, line, value, sink)
  }
}

const TRAIT_NAMES = [
  "source",
  "referrer",
  "channel",
  "utm_source",
  "utm_medium",
  "utm_campaign",
  "utm_term",
  "utm_content",
  "click_id_type",
].concat(["country", "region", "city", "device", "size", "browser", "browser_version", "os", "os_version", "language"])

const KINDS: readonly VisitorKind[] = ["rotating", "device", "user"]

function readVisit(file: string, line: number, visit: Readonly<Record<string, unknown>>, sink: Sink) {
  const events = Array.isArray(visit.events) ? (visit.events as unknown[]) : []
  const visitor = textOf(visit.visitor)
  sink.read(Math.max(1, events.length))
  if (events.length === 0 || visitor === "") return sink.reject(file, line, "wrong_column_count", "")
  // An entry for each trait. Missing ones are stated as such, so that none is derived again.
  const traits = Object.fromEntries(TRAIT_NAMES.map((name) => [name, textOf(visit[name])])) as VisitTraits
  const common = {
    file,
    line,
    visitor,
    visitorKind: KINDS.find((kind) => kind === visit.visitor_kind) ?? ("rotating" as const),
    visit: String(line),
    traits,
  }
  for (const event of events) {
    const at = isObject(event) ? event.at : undefined
    if (!isObject(event) || !Number.isSafeInteger(at)) sink.reject(file, line, "bad_date", String(at))
    // Checked to be an integer.
    else sink.event({ ...common, ...eventOf(event), at: at as number })
  }
}

function eventOf(event: Readonly<Record<string, unknown>>): Omit<SourceEvent, "file" | "line" | "at" | "visitor"> {
  const { interactive, props, revenue, engagement, vitals } = event
  return {
    name: textOf(event.name),
    page: textOf(event.page) || "/",
    hostname: textOf(event.hostname),
    title: textOf(event.title),
    interactive: interactive === true,
    props: Array.isArray(props) ? props.flatMap(pairOf) : [],
    ...(isObject(revenue) && { revenue: { amount: majorUnits(revenue), currency: textOf(revenue.currency) } }),
    ...(isObject(engagement) && { engagement: engagementOf(engagement) }),
    ...(isObject(vitals) && { vitals: vitalsOf(vitals) }),
  }
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "")

function pairOf(pair: unknown): [key: string, value: string][] {
  const [key, value] = Array.isArray(pair) ? (pair as unknown[]) : []
  return typeof key === "string" && typeof value === "string" ? [[key, value]] : []
}

/** Returns an amount in minor units as decimal text in major units, or what is there if it is none. */
function majorUnits({ amount, currency }: Readonly<Record<string, unknown>>): string {
  const decimals = currencyDecimals(textOf(currency))
  if (!Number.isSafeInteger(amount) || decimals === undefined) return String(amount)
  const units = amount as number // a safe integer
  const digits = String(Math.abs(units)).padStart(decimals + 1, "0")
  const whole = digits.slice(0, digits.length - decimals)
  return `${units < 0 ? "-" : ""}${whole}${decimals === 0 ? "" : `.${digits.slice(-decimals)}`}`
}

function engagementOf({ engagedMs, scrollDepth }: Readonly<Record<string, unknown>>): NonNullable<SourceEvent["engagement"]> {
  return {
    engagedMs: typeof engagedMs === "number" && engagedMs >= 0 ? Math.round(engagedMs) : 0,
    ...(typeof scrollDepth === "number" && { scrollDepth: Math.min(100, Math.max(0, Math.round(scrollDepth))) }),
  }
}

const vitalsOf = (vitals: Readonly<Record<string, unknown>>): NonNullable<SourceEvent["vitals"]> =>
  Object.fromEntries(
    ["lcp", "inp", "fcp", "ttfb", "cls"].flatMap((name) => (typeof vitals[name] === "number" ? [[name, vitals[name]]] : [])),
  )

/** Reads totals: `kind`, `day`, `hour` unless they are of the whole day, the zone of both, and the columns of the kind. */
async function readImported(file: InputFile, { siteTimezone }: ReadOptions, sink: Sink): Promise<void> {
  const zones = new Set<string>()
  for await (const group of jsonElements(file, "utf-8", sink)) {
    for (const { line, value } of group) {
      readTotals(file.name, line, value, sink)
      const zone = textOf(value.timezone)
      if (zone !== "") zones.add(zone)
    }
  }
  zones.delete(siteTimezone)
  if (zones.size === 0) return
  const listed = [...zones].slice(0, 5).join(", ")
  const message = `${file.name} has totals of days in ${listed}. They are imported as days of the site, whose zone is ${siteTimezone}.`
  sink.warn("other_timezone", message, file.name)
}

const DAY = /^\d{4}-\d\d-\d\d$/

function readTotals(file: string, line: number, value: Readonly<Record<string, unknown>>, sink: Sink) {
  const { kind, day, hour } = value
  if (typeof kind !== "string" || !Object.hasOwn(IMPORTED_TABLES, kind)) return sink.skip("not_imported_type")
  if (typeof day !== "string" || !DAY.test(day)) return sink.reject(file, line, "bad_date", String(day))
  const isWholeDay = hour === undefined || hour === null || hour === WHOLE_DAY
  if (!isWholeDay && !(Number.isInteger(hour) && (hour as number) >= 0 && (hour as number) <= 23))
    return sink.reject(file, line, "bad_date", String(hour))
  // A key of the table.
  const { texts, counts } = IMPORTED_TABLES[kind as ImportedKind]
  const amounts: [string, number][] = []
  for (const name of counts) {
    const count = value[name] ?? 0
    if (typeof count !== "number" || !Number.isFinite(count)) return sink.reject(file, line, "bad_number", String(count))
    if (count < 0) return sink.reject(file, line, "negative_count", String(count))
    if (count > 0) amounts.push([name, Math.round(count)])
  }
  sink.totals(kind as ImportedKind, {
    file,
    line,
    day,
    ...(!isWholeDay && { hour: hour as number }), // an integer
    texts: Object.fromEntries(Object.keys(texts).flatMap((name) => (textOf(value[name]) === "" ? [] : [[name, textOf(value[name])]]))),
    counts: Object.fromEntries(amounts),
  })
}

/** Reads the goals, funnels, annotations or segments of the site, which are one array. */
async function readDefinitions(file: InputFile, kind: (typeof DEFINITIONS)[number], sink: Sink): Promise<void> {
  const items: object[] = []
  const silent: ReadingSink = {
    ...rowSink(sink),
    reject: (name, line, code) => sink.warn("bad_definition", `Line ${line} of ${name}: ${code}.`, name),
  }
  for await (const group of jsonElements(file, "utf-8", silent)) items.push(...group.map(({ value }) => withoutVersion(value)))
  sink.definitions?.(kind, items)
}

/** A new definition has a version of its own, and refuses one that is stated. */
const withoutVersion = ({ version: _, ...definition }: Record<string, unknown>): object => definition

/** Counts clicks and opens, which name links and pixels of another instance. */
async function countRecords(file: InputFile, sink: Sink): Promise<void> {
  for await (const group of lines(file, "utf-8", sink)) {
    const rows = group.filter(({ text }) => text !== "").length
    sink.read(rows)
    sink.skip("not_imported_type", rows)
  }
}
