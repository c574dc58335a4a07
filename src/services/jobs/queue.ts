import { AppError } from "../../domain/error.ts"
import { isFinished, type Job, type JobProgress } from "../../domain/job.ts"
import { JOBS } from "../../domain/limits.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import {
  advanceJob,
  claimJob,
  deleteJobsFinishedBefore,
  finishJob,
  heldJobs,
  insertJob,
  type JobFilter,
  jobById,
  listDueJobs,
  listJobs,
  listRunningJobs,
  type NewJobRow,
  queuedJob,
  renewJobLeases,
  requeueJob,
  saveJobPayload,
  saveJobProgress,
} from "../../store/catalog/jobs.ts"
import { slicesOf } from "../lists/paging.ts"
import { type EndingJob, INTERRUPTED, JobEnds, JobListeners } from "./ends.ts"
import { CRASHES, type JobKind, type Jobs, type JobsOptions, type NewJob, slotOnNode } from "./jobs.ts"

interface Kind extends JobKind {
  isOn(): boolean
}

interface Running extends EndingJob {
  /** Time at which progress was last stored. */
  savedAt: number
  ended: Promise<void>
}

export const createJobQueue = (options: JobsOptions): Jobs => new Queue(options)

class Queue implements Jobs {
  readonly #options: JobsOptions
  /** Identifies this process as the holder of leases. */
  readonly #self: string
  readonly #kinds = new Map<string, Kind>()
  readonly #running = new Map<number, Running>()
  readonly #listeners = new JobListeners()
  readonly #ends: JobEnds
  /** Monotonic time at which the leases were last renewed. */
  #renewedAt = Number.NEGATIVE_INFINITY
  #beginning: Promise<void> = Promise.resolve()
  #isStarted = false
  #isStopped = false

  constructor(options: JobsOptions) {
    this.#options = options
    this.#self = options.random(8).toHex()
    this.#ends = new JobEnds({ ...options, self: this.#self, onEnd: (job) => this.#listeners.notify(job) })
  }

