import type { Job, JobProgress } from "../domain/job.ts"

/** What a running job has in its hands. */
export interface JobWork<Payload = unknown> {
  readonly job: Job
  /** As it was given, or as it was saved last. */
  readonly payload: Payload
  /** Aborted when the process stops or somebody cancels the job: then it ends within seconds, at a place it can go on from. */
  readonly signal: AbortSignal
  /** Cheap: what is written and sent of it is less. */
  progress(progress: JobProgress): void
  /** Where it goes on from, should it be cut off. Durable when it resolves. */
  save(payload: Payload): Promise<void>
}

/** What every job of a kind is like. */
export interface JobKind<Payload = unknown> {
  /**
   * What becomes of one that a crash or a stop cut off. `resume`: it begins again, with what it saved last, so doing a part of
   * it twice must do no harm. `fail`: it has failed, for somebody to look at.
   */
  interrupted: "resume" | "fail"
  /** How often it is tried in all when it throws; each time later than before. Once unless more is said. */
  attempts?: number
  /** Milliseconds before the try after this many. Unless said: half a minute, doubling, at most an hour. */
  retryMs?(attempts: number): number
  /** Of the kind at the same time, with different keys. Two unless more is said. */
  atOnce?: number
  /** Throws when it failed: an `AppError` says why to people, anything else is a bug and is logged. */
  run(work: JobWork<Payload>): Promise<unknown>
}

/** Half a minute, a minute, two, … at most an hour. */
export const usualRetryMs = (attempts: number): number => Math.min(3_600_000, 30_000 * 2 ** (attempts - 1))

/** Beside its own tries: a job that ends the process each time must not do so for ever. */
export const CRASHES = 5
