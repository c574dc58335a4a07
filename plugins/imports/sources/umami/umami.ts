import { Type as t } from "@sinclair/typebox"
import { ImportFault, type InputFile, type ReadOptions, type Sink, type Source, type SourceEvent } from "../../source.ts"
import { fromLocal, parseTime } from "../times.ts"
import { readJoins, type UmamiJoins, visitorText, visitorTraits } from "./joins.ts"
import { cellOf, recognizeUmami, type TableRows, UMAMI_FILES, umamiRows } from "./tables.ts"

/** Umami: exports of Umami Cloud, and database tables as CSV or as a plain PostgreSQL dump. */
export const umami: Source = {
  id: "umami",
  title: "Umami",
  kinds: ["rows"],
  formats: ["zip", "csv", "sql"],
  files: UMAMI_FILES,
  options: t.Object({
    website_id: t.Optional(
      t.String({ minLength: 1, maxLength: 64, description: "Website to import. Required if the export has several." }),
    ),
  }),
  recognize: recognizeUmami,
  async read(files, options, sink) {
    const { website_id } = options.own
    const website = typeof website_id === "string" ? website_id.trim().toLowerCase() : undefined
    const joins = await readJoins(files, options, website, sink)
    if (joins.lists > 0) sink.warn("lists_dropped", `${joins.lists} properties are lists, which aren't imported.`)
    await new EventReader(files, options, website, joins, sink).read()
  },
}

const [PAGEVIEW, CUSTOM_EVENT] = [1, 2]

type Row = TableRows["rows"][number]

class EventReader {
  /** Rows by website. */
  readonly #websites = new Map<string, number>()
  readonly #fromLocal: ReturnType<typeof fromLocal>
  #lacksSessions = false

  constructor(
    private readonly files: readonly InputFile[],
    private readonly options: ReadOptions,
    private readonly website: string | undefined,
    private readonly joins: UmamiJoins,
    private readonly sink: Sink,
  ) {
    this.#fromLocal = fromLocal(options.sourceTimezone ?? "UTC")
  }

