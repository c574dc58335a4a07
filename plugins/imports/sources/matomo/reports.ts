import type { ImportedKind } from "#plugin"
import { delimited, headerOf, type Row } from "../../reading/delimited.ts"
import { fileName } from "../../reading/unpack.ts"
import type { FileHead, InputFile, ReadOptions, Recognition, Sink, SourceFile } from "../../source.ts"
import { countsOf, dayOf, hostOf, originTexts, pageOf, readLine, TotalsSums, textOf } from "../totals-rows.ts"
import { browserTraits, countryOf, deviceOf, languageTag, regionOf, sizeOf, systemTraits } from "../traits.ts"

/**
 * Reports of Matomo's Reporting API with `format=CSV&period=day` and a range of dates: they begin with a column `date`. What a report shows
 * follows from its file name, because all of them have the same columns: it contains the name of the method, such as `getPageUrls`.
 */
interface Report {
  /** Method of the API, as `Module.method`. */
  method: string
  kind: ImportedKind
  /** Names of the columns that become counts. The first that a file has is used. */
  counts: Readonly<Record<string, readonly string[]>>
  /** Returns the columns of the kind, or undefined for a row that repeats others. */
  texts(row: Row, label: string): Readonly<Record<string, string>> | undefined
  /** Of reports with equal rank, all are read. Otherwise only those with the highest, because each repeats the totals. */
  detail?: number
}

const VISITORS = ["nb_uniq_visitors", "sum_daily_nb_uniq_visitors"]
const FIVE = {
  visitors: VISITORS,
  visits: ["nb_visits"],
  pageviews: ["nb_pageviews", "nb_actions"],
  bounces: ["bounce_count"],
  visit_duration: ["sum_visit_length"],
}
const place = (row: Row): { country: string; region: string } => {
  const country = countryOf(row.get("metadata_country") || row.get("metadata_code"))
  return { country, region: regionOf(country, row.get("metadata_region")) }
}

const REPORTS: readonly Report[] = [
  { method: "VisitsSummary.get", kind: "imported_visitors", counts: FIVE, texts: () => ({}), detail: 1 },
  { method: "API.get", kind: "imported_visitors", counts: FIVE, texts: () => ({}), detail: 2 },
  {
    method: "Actions.getPageUrls",
    kind: "imported_pages",
    counts: {
      visitors: VISITORS,
      visits: ["nb_visits"],
      pageviews: ["nb_hits"],
      exits: ["exit_nb_visits"],
      time_on_page: ["sum_time_spent"],
      time_on_page_visits: ["nb_visits"],
    },
    texts: (row, label) => withPage(row, label, (page) => ({ hostname: hostOf(row.get("metadata_url")), page })),
  },
  {
    method: "Actions.getEntryPageUrls",
    kind: "imported_entry_pages",
    counts: {
      visitors: ["entry_nb_uniq_visitors", "sum_daily_entry_nb_uniq_visitors"],
      entrances: ["entry_nb_visits"],
      pageviews: ["entry_nb_actions"],
      bounces: ["entry_bounce_count"],
      visit_duration: ["entry_sum_visit_length"],
    },
    texts: (row, label) => withPage(row, label, (entry_page) => ({ entry_page })),
  },
  {
    method: "Actions.getExitPageUrls",
    kind: "imported_exit_pages",
    counts: { visitors: ["exit_nb_uniq_visitors", "sum_daily_exit_nb_uniq_visitors"], exits: ["exit_nb_visits"] },
    texts: (row, label) => withPage(row, label, (exit_page) => ({ exit_page })),
  },
  { method: "Referrers.getWebsites", kind: "imported_sources", counts: FIVE, texts: (_, label) => originTexts({ referrer: label }) },
  { method: "Referrers.getSearchEngines", kind: "imported_sources", counts: FIVE, texts: (_, label) => originTexts({ source: label }) },
  { method: "Referrers.getSocials", kind: "imported_sources", counts: FIVE, texts: (_, label) => originTexts({ source: label }) },
  { method: "Referrers.getCampaigns", kind: "imported_sources", counts: FIVE, texts: (_, label) => originTexts({ utm_campaign: label }) },
  { method: "UserCountry.getCountry", kind: "imported_locations", counts: FIVE, texts: place, detail: 1 },
  { method: "UserCountry.getRegion", kind: "imported_locations", counts: FIVE, texts: place, detail: 2 },
  { method: "UserCountry.getCity", kind: "imported_locations", counts: FIVE, texts: cityTexts, detail: 3 },
  { method: "DevicesDetection.getType", kind: "imported_devices", counts: FIVE, texts: (_, label) => ({ device: deviceOf(label) }) },
  { method: "DevicesDetection.getBrowsers", kind: "imported_browsers", counts: FIVE, texts: (_, label) => browserTraits(label), detail: 1 },
  {
    method: "DevicesDetection.getBrowserVersions",
    kind: "imported_browsers",
    counts: FIVE,
    texts: (_, label) => browserTraits(label),
    detail: 2,
  },
  {
    method: "DevicesDetection.getOsFamilies",
    kind: "imported_operating_systems",
    counts: FIVE,
    texts: (_, label) => systemTraits(label),
    detail: 1,
  },
  {
    method: "DevicesDetection.getOsVersions",
    kind: "imported_operating_systems",
    counts: FIVE,
    texts: (_, label) => systemTraits(label),
    detail: 2,
  },
  {
    method: "UserLanguage.getLanguageCode",
    kind: "imported_languages",
    counts: FIVE,
    texts: (_, label) => ({ language: languageTag(label) }),
  },
  { method: "Resolution.getResolution", kind: "imported_sizes", counts: FIVE, texts: (_, label) => ({ size: sizeOf(label) }) },
  {
    method: "Events.getAction",
    kind: "imported_custom_events",
    counts: { visitors: VISITORS, events: ["nb_events"] },
    texts: (_, label) => ({ name: textOf(label) }),
  },
]

