import type { Clock } from "../../domain/clock.ts"

interface AcknowledgementOptions {
  clock: Pick<Clock, "monotonic">
  /** How long an acknowledgement waits for the engine. */
  waitMs: number
  /** Whether an acknowledgement may rely on the disk of the node while the engine does not confirm. */
  mayRelyOnDisk: boolean
  /** Returns the reason for a refused acknowledgement. */
  refusal(): Error
}

interface Waiting extends Mark {
  resolve(): void
  reject(reason: Error): void
}

/** A record that was on disk at a moment. */
interface Mark {
  record: number
  at: number
}

/** Pause between two marks. */
const MARK_MS = 100

/**
 * Acknowledgements that wait until the engine has a record of the log. If it does not confirm in time, the node is spooling: then they rely on
 * its disk, or are refused, and do not wait, until the engine has everything that is older than the time limit.
 */
export class Acknowledgements {
  readonly #options: AcknowledgementOptions
  #waiting: Waiting[] = []
  #confirmed = 0
  /** Records that the engine has not confirmed: the oldest one, and those of the last time limit. */
  #marks: Mark[] = []
  #isSpooling = false
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(options: AcknowledgementOptions) {
    this.#options = options
  }

  get isSpooling(): boolean {
    return this.#isSpooling
  }

  /** Returns for how long the oldest record has been on disk that the engine has not confirmed. */
  get oldestAge(): number {
    const now = this.#options.clock.monotonic()
    return now - Math.min(this.#marks[0]?.at ?? now, this.#waiting[0]?.at ?? now)
  }

  /** Returns whether the engine has every change up to a record. */
  has(record: number): boolean {
    return record <= this.#confirmed
  }

  /** Waits until the engine has a record that is on disk. Undefined when nothing is waited for. */
  wait(record: number): Promise<void> | undefined {
    if (this.has(record)) return undefined
    this.#mark(record)
    if (this.#isSpooling) return this.#options.mayRelyOnDisk ? undefined : Promise.reject(this.#options.refusal())
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#waiting.push({ record, at: this.#options.clock.monotonic(), resolve, reject })
    this.#timer ??= setTimeout(() => this.#expire(), this.#options.waitMs)
    return promise
  }

  /** Takes note that the engine has every change up to a record. */
  confirm(record: number): void {
    this.#confirmed = Math.max(this.#confirmed, record)
    for (const { resolve } of this.#waiting.filter((each) => each.record <= record)) resolve()
    this.#waiting = this.#waiting.filter((each) => each.record > record)
    this.#marks = this.#marks.filter((mark) => mark.record > record)
    this.#schedule()
    this.#isSpooling &&= this.oldestAge >= this.#options.waitMs
  }

  /** Ends what waits, as if its time were over. */
  stop(): void {
    clearTimeout(this.#timer)
    for (const { resolve, reject } of this.#waiting.splice(0)) {
      if (this.#options.mayRelyOnDisk) resolve()
      else reject(this.#options.refusal())
    }
  }

  #mark(record: number): void {
    const now = this.#options.clock.monotonic()
    if (now - (this.#marks.at(-1)?.at ?? Number.NEGATIVE_INFINITY) >= MARK_MS) this.#marks.push({ record, at: now })
    while (this.#marks.length > 2 && now - this.#marks[1]!.at > this.#options.waitMs) this.#marks.splice(1, 1)
  }

  #schedule(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#waiting.length > 0) this.#timer = setTimeout(() => this.#expire(), Math.max(0, this.#options.waitMs - this.oldestAge))
  }

  #expire(): void {
    this.#timer = undefined
    if (this.oldestAge < this.#options.waitMs) this.#schedule()
    else {
      this.#isSpooling = true
      this.stop()
    }
  }
}
