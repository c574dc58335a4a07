import { COLLECT } from "../../domain/limits.ts"
import type { Candidate } from "../draft.ts"

/** The events of one request: stored together or not at all. */
export interface Waiting {
  candidates: readonly Candidate[]
  /** Approximate memory of the events. */
  bytes: number
}

/** Requests that are not yet on disk, the oldest first, within the limits of reliability.md 2.3. */
export class EventQueue<Job extends Waiting> {
  #jobs: Job[] = []
  #depth = 0
  #bytes = 0

  /** Number of events that are not yet answered, waiting or committed. */
  get depth(): number {
    return this.#depth
  }

  /** Requests that are not yet committed. */
  get waiting(): readonly Job[] {
    return this.#jobs
  }

  /** Returns whether there is room. An empty queue accepts any single request. */
  hasRoom(events: number, bytes: number): boolean {
    return this.#depth === 0 || (this.#depth + events <= COLLECT.queueEvents && this.#bytes + bytes <= COLLECT.queueBytes)
  }

  push(job: Job): void {
    this.#jobs.push(job)
    this.#depth += job.candidates.length
    this.#bytes += job.bytes
  }

  /** Returns the oldest requests, whole, up to the size of a group. */
  group(): readonly Job[] {
    let events = 0
    const end = this.#jobs.findIndex(({ candidates }) => {
      const isEnough = events >= COLLECT.groupEvents
      events += candidates.length
      return isEnough
    })
    return end < 0 ? this.#jobs : this.#jobs.slice(0, end)
  }

  /** Removes the first group from the waiting requests. It still counts until it is answered. */
  committed(group: readonly Job[]): void {
    this.#jobs = this.#jobs.slice(group.length)
  }

  /** Releases the room of requests that were answered. */
  answered(group: readonly Job[]): void {
    for (const { candidates, bytes } of group) {
      this.#depth -= candidates.length
      this.#bytes -= bytes
    }
  }

  /** Removes requests that will not be stored. */
  remove(jobs: readonly Job[]): void {
    this.answered(jobs)
    const gone = new Set(jobs)
    this.#jobs = this.#jobs.filter((job) => !gone.has(job))
  }
}
