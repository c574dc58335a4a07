import { Type as t } from "@sinclair/typebox"
import type { ImportedKind } from "#plugin"
import { IMPORTED_TABLES } from "#plugin/worker"
import { delimited, type Header, headerOf, type Row } from "../reading/delimited.ts"
import { fileName } from "../reading/unpack.ts"
import type { FileHead, InputFile, ReadOptions, Recognition, Sink, Source, SourceFile } from "../source.ts"
import { amountOf, countsOf, dayOf, originTexts, pageOf, readLine, TotalsSums, textOf, ValueFault } from "./totals-rows.ts"
import { browserTraits, deviceOf, placeTraits, systemTraits } from "./traits.ts"

/** Plausible: the CSV export of a site's settings, and of the dashboard's download the totals. */
export const plausible: Source = {
  id: "plausible",
  title: "Plausible",
  kinds: ["aggregate"],
  formats: ["zip", "csv"],
  get files() {
    return FILES
  },
  options: t.Object({}),
  recognize,
  async read(files, options, sink) {
    for (const file of files) await readFile(file, options, sink)
  },
}

type Texts = Readonly<Record<string, string>>

/** How a table of the export is read. Counts have the names of their columns unless `counts` says otherwise. */
interface Table {
  kind: ImportedKind
  required: readonly string[]
  optional: readonly string[]
  texts(row: Row): Texts
  /** Columns of counts by the name that they have in the import. Of several the first with a value counts. */
  counts?: Readonly<Record<string, readonly string[]>>
}

const VISIT_COUNTS = ["visitors", "visits", "visit_duration", "bounces"]

const TABLES: Readonly<Record<string, Table>> = {
  visitors: {
    kind: "imported_visitors",
    required: ["date", "visitors", "pageviews", "bounces", "visits", "visit_duration"],
    optional: [],
    texts: () => ({}),
  },
  sources: {
    kind: "imported_sources",
    required: ["date", "source", "utm_medium", "utm_campaign", "utm_content", "utm_term", ...VISIT_COUNTS],
    optional: ["referrer", "utm_source", "pageviews"],
    texts: (row) =>
      originTexts({
        source: row.get("source"),
        referrer: row.get("referrer"),
        utm_source: row.get("utm_source"),
        utm_medium: row.get("utm_medium"),
        utm_campaign: row.get("utm_campaign"),
        utm_content: row.get("utm_content"),
        utm_term: row.get("utm_term"),
      }),
  },
  pages: {
    kind: "imported_pages",
    required: ["date", "hostname", "page", "visitors", "pageviews"],
    optional: [
      ...["visits", "total_scroll_depth", "total_scroll_depth_visits", "total_time_on_page", "total_time_on_page_visits"],
      ...["exits", "time_on_page", "scroll_depth", "pageleave_visitors"],
    ],
    texts: (row) => ({ hostname: textOf(row.get("hostname")), page: pageOf(row.get("page")) }),
    counts: {
      scroll_depth_sum: ["total_scroll_depth", "scroll_depth"],
      scroll_depth_visits: ["total_scroll_depth_visits", "pageleave_visitors"],
      time_on_page: ["total_time_on_page", "time_on_page"],
      time_on_page_visits: ["total_time_on_page_visits"],
    },
  },
  entry_pages: {
    kind: "imported_entry_pages",
    required: ["date", "entry_page", "visitors", "entrances", "visit_duration", "bounces"],
    optional: ["pageviews"],
    texts: (row) => ({ entry_page: pageOf(row.get("entry_page")) }),
  },
  exit_pages: {
    kind: "imported_exit_pages",
    required: ["date", "exit_page", "visitors", "exits"],
    optional: ["visit_duration", "bounces", "pageviews"],
    texts: (row) => ({ exit_page: pageOf(row.get("exit_page")) }),
  },
  locations: {
    kind: "imported_locations",
    required: ["date", "country", "region", "city", ...VISIT_COUNTS],
    optional: ["pageviews"],
    texts: (row) => {
      const city = row.get("city").trim()
      return placeTraits({ country: row.get("country"), region: row.get("region"), city: city === "0" ? "" : city })
    },
  },
  devices: {
    kind: "imported_devices",
    required: ["date", "device", ...VISIT_COUNTS],
    optional: ["pageviews"],
    texts: (row) => ({ device: deviceOf(row.get("device")) }),
  },
  browsers: {
    kind: "imported_browsers",
    required: ["date", "browser", ...VISIT_COUNTS],
    optional: ["browser_version", "pageviews"],
    texts: (row) => browserTraits(textOf(row.get("browser")), textOf(row.get("browser_version"))),
  },
  operating_systems: {
    kind: "imported_operating_systems",
    required: ["date", "operating_system", ...VISIT_COUNTS],
    optional: ["operating_system_version", "pageviews"],
    texts: (row) => systemTraits(textOf(row.get("operating_system")), textOf(row.get("operating_system_version"))),
  },
  custom_events: {
    kind: "imported_custom_events",
    required: ["date", "name", "link_url", "path", "visitors", "events"],
    optional: [],
    texts: (row) => ({ name: textOf(row.get("name")), link_url: textOf(row.get("link_url")), path: textOf(row.get("path")) }),
  },
  custom_props: {
    kind: "imported_custom_props",
    required: ["date", "property", "value", "visitors", "events"],
    optional: [],
    texts: (row) => ({ property: textOf(row.get("property")), value: textOf(row.get("value")) }),
  },
}

