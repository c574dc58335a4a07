import { isCounted } from "./flags.ts"
import type { ValueMask } from "./value-mask.ts"

/**
 * Kernels over masks: one byte per event or visit of a part, 0 or 1. `visit` is the visit pointer of the events. Each
 * writes its first argument whole unless it says otherwise.
 */

export function fillByValue(mask: Uint8Array, column: Uint32Array, values: ValueMask): void {
  for (let row = 0; row < mask.length; row++) mask[row] = values[column[row]!]!
}

/** Counted events: all but `engagement` and `vitals`. */
export function fillCounted(mask: Uint8Array, name: Uint32Array): void {
  for (let row = 0; row < mask.length; row++) mask[row] = isCounted(name[row]!)
}

/** Takes out the rows that are no counted events. */
export function keepCounted(mask: Uint8Array, name: Uint32Array): void {
  for (let row = 0; row < mask.length; row++) mask[row] = mask[row]! & isCounted(name[row]!)
}

/** Events of the visits of a mask. */
export function fillByVisit(mask: Uint8Array, visit: Uint32Array, visits: Uint8Array): void {
  for (let row = 0; row < mask.length; row++) mask[row] = visits[visit[row]!]!
}

/** Visits with an event of a mask. */
export function fillByEvents(mask: Uint8Array, visit: Uint32Array, events: Uint8Array): void {
  mask.fill(0)
  for (let row = 0; row < events.length; row++) {
    if (events[row] === 1) mask[visit[row]!] = 1
  }
}

export function keepBoth(mask: Uint8Array, other: Uint8Array): void {
  for (let row = 0; row < mask.length; row++) mask[row] = mask[row]! & other[row]!
}

export function keepEither(mask: Uint8Array, other: Uint8Array): void {
  for (let row = 0; row < mask.length; row++) mask[row] = mask[row]! | other[row]!
}

export function invert(mask: Uint8Array): void {
  for (let row = 0; row < mask.length; row++) mask[row] = 1 - mask[row]!
}

/** Property values by event row; rows without the key keep what is there. `rows` is sparse and ascending. */
export function markProperty(
  mask: Uint8Array,
  { row, key, value }: { row: Uint32Array; key: Uint32Array; value: Uint32Array },
  wanted: number,
  values: ValueMask,
): void {
  for (let i = 0; i < row.length; i++) {
    if (key[i] === wanted) mask[row[i]!] = values[value[i]!]!
  }
}

export function markRows(mask: Uint8Array, rows: Uint32Array, count: number): void {
  for (let i = 0; i < count; i++) mask[rows[i]!] = 1
}

/** Masks for the working of one part, used again for the next: a report over many parts allocates those of one. */
export class MaskPool {
  private readonly buffers: Uint8Array[] = []
  private used = 0

  /** Of this length, with whatever was in it before. */
  take(length: number): Uint8Array {
    const buffer = this.buffers[this.used]
    const fitting = buffer && buffer.length >= length ? buffer : new Uint8Array(Math.max(length, 65_536))
    this.buffers[this.used++] = fitting
    return fitting.subarray(0, length)
  }

  /** All masks taken so far may be overwritten from now on. */
  reuse(): void {
    this.used = 0
  }
}
