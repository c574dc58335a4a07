import type { ArrivedRecord } from "./records.ts"

/** Records whose requests are answered first and stored afterwards. */
export interface RecordQueue {
  /** Never throws, and waits for nothing. */
  add(record: ArrivedRecord): void
  /** Hands all that waits to the store, now. */
  drain(): void
  /** Resolves when all that was added is stored, or lost. */
  settled(): Promise<void>
}

interface RecordQueueOptions {
  /** Stores some records together; resolves once they are stored or lost, and never rejects. */
  store(records: readonly ArrivedRecord[]): Promise<void>
  /** There is no room for it. What the store refuses it counts itself. */
  onLost(record: ArrivedRecord): void
}

/** Waiting or on their way to the disk. */
const MOST = 10_000
/** Nobody waits for a record: so long others may join it, which makes all of them cheaper. */
const HOLD_MS = 10
/** Prepared and committed in one turn of the loop, within a millisecond or two: requests wait for no more than that. */
const TOGETHER = 100

export function createRecordQueue({ store, onLost }: RecordQueueOptions): RecordQueue {
  const waiting: ArrivedRecord[] = []
  let onTheirWay = 0
  const running = new Set<Promise<void>>()
  let isPlanned = false

  /** Takes the oldest; the others have the next turn. */
  function turn(): void {
    isPlanned = false
    send(waiting.splice(0, TOGETHER))
    if (waiting.length > 0) plan()
  }

  function plan(): void {
    if (waiting.length >= TOGETHER) setImmediate(turn)
    else if (!isPlanned) setTimeout(turn, HOLD_MS)
    isPlanned = true
  }

  function send(records: readonly ArrivedRecord[]): void {
    if (records.length === 0) return
    onTheirWay += records.length
    const stored: Promise<void> = store(records).finally(() => {
      onTheirWay -= records.length
      running.delete(stored)
    })
    running.add(stored)
  }

  function drain(): void {
    while (waiting.length > 0) send(waiting.splice(0, TOGETHER))
  }

  return {
    add(record) {
      if (waiting.length + onTheirWay >= MOST) return onLost(record)
      waiting.push(record)
      // The last one of a group does not wait for the time to be over.
      if (!isPlanned || waiting.length === TOGETHER) plan()
    },
    drain,
    async settled() {
      while (waiting.length + onTheirWay > 0) {
        drain()
        await Promise.all(running)
      }
    },
  }
}
