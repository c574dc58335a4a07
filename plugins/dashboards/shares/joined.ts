/** Computations that several viewers wait for: equal ones run once, and few at a time, so that members keep their places in the pool. */
import { AppError } from "#plugin"

interface Run<Item> {
  items: Item[]
  isDone: boolean
  error?: unknown
  /** Resolves at the next change. */
  changed: PromiseWithResolvers<void>
}

export interface JoinedLimits {
  /** Computations of one organization that run at the same time. */
  running: number
  /** Further ones that wait. */
  waiting: number
}

/** Longest pause after a computation. */
const MAX_REST_MS = 2_000

/** Follows a computation from its beginning. Joins a running one with the same key. Throws `rate_limited` if too many wait. */
export type Join<Item> = (organizationId: number, key: string, start: () => AsyncIterable<Item>) => AsyncGenerator<Item>

export function createJoined<Item>({ running, waiting }: JoinedLimits): Join<Item> {
  const runs = new Map<string, Run<Item>>()
  const queues = new Map<number, { running: number; waiting: (() => void)[] }>()

  /** Resolves when the organization has a free place. Throws at once if its queue is full. */
  function place(organizationId: number): Promise<void> | undefined {
    const queue = queues.get(organizationId) ?? { running: 0, waiting: [] }
    queues.set(organizationId, queue)
    if (queue.running < running) {
      queue.running++
      return undefined
    }
    if (queue.waiting.length >= waiting)
      throw new AppError("rate_limited", "Too many people are looking at shared dashboards. Try again in a few seconds.", {
        retry_after: 2,
      })
    return new Promise((resolve) => queue.waiting.push(resolve))
  }
  function leave(organizationId: number): void {
    const queue = queues.get(organizationId)
    const next = queue?.waiting.shift()
    if (next) next()
    else if (queue && --queue.running === 0) queues.delete(organizationId)
  }

  async function drive(run: Run<Item>, start: () => AsyncIterable<Item>): Promise<void> {
    const change = (): void => {
      const { resolve } = run.changed
      run.changed = Promise.withResolvers()
      resolve()
    }
    try {
      for await (const item of start()) {
        run.items.push(item)
        change()
      }
    } catch (error) {
      run.error = error
    }
    run.isDone = true
    change()
  }

  async function* follow(run: Run<Item>): AsyncGenerator<Item> {
    for (let i = 0; ; ) {
      while (i < run.items.length) yield run.items[i++]!
      if (!run.isDone) await run.changed.promise
      else if (run.error !== undefined) throw run.error
      else return
    }
  }

  return (organizationId, key, start) => {
    const joined = runs.get(key)
    if (joined) return follow(joined)
    const free = place(organizationId)
    const run: Run<Item> = { items: [], isDone: false, changed: Promise.withResolvers() }
    runs.set(key, run)
    void (async () => {
      await free
      const from = performance.now()
      await drive(run, start)
      runs.delete(key)
      // As long as it took, the workers belong to members, however many viewers ask.
      await Bun.sleep(Math.min(performance.now() - from, MAX_REST_MS))
      leave(organizationId)
    })()
    return follow(run)
  }
}
