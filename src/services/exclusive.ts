/**
 * Lets one piece of work on both stores run at a time: retention, erasure and the deletion of a site must not change one
 * store while a backup has copied the other.
 */
export interface Exclusive {
  run<T>(work: () => Promise<T>): Promise<T>
  /** Resolves when nothing runs and nothing waits. */
  idle(): Promise<void>
}

export function createExclusive(): Exclusive {
  let last: Promise<unknown> = Promise.resolve()
  return {
    run(work) {
      const result = last.then(work)
      last = result.catch(() => {})
      return result
    },
    idle: async () => {
      await last
    },
  }
}
