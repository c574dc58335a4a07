import { edenGC } from "bun:jsc"

/** Events that are read until garbage is collected. The engine itself would let it grow to hundreds of megabytes. */
const EVENTS_PER_COLLECTION = 2_500
/** Garbage of a row of totals, or of one that is sorted into a visit, compared with that of an event that is read. */
export const LIGHT_ROW = 0.3
/** The same of an event that is packed. */
export const PACKED_ROW = 0.6

/**
 * Every which collection examines the whole heap. The others examine what is new, take a sixth of the time, and leave garbage that was in use
 * at the previous one.
 */
const WHOLE_EVERY = 4

/** Collects the garbage of a thread now and then. */
export class Garbage {
  #uncollected = 0
  #collections = 0

  /** Called for each row, in every phase. */
  add(events: number): void {
    this.#uncollected += events
    if (this.#uncollected < EVENTS_PER_COLLECTION) return
    this.#uncollected = 0
    if (++this.#collections % WHOLE_EVERY === 0) Bun.gc(true)
    else edenGC()
  }
}
