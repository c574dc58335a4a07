import type { Memory } from "../memory.ts"
import { MAX_CLOSED_EVENTS } from "./plan.ts"

/** Number of events between two looks at the tails. */
const EVENTS_BETWEEN = 500
/** Share of the limit by which the tails grow before the next seal starts, if the last one could not bring them below the limit. */
const GROWTH = 1 / 8

/** Starts seals when the tail has grown too much for the regular ones, and holds back those senders that can wait. */
export interface Pressure {
  /** Looks at the tails after a group commit. */
  update(memory: Pick<Memory, "tails" | "sequence">): void
  onSealDue(seal: () => Promise<void>): void
  room(): Promise<void> | undefined
}

export function createPressure({ tailBytes }: { tailBytes: number }): Pressure {
  let seal: (() => Promise<void>) | undefined
  let sealing: Promise<void> | undefined
  let isFull = false
  let lastLook = 0
  /** Share of the limit at which the next seal starts. Undefined after a seal, until its result is looked at. */
  let dueAt: number | undefined = 1

  return {
    update({ tails, sequence }) {
      if (Math.abs(sequence - lastLook) < EVENTS_BETWEEN) return
      lastLook = sequence
      const load = Math.max(tails.closedEvents / MAX_CLOSED_EVENTS, tails.bytes / tailBytes)
      // Senders that can wait do so before the tail is twice as large as it should be.
      isFull = load >= 1.5
      if (sealing) return
      if (load < 1) dueAt = 1
      dueAt ??= load + GROWTH
      if (load < dueAt) return
      sealing = seal?.().finally(() => {
        sealing = undefined
        dueAt = undefined
      })
    },
    onSealDue(work) {
      seal = work
    },
    room: () => (isFull ? sealing : undefined),
  }
}
