import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import type { Job } from "../../domain/job.ts"
import type { Log } from "../../domain/log.ts"
import type { Catalog } from "../../store/catalog/catalog.ts"
import { finishJob, type JobEnd, requeueJob, saveJobProgress } from "../../store/catalog/jobs.ts"
import { type JobKind, usualRetryMs } from "./jobs.ts"

/** A job that has run, with what determines its end. */
export interface EndingJob {
  job: Job
  kind: JobKind
  abort: AbortController
  isCancelled: boolean
}

interface JobEndsOptions {
  catalog: Catalog
  clock: Pick<Clock, "now">
  log: Log
  /** Holder of the leases of the jobs. The end of a job that another node has taken over is not stored. */
  self: string
  /** Called for every finished job. */
  onEnd(job: Job): void
}

/** Stores how runs ended: finished, or to be retried. An end that the catalog does not accept is stored later. */
export class JobEnds {
  readonly #options: JobEndsOptions
  /** Unstored ends by job. A full disk must not leave a job running forever. */
  readonly #unstored = new Map<number, () => Promise<void>>()

  constructor(options: JobEndsOptions) {
    this.#options = options
  }

  /** Stores the end of a run. Never rejects. `thrown` is the error of the run. */
  async store(ending: EndingJob, thrown: { error: unknown } | undefined): Promise<void> {
    const conclude = () => this.#conclude(ending, thrown)
    const { id, kind } = ending.job
    await conclude().catch((error) => {
      this.#unstored.set(id, conclude)
      this.#options.log.error("the end of a job could not be stored", { job: id, kind, error })
    })
  }

  async storePending(): Promise<void> {
    for (const [id, conclude] of this.#unstored)
      await conclude().then(
        () => this.#unstored.delete(id),
        () => {}, // logged the first time; the next call tries again
      )
  }

  /** Forgets the unstored end of a job that was ended otherwise. */
  forget(id: number): void {
    this.#unstored.delete(id)
  }

  async #conclude({ job, kind, abort, isCancelled }: EndingJob, thrown: { error: unknown } | undefined): Promise<void> {
    const { catalog, self: by } = this.#options
    if (job.progress) await saveJobProgress(catalog, { id: job.id, by }, job.progress)
    if (isCancelled) return this.#end(job, { state: "cancelled" })
    if (!thrown) return this.#end(job, { state: "done" })
    // An interruption by an orderly stop does not count as an attempt.
    if (abort.signal.aborted) {
      if (kind.interrupted === "fail") return this.#end(job, { state: "failed", error: INTERRUPTED })
      return void (await requeueJob(catalog, job.id, { at: this.#now, attempts: job.attempts - 1, holder: { by } }))
    }
    const error = this.#describeFailure(job, thrown.error)
    if (job.attempts >= (kind.attempts ?? 1)) return this.#end(job, { state: "failed", error })
    const at = this.#now + (kind.retryMs?.(job.attempts) ?? usualRetryMs(job.attempts))
    await requeueJob(catalog, job.id, { at, attempts: job.attempts, error, holder: { by } })
  }

  async #end({ id }: Job, end: Omit<JobEnd, "at">): Promise<void> {
    const over = await finishJob(this.#options.catalog, id, { ...end, at: this.#now, holder: { by: this.#options.self } })
    if (over) this.#options.onEnd(over)
  }

  /** Returns the failure shown to users. Other details are only in the log. */
  #describeFailure({ id, kind }: Job, error: unknown): { code: string; message: string } {
    if (error instanceof AppError) return { code: error.code, message: error.message }
    this.#options.log.error("a job failed", { job: id, kind, error })
    return { code: "internal_error", message: "An internal error occurred. See the log of the instance." }
  }

  get #now(): number {
    return this.#options.clock.now()
  }
}

export const INTERRUPTED = { code: "interrupted", message: "The job was interrupted because the process ended." }

/** Listeners that follow the progress of jobs. */
export class JobListeners {
  readonly #listeners = new Map<number, Set<(job: Job) => void>>()

  /** Adds a listener, until the returned function is called. */
  watch(id: number, listener: (job: Job) => void): () => void {
    const listeners = this.#listeners.get(id) ?? new Set()
    this.#listeners.set(id, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#listeners.delete(id)
    }
  }

  /** Returns the ids of the jobs that have listeners. */
  watched(): number[] {
    return [...this.#listeners.keys()]
  }

  notify(job: Job): void {
    for (const listener of this.#listeners.get(job.id) ?? []) listener(job)
  }
}
