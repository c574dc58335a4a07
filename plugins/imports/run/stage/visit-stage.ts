import { join } from "node:path"
import { SEGMENT_EVENTS } from "#plugin/worker"
import type { Staged, StageTask } from "../task.ts"
import { BatchWriter } from "../visit-batches.ts"
import type { StagedDays } from "./days.ts"
import type { Findings } from "./findings.ts"
import { type Garbage, LIGHT_ROW, PACKED_ROW } from "./garbage.ts"
import { RepeatedIds } from "./repeated-ids.ts"
import { ExternalSort } from "./sort.ts"
import type { StreamStage } from "./stream-stage.ts"
import { addToSort, addVisitToSort, isCounted, numberedByVisit, type SortedEvent, sortedEvents, sortedVisits, visitsOf } from "./visits.ts"

interface VisitStageOptions {
  days: StagedDays
  findings: Findings
  garbage: Garbage
  stream: StreamStage | undefined
}

/** The events of an import: they are sorted into visits, and the visits by start, as otherwise every segment would span all years. */
export class VisitStage {
  readonly #task: StageTask
  readonly #days: StagedDays
  readonly #findings: Findings
  readonly #garbage: Garbage
  readonly #stream: StreamStage | undefined
  readonly #events: ExternalSort
  readonly #ids: RepeatedIds
  /** First event of each file whose events have ids. */
  readonly #fileStarts: { file: string; order: number }[] = []
  #order = 0

  constructor(task: StageTask, { days, findings, garbage, stream }: VisitStageOptions) {
    this.#task = task
    this.#days = days
    this.#findings = findings
    this.#garbage = garbage
    this.#stream = stream
    this.#events = new ExternalSort(join(task.folder, "events"))
    this.#ids = new RepeatedIds(join(task.folder, "ids"))
  }

  /** Adds an event, which is numbered. `id` is that of the source. */
  add(event: Omit<SortedEvent, "order">, file = "", id?: string): void {
    const order = this.#order++
    if (id !== undefined) {
      if (this.#fileStarts.at(-1)?.file !== file) this.#fileStarts.push({ file, order })
      this.#ids.add(id, order)
    }
    addToSort(this.#events, event, order)
  }

  /**
   * Stages the visits, without those on excluded days. Visitors are numbered by their first visit, which is the same when an interrupted
   * sort is repeated.
   */
  finish() {
    const { folder } = this.#task
    const isStaged = this.#task.do === "stage"
    const byStart = new ExternalSort(join(folder, "visits-by-start"))
    const counts = { visits: 0, visitors: 0, pageviews: 0, events: 0 }
    let numbered: string | undefined
    for (const visit of visitsOf(this.#firstOccurrences(sortedEvents(this.#events)))) {
      this.#garbage.add(visit.length * LIGHT_ROW)
      if (this.#stream?.holds(visit)) continue
      const { visitor, at } = visit[0]! // a visit has an event
      const day = this.#days.of(at)
      const skip = this.#days.add(day)
      if (skip) {
        this.#findings.rows.skipped += visit.length
        this.#findings.addSkip(skip, visit.length)
        continue
      }
      if (visitor !== numbered) counts.visitors++
      numbered = visitor
      counts.visits++
      for (const event of visit) this.#count(event, counts)
      if (isStaged) addVisitToSort(byStart, visit, this.#stream ? visitor : counts.visitors - 1, day)
    }
    this.#events.remove()
    const staged = isStaged && counts.visits > 0 ? this.#write(byStart, counts) : []
    byStart.remove()
    return { ...counts, staged }
  }

  #count(event: SortedEvent, counts: { pageviews: number; events: number }): void {
    if (event.name === "pageview") counts.pageviews++
    else if (isCounted(event)) this.#findings.addEventName(event.name)
    if (isCounted(event)) counts.events++
    if (event.revenue !== "") this.#findings.addRevenue(event.revenue)
  }

  #write(byStart: ExternalSort, { visits, visitors }: { visits: number; visitors: number }): Staged["staged"] {
    const { folder, batchEvents = SEGMENT_EVENTS } = this.#task
    const writer = new BatchWriter(join(folder, "visits"), batchEvents)
    const sorted = sortedVisits(byStart)
    for (const visit of this.#stream ? sorted : numberedByVisit(sorted, visitors)) {
      this.#garbage.add(visit.events.length * PACKED_ROW)
      writer.add(visit)
    }
    writer.close()
    return [{ name: "visits", lines: visits }]
  }

  /** Leaves out events whose id occurred before. */
  *#firstOccurrences(events: Iterable<SortedEvent>): Generator<SortedEvent> {
    const isRepeated = this.#ids.find()
    for (const event of events) {
      if (!isRepeated(event.order)) {
        yield event
        continue
      }
      this.#findings.skip("repeated_row")
      const { file } = this.#fileStarts.findLast(({ order }) => order <= event.order)! // has an id, or it would not be repeated
      this.#findings.countRow(file, -1)
    }
  }
}
