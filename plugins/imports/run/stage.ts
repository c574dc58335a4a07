import { join } from "node:path"
import { createEnrichment, type EnrichedEvent, IMPORTED_KINDS, type ImportedKind, type ImportedRow, openPlaces } from "#plugin"
import { daySkips, localDay } from "../days.ts"
import { ownOptions } from "../options.ts"
import type { Reject } from "../rows.ts"
import { ImportFault, type RejectCode, type Sink, type SkipReason, type SourceEvent } from "../source.ts"
import { LineWriter } from "./files.ts"
import { noFiles, type RecognizedFiles, recognizeFiles } from "./reading.ts"
import { RepeatedIds } from "./repeated-ids.ts"
import { ExternalSort } from "./sort.ts"
import { StreamStage } from "./stream-stage.ts"
import {
  type DefinitionKind,
  type FileReport,
  MAX_REJECTS,
  PREVIEW_LIMITS,
  type ReadableOptions,
  type Staged,
  type StageProgress,
  type StageResult,
  type StageTask,
} from "./task.ts"
import { addToSort, addVisitToSort, isCounted, type SortedEvent, sortedEvent, sortedEvents, visitsOf } from "./visits.ts"

const PREVIEW_REJECTS = 50
const SAMPLE_ROWS = 20
const EXCERPT_CHARS = 200
const EVENT_NAMES = 50
const MAX_WARNINGS = 100
/** A site has room for fewer of each kind. */
const MAX_DEFINITIONS = 1_000
const PROGRESS_MS = 500
/** Events that are read until garbage is collected. The engine itself would let it grow to hundreds of megabytes. */
const EVENTS_PER_COLLECTION = 5_000
/** Garbage of a row in the other phases, compared with that of an event that is read. */
const LIGHT_ROW = 0.3

const USERS_NOT_LINKED =
  "Users are not linked, because the identity mode of the site is not identified. Change it in the settings of the site before the import."

/** Ends the reading of a preview that has seen enough. */
class PreviewEnd extends Error {}

/** Reads the files of an import and stages their rows: sorted visits, and totals by kind. Runs in a worker. */
export async function stage(task: StageTask, report: (progress: StageProgress) => void): Promise<StageResult> {
  try {
    return await new Stage(task, report).run()
  } catch (error) {
    if (error instanceof ImportFault) return { fault: { code: error.code, message: error.message, members: error.members } }
    throw error
  }
}

class Stage implements Sink {
  readonly #task: StageTask
  readonly #options: ReadableOptions
  readonly #report: (progress: StageProgress) => void
  readonly #startedAt = performance.now()
  readonly #size: number
  readonly #skipOf: ReturnType<typeof daySkips>
  readonly #events: ExternalSort
  readonly #ids: RepeatedIds
  /** First event of each file whose events have ids. */
  readonly #fileStarts: { file: string; order: number }[] = []
  readonly #writers = new Map<ImportedKind, { writer: LineWriter | undefined; lines: number }>()
  readonly #days = new Map<string, number>()
  readonly #rows = { read: 0, rejected: 0, skipped: 0 }
  readonly #skips = new Map<string, number>()
  readonly #rejects: Reject[] = []
  readonly #sample: object[] = []
  readonly #unsupported = new Set<string>()
  readonly #warnings = new Map<string, Staged["warnings"][number]>()
  readonly #choices: Staged["choices"] = {}
  readonly #eventNames = new Set<string>()
  readonly #revenue = new Map<string, number>()
  readonly #totals = new Map<ImportedKind, Map<string, number>>()
  readonly #dayOf: (at: number) => string
  readonly #hasher: Bun.CryptoHasher
  readonly #hosts: ReadonlySet<string> | undefined
  readonly #tables: ReadonlySet<string> | undefined
  readonly #countedRows = new Map<string, number>()
  readonly #definitions: Staged["definitions"] = {}
  readonly #stream: StreamStage | undefined
  #enrich: ReturnType<typeof createEnrichment> | undefined
  #mapping: object | undefined
  #order = 0
  #skippedLine = ""
  #scanned = 0
  #reportedAt = 0
  #eventCount = 0
  #uncollected = 0