/** Reports that are not flat have rows for folders, which add up the pages in them and have no address. */
function withPage<Texts>(row: Row, label: string, texts: (page: string) => Texts): Texts | undefined {
  const url = row.get("metadata_url")
  if (url === "" && !label.startsWith("/")) return undefined
  return texts(pageOf(url || label))
}

function cityTexts(row: Row, label: string): Readonly<Record<string, string>> {
  // The label of a flat report is `Berlin, Berlin, Germany`.
  const city = row.get("metadata_city_name") || label.split(",")[0]!
  return { ...place(row), city: /^(unknown|xx)$/i.test(city.trim()) ? "" : textOf(city) }
}

const METADATA = ["metadata_url", "metadata_code", "metadata_country", "metadata_region", "metadata_city_name"]

export const MATOMO_REPORTS: readonly SourceFile[] = REPORTS.map(({ method, kind, counts }) => ({
  name: method,
  required: kind === "imported_visitors" ? ["date"] : ["date", "label"],
  optional: [...new Set([...Object.values(counts).flat(), ...METADATA])],
}))

const METRICS = ["nb_visits", "nb_uniq_visitors", "sum_daily_nb_uniq_visitors", "nb_hits", "nb_events", "entry_nb_visits", "exit_nb_visits"]

/** Recognizes a report by its columns, and its method by the name of the file. */
export function recognizeReport(file: FileHead): Recognition | undefined {
  const header = headerOf(file)
  if (!header || !METRICS.some((name) => header.has(name))) return undefined
  const base = fileName(file.name).toLowerCase()
  // The totals of the site have no label.
  const named = REPORTS.filter(({ kind }) => kind !== "imported_visitors")
  const report = header.has("label")
    ? named.find(({ method }) => base.includes(method.slice(method.indexOf(".") + 1).toLowerCase()))
    : REPORTS.find(({ method }) => method === (header.has("nb_pageviews") ? "API.get" : "VisitsSummary.get"))
  const table = report?.method
  if (!header.has("date")) {
    const remedy = "Export it with period=day and a range such as date=2024-01-01,2024-12-31, so that it has a column date."
    const message = `${file.name} is a report of Matomo without dates, from line 1 on. ${remedy}`
    return { confidence: 0.9, ...(table && { table }), refusal: { code: "needs_date_dimension", message } }
  }
  if (table) return { confidence: 0.9, table }
  const methods = REPORTS.map(({ method }) => method).join(", ")
  const message = `The name of ${file.name} does not say which report of Matomo it is. Name it after its method, one of ${methods}.`
  return { confidence: 0.9, refusal: { code: "unrecognized_source", message } }
}

/** Reads reports as totals. */
export async function readReports(files: readonly InputFile[], options: ReadOptions, sink: Sink): Promise<void> {
  const found = files.flatMap((file) => {
    const report = REPORTS.find(({ method }) => method === file.recognition.table)
    return report ? [{ file, report }] : []
  })
  for (const { file, report } of found) {
    const best = Math.max(...found.filter((other) => other.report.kind === report.kind).map((other) => other.report.detail ?? 0))
    if ((report.detail ?? 0) === best) await readReport(file, report, options, sink)
    else sink.warn("repeated_totals", `${file.name} is not imported, because a more detailed report has the same totals.`, file.name)
  }
}

async function readReport(file: InputFile, report: Report, options: ReadOptions, sink: Sink): Promise<void> {
  const rules = MATOMO_REPORTS.find(({ name }) => name === report.method)!
  const header = headerOf(file, options)
  const sums = new TotalsSums(sink)
  const countOf = countsOf(file.name, sink)
  const columns = Object.entries(report.counts).map(([name, names]) => [name, names.find((column) => header?.has(column))] as const)
  if (report.counts === FIVE && !header?.has("nb_pageviews"))
    sink.warn("actions_as_pageviews", `${file.name} counts actions, which include downloads and outbound links, as pageviews.`, file.name)
  let folders = 0
  for await (const rows of delimited(file, { ...rules, accepts: (name) => !/^(?:date|label)$/i.test(name) }, options, sink)) {
    for (const row of rows) {
      readLine(sink, file.name, row.line, () => {
        const day = dayOf(row.get("date"))
        const texts = report.texts(row, row.get("label").trim())
        if (!texts) {
          folders++
          return sink.skip("not_imported_type")
        }
        const counts = columns.map(([name, column]): [string, number] => [name, column === undefined ? 0 : countOf(row.get(column))])
        // Matomo writes days without visits as rows of zeros.
        if (counts.every(([, count]) => count === 0)) return
        sums.add(report.kind, { file: file.name, line: row.line, day, texts, counts: Object.fromEntries(counts) })
      })
    }
  }
  sums.flush()
  if (folders > 0)
    sink.warn(
      "not_flat",
      `${file.name} has ${folders} rows for folders, which are left out. Export it with flat=1 to have all pages.`,
      file.name,
    )
}