  async read(): Promise<void> {
    if (!this.files.some(({ recognition }) => recognition.table === "website_event" || recognition.table === "pg_dump")) {
      throw new ImportFault("nothing_to_import", "The export has no events. Add website_event.csv, which holds them.")
    }
    try {
      for await (const { file, hasVisitor, rows } of umamiRows(this.files, ["website_event"], this.options, this.sink)) {
        if (!hasVisitor && !this.joins.hasSessions) this.#warnOfSessions(file)
        for (const row of rows) this.#readRow(file, row)
      }
    } finally {
      // A preview that ends early lists the websites that it has seen.
      if (this.#websites.size > 1) this.sink.choices("website_ids", this.#choices())
    }
    if (this.website === undefined ? this.#websites.size > 1 : this.#websites.size > 0 && !this.#websites.has(this.website)) {
      throw this.#websiteRequired()
    }
  }

  #readRow(file: string, row: Row) {
    const { sink } = this
    const website = cellOf(row, "website_id").toLowerCase()
    this.#websites.set(website, (this.#websites.get(website) ?? 0) + 1)
    if (this.website !== undefined && website !== this.website) return sink.skip("filtered")
    // The import fails once all rows are counted.
    if (this.website === undefined && this.#websites.size > 1) return
    const typeText = cellOf(row, "event_type").trim()
    const type = Number(typeText)
    if (!/^\d{1,9}$/.test(typeText)) return sink.reject(file, row.line, "bad_number", typeText)
    const name = type === PAGEVIEW ? "pageview" : cellOf(row, "event_name")
    if ((type !== PAGEVIEW && type !== CUSTOM_EVENT) || name === "") return sink.skip("not_imported_type")
    const createdAt = cellOf(row, "created_at").trim()
    const at = parseTime(createdAt, this.#fromLocal)
    if (at === undefined) return sink.reject(file, row.line, "bad_date", createdAt)
    const id = cellOf(row, "event_id")
    sink.event(this.#event({ file, line: row.line, at, name, visitor: cellOf(row, "session_id") }, id, row))
  }

  #event(event: SourceEvent, id: string, row: Row): SourceEvent {
    const session = this.joins.session(event.visitor)
    const visitor = visitorText(row)
    const traits = visitor === "" ? session?.traits : visitorTraits(visitor)
    const clickId = CLICK_IDS.find((name) => cellOf(row, name) !== "")
    const tag = cellOf(row, "tag")
    const properties = this.joins.properties(id)
    const revenue = this.joins.revenue(id) ?? revenueIn(properties)
    const [path, query] = [cellOf(row, "url_path"), cellOf(row, "url_query")]
    const texts = {
      id,
      visit: cellOf(row, "visit_id"),
      userId: cellOf(row, "distinct_id") || (session?.userId ?? ""),
      hostname: cellOf(row, "hostname") || (session?.hostname ?? ""),
      path: query === "" ? path : `${path || "/"}?${query.replace(/^\?/, "")}`,
      title: cellOf(row, "page_title"),
      referrer: referrerOf(row),
    }
    // Assigned one by one, because this runs for every row and spreading them takes longer than all the rest.
    for (const name of TEXTS) if (texts[name] !== "") event[name] = texts[name]
    if (traits) event.traits = traits
    if (clickId !== undefined) event.traits = { ...traits, click_id_type: clickId }
    event.utm = utmOf(row)
    // The tag comes first, as in collected events, so that no limit drops it.
    event.props = tag === "" ? properties : [["tag", tag], ...properties.filter(([key]) => key !== "tag")]
    if (revenue) event.revenue = revenue
    return event
  }

  #warnOfSessions(file: string): void {
    if (this.#lacksSessions) return
    this.#lacksSessions = true
    const message = `Browser, system, device, language and place of the visitors are in the table session, which is missing. Add session.csv to import them with ${file}.`
    this.sink.warn("session_file_missing", message, file)
  }

  #choices(): { id: string; rows: number }[] {
    return [...this.#websites].map(([id, rows]) => ({ id, rows })).toSorted((a, b) => b.rows - a.rows)
  }

  #websiteRequired(): ImportFault {
    const choices = this.#choices()
    const listed = choices
      .slice(0, 5)
      .map(({ id, rows }) => `${id} (${rows} rows)`)
      .join(", ")
    const what =
      this.website === undefined
        ? `The export holds ${choices.length} websites: ${listed}.`
        : `The export has no rows of the website ${this.website}. It holds ${listed}.`
    return new ImportFault("website_id_required", `${what} Choose one with the option website_id.`, { choices: { website_ids: choices } })
  }
}

const CLICK_IDS = ["gclid", "msclkid", "fbclid", "ttclid", "twclid", "li_fat_id"]
const UTM = ["utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"] as const

const TEXTS = ["id", "visit", "userId", "hostname", "path", "title", "referrer"] as const

function utmOf(row: Row): NonNullable<SourceEvent["utm"]> {
  const utm: NonNullable<SourceEvent["utm"]> = {}
  for (const name of UTM) {
    const value = cellOf(row, name)
    if (value !== "") utm[name] = value
  }
  return utm
}

/** Returns the referring address. Without a domain, the referrer is a page of the website itself. */
function referrerOf(row: Row): string {
  const domain = cellOf(row, "referrer_domain")
  if (domain === "") return ""
  const [path, query] = [cellOf(row, "referrer_path"), cellOf(row, "referrer_query")]
  const scheme = domain.includes("://") ? "" : "https://"
  return `${scheme}${domain}${path === "" || path.startsWith("/") ? path : `/${path}`}${query === "" ? "" : `?${query.replace(/^\?/, "")}`}`
}

/** Returns the revenue in the properties, from which Umami makes its table of revenue. An amount without a currency is ignored, as there. */
function revenueIn(properties: readonly (readonly [key: string, value: string])[]): { amount: string; currency: string } | undefined {
  const amount = properties.find(([key]) => key === "revenue")?.[1]
  const currency = properties.find(([key]) => key === "currency")?.[1]
  return amount !== undefined && currency !== undefined ? { amount, currency } : undefined
}
