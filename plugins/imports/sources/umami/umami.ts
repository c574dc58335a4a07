import { Type as t } from "@sinclair/typebox"
import type { VisitTraits } from "#plugin"
import { Row } from "../../reading/delimited.ts"
import { ImportFault, type InputFile, type ReadOptions, type Sink, type Source, type SourceEvent } from "../../source.ts"
import { fromLocal, parseTime } from "../times.ts"
import { readJoins, type Session, type UmamiJoins, visitorPlaces, visitorText, visitorTraits } from "./joins.ts"
import { cellAt, recognizeUmami, UMAMI_FILES, umamiRows } from "./tables.ts"

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

const NO_ROW = new Row(0, [], new Map())

class EventReader {
  /** Rows by website. */
  readonly #websites = new Map<string, number>()
  readonly #fromLocal: ReturnType<typeof fromLocal>
  #lacksSessions = false
  // The places of the columns in the rows that are being read.
  #places = NO_ROW.places(COLUMNS)
  #visitorPlaces = visitorPlaces(NO_ROW)

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
        this.#readRows(file, rows)
      }
    } finally {
      // A preview that ends early lists the websites that it has seen.
      if (this.#websites.size > 1) this.sink.choices("website_ids", this.#choices())
    }
    if (this.website === undefined ? this.#websites.size > 1 : this.#websites.size > 0 && !this.#websites.has(this.website)) {
      throw this.#websiteRequired()
    }
  }

  #readRows(file: string, rows: readonly Row[]): void {
    const [first] = rows
    if (!first) return
    this.#places = first.places(COLUMNS)
    this.#visitorPlaces = visitorPlaces(first)
    for (const row of rows) this.#readRow(file, row)
  }

  #readRow(file: string, row: Row) {
    const { sink } = this
    const at = this.#places
    const website = cellAt(row, at.website_id).toLowerCase()
    this.#websites.set(website, (this.#websites.get(website) ?? 0) + 1)
    if (this.website !== undefined && website !== this.website) return sink.skip("filtered")
    // The import fails once all rows are counted.
    if (this.website === undefined && this.#websites.size > 1) return
    const typeText = cellAt(row, at.event_type).trim()
    const type = Number(typeText)
    if (!/^\d{1,9}$/.test(typeText)) return sink.reject(file, row.line, "bad_number", typeText)
    const name = type === PAGEVIEW ? "pageview" : cellAt(row, at.event_name)
    if ((type !== PAGEVIEW && type !== CUSTOM_EVENT) || name === "") return sink.skip("not_imported_type")
    const createdAt = cellAt(row, at.created_at).trim()
    const time = parseTime(createdAt, this.#fromLocal)
    if (time === undefined) return sink.reject(file, row.line, "bad_date", createdAt)
    sink.event(this.#event({ file, line: row.line, at: time, name, visitor: cellAt(row, at.session_id) }, row))
  }

  #event(event: SourceEvent, row: Row): SourceEvent {
    const at = this.#places
    const id = cellAt(row, at.event_id)
    const session = this.joins.session(event.visitor)
    const tag = cellAt(row, at.tag)
    const properties = this.joins.properties(id)
    const revenue = this.joins.revenue(id) ?? revenueIn(properties)
    // Empty texts are left out one by one, because this runs for every row and spreading them takes longer than all the rest.
    const visit = cellAt(row, at.visit_id)
    if (id !== "") event.id = id
    if (visit !== "") event.visit = visit
    const userId = cellAt(row, at.distinct_id) || (session?.userId ?? "")
    if (userId !== "") event.userId = userId
    const hostname = cellAt(row, at.hostname) || (session?.hostname ?? "")
    if (hostname !== "") event.hostname = hostname
    const [path, query] = [cellAt(row, at.url_path), cellAt(row, at.url_query)]
    if (query !== "") event.path = `${path || "/"}?${withoutMark(query)}`
    else if (path !== "") event.path = path
    const title = cellAt(row, at.page_title)
    if (title !== "") event.title = title
    const referrer = this.#referrer(row)
    if (referrer !== "") event.referrer = referrer
    const traits = this.#traits(row, session)
    if (traits) event.traits = traits
    this.#addTags(event, row)
    // The tag comes first, as in collected events, so that no limit drops it.
    event.props = tag === "" ? properties : [["tag", tag], ...properties.filter(([key]) => key !== "tag")]
    if (revenue) event.revenue = revenue
    return event
  }

  /** Returns the traits that a row or its session states: the same object for the same ones. */
  #traits(row: Row, session: Session | undefined): Partial<VisitTraits> | undefined {
    const text = visitorText(row, this.#visitorPlaces)
    const stated = text === "" ? session?.traits : visitorTraits(text)
    for (const name of CLICK_IDS) if (cellAt(row, this.#places[name]) !== "") return { ...stated, click_id_type: name }
    return stated
  }

  #addTags(event: SourceEvent, row: Row): void {
    for (const name of UTM) {
      const value = cellAt(row, this.#places[name])
      if (value === "") continue
      event.utm ??= {}
      event.utm[name] = value
    }
  }

  /** Returns the referring address. Without a domain, the referrer is a page of the website itself. */
  #referrer(row: Row): string {
    const at = this.#places
    const domain = cellAt(row, at.referrer_domain)
    if (domain === "") return ""
    const [path, query] = [cellAt(row, at.referrer_path), cellAt(row, at.referrer_query)]
    const scheme = domain.includes("://") ? "" : "https://"
    return `${scheme}${domain}${path === "" || path.startsWith("/") ? path : `/${path}`}${query === "" ? "" : `?${withoutMark(query)}`}`
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

const CLICK_IDS = ["gclid", "msclkid", "fbclid", "ttclid", "twclid", "li_fat_id"] as const
const UTM = ["utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content"] as const
/** The columns of events, apart from those of the visitor. */
const COLUMNS = [
  ...(["website_id", "event_type", "event_name", "created_at", "event_id", "session_id", "visit_id", "distinct_id", "tag"] as const),
  ...(["hostname", "url_path", "url_query", "page_title", "referrer_domain", "referrer_path", "referrer_query"] as const),
  ...CLICK_IDS,
  ...UTM,
] as const

const withoutMark = (query: string): string => (query.startsWith("?") ? query.slice(1) : query)

/** Returns the revenue in the properties, from which Umami makes its table of revenue. An amount without a currency is ignored, as there. */
function revenueIn(properties: readonly (readonly [key: string, value: string])[]): { amount: string; currency: string } | undefined {
  const amount = properties.find(([key]) => key === "revenue")?.[1]
  const currency = properties.find(([key]) => key === "currency")?.[1]
  return amount !== undefined && currency !== undefined ? { amount, currency } : undefined
}