/** `visitors.csv` of the dashboard's download. Its rates are those of the day's visits. */
const DASHBOARD_TABLE = "dashboard_visitors"
const DASHBOARD: SourceFile = {
  name: DASHBOARD_TABLE,
  required: ["date", "visitors", "pageviews", "bounce_rate", "visit_duration"],
  optional: ["visits", "views_per_visit"],
}

const FILES: readonly SourceFile[] = [
  ...Object.entries(TABLES).map(([name, { required, optional }]) => ({ name: `imported_${name}`, required, optional })),
  DASHBOARD,
]

/** A table with the optional prefix, range of days and number of a repeated download. */
const NAME = /^(imported_)?([a-z_]+?)((?:_\d{8}){2})?(?: ?\(\d+\))?\.csv$/i
const EXPORT_HINT = "Use the export in the settings of the site in Plausible (Imports & exports, Export to CSV), which has days."

function recognize(file: FileHead): Recognition | undefined {
  const header = headerOf(file)
  if (!header) return undefined
  const [, prefix, name = "", dates] = NAME.exec(fileName(file.name)) ?? []
  const named = TABLES[name.toLowerCase()]
  if (header.has("date") && header.has("visitors") && header.has("bounce_rate")) return recognizeDashboard(file)
  if (named && isTable(named, header)) return { confidence: 1, table: `imported_${name.toLowerCase()}` }
  const byHeader = Object.entries(TABLES).find(([, table]) => isTable(table, header))?.[0]
  if (byHeader !== undefined) return { confidence: 0.7, table: `imported_${byHeader}` }
  const isDashboard = header.has("name") && header.has("visitors") && !header.has("date")
  if (isDashboard) return needsDays(`${file.name} is a download of Plausible's dashboard and has no days. ${EXPORT_HINT}`)
  // The name alone says what the file should have.
  if (named && (prefix !== undefined || dates !== undefined)) return { confidence: 0.6, table: `imported_${name.toLowerCase()}` }
  return undefined
}

const isTable = ({ required }: Table, header: Header): boolean => required.every((column) => header.has(column))

const needsDays = (message: string): Recognition => ({
  confidence: 0.8,
  refusal: { code: "needs_date_dimension", message },
})

const DAY_MS = 86_400_000

