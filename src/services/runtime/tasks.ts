import type { Clock } from "../../domain/clock.ts"
import type { Log } from "../../domain/log.ts"
import type { LiveNodes } from "./nodes.ts"

/** A recurring task. It may take long; it never overlaps itself. */
export interface Task {
  name: string
  /** Seconds between runs, counted in ticks, so that clock jumps have no effect. */
  every: number
  /** Whether one of several nodes runs it for all. */
  isShared?: boolean
  run(signal: AbortSignal): Promise<unknown>
}

export interface Timers {
  start(): void
  /** Runs a task before its time. Resolves at its end; if it is running already, at the end of that run. */
  wake(name: string): Promise<void>
  /** Starts no further tasks, aborts the running ones and waits briefly for them. */
  stop(): Promise<void>
}

export interface TimerOptions {
  clock: Clock
  log: Log
  /** The nodes that share the catalog. */
  nodes?: Pick<LiveNodes, "takeTurn"> | undefined
  /** Called when the wall clock has jumped by more than a minute. */
  onJump(milliseconds: number): void
}

/** Time to wait for running tasks when stopping. Copies of large stores take minutes, and are created again after the next start. */
const PATIENCE_MS = 2_000

/** Creates the timer for all upkeep. No caller awaits a task, so its errors are logged here. */
export function createTimers(tasks: readonly Task[], { clock, log, nodes, onJump }: TimerOptions): Timers {
  const running = new Map<string, Promise<void>>()
  const abort = new AbortController()
  let timer: ReturnType<typeof setInterval> | undefined
  // Each task first waits for its interval, so that none delays the start.
  let ticks = 1
  let offset = 0

  function tick(): void {
    const jump = clock.now() - clock.monotonic() - offset
    offset += jump
    if (Math.abs(jump) > 60_000) onJump(jump)
    for (const task of tasks) if (ticks % task.every === 0) void begin(task)
    ticks++
  }

  function begin(task: Task): Promise<void> {
    const known = running.get(task.name)
    if (known) return known
    const run = perform(task)
    running.set(task.name, run)
    return run
  }

  async function perform({ name, run, isShared }: Task): Promise<void> {
    try {
      if (!isShared || !nodes || (await nodes.takeTurn(name))) await run(abort.signal)
    } catch (error) {
      log.error("upkeep failed", { task: name, error })
    } finally {
      running.delete(name)
    }
  }

  return {
    start() {
      offset = clock.now() - clock.monotonic()
      timer = setInterval(tick, 1_000)
    },
    async wake(name) {
      const task = tasks.find((one) => one.name === name)
      if (task && !abort.signal.aborted) await begin(task)
    },
    async stop() {
      clearInterval(timer)
      abort.abort()
      await Promise.race([Promise.all(running.values()), Bun.sleep(PATIENCE_MS)])
    },
  }
}

/** Runs work after the response was sent, so that response time reveals nothing about the result. */
export interface Background {
  run(work: () => Promise<void>): void
  /** Resolves when all work is finished. */
  settled(): Promise<void>
}

export function createBackground(log: Log): Background {
  const running = new Set<Promise<void>>()
  return {
    run(work) {
      const job = work()
        .catch((error) => log.error("background work failed", { error }))
        .finally(() => running.delete(job))
      running.add(job)
    },
    async settled() {
      while (running.size > 0) await Promise.all(running)
    },
  }
}

/** Runs work one after another, in the order in which it is given. Failed work does not hold up what follows. */
export interface Exclusive {
  run<T>(work: () => Promise<T>): Promise<T>
  /** Resolves when no work is running or waiting. */
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

/** Maps items concurrently with a limit. Results are in the order of the items, and the first failure rejects. */
export async function mapConcurrent<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results = new Array<Result>(items.length)
  let next = 0
  const takeTurns = async () => {
    for (let at = next++; at < items.length; at = next++) results[at] = await work(items[at]!)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, takeTurns))
  return results
}
