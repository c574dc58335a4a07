/**
 * Work in the background: one queue, one table. Of a kind and key one runs at a time. A job that was committed runs, over
 * restarts and crashes, at least once, unless its kind says that a cut-off one has failed.
 */
import type { Clock } from "../domain/clock.ts"
import type { Job } from "../domain/job.ts"
import type { Log } from "../domain/log.ts"
import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import type { JobFilter } from "../store/catalog/jobs.ts"
import type { JobKind } from "./job-kinds.ts"
import type { Random } from "./secrets.ts"

export interface NewJob {
  kind: string
  payload?: unknown
  /** Of a kind and key one runs at a time. */
  key?: string
  /** The moment it was due; a second one for the same is not made. */
  slot?: string
  organizationId?: number
  siteId?: number
  /** Not before this moment; now unless one is given. */
  runAt?: number
  createdBy?: number
  /** When one of the kind and key waits already, that one is meant. */
  join?: boolean
}

export interface Jobs {
  /** Before `start`. `isOn` is asked each time one of the kind would begin. */
  define(kind: string, definition: JobKind, isOn?: () => boolean): void
  /** Undefined when the slot has had its job. With statements it is part of their transaction; it begins soon after the commit. */
  enqueue(job: NewJob, statements?: Statements): Promise<Job | undefined>
  /** With the progress of this moment. */
  get(id: number): Promise<Job | undefined>
  /** The newest first. */
  list(filter: JobFilter, page: { before: number; limit: number }): Promise<Job[]>
  /** Undefined for an unknown one. One that runs ends at its next pause; one that is over stays what it is. */
  cancel(id: number, alongside?: (statements: Statements, job: Job) => Promise<void>): Promise<Job | undefined>
  /** Lets one that failed or was cancelled begin anew. Throws `invalid_state` for others. */
  retry(id: number, alongside?: (statements: Statements, job: Job) => Promise<void>): Promise<Job | undefined>
  /** Told of every change of a job that runs here, until the returned function is called. */
  watch(id: number, listener: (job: Job) => void): () => void
  /** Decides about what a crash cut off. Before the first one begins. */
  recover(): Promise<void>
  /** Begins what is due. Called every second, and after a job was made. */
  tick(): Promise<void>
  /** Begins what is due until nothing is, and waits for all of it. */
  drain(): Promise<void>
  /** Forgets rows of jobs that ended long ago. */
  forgetOld(): Promise<void>
  /** Begins nothing more; what runs is told to end, and is waited for up to some seconds. */
  stop(): Promise<void>
}

export interface JobsOptions {
  catalog: Catalog
  clock: Clock
  log: Log
  random: Random
}
