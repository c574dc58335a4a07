/**
 * Background jobs: one queue, one table. One job per kind and key runs at a time. A committed job runs at least once, across
 * restarts and crashes, unless its kind states that an interrupted job has failed.
 */

import type { Actor, AuditEntry } from "../../domain/audit.ts"
import type { Clock } from "../../domain/clock.ts"
import type { Job, JobProgress } from "../../domain/job.ts"
import type { Log } from "../../domain/log.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import type { JobFilter } from "../../store/catalog/jobs.ts"
import type { Audit } from "../audit/audit.ts"
import type { Alongside } from "../definitions/site-things.ts"
import type { LiveNodes } from "../runtime/nodes.ts"
import type { Random } from "../secrets/secrets.ts"

export interface NewJob {
  kind: string
  payload?: unknown
  /** Key of the job. One job per kind and key runs at a time. */
  key?: string
  /** Time for which the job is due. A second job for the same slot is not created. */
  slot?: string
  organizationId?: number
  siteId?: number
  /** Earliest start in epoch milliseconds. Default: now. */
  runAt?: number
  createdBy?: number
  /** Whether to return a queued job of the same kind and key instead of creating another one. It starts at the earlier of both times. */
  join?: boolean
}

export interface Jobs {
  /** Defines a kind of job, before `start`. `isOn` is called each time a job of the kind would start. */
  define(kind: string, definition: JobKind, isOn?: () => boolean): void
  /**
   * Enqueues a job. Returns undefined if its slot already had one. With `statements` it is part of their transaction and starts
   * soon after the commit.
   */
  enqueue(job: NewJob, statements?: Statements): Promise<Job | undefined>
  /** Returns a job with its current progress. */
  get(id: number): Promise<Job | undefined>
  /** Lists jobs, newest first. */
  list(filter: JobFilter, page: { before: number; limit: number }): Promise<Job[]>
  /** Cancels a job. Returns undefined for an unknown id. A running job ends at its next pause; a finished one remains unchanged. */
  cancel(id: number, alongside?: (statements: Statements, job: Job) => Promise<void>): Promise<Job | undefined>
  /** Restarts a failed or cancelled job. Throws `invalid_state` for others. */
  retry(id: number, alongside?: (statements: Statements, job: Job) => Promise<void>): Promise<Job | undefined>
  /** Calls a listener on every change of a job, until the returned function is called. Changes by other nodes are noticed at each `tick`. */
  watch(id: number, listener: (job: Job) => void): () => void
  /**
   * Resumes or fails the jobs that a crash interrupted. Call it before the first job starts. With several nodes these are the jobs whose
   * lease is over, and each `tick` looks for them again.
   */
  recover(): Promise<void>
  /** Starts due jobs. Called every second and after a job is created. */
  tick(): Promise<void>
  /** Runs due jobs until none is left, and waits for all of them. */
  drain(): Promise<void>
  /** Deletes the rows of jobs that ended long ago. */
  forgetOld(): Promise<void>
  /** Starts no more jobs, aborts the running ones and waits some seconds for them. */
  stop(): Promise<void>
}

export interface JobsOptions {
  catalog: Catalog
  clock: Clock
  log: Log
  random: Random
  /** The nodes that share the catalog. Undefined for the only process of a catalog, to which all running jobs belong. */
  nodes?: Pick<LiveNodes, "own" | "live"> | undefined
}

/** Returns the slot of one node, where every node has its own. */
export const slotOnNode = (slot: string, node: number): string => `${slot} on node ${node}`

/** Context of a running job. */
export interface JobWork<Payload = unknown> {
  readonly job: Job
  /** Payload of the job, as given or as last saved. */
  readonly payload: Payload
  /**
   * Aborted when the process stops, the job is cancelled, or another node has taken it over. The job then ends within seconds, at a point
   * it can resume from.
   */
  readonly signal: AbortSignal
  /** Reports progress. Cheap, because updates are stored and sent less often. */
  progress(progress: JobProgress): void
  /** Stores the payload from which an interrupted job resumes. Durable when it resolves. */
  save(payload: Payload): Promise<void>
}

/** Definition of a kind of job. */
export interface JobKind<Payload = unknown> {
  /**
   * Treatment of an interrupted job. `resume`: it starts again with the payload it saved last, so repeating a part must be
   * harmless. `fail`: it has failed and needs attention.
   */
  interrupted: "resume" | "fail"
  /** Maximum number of attempts when it throws, with growing delays. Default: 1. */
  attempts?: number
  /** Delay in milliseconds after this many attempts. Default: half a minute, doubling up to an hour. */
  retryMs?(attempts: number): number
  /** Maximum number of concurrent jobs of the kind, with different keys. Default: 2. */
  atOnce?: number
  /**
   * Whether the job works on the data folder. With several nodes it runs on the node that enqueued it, and one that is due by its
   * schedule runs on every node.
   */
  onDisk?: boolean
  /** Runs the job. Throws on failure: the message of an `AppError` is shown to users, any other error is a bug and is logged. */
  run(work: JobWork<Payload>): Promise<unknown>
}

/** Returns the default delay: half a minute, a minute, two, up to an hour. */
export const usualRetryMs = (attempts: number): number => Math.min(3_600_000, 30_000 * 2 ** (attempts - 1))

/** Additional attempts after crashes, so that a job that ends the process every time is not repeated forever. */
export const CRASHES = 5

/** Creates a job requested by an actor, with its audit entry and further rows, in one transaction. */
export type BeginJob = (actor: Actor, job: NewJob, entry: AuditEntry, alongside?: Alongside<Job>) => Promise<Job>

export const beginsJobs =
  ({
    catalog,
    jobs,
    audit,
  }: {
    catalog: Pick<Catalog, "transaction">
    jobs: Pick<Jobs, "enqueue">
    audit: Pick<Audit, "write">
  }): BeginJob =>
  (actor, job, entry, alongside) =>
    catalog.transaction(async (statements) => {
      const createdBy = actor.kind === "user" && actor.id !== undefined ? { createdBy: actor.id } : {}
      const made = (await jobs.enqueue({ ...job, ...createdBy }, statements))! // it has no slot that could be taken
      await audit.write(statements, actor, entry)
      await alongside?.(statements, { after: made })
      return made
    })
