import { createEnrichment, openPlaces } from "#plugin/worker"
import { ownOptions } from "../../options.ts"
import { ImportFault } from "../../source.ts"
import type { FileReport, ReadableOptions, Staged, StageProgress, StageResult, StageTask } from "../task.ts"
import { noFiles, type RecognizedFiles, recognizeFiles } from "./reading.ts"
import { RowStage } from "./row-stage.ts"

const PROGRESS_MS = 500

const USERS_NOT_LINKED =
  "Users are not linked, because the identity mode of the site is not identified. Change it in the settings of the site before the import."

/** Ends the reading when a limit is reached. */
class LimitReached extends Error {}

/** Reads the files of an import and stages their rows: sorted visits, and totals by kind. Runs in a worker. */
export async function stage(task: StageTask, report: (progress: StageProgress) => void): Promise<StageResult> {
  try {
    const staged = await new Stage(task, report).run()
    // The thread that writes begins before the memory of this one is free.
    Bun.gc(true)
    Bun.shrink()
    return staged
  } catch (error) {
    if (error instanceof ImportFault) return { fault: { code: error.code, message: error.message, members: error.members } }
    throw error
  }
}

class Stage {
  readonly #task: StageTask
  readonly #options: ReadableOptions
  readonly #report: (progress: StageProgress) => void
  readonly #startedAt = performance.now()
  readonly #size: number
  #scanned = 0
  #reportedAt = 0

  constructor(task: StageTask, report: (progress: StageProgress) => void) {
    this.#task = task
    this.#options = task.options as ReadableOptions // validated on the main thread
    this.#report = report
    this.#size = task.files.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  async run(): Promise<Staged> {
    const task = this.#task
    const enrich = createEnrichment(task.site, await openPlaces(task.geoDb))
    const rows = new RowStage(task, enrich, () => this.#check())
    const { stream } = rows
    if (this.#options.link_identified_users === true && !task.linksUsers) rows.warn("users_not_linked", USERS_NOT_LINKED)
    for (const { code, message } of task.warnings ?? []) rows.warn(code, message)
    for (const row of stream?.waitedRows() ?? []) rows.visits.add(row)
    // A run of a stream without files writes the rows that have waited long enough.
    const isEmpty = stream !== undefined && task.files.length === 0
    const files = isEmpty ? noFiles(task) : await recognizeFiles(task, (bytes) => this.#count(bytes))
    const complete = (await this.#untilLimit(() => this.#read(files, rows))) !== undefined && task.isPart !== true
    // Files are read to their end that the source did not, unless a preview has no time left.
    const hash = complete ? await this.#untilLimit(() => files.hash()) : undefined
    await rows.end()
    const { visits, visitors, pageviews, events, staged } = rows.visits.finish()
    const { waited = 0, waiting = 0 } = stream ?? {}
    if (waiting > 0)
      rows.warn("open_visits", `${waiting} rows belong to visits that may go on. They wait for the next run, at most 30 minutes.`)
    staged.push(...rows.totalsStage.close())
    const totals = rows.totalsStage.sums()
    const refunds = rows.refunds.close()
    const { read, rejected, skipped } = rows.rows
    return {
      source: files.source.id,
      kind: kindOf(files, rows),
      confidence: files.confidence,
      complete,
      delimiter: files.delimiter,
      encoding: files.encoding,
      scannedBytes: files.scannedBytes(),
      files: files.reports.map((file): FileReport => ({ ...file, rows: rows.rowsOf(file.name) })),
      days: rows.days.reports(),
      totals: {
        visitors: visitors + totals.visitors,
        visits: visits + totals.visits,
        pageviews: pageviews + totals.pageviews,
        events: events + totals.events,
        revenue: rows.revenue(),
      },
      ...rows.found(),
      rows: { read, rejected, skipped, accepted: Math.max(0, read + waited - rejected - skipped - waiting) },
      ...(hash !== undefined && { hash }),
      visitors,
      staged,
      ...(refunds && { refunds }),
      ...(stream && { stream: stream.result() }),
    }
  }

  async #read({ source, inputs }: RecognizedFiles, rows: RowStage): Promise<true> {
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
      coverage: rows.stream?.coverage,
      own: ownOptions(this.#options),
    }
    await source.read(inputs, options, rows)
    return true
  }

  /** Returns undefined if a limit ended the work. */
  async #untilLimit<Result>(work: () => Promise<Result>): Promise<Result | undefined> {
    try {
      return await work()
    } catch (error) {
      if (error instanceof LimitReached) return undefined
      throw error
    }
  }

  #count(bytes: number): void {
    this.#scanned += bytes
    this.#check()
  }

  #check(): void {
    const now = performance.now()
    const { limits } = this.#task
    if (limits && (this.#scanned > limits.bytes || now - this.#startedAt > limits.ms)) throw new LimitReached()
    if (now - this.#reportedAt < PROGRESS_MS) return
    this.#reportedAt = now
    // Packed files yield more bytes than they have.
    this.#report({ phase: "sort", done: Math.min(this.#scanned, this.#size), total: this.#size })
  }
}

function kindOf({ source }: RecognizedFiles, { totalsStage, eventCount }: RowStage): Staged["kind"] {
  if (!totalsStage.isEmpty) return eventCount > 0 ? "mixed" : "aggregate"
  return eventCount > 0 || source.kinds[0] === "rows" ? "rows" : "aggregate"
}
