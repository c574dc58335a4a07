import { AppError } from "../domain/error.ts"
import { isOver, type Job, type JobProgress } from "../domain/job.ts"
import { JOBS } from "../domain/limits.ts"
import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import {
  claimJob,
  deleteJobsFinishedBefore,
  finishJob,
  insertJob,
  type JobEnd,
  type JobFilter,
  jobById,
  listDueJobs,
  listJobs,
  listRunningJobs,
  queuedJob,
  renewLease,
  requeueJob,
  saveJobPayload,
  saveJobProgress,
} from "../store/catalog/jobs.ts"
import { CRASHES, type JobKind, usualRetryMs } from "./job-kinds.ts"
import type { Jobs, JobsOptions, NewJob } from "./jobs.ts"
import { slicesOf } from "./slices.ts"

interface Kind extends JobKind {
  isOn(): boolean
}

interface Running {
  job: Job
  kind: Kind
  abort: AbortController
  isCancelled: boolean
  /** Of the progress that is in the catalog. */
  savedAt: number
  leasedAt: number
  ended: Promise<void>
}

export const createJobQueue = (options: JobsOptions): Jobs => new Queue(options)

class Queue implements Jobs {
  readonly #options: JobsOptions
  /** Which process holds a lease. */
  readonly #self: string
  readonly #kinds = new Map<string, Kind>()
  readonly #running = new Map<number, Running>()
  /** Ends that the catalog did not take, by job: a disk that was full must not leave a job running for ever. */
  readonly #unstored = new Map<number, () => Promise<void>>()
  readonly #listeners = new Map<number, Set<(job: Job) => void>>()
  #beginning: Promise<void> = Promise.resolve()
  #isStarted = false
  #isStopped = false

  constructor(options: JobsOptions) {
    this.#options = options
    this.#self = options.random(8).toHex()
  }

