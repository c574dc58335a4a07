import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import type { Job } from "../domain/job.ts"
import type { Log } from "../domain/log.ts"
import type { Catalog } from "../store/catalog/catalog.ts"
import { finishJob, type JobEnd, requeueJob, saveJobProgress } from "../store/catalog/jobs.ts"
import { type JobKind, usualRetryMs } from "./job-kinds.ts"

/** A job that has run, as far as its end depends on it. */
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
  /** Told of every job that is over. */
  tell(job: Job): void
}

/** How a run ended: over, or to be tried again. An end that the catalog does not take is kept and stored later. */
export class JobEnds {
  readonly #options: JobEndsOptions
  /** By job: a disk that was full must not leave a job running for ever. */
  readonly #unstored = new Map<number, () => Promise<void>>()

  constructor(options: JobEndsOptions) {
    this.#options = options
  }

  /** Never rejects. `thrown` is what the run rejected with. */
  async store(ending: EndingJob, thrown: { error: unknown } | undefined): Promise<void> {
    const conclude = () => this.#conclude(ending, thrown)
    const { id, kind } = ending.job
    await conclude().catch((error) => {
      this.#unstored.set(id, conclude)
      this.#options.log.error("the end of a job could not be stored", { job: id, kind, error })
    })
  }

  async storeKept(): Promise<void> {
    for (const [id, conclude] of this.#unstored)
      await conclude().then(
        () => this.#unstored.delete(id),
        () => {}, // said the first time; the next look tries again
      )
  }

  /** Of a job that was ended otherwise. */
  forget(id: number): void {
    this.#unstored.delete(id)
  }

  async #conclude({ job, kind, abort, isCancelled }: EndingJob, thrown: { error: unknown } | undefined): Promise<void> {
    const { catalog } = this.#options
    if (job.progress) await saveJobProgress(catalog, job.id, job.progress)
    if (isCancelled) return this.#end(job, { state: "cancelled" })
    if (!thrown) return this.#end(job, { state: "done" })
    // Cut off by the end of the process, in order: that was no try.
    if (abort.signal.aborted) {
      if (kind.interrupted === "fail") return this.#end(job, { state: "failed", error: INTERRUPTED })
      return void (await requeueJob(catalog, job.id, { at: this.#now, attempts: job.attempts - 1 }))
    }
    const error = this.#told(job, thrown.error)
    if (job.attempts >= (kind.attempts ?? 1)) return this.#end(job, { state: "failed", error })
    const at = this.#now + (kind.retryMs?.(job.attempts) ?? usualRetryMs(job.attempts))
    await requeueJob(catalog, job.id, { at, attempts: job.attempts, error })
  }

  async #end({ id }: Job, end: Omit<JobEnd, "at">): Promise<void> {
    const over = await finishJob(this.#options.catalog, id, { ...end, at: this.#now })
    if (over) this.#options.tell(over)
  }

  /** What people may read of a failure; the rest is in the log. */
  #told({ id, kind }: Job, error: unknown): { code: string; message: string } {
    if (error instanceof AppError) return { code: error.code, message: error.message }
    this.#options.log.error("a job failed", { job: id, kind, error })
    return { code: "internal_error", message: "The cause is in the server's log." }
  }

  get #now(): number {
    return this.#options.clock.now()
  }
}

export const INTERRUPTED = { code: "interrupted", message: "It was cut off by the end of the process." }