  constructor(task: StageTask, report: (progress: StageProgress) => void) {
    this.#task = task
    this.#options = task.options as ReadableOptions // validated on the main thread
    this.#report = report
    this.#size = task.files.reduce((sum, { bytes }) => sum + bytes, 0)
    this.#skipOf = daySkips(task.rules)
    this.#events = new ExternalSort(join(task.folder, "events"))
    this.#ids = new RepeatedIds(join(task.folder, "ids"))
    this.#dayOf = daysBySpan(task.site.timezone)
    this.#hasher = new Bun.CryptoHasher("sha256", task.salt)
    const { hostnames, tables } = this.#options
    this.#hosts = hostnames && new Set(hostnames.map((host) => host.toLowerCase()))
    this.#tables = tables && new Set(tables)
    this.#stream = task.stream && new StreamStage(task.stream, task)
  }

  async run(): Promise<Staged> {
    this.#enrich = createEnrichment(this.#task.site, await openPlaces(this.#task.geoDb))
    if (this.#options.link_identified_users === true && !this.#task.linksUsers) this.warn("users_not_linked", USERS_NOT_LINKED)
    for (const row of this.#stream?.waitedRows() ?? []) addToSort(this.#events, { ...row, order: this.#order++ })
    // A run of a stream without files writes the rows that have waited long enough.
    const isEmpty = this.#stream !== undefined && this.#task.files.length === 0
    const files = isEmpty ? noFiles(this.#task) : await recognizeFiles(this.#task, (bytes) => this.#count(bytes))
    const complete = await this.#read(files)
    const hash = complete ? await this.#hash(files) : undefined
    const { visits, visitors, pageviews, events, staged } = this.#stageVisits()
    const { waited = 0, waiting = 0 } = this.#stream ?? {}
    if (waiting > 0)
      this.warn("open_visits", `${waiting} rows belong to visits that may go on. They wait for the next run, at most 30 minutes.`)
    for (const [kind, { writer, lines }] of this.#writers) {
      writer?.close()
      staged.push({ name: kind, lines })
    }
    const hasRows = this.#eventCount > 0
    const kind = hasRows && this.#writers.size > 0 ? "mixed" : hasRows || files.source.kinds[0] === "rows" ? "rows" : "aggregate"
    const totals = this.#aggregateTotals()
    return {
      source: files.source.id,
      kind: this.#writers.size > 0 && !hasRows ? "aggregate" : kind,
      confidence: files.confidence,
      complete,
      delimiter: files.delimiter,
      encoding: files.encoding,
      scannedBytes: files.scannedBytes(),
      files: files.reports.map((file): FileReport => ({ ...file, rows: this.#countedRows.get(file.name) ?? 0 })),
      days: [...this.#days].sort(byKey).map(([day, rows]) => {
        const skip = this.#skipOf(day)
        return { day, rows, ...(skip && { skip }) }
      }),
      totals: {
        visitors: visitors + totals.visitors,
        visits: visits + totals.visits,
        pageviews: pageviews + totals.pageviews,
        events: events + totals.events,
        revenue: [...this.#revenue].sort(byKey).map(([currency, amount_minor]) => ({ currency, amount_minor })),
      },
      rows: { ...this.#rows, accepted: Math.max(0, this.#rows.read + waited - this.#rows.rejected - this.#rows.skipped - waiting) },
      skipReasons: Object.fromEntries([...this.#skips].sort(byKey)),
      rejects: this.#rejects,
      sample: this.#sample,
      unsupported: [...this.#unsupported].sort(),
      warnings: [...this.#warnings.values()],
      choices: this.#choices,
      ...(this.#mapping && { mapping: this.#mapping }),
      definitions: this.#definitions,
      eventNames: [...this.#eventNames],
      ...(hash !== undefined && { hash }),
      visitors,
      staged,
      ...(this.#stream && { stream: this.#stream.result() }),
    }
  }

  /** Returns whether all files were read to their end. */
  async #read({ source, inputs }: RecognizedFiles): Promise<boolean> {
    const { site } = this.#task
    const { encoding, delimiter, source_timezone } = this.#options
    const options = {
      timezone: source_timezone ?? site.timezone,
      sourceTimezone: source_timezone,
      siteTimezone: site.timezone,
      hostname: site.hosts.find((host) => !host.startsWith("*.")) ?? "",
      currency: site.revenue_currency,
      encoding,
      delimiter,
      isPreview: this.#task.do === "preview",
      coverage: this.#stream?.coverage,
      own: ownOptions(this.#options),
    }
    try {
      await source.read(inputs, options, this)
      return true
    } catch (error) {
      if (error instanceof PreviewEnd) return false
      throw error
    }
  }

  /** Reads files to their end that the source did not, unless a preview has no time left. */
  async #hash(files: RecognizedFiles): Promise<string | undefined> {
    try {
      return await files.hash()
    } catch (error) {
      if (error instanceof PreviewEnd) return undefined
      throw error
    }
  }

  #count(bytes: number): void {
    this.#scanned += bytes
    this.check()
  }

  check(): void {
    const now = performance.now()
    const { bytes, ms } = this.#task.limits ?? PREVIEW_LIMITS
    if (this.#task.do === "preview" && (this.#scanned > bytes || now - this.#startedAt > ms)) throw new PreviewEnd()
    if (now - this.#reportedAt < PROGRESS_MS) return
    this.#reportedAt = now
    // Packed files yield more bytes than they have.
    this.#report({ phase: "sort", done: Math.min(this.#scanned, this.#size), total: this.#size })
  }

  /** Collects garbage now and then. Called for each row, in every phase. */
  #collect(events: number): void {
    this.#uncollected += events
    if (this.#uncollected < EVENTS_PER_COLLECTION) return
    this.#uncollected = 0
    Bun.gc(true)
  }

  event(given: SourceEvent): void {
    this.#collect(1)
    const { sender } = given
    const enriched = this.#enrich!(sender ? { ...given, address: sender.address, userAgent: sender.userAgent } : given)
    if (enriched === "bad_url") {
      this.reject(given.file, given.line, "bad_url", given.hostname ?? hostIn(given.url ?? ""))
      return
    }
    const { event, isBot } = enriched
    const day = this.#dayOf(event.at)
    const isForeign = this.#hosts !== undefined && event.hostname !== "" && !this.#hosts.has(event.hostname)
    if (isBot || isForeign || !this.#isWanted(day)) {
      this.skip(isBot ? "bot" : "filtered")
      return
    }
    if (enriched.hasInvalidRevenue) this.#addSkip("revenue_invalid", 1)
    this.#eventCount++
    this.#countRow(given.file)
    if (this.#sample.length < SAMPLE_ROWS) this.#sample.push(sampleOf(enriched))
    if (given.id !== undefined) this.#addId(given.id, given.file)
    addToSort(this.#events, this.#sortedEvent(given, enriched, day))
  }

  #sortedEvent(given: SourceEvent, enriched: EnrichedEvent, day: string): SortedEvent {
    const linked = this.#task.linksUsers && given.userId ? given.userId : ""
    const name = linked === "" ? nameOf(given, day) : `user ${linked}`
    const visitor = this.#stream?.visitorOf(name, day) ?? this.#hasher.copy().update(name).digest("hex").slice(0, 32)
    const kind = linked === "" ? (given.visitorKind ?? "rotating") : "user"
    return sortedEvent(enriched, { visitor, visit: given.visit ?? "", kind, userId: linked, order: this.#order++ })
  }

  totals(kind: ImportedKind, { file, line, ...row }: ImportedRow & { file: string; line: number }): void {
    this.#collect(LIGHT_ROW)
    if (this.#tables && !this.#tables.has(kind)) return
    if (!this.#isWanted(row.day)) {
      this.#skipLine("filtered", file, line)
      return
    }
    this.#countRow(file)
    this.#days.set(row.day, (this.#days.get(row.day) ?? 0) + 1)
    const skip = this.#skipOf(row.day)
    if (skip) {
      this.#skipLine(skip, file, line)
      return
    }
    const { writer, ...count } = this.#writerOf(kind)
    this.#writers.set(kind, { writer, lines: count.lines + 1 })
    writer?.write(JSON.stringify(row))
    const sums = this.#totals.get(kind) ?? new Map<string, number>()
    for (const [name, value] of Object.entries(row.counts)) sums.set(name, (sums.get(name) ?? 0) + value)
    this.#totals.set(kind, sums)
    if (kind === "imported_custom_events" && row.texts.name) this.#addEventName(row.texts.name)
    this.#addSample({ table: kind, day: row.day, ...(row.hour !== undefined && { hour: row.hour }), ...row.texts, ...row.counts })
  }

  #writerOf(kind: ImportedKind): { writer: LineWriter | undefined; lines: number } {
    const known = this.#writers.get(kind)
    if (known) return known
    const writer = this.#task.do === "stage" ? new LineWriter(join(this.#task.folder, kind)) : undefined
    return { writer, lines: 0 }
  }

  reject(file: string, line: number, code: RejectCode, excerpt: string): void {
    this.#rows.rejected++
    const kept = this.#task.do === "preview" ? PREVIEW_REJECTS : MAX_REJECTS
    if (this.#rejects.length < kept) this.#rejects.push({ file, line, code, excerpt: excerptOf(excerpt) })
  }
  skip(reason: SkipReason, rows = 1): void {
    // Invalid revenue is dropped from its row, which is imported.
    if (reason !== "revenue_invalid") this.#rows.skipped += rows
    this.#addSkip(reason, rows)
  }
  read(rows: number): void {
    this.#rows.read += rows
  }
  warn(code: string, message: string, file?: string): void {
    const key = `${code} ${file ?? ""} ${message}`
    if (this.#warnings.size < MAX_WARNINGS) this.#warnings.set(key, { code, message, ...(file !== undefined && { file }) })
  }
  unsupported(what: string): void {
    this.#unsupported.add(what)
  }
  choices(name: string, choices: readonly { id: string; rows: number }[]): void {
    this.#choices[name] = choices
  }
  mapping(mapping: object): void {
    this.#mapping = mapping
  }

  definitions(kind: DefinitionKind, items: readonly object[]): void {
    this.#definitions[kind] = [...(this.#definitions[kind] ?? []), ...items].slice(0, MAX_DEFINITIONS)
  }

  #isWanted(day: string): boolean {
    const { from, to } = this.#options
    return (from === undefined || day >= from) && (to === undefined || day <= to)
  }

  /** Skips a line once, even if it holds several rows of totals. */
  #skipLine(reason: string, file: string, line: number): void {
    const key = `${file}:${line}`
    if (key === this.#skippedLine) return
    this.#skippedLine = key
    this.#rows.skipped++
    this.#addSkip(reason, 1)
  }

  #addSkip(reason: string, rows: number): void {
    this.#skips.set(reason, (this.#skips.get(reason) ?? 0) + rows)
  }
  #countRow(file: string): void {
    this.#countedRows.set(file, (this.#countedRows.get(file) ?? 0) + 1)
  }
  #addSample(row: object): void {
    if (this.#sample.length < SAMPLE_ROWS) this.#sample.push(row)
  }
  #addRevenue(revenue: string): void {
    const [amount, currency] = revenue.split(" ") as [string, string] // written by `sortedEvent`
    this.#revenue.set(currency, (this.#revenue.get(currency) ?? 0) + Number(amount))
  }
  #addEventName(name: string): void {
    if (this.#eventNames.size < EVENT_NAMES) this.#eventNames.add(name)
  }

  /**
   * Sorts the events into visits, then the visits by start, as otherwise every segment would span all years. Visits on excluded days are
   * left out. Visitors are numbered in the order of their keys, which is the same when an interrupted sort is repeated.
   */
  #stageVisits() {
    const { folder } = this.#task
    const isStaged = this.#task.do === "stage"
    const byStart = new ExternalSort(join(folder, "visits-by-start"))
    const counts = { visits: 0, visitors: 0, pageviews: 0, events: 0 }
    let numbered: string | undefined
    for (const visit of visitsOf(this.#firstOccurrences(sortedEvents(this.#events)))) {
      this.#collect(LIGHT_ROW)
      if (this.#stream?.holds(visit)) continue
      const { visitor, at } = visit[0]! // a visit has an event
      const day = this.#dayOf(at)
      this.#days.set(day, (this.#days.get(day) ?? 0) + 1)
      const skip = this.#skipOf(day)
      if (skip) {
        this.#rows.skipped += visit.length
        this.#addSkip(skip, visit.length)
        continue
      }
      if (visitor !== numbered) counts.visitors++
      numbered = visitor
      counts.visits++
      for (const event of visit) {
        if (event.name === "pageview") counts.pageviews++
        else if (isCounted(event)) this.#addEventName(event.name)
        if (isCounted(event)) counts.events++
        if (event.revenue !== "") this.#addRevenue(event.revenue)
      }
      if (isStaged) addVisitToSort(byStart, visit, this.#stream ? visitor : counts.visitors - 1, day)
    }
    this.#events.remove()
    const staged: Staged["staged"] = []
    if (isStaged && counts.visits > 0) {
      const writer = new LineWriter(join(folder, "visits"))
      for (const line of byStart.sorted()) {
        this.#collect(LIGHT_ROW)
        writer.write(line)
      }
      writer.close()
      staged.push({ name: "visits", lines: counts.visits })
    }
    byStart.remove()
    return { ...counts, staged }
  }

  #addId(id: string, file: string): void {
    if (this.#fileStarts.at(-1)?.file !== file) this.#fileStarts.push({ file, order: this.#order })
    this.#ids.add(id, this.#order)
  }

  /** Leaves out events whose id occurred before. */
  *#firstOccurrences(events: Iterable<SortedEvent>): Generator<SortedEvent> {
    const isRepeated = this.#ids.find()
    for (const event of events) {
      if (!isRepeated(event.order)) {
        yield event
        continue
      }
      this.skip("repeated_row")
      const { file } = this.#fileStarts.findLast(({ order }) => order <= event.order)! // has an id, or it would not be repeated
      this.#countedRows.set(file, this.#countedRows.get(file)! - 1)
    }
  }

  /** Returns the totals of aggregates: of the table without dimensions, or else of the table that has most. */
  #aggregateTotals() {
    const most = (name: string): number => {
      const own = this.#totals.get("imported_visitors")?.get(name)
      if (own !== undefined) return own
      return Math.max(0, ...IMPORTED_KINDS.map((kind) => this.#totals.get(kind)?.get(name) ?? 0))
    }
    const events = this.#totals.get("imported_visitors")?.get("events")
    const custom = this.#totals.get("imported_custom_events")?.get("events") ?? 0
    const pageviews = most("pageviews")
    return { visitors: most("visitors"), visits: most("visits"), pageviews, events: events || pageviews + custom }
  }
}

const byKey = (a: readonly [string, unknown], b: readonly [string, unknown]): number => (a[0] < b[0] ? -1 : 1)

/** Returns the text by which a visitor is recognized. A row without any has a visitor of its own. */
function nameOf({ visitor, sender, file, line, userId }: SourceEvent, day: string): string {
  if (visitor !== "") return `visitor ${visitor}`
  if (sender) return `sender ${day} ${sender.address} ${sender.userAgent}`
  return userId ? `user ${userId}` : `row ${file}:${line}`
}

/** Returns an event as a preview shows it, with the traits that are known. */
const sampleOf = ({ traits, event }: EnrichedEvent): object => ({
  at: new Date(event.at).toISOString(),
  name: event.name,
  page: event.page,
  hostname: event.hostname,
  ...Object.fromEntries(Object.entries(traits).filter(([, value]) => value !== "")),
  ...(event.props.length > 0 && { props: Object.fromEntries(event.props) }),
  ...(event.revenue && { revenue: event.revenue }),
})

const ADDRESSES = /\b\d{1,3}(?:\.\d{1,3}){3}\b|\b[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){3,7}\b/gi

/** Returns the faulty value as it is shown: short, on one line, without addresses. */
const excerptOf = (value: string): string =>
  value
    .replace(ADDRESSES, "…")
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are not shown
    .replace(/[\u0000-\u001f\u007f]+/g, " ")
    .slice(0, EXCERPT_CHARS)

const hostIn = (url: string): string => /^[a-z]+:\/\/([^/?#]*)/i.exec(url)?.[1] ?? ""

/** Returns the function that finds the local day of an instant. Most instants lie on the day of the one before. */
function daysBySpan(timezone: string): (at: number) => string {
  const hours = new Map<number, string>()
  return (at) => {
    // Zones change at multiples of 15 minutes only, so a quarter of an hour lies within one day.
    const quarter = Math.floor(at / 900_000)
    const known = hours.get(quarter)
    if (known !== undefined) return known
    if (hours.size > 50_000) hours.clear()
    const day = localDay(quarter * 900_000, timezone)
    hours.set(quarter, day)
    return day
  }
}