/** The dashboard downloads weeks and months in the same columns, under their first day. */
function recognizeDashboard(file: FileHead): Recognition {
  const days = file.text.split(/\r?\n/).flatMap((line) => /^"?(\d{4}-\d\d-\d\d)\b/.exec(line)?.[1] ?? [])
  const times = days.map((day) => Date.parse(day)).filter((time) => !Number.isNaN(time))
  const gaps = times.slice(1).map((time, index) => Math.abs(time - times[index]!) / DAY_MS)
  if (gaps.length === 0 || gaps.some((gap) => gap <= 1)) return { confidence: 0.9, table: DASHBOARD_TABLE }
  return needsDays(`${file.name} has one row per week or month. ${EXPORT_HINT}`)
}

async function readFile(file: InputFile, options: ReadOptions, sink: Sink): Promise<void> {
  const { table: name = "" } = file.recognition
  if (name === DASHBOARD_TABLE) return readDashboard(file, options, sink)
  const table = TABLES[name.replace(/^imported_/, "")]
  if (!table) return
  const hasColumn = headerOf(file, options)?.has ?? (() => false)
  if (name === "imported_pages")
    sink.warn(
      "hostnames_approximate",
      "Plausible names one of the hosts of each page and day, so filters by host are approximate for imported pages.",
      file.name,
    )
  if (name === "imported_custom_props")
    sink.warn("properties_without_event", "Imported properties belong to no event: they are shown only without a filter.", file.name)
  // Older exports have the total time of the views after which another page followed.
  const isLegacyTime = name === "imported_pages" && hasColumn("time_on_page") && !hasColumn("total_time_on_page_visits")
  const count = countsOf(file.name, sink)
  const columns = countColumns(table)
  const sums = new TotalsSums(sink)
  for await (const rows of delimited(file, table, options, sink)) {
    for (const row of rows)
      readLine(sink, file.name, row.line, () => {
        const day = dayOf(row.get("date"))
        const counts: Record<string, number> = {}
        for (const [target, sources] of columns) counts[target] = count(firstValue(row, sources))
        if (isLegacyTime) counts.time_on_page_visits = Math.max(0, (counts.pageviews ?? 0) - (counts.exits ?? 0))
        sums.add(table.kind, { file: file.name, line: row.line, day, texts: table.texts(row), counts })
      })
  }
  sums.flush()
}

function firstValue(row: Row, columns: readonly string[]): string {
  for (const column of columns) {
    const value = row.get(column)
    if (value !== "") return value
  }
  return ""
}

const countColumns = ({ kind, counts }: Table): readonly (readonly [name: string, columns: readonly string[]])[] =>
  IMPORTED_TABLES[kind].counts.map((name) => [name, counts?.[name] ?? [name]] as const)

async function readDashboard(file: InputFile, options: ReadOptions, sink: Sink): Promise<void> {
  const count = countsOf(file.name, sink)
  const hasVisits = headerOf(file, options)?.has("visits") ?? false
  if (!hasVisits) for (const what of ["visits", "bounce_rate", "visit_duration"]) sink.unsupported(what)
  for await (const rows of delimited(file, DASHBOARD, options, sink)) {
    for (const row of rows)
      readLine(sink, file.name, row.line, () => {
        const visits = count(row.get("visits"))
        // Bounce rates are percentages, durations seconds per visit.
        const [rate, duration] = [amountOf(row.get("bounce_rate")), amountOf(row.get("visit_duration"))]
        const counts = {
          visitors: count(row.get("visitors")),
          pageviews: count(row.get("pageviews")),
          visits,
          bounces: Math.round((Math.min(rate, 100) * visits) / 100),
          visit_duration: Math.round(duration * visits),
        }
        sink.totals("imported_visitors", { file: file.name, line: row.line, ...dashboardTime(row.get("date")), texts: {}, counts })
      })
  }
}

/** Reads a day, or the hour of a day that was downloaded by the hour. */
function dashboardTime(text: string): { day: string; hour?: number } {
  const [, day = "", hour] = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d):00(?::00)?)?$/.exec(text.trim()) ?? []
  if (hour !== undefined && Number(hour) > 23) throw new ValueFault("bad_date", text)
  return { day: dayOf(day === "" ? text : day), ...(hour !== undefined && { hour: Number(hour) }) }
}
