import type { Part, Steps } from "../../store/events/part.ts"

/** The times of the events of a visit, one after the other. */
export interface EventTimes {
  /** Returns the milliseconds since the visit's start of an event, given those of the one before it, or 0 for the first. */
  next(before: number, row: number): number
}

/** Returns the times of a part's events. Where possible, only those are decoded that are asked for. */
export function eventTimes(part: Part): EventTimes {
  const steps = part.steps?.()
  return steps ? new SteppedTimes(steps) : new KnownTimes(part.event("offset"))
}

class SteppedTimes implements EventTimes {
  constructor(private readonly steps: Steps) {}

  next(before: number, row: number): number {
    return (before + this.steps.at(row)) >>> 0
  }
}

class KnownTimes implements EventTimes {
  constructor(private readonly offset: Uint32Array) {}

  next(_before: number, row: number): number {
    return this.offset[row]!
  }
}
