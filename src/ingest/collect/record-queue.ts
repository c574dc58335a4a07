import type { ArrivedRecord } from "./records.ts"

/** Records whose requests are answered before they are stored. */
export interface RecordQueue {
  /**
   * Adds a record and never throws. Returns a promise when the queue is full: the request has to wait for it before it is answered, so
   * that no more answered records than the limit can be lost.
   */
  add(record: ArrivedRecord): Promise<void> | undefined
  /** Commits all records that wait, now. */
  drain(): void
  /** Resolves when all records that were added are on disk or lost. */
  settled(): Promise<void>
}

interface RecordQueueOptions {
  /** Hands records to the event buffer. Resolves once they are on disk or lost, and never rejects. */
  store(records: readonly ArrivedRecord[]): Promise<void>
  /** Commits what the event buffer holds. A committed record survives the end of the process. */
  commit(): void
  /** Called for a record that the queue had no room for. The event buffer counts what it refuses itself. */
  onLost(record: ArrivedRecord): void
  /** Monotonic milliseconds. */
  now(): number
}

/** Maximum number of answered records that are not yet on disk. */
const MAX_RECORDS = 1_000
/**
 * Records wait this long for others to share a commit. Half of the 20 ms that answered records may wait at most: a timer fires late
 * when the event loop is busy.
 */
const HOLD_MS = 10
/** Prepared and committed in one turn of the event loop, within two milliseconds or so: other requests wait no longer than that. */
const GROUP_RECORDS = 250
/** A request waits this long for room. After that its record is lost and counted, because a store that stands still must not stop redirects. */
const PATIENCE_MS = 100

interface Held {
  record: ArrivedRecord
  answer(): void
}

export function createRecordQueue({ store, commit, onLost, now }: RecordQueueOptions): RecordQueue {
  let waiting: ArrivedRecord[] = []
  /** When the oldest of `waiting` was added. */
  let since = 0
  let timer: ReturnType<typeof setTimeout> | undefined
  /** Records that were handed to the event buffer and are not on disk yet. */
  let unsynced = 0
  /** Requests that are not answered before there is room. */
  const held = new Set<Held>()
  const running = new Set<Promise<void>>()

  const isFull = (): boolean => waiting.length + unsynced >= MAX_RECORDS

  function push(record: ArrivedRecord): void {
    if (waiting.length === 0) since = now()
    waiting.push(record)
    // A busy event loop runs timers late, so the age is looked at with every record too.
    if (waiting.length >= GROUP_RECORDS || now() - since >= HOLD_MS) drain()
    else timer ??= setTimeout(drain, HOLD_MS)
  }

  function hold(record: ArrivedRecord): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const one: Held = { record, answer: resolve }
    held.add(one)
    setTimeout(() => {
      if (!held.delete(one)) return
      onLost(record)
      resolve()
    }, PATIENCE_MS)
    return promise
  }

  function admit(): void {
    for (const one of held) {
      if (isFull()) return
      held.delete(one)
      push(one.record)
      one.answer()
    }
  }

  function drain(): void {
    clearTimeout(timer)
    timer = undefined
    if (waiting.length === 0) return
    const records = waiting
    waiting = []
    unsynced += records.length
    const stored: Promise<void> = store(records).finally(() => {
      unsynced -= records.length
      running.delete(stored)
      admit()
    })
    running.add(stored)
    commit()
  }

  return {
    add(record) {
      if (isFull()) return hold(record)
      push(record)
      return undefined
    },
    drain,
    async settled() {
      while (waiting.length + unsynced > 0) {
        drain()
        await Promise.all(running)
      }
    },
  }
}
