import type { Tails } from "../tail/tails.ts"
import { MAX_CLOSED_EVENTS } from "./sealing.ts"

/** Number of closed events above which senders that can wait are held back until a seal has ended. */
const FULL_EVENTS = 2 * MAX_CLOSED_EVENTS

/** Starts seals when the tail has grown too much for the regular ones, and holds back those senders that can wait. */
export interface Pressure {
  /** Looks at the tails after a group commit. */
  update(tails: Pick<Tails, "closedEvents">): void
  onSealDue(seal: () => Promise<void>): void
  room(): Promise<void> | undefined
}

export function createPressure(): Pressure {
  let seal: (() => Promise<void>) | undefined
  let sealing: Promise<void> | undefined
  let isFull = false

  return {
    update({ closedEvents }) {
      isFull = closedEvents >= FULL_EVENTS
      if (closedEvents < MAX_CLOSED_EVENTS || sealing) return
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
