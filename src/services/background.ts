import type { Log } from "../domain/log.ts"

/** Work that an answer does not wait for: so its time says nothing about what was found. */
export interface Background {
  run(work: () => Promise<void>): void
  /** Resolves when all of it is done. */
  settled(): Promise<void>
}

export function createBackground(log: Log): Background {
  const running = new Set<Promise<void>>()
  return {
    run(work) {
      const job = work()
        .catch((error) => log.error("work behind an answer failed", { error }))
        .finally(() => running.delete(job))
      running.add(job)
    },
    async settled() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}
