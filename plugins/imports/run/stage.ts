import { join } from "node:path"
import type { EnrichedEvent, ImportedKind, ImportedRow } from "#plugin"
import { createEnrichment, openPlaces, SEGMENT_EVENTS } from "#plugin/worker"
import { type DaySkip, daySkips, localDay } from "../days.ts"
import { ownOptions } from "../options.ts"
import { ImportFault, type Sink, type SkipReason, type SourceEvent, type SourceRefund } from "../source.ts"
import { byKey, Findings } from "./findings.ts"
import { noFiles, type RecognizedFiles, recognizeFiles } from "./reading.ts"
import { type StagedRefund, StagedRefunds, stagedRefund } from "./refunds.ts"
import { RepeatedIds } from "./repeated-ids.ts"
import { ExternalSort } from "./sort.ts"
import { StreamStage } from "./stream-stage.ts"
import {
  type FileReport,
  MAX_REJECTS,
  PREVIEW_REJECTS,
  type ReadableOptions,
  type Staged,
  type StageProgress,
  type StageResult,
  type StageTask,
} from "./task.ts"
import { StagedTotals } from "./totals.ts"
import { BatchWriter } from "./visit-batches.ts"
import {
  addToSort,
  addVisitToSort,
  isCounted,
  numberedByVisit,
  type SortedEvent,
  sortedEvent,
  sortedEvents,
  sortedVisits,
  visitsOf,
} from "./visits.ts"

const PROGRESS_MS = 500
/** Events that are read until garbage is collected. The engine itself would let it grow to hundreds of megabytes. */
const EVENTS_PER_COLLECTION = 2_500
/** Garbage of a row in the other phases, compared with that of an event that is read. */
const LIGHT_ROW = 0.3

/** Maximum number of remembered visitors. */
const MAX_VISITORS = 10_000

const USERS_NOT_LINKED =
  "Users are not linked, because the identity mode of the site is not identified. Change it in the settings of the site before the import."

/** Ends the reading when a limit is reached. */
class LimitReached extends Error {}

/** Reads the files of an import and stages their rows: sorted visits, and totals by kind. Runs in a worker. */
export async function stage(task: StageTask, report: (progress: StageProgress) => void): Promise<StageResult> {
  try {
    return await new Stage(task, report).run()
  } catch (error) {
    if (error instanceof ImportFault) return { fault: { code: error.code, message: error.message, members: error.members } }
    throw error
  }
}

class Stage extends Findings implements Sink {
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
  readonly #totals: StagedTotals
  readonly #refunds: StagedRefunds
  readonly #days = new Map<string, number>()
  readonly #dayOf: (at: number) => string
  readonly #hasher: Bun.CryptoHasher
  readonly #visitors = new Map<string, string>()
  readonly #hosts: ReadonlySet<string> | undefined
  readonly #tables: ReadonlySet<string> | undefined
  readonly #stream: StreamStage | undefined
  #enrich: ReturnType<typeof createEnrichment> | undefined
  #order = 0
  #scanned = 0
  #reportedAt = 0
  #eventCount = 0
  #uncollected = 0

