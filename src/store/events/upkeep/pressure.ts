import type { Memory } from "../memory.ts"
import { MAX_CLOSED_EVENTS } from "./plan.ts"

/** Number of events between two looks at the tails. */
const EVENTS_BETWEEN = 500

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

  return {
    update({ tails, sequence }) {
      if (Math.abs(sequence - lastLook) < EVENTS_BETWEEN) return
      lastLook = sequence
      const load = Math.max(tails.closedEvents / MAX_CLOSED_EVENTS, tails.bytes / tailBytes)
      // Senders that can wait do so before the tail is twice as large as it should be.
      isFull = load >= 1.5
      if (load < 1 || sealing) return
      sealing = seal?.().finally(() => {
        sealing = undefined
      })
    },
    onSealDue(work) {
      seal = work
    },
    room: () => (isFull ? sealing : undefined),
  }
}