  get #catalog(): Catalog {
    return this.#options.catalog
  }
  get #now(): number {
    return this.#options.clock.now()
  }

  define(kind: string, definition: JobKind, isOn = () => true): void {
    if (this.#kinds.has(kind)) throw new Error(`The job ${kind} is defined twice`)
    this.#kinds.set(kind, { ...definition, run: (work) => definition.run(work), isOn })
  }

  async enqueue(given: NewJob, statements?: Statements): Promise<Job | undefined> {
    const { kind, key = "", join = false } = given
    if (!this.#kinds.has(kind)) throw new Error(`No job is called ${kind}`)
    const make = async (within: Statements): Promise<Job | undefined> =>
      (join && (await queuedJob(within, kind, key))) || insertJob(within, rowOf(given, this.#now))
    const job = await (statements ? make(statements) : this.#catalog.transaction(make))
    // The catalog's queue puts the look for due jobs behind the transaction that this is part of.
    if (this.#isStarted) setTimeout(() => void this.tick(), 0)
    return job
  }

  async get(id: number): Promise<Job | undefined> {
    return this.#running.get(id)?.job ?? jobById(this.#catalog, id)
  }

  async list(filter: JobFilter, page: { before: number; limit: number }): Promise<Job[]> {
    const jobs = await listJobs(this.#catalog, filter, page)
    return jobs.map((job) => this.#running.get(job.id)?.job ?? job)
  }

  async cancel(id: number, alongside?: (statements: Statements, job: Job) => Promise<void>): Promise<Job | undefined> {
    const running = this.#running.get(id)
    const job = await this.#catalog.transaction(async (statements) => {
      const found = await jobById(statements, id)
      if (!found || isOver(found)) return found
      await alongside?.(statements, found)
      return running ? found : finishJob(statements, id, { state: "cancelled", at: this.#now })
    })
    this.#unstored.delete(id)
    if (running && this.#running.has(id)) {
      running.isCancelled = true
      running.abort.abort()
    } else if (job) this.#tell(job)
    return job
  }

  async retry(id: number, alongside?: (statements: Statements, job: Job) => Promise<void>): Promise<Job | undefined> {
    const job = await this.#catalog.transaction(async (statements) => {
      const found = await jobById(statements, id)
      if (!found) return undefined
      if (found.state !== "failed" && found.state !== "cancelled")
        throw new AppError("invalid_state", `A job that is ${found.state} cannot begin anew.`, { state: found.state })
      await alongside?.(statements, found)
      return requeueJob(statements, id, { at: this.#now, attempts: 0 })
    })
    if (this.#isStarted) void this.tick()
    return job
  }

  watch(id: number, listener: (job: Job) => void): () => void {
    const listeners = this.#listeners.get(id) ?? new Set()
    this.#listeners.set(id, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#listeners.delete(id)
    }
  }

  async recover(): Promise<void> {
    this.#isStarted = true
    for await (const slice of slicesOf((part) => listRunningJobs(this.#catalog, part))) {
      for (const job of slice) await this.#recoverOne(job)
    }
  }

  /** Only this process serves the catalog, so a lease of another one is dead however long it would last. */
  async #recoverOne(job: Job): Promise<void> {
    const kind = this.#kinds.get(job.kind)
    const { id, attempts } = job
    const mayResume = kind?.interrupted === "resume" && attempts < (kind.attempts ?? 1) + CRASHES
    if (mayResume) await requeueJob(this.#catalog, id, { at: this.#now, attempts })
    else await finishJob(this.#catalog, id, { state: "failed", at: this.#now, error: INTERRUPTED })
  }

  tick(): Promise<void> {
    // One look after the other: two at once would both begin the same jobs.
    const result = this.#beginning.then(() => this.#begin())
    this.#beginning = result.catch((error) => this.#options.log.error("jobs could not be begun", { error }))
    return this.#beginning
  }

  async drain(): Promise<void> {
    do {
      await this.tick()
      await Promise.all([...this.#running.values()].map(({ ended }) => ended))
      await this.tick()
    } while (this.#running.size > 0)
  }

  async forgetOld(): Promise<void> {
    while ((await deleteJobsFinishedBefore(this.#catalog, this.#now - JOBS.keptDays * 86_400_000)) === 1_000) await Bun.sleep(0)
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#beginning
    for (const { abort } of this.#running.values()) abort.abort()
    await Promise.race([Promise.all([...this.#running.values()].map(({ ended }) => ended)), Bun.sleep(JOBS.stopMs)])
  }

  async #begin(): Promise<void> {
    if (this.#isStopped) return
    await this.#renewLeases()
    await this.#storeEnds()
    const free = JOBS.atOnce - this.#running.size
    const kinds = [...this.#kinds].filter(([name, kind]) => kind.isOn() && this.#countOf(name) < (kind.atOnce ?? JOBS.atOnceOfKind))
    if (free <= 0 || kinds.length === 0) return
    const due = await listDueJobs(
      this.#catalog,
      kinds.map(([name]) => name),
      this.#now,
      JOBS.looked,
    )
    for (const job of due) if (this.#mayBegin(job)) await this.#claim(job)
  }

  /** What has begun meanwhile counts. */
  #mayBegin({ kind, key }: Job): boolean {
    const same = [...this.#running.values()].filter(({ job }) => job.kind === kind)
    const most = this.#kinds.get(kind)?.atOnce ?? JOBS.atOnceOfKind
    return this.#running.size < JOBS.atOnce && same.length < most && same.every(({ job }) => job.key !== key)
  }

  #countOf(kind: string): number {
    return [...this.#running.values()].filter(({ job }) => job.kind === kind).length
  }

  async #claim({ id, kind: name }: Job): Promise<void> {
    const job = await claimJob(this.#catalog, id, { by: this.#self, until: this.#now + JOBS.leaseMs, now: this.#now })
    const kind = this.#kinds.get(name)
    if (!job || !kind) return
    const leasedAt = this.#options.clock.monotonic()
    const running: Running = { job, kind, abort: new AbortController(), isCancelled: false, savedAt: 0, leasedAt, ended: Promise.resolve() }
    this.#running.set(id, running)
    running.ended = this.#carryOut(running)
  }

  /** Never rejects: nobody waits for it but the end of the process. */
  async #carryOut(running: Running): Promise<void> {
    const { kind, job, abort } = running
    let thrown: { error: unknown } | undefined
    try {
      await kind.run({
        job,
        payload: job.payload,
        signal: abort.signal,
        progress: (progress) => this.#note(running, progress),
        save: (payload) => this.#save(running, payload),
      })
    } catch (error) {
      thrown = { error }
    }
    const conclude = () => this.#conclude(running, thrown)
    await conclude().catch((error) => {
      this.#unstored.set(job.id, conclude)
      this.#options.log.error("the end of a job could not be stored", { job: job.id, kind: job.kind, error })
    })
    this.#running.delete(job.id)
    if (this.#isStarted && !this.#isStopped) setTimeout(() => void this.tick(), 0)
  }

  async #storeEnds(): Promise<void> {
    for (const [id, conclude] of this.#unstored)
      await conclude().then(
        () => this.#unstored.delete(id),
        () => {}, // said the first time; the next look tries again
      )
  }

  async #conclude(running: Running, thrown: { error: unknown } | undefined): Promise<void> {
    const { job, kind, abort, isCancelled } = running
    if (job.progress) await saveJobProgress(this.#catalog, job.id, job.progress)
    const end = async (end: Omit<JobEnd, "at">) => {
      const over = await finishJob(this.#catalog, job.id, { ...end, at: this.#now })
      if (over) this.#tell(over)
    }
    if (isCancelled) return end({ state: "cancelled" })
    if (!thrown) return end({ state: "done" })
    // Cut off by the end of the process, in order: that was no try.
    if (abort.signal.aborted) {
      if (kind.interrupted === "fail") return end({ state: "failed", error: INTERRUPTED })
      return void (await requeueJob(this.#catalog, job.id, { at: this.#now, attempts: job.attempts - 1 }))
    }
    const error = this.#told(job, thrown.error)
    if (job.attempts >= (kind.attempts ?? 1)) return end({ state: "failed", error })
    const at = this.#now + (kind.retryMs?.(job.attempts) ?? usualRetryMs(job.attempts))
    await requeueJob(this.#catalog, job.id, { at, attempts: job.attempts, error })
  }

  /** What people may read of a failure; the rest is in the log. */
  #told({ id, kind }: Job, error: unknown): { code: string; message: string } {
    if (error instanceof AppError) return { code: error.code, message: error.message }
    this.#options.log.error("a job failed", { job: id, kind, error })
    return { code: "internal_error", message: "The cause is in the server's log." }
  }

  #note(running: Running, progress: JobProgress): void {
    running.job = { ...running.job, progress }
    this.#tell(running.job)
    const now = this.#options.clock.monotonic()
    if (now - running.savedAt < JOBS.progressMs) return
    running.savedAt = now
    saveJobProgress(this.#catalog, running.job.id, progress).catch((error) =>
      this.#options.log.warn("progress could not be stored", { error }),
    )
  }

  async #save(running: Running, payload: unknown): Promise<void> {
    await saveJobPayload(this.#catalog, running.job.id, payload)
    running.job = { ...running.job, payload }
  }

  async #renewLeases(): Promise<void> {
    const now = this.#options.clock.monotonic()
    for (const running of this.#running.values()) {
      if (now - running.leasedAt < JOBS.leaseMs / 3) continue
      running.leasedAt = now
      await renewLease(this.#catalog, running.job.id, this.#now + JOBS.leaseMs)
    }
  }

  #tell(job: Job): void {
    for (const listener of this.#listeners.get(job.id) ?? []) listener(job)
  }
}

const INTERRUPTED = { code: "interrupted", message: "It was cut off by the end of the process." }

const rowOf = ({ kind, key = "", slot, organizationId, siteId, payload = {}, runAt, createdBy }: NewJob, now: number) => ({
  kind,
  key,
  slot: slot ?? null,
  organization_id: organizationId ?? null,
  site_id: siteId ?? null,
  payload,
  run_at: runAt ?? now,
  created_by: createdBy ?? null,
  created_at: now,
})