  constructor(task: StageTask, report: (progress: StageProgress) => void) {
    super(task.do === "preview" ? PREVIEW_REJECTS : MAX_REJECTS)
    this.#task = task
    this.#options = task.options as ReadableOptions // validated on the main thread
    this.#report = report
    this.#size = task.files.reduce((sum, { bytes }) => sum + bytes, 0)
    this.#skipOf = daySkips(task.rules)
    this.#events = new ExternalSort(join(task.folder, "events"))
    this.#ids = new RepeatedIds(join(task.folder, "ids"))
    const folder = task.do === "stage" ? task.folder : undefined
    this.#totals = new StagedTotals(folder)
    this.#refunds = new StagedRefunds(folder)
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
    for (const { code, message } of this.#task.warnings ?? []) this.warn(code, message)
    for (const row of this.#stream?.waitedRows() ?? []) addToSort(this.#events, { ...row, order: this.#order++ })
    // A run of a stream without files writes the rows that have waited long enough.
    const isEmpty = this.#stream !== undefined && this.#task.files.length === 0
    const files = isEmpty ? noFiles(this.#task) : await recognizeFiles(this.#task, (bytes) => this.#count(bytes))
    const complete = (await this.#read(files)) && this.#task.isPart !== true
    const hash = complete ? await this.#hash(files) : undefined
    // What was remembered of the rows is not needed for their visits.
    this.#enrich = undefined
    this.#visitors.clear()
    const { visits, visitors, pageviews, events, staged } = this.#stageVisits()
    const { waited = 0, waiting = 0 } = this.#stream ?? {}
    if (waiting > 0)
      this.warn("open_visits", `${waiting} rows belong to visits that may go on. They wait for the next run, at most 30 minutes.`)
    staged.push(...this.#totals.close())
    const totals = this.#totals.sums()
    const refunds = this.#refunds.close()
    return {
      source: files.source.id,
      kind: this.#kind(files),
      confidence: files.confidence,
      complete,
      delimiter: files.delimiter,
      encoding: files.encoding,
      scannedBytes: files.scannedBytes(),
      files: files.reports.map((file): FileReport => ({ ...file, rows: this.rowsOf(file.name) })),
      days: [...this.#days].sort(byKey).map(([day, rows]) => {
        const skip = this.#skipOf(day)
        return { day, rows, ...(skip && { skip }) }
      }),
      totals: {
        visitors: visitors + totals.visitors,
        visits: visits + totals.visits,
        pageviews: pageviews + totals.pageviews,
        events: events + totals.events,
        revenue: this.revenue(),
      },
      ...this.found(),
      rows: { ...this.rows, accepted: Math.max(0, this.rows.read + waited - this.rows.rejected - this.rows.skipped - waiting) },
      ...(hash !== undefined && { hash }),
      visitors,
      staged,
      ...(refunds && { refunds }),
      ...(this.#stream && { stream: this.#stream.result() }),
    }
  }

  #kind({ source }: RecognizedFiles): Staged["kind"] {
    if (!this.#totals.isEmpty) return this.#eventCount > 0 ? "mixed" : "aggregate"
    return this.#eventCount > 0 || source.kinds[0] === "rows" ? "rows" : "aggregate"
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
      if (error instanceof LimitReached) return false
      throw error
    }
  }

  /** Reads files to their end that the source did not, unless a preview has no time left. */
  async #hash(files: RecognizedFiles): Promise<string | undefined> {
    try {
      return await files.hash()
    } catch (error) {
      if (error instanceof LimitReached) return undefined
      throw error
    }
  }

  #count(bytes: number): void {
    this.#scanned += bytes
    this.check()
  }

  check(): void {
    const now = performance.now()
    const { limits } = this.#task
    if (limits && (this.#scanned > limits.bytes || now - this.#startedAt > limits.ms)) throw new LimitReached()
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
    if (isBot || this.#isForeign(event.hostname) || !this.#isWanted(day)) {
      this.skip(isBot ? "bot" : "filtered")
      return
    }
    if (enriched.hasInvalidRevenue) this.addSkip("revenue_invalid", 1)
    this.#eventCount++
    this.countRow(given.file)
    this.addSample(() => sampleOf(enriched))
    if (given.id !== undefined) this.#addId(given.id, given.file)
    addToSort(this.#events, this.#sortedEvent(given, enriched, day))
  }

  #sortedEvent(given: SourceEvent, enriched: EnrichedEvent, day: string): SortedEvent {
    const linked = this.#task.linksUsers && given.userId ? given.userId : ""
    const name = linked === "" ? nameOf(given, day) : `user ${linked}`
    const visitor = this.#visitorOf(name, day)
    const kind = linked === "" ? (given.visitorKind ?? "rotating") : "user"
    return sortedEvent(enriched, { visitor, visit: given.visit ?? "", kind, userId: linked, order: this.#order++ })
  }

  /** Returns the keyed hash of a visitor. Those of recent visitors are remembered: events of a visit stand close together. */
  #visitorOf(name: string, day: string): string {
    const key = this.#stream ? `${day} ${name}` : name
    const known = this.#visitors.get(key)
    if (known !== undefined) return known
    const visitor = this.#stream?.visitorOf(name, day) ?? this.#hasher.copy().update(name).digest("hex").slice(0, 32)
    if (this.#visitors.size === MAX_VISITORS) this.#visitors.clear()
    this.#visitors.set(key, visitor)
    return visitor
  }

  totals(kind: ImportedKind, row: ImportedRow & { file: string; line: number }): void {
    const { file, line } = row
    this.#collect(LIGHT_ROW)
    if (this.#tables && !this.#tables.has(kind)) return
    if (!this.#isWanted(row.day)) {
      this.skipLine("filtered", file, line)
      return
    }
    this.countRow(file)
    this.#days.set(row.day, (this.#days.get(row.day) ?? 0) + 1)
    const skip = this.#skipOf(row.day)
    if (skip) {
      this.skipLine(skip, file, line)
      return
    }
    this.#totals.add(kind, row)
    if (kind === "imported_custom_events" && row.texts.name) this.addEventName(row.texts.name)
    this.addSample(() => ({ table: kind, day: row.day, ...(row.hour !== undefined && { hour: row.hour }), ...row.texts, ...row.counts }))
  }

  refund(given: SourceRefund): void {
    this.#collect(LIGHT_ROW)
    const day = this.#dayOf(given.at)
    const refund = stagedRefund(given)
    const reason = this.#refundSkip(given, refund, day)
    if (reason !== undefined || !refund) {
      this.rows.skipped++
      this.addSkip(reason ?? "revenue_invalid", 1)
      return
    }
    this.countRow(given.file)
    this.#refunds.add(refund, given.at)
    this.addRevenue(`${-refund.amount_minor} ${refund.currency}`)
    const revenue = { amount: -refund.amount_minor, currency: refund.currency }
    this.addSample(() => ({ at: refund.occurred_at, name: "refund", props: { order_id: given.order }, revenue }))
  }

  /** Returns why a refund is not imported, if there is a reason. Counts its day, which can be one that is skipped. */
  #refundSkip({ hostname }: SourceRefund, refund: StagedRefund | undefined, day: string): SkipReason | DaySkip | undefined {
    if (!this.#task.takesRefunds) return "not_imported_type"
    if (this.#isForeign(hostname) || !this.#isWanted(day)) return "filtered"
    if (!refund) return "revenue_invalid"
    if (this.#refunds.has(refund)) return "repeated_row"
    this.#days.set(day, (this.#days.get(day) ?? 0) + 1)
    return this.#skipOf(day)
  }

  #isForeign(hostname: string): boolean {
    return this.#hosts !== undefined && hostname !== "" && !this.#hosts.has(hostname)
  }

  #isWanted(day: string): boolean {
    const { from, to } = this.#options
    return (from === undefined || day >= from) && (to === undefined || day <= to)
  }

  /**
   * Sorts the events into visits, then the visits by start, as otherwise every segment would span all years. Visits on excluded days are
   * left out. Visitors are numbered by their first visit, which is the same when an interrupted sort is repeated.
   */
  #stageVisits() {
    const { folder } = this.#task
    const isStaged = this.#task.do === "stage"
    const byStart = new ExternalSort(join(folder, "visits-by-start"))
    const counts = { visits: 0, visitors: 0, pageviews: 0, events: 0 }
    let numbered: string | undefined
    for (const visit of visitsOf(this.#firstOccurrences(sortedEvents(this.#events)))) {
      this.#collect(visit.length * LIGHT_ROW)
      if (this.#stream?.holds(visit)) continue
      const { visitor, at } = visit[0]! // a visit has an event
      const day = this.#dayOf(at)
      this.#days.set(day, (this.#days.get(day) ?? 0) + 1)
      const skip = this.#skipOf(day)
      if (skip) {
        this.rows.skipped += visit.length
        this.addSkip(skip, visit.length)
        continue
      }
      if (visitor !== numbered) counts.visitors++
      numbered = visitor
      counts.visits++
      for (const event of visit) {
        if (event.name === "pageview") counts.pageviews++
        else if (isCounted(event)) this.addEventName(event.name)
        if (isCounted(event)) counts.events++
        if (event.revenue !== "") this.addRevenue(event.revenue)
      }
      if (isStaged) addVisitToSort(byStart, visit, this.#stream ? visitor : counts.visitors - 1, day)
    }
    this.#events.remove()
    const staged: Staged["staged"] = []
    if (isStaged && counts.visits > 0) {
      const writer = new BatchWriter(join(folder, "visits"), this.#task.batchEvents ?? SEGMENT_EVENTS)
      const visits = sortedVisits(byStart)
      for (const visit of this.#stream ? visits : numberedByVisit(visits, counts.visitors)) {
        this.#collect(visit.events.length * LIGHT_ROW)
        writer.add(visit)
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
      this.countRow(file, -1)
    }
  }
}

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
