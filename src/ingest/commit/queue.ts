import { COLLECT } from "../domain/limits.ts"
import type { Candidate } from "./candidate.ts"

/** The events of one request: stored together or not at all. */
export interface Waiting {
  candidates: readonly Candidate[]
  /** About what they take in memory. */
  bytes: number
}

/** Requests on their way to the disk, the oldest first, within the bounds of reliability.md 2.3. */
export class EventQueue<Job extends Waiting> {
  #jobs: Job[] = []
  #depth = 0
  #bytes = 0

  /** Events that are not yet answered: those that wait, and those that are committed. */
  get depth(): number {
    return this.#depth
  }

  /** Requests that are not yet committed. */
  get waiting(): readonly Job[] {
    return this.#jobs
  }

  /** An empty queue takes whatever a single request may hold. */
  hasRoom(events: number, bytes: number): boolean {
    return this.#depth === 0 || (this.#depth + events <= COLLECT.queueEvents && this.#bytes + bytes <= COLLECT.queueBytes)
  }

  push(job: Job): void {
    this.#jobs.push(job)
    this.#depth += job.candidates.length
    this.#bytes += job.bytes
  }

  /** Whole requests, from the oldest, up to the size of a group. */
  group(): readonly Job[] {
    let events = 0
    const end = this.#jobs.findIndex(({ candidates }) => {
      const isEnough = events >= COLLECT.groupEvents
      events += candidates.length
      return isEnough
    })
    return end < 0 ? this.#jobs : this.#jobs.slice(0, end)
  }

  /** The first group no longer waits, but is not answered yet. */
  committed(group: readonly Job[]): void {
    this.#jobs = this.#jobs.slice(group.length)
  }

  /** What was committed is answered. */
  answered(group: readonly Job[]): void {
    for (const { candidates, bytes } of group) {
      this.#depth -= candidates.length
      this.#bytes -= bytes
    }
  }

  /** These will not be stored. */
  remove(jobs: readonly Job[]): void {
    this.answered(jobs)
    const gone = new Set(jobs)
    this.#jobs = this.#jobs.filter((job) => !gone.has(job))
  }
}