  get #catalog(): Catalog {
    return this.#options.catalog
  }
  get #now(): number {
    return this.#options.clock.now()
  }
  /** Number of this node, or null for the only process of the catalog. */
  get #node(): number | null {
    return this.#options.nodes?.own ?? null
  }

  define(kind: string, definition: JobKind, isOn = () => true): void {
    if (this.#kinds.has(kind)) throw new Error(`The job ${kind} is defined twice`)
    this.#kinds.set(kind, { ...definition, run: (work) => definition.run(work), isOn })
  }

  async enqueue(given: NewJob, statements?: Statements): Promise<Job | undefined> {
    const { kind, join = false } = given
    if (!this.#kinds.has(kind)) throw new Error(`No job is called ${kind}`)
    const make = async (within: Statements): Promise<Job | undefined> => {
      const jobs: (Job | undefined)[] = []
      for (const row of this.#rowsOf(given)) {
        const queued = join ? await queuedJob(within, row) : undefined
        if (!queued) jobs.push(await insertJob(within, row))
        else jobs.push(queued.run_at <= row.run_at ? queued : await advanceJob(within, queued.id, row.run_at))
      }
      return jobs.find((job) => job !== undefined)
    }
    const job = await (statements ? make(statements) : this.#catalog.transaction(make))
    // The catalog runs one transaction at a time, so the search for due jobs runs after the commit of this one.
    const wait = (job?.run_at ?? 0) - this.#now
    if (this.#isStarted && wait <= JOBS.beatMs) setTimeout(() => void this.tick(), Math.max(0, wait))
    return job
  }

  /** Returns the rows of a new job: one, except for a scheduled job on data folders, which every live node has its own of. */
  #rowsOf({ kind, key = "", slot, organizationId, siteId, payload = {}, runAt, createdBy }: NewJob): NewJobRow[] {
    const row = {
      ...{ kind, key, organization_id: organizationId ?? null, site_id: siteId ?? null, payload, run_at: runAt ?? this.#now },
      ...{ created_by: createdBy ?? null, created_at: this.#now },
    }
    const { nodes } = this.#options
    if (!nodes || !this.#kinds.get(kind)?.onDisk) return [{ ...row, slot: slot ?? null, node: null }]
    if (slot === undefined) return [{ ...row, slot: null, node: nodes.own }]
    return nodes.live().map((node) => ({ ...row, slot: slotOnNode(slot, node), node }))
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
      if (!found || isFinished(found)) return found
      await alongside?.(statements, found)
      return running ? found : finishJob(statements, id, { state: "cancelled", at: this.#now })
    })
    this.#ends.forget(id)
    if (running && this.#running.has(id)) {
      running.isCancelled = true
      running.abort.abort()
    } else if (job) this.#listeners.notify(job)
    return job
  }

  async retry(id: number, alongside?: (statements: Statements, job: Job) => Promise<void>): Promise<Job | undefined> {
    const job = await this.#catalog.transaction(async (statements) => {
      const found = await jobById(statements, id)
      if (!found) return undefined
      if (found.state !== "failed" && found.state !== "cancelled")
        throw new AppError("invalid_state", `A job that is ${found.state} cannot be restarted.`, { state: found.state })
      await alongside?.(statements, found)
      return requeueJob(statements, id, { at: this.#now, attempts: 0 })
    })
    if (this.#isStarted) void this.tick()
    return job
  }

  watch(id: number, listener: (job: Job) => void): () => void {
    return this.#listeners.watch(id, listener)
  }

  async recover(): Promise<void> {
    this.#isStarted = true
    await this.#recoverInterrupted()
  }

  /** Resumes or fails all interrupted jobs: those whose lease is over, or all if only this process serves the catalog. */
  async #recoverInterrupted(): Promise<void> {
    const expired = this.#options.nodes !== undefined
    for await (const slice of slicesOf((part) => listRunningJobs(this.#catalog, { ...part, expired }))) {
      for (const job of slice) await this.#recoverOne(job, expired ? { holder: "expired" } : {})
    }
  }

  async #recoverOne({ id, kind: name, attempts }: Job, of: { holder?: "expired" }): Promise<void> {
    const kind = this.#kinds.get(name)
    const mayResume = kind?.interrupted === "resume" && attempts < (kind.attempts ?? 1) + CRASHES
    if (mayResume) await requeueJob(this.#catalog, id, { at: this.#now, attempts, ...of })
    else await finishJob(this.#catalog, id, { state: "failed", at: this.#now, error: INTERRUPTED, ...of })
  }

  tick(): Promise<void> {
    // Ticks run one after another, because two at once would start the same jobs.
    const result = this.#beginning.then(() => this.#begin())
    this.#beginning = result.catch((error) => this.#options.log.error("jobs could not be started", { error }))
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
    await this.#keepLeases()
    await this.#ends.storePending()
    if (this.#options.nodes) await this.#followOthers()
    const free = JOBS.atOnce - this.#running.size
    const kinds = [...this.#kinds].filter(([name, kind]) => kind.isOn() && this.#countOf(name) < (kind.atOnce ?? JOBS.atOnceOfKind))
    if (free <= 0 || kinds.length === 0) return
    const names = kinds.map(([name]) => name)
    const due = await listDueJobs(this.#catalog, { kinds: names, now: this.#now, node: this.#node, limit: JOBS.looked })
    for (const job of due) if (this.#mayBegin(job)) await this.#claim(job)
  }

  /** Takes over what other nodes left behind, and reports the jobs that they run to the listeners here. */
  async #followOthers(): Promise<void> {
    await this.#recoverInterrupted()
    for (const id of this.#listeners.watched()) {
      const job = this.#running.has(id) ? undefined : await jobById(this.#catalog, id)
      if (job) this.#listeners.notify(job)
    }
  }

  /** Returns whether a job may start, counting the jobs started meanwhile. */
  #mayBegin({ kind, key }: Job): boolean {
    const same = [...this.#running.values()].filter(({ job }) => job.kind === kind)
    const most = this.#kinds.get(kind)?.atOnce ?? JOBS.atOnceOfKind
    return this.#running.size < JOBS.atOnce && same.length < most && same.every(({ job }) => job.key !== key)
  }

  #countOf(kind: string): number {
    return [...this.#running.values()].filter(({ job }) => job.kind === kind).length
  }

  async #claim({ id, kind: name }: Job): Promise<void> {
    const job = await claimJob(this.#catalog, id, { by: this.#self, ms: JOBS.leaseMs, now: this.#now })
    const kind = this.#kinds.get(name)
    if (!job || !kind) return
    const running: Running = { job, kind, abort: new AbortController(), isCancelled: false, savedAt: 0, ended: Promise.resolve() }
    this.#running.set(id, running)
    running.ended = this.#carryOut(running)
  }

  /** Runs a job. Never rejects, because only the end of the process waits for it. */
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
    await this.#ends.store(running, thrown)
    this.#running.delete(job.id)
    if (this.#isStarted && !this.#isStopped) setTimeout(() => void this.tick(), 0)
  }

  #note(running: Running, progress: JobProgress): void {
    running.job = { ...running.job, progress }
    this.#listeners.notify(running.job)
    const now = this.#options.clock.monotonic()
    if (now - running.savedAt < JOBS.progressMs) return
    running.savedAt = now
    saveJobProgress(this.#catalog, { id: running.job.id, by: this.#self }, progress).catch((error) =>
      this.#options.log.warn("progress could not be stored", { error }),
    )
  }

  async #save(running: Running, payload: unknown): Promise<void> {
    const isHeld = await saveJobPayload(this.#catalog, { id: running.job.id, by: this.#self }, payload)
    if (!isHeld) throw new Error("Another process has ended this job or taken it over")
    running.job = { ...running.job, payload }
  }

  /** Renews the leases of the running jobs, and aborts those that another node has ended or taken over. */
  async #keepLeases(): Promise<void> {
    const now = this.#options.clock.monotonic()
    const isDue = now - this.#renewedAt >= JOBS.leaseMs / 3
    if (this.#running.size === 0 || !(isDue || this.#options.nodes)) return
    const running = [...this.#running]
    const held = new Set(
      isDue ? await renewJobLeases(this.#catalog, { by: this.#self, ms: JOBS.leaseMs }) : await heldJobs(this.#catalog, this.#self),
    )
    if (isDue) this.#renewedAt = now
    for (const [id, { abort }] of running) if (!held.has(id)) abort.abort()
  }
}
