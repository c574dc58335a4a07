import type { Clock } from "../domain/clock.ts"
import type { Log } from "../domain/log.ts"

/** Something done again and again. It may take long; it never overlaps itself. */
export interface Task {
  name: string
  /** Seconds from one run to the next; counted in ticks, so a jump of the clock changes nothing. */
  every: number
  run(signal: AbortSignal): Promise<unknown>
}

export interface Timers {
  start(): void
  /** Starts nothing more, tells what runs to end at its next pause, and waits a moment for it. */
  stop(): Promise<void>
}

export interface TimerOptions {
  clock: Clock
  log: Log
  /** The wall clock moved by more than a minute against the monotonic one. */
  onJump(milliseconds: number): void
}

/** A copy of a large store takes minutes; what is cut off is made again after the next start. */
const PATIENCE_MS = 2_000

/** One timer for all upkeep. Nobody awaits a timer, so whatever a task throws ends here, in the log. */
export function createTimers(tasks: readonly Task[], { clock, log, onJump }: TimerOptions): Timers {
  const running = new Map<string, Promise<void>>()
  const abort = new AbortController()
  let timer: ReturnType<typeof setInterval> | undefined
  // Nothing of it hurries a start: each task first waits its own time.
  let ticks = 1
  let offset = 0

  function tick(): void {
    const jump = clock.now() - clock.monotonic() - offset
    offset += jump
    if (Math.abs(jump) > 60_000) onJump(jump)
    for (const task of tasks) if (ticks % task.every === 0 && !running.has(task.name)) running.set(task.name, perform(task))
    ticks++
  }

  async function perform({ name, run }: Task): Promise<void> {
    try {
      await run(abort.signal)
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
    async stop() {
      clearInterval(timer)
      abort.abort()
      await Promise.race([Promise.all(running.values()), Bun.sleep(PATIENCE_MS)])
    },
  }
}
