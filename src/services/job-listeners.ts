import type { Job } from "../domain/job.ts"

/** Those who look at a job while it runs. */
export class JobListeners {
  readonly #listeners = new Map<number, Set<(job: Job) => void>>()

  /** Until the returned function is called. */
  watch(id: number, listener: (job: Job) => void): () => void {
    const listeners = this.#listeners.get(id) ?? new Set()
    this.#listeners.set(id, listeners.add(listener))
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) this.#listeners.delete(id)
    }
  }

  tell(job: Job): void {
    for (const listener of this.#listeners.get(job.id) ?? []) listener(job)
  }
}
