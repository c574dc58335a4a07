import { ENGAGEMENT, PAGEVIEW } from "../../domain/dimension.ts"
import { type Condition, textTest } from "../../domain/filter.ts"
import { countryNameOrCode } from "../../domain/place-names.ts"
import type { GoalRule } from "../../domain/query.ts"
import type { Dictionary } from "../../store/events/part.ts"

/**
 * Tests that return 0 or 1 by arithmetic, for kernels. A comparison that is converted to a number compiles to a branch, which is
 * often mispredicted when rows are of mixed kinds and then takes three times as long.
 */

/** Returns 1 when the numbers differ. */
export const differs = (a: number, b: number): number => ((a ^ b) | -(a ^ b)) >>> 31

/** Returns 1 for a counted event. The numbers of `engagement` and `vitals` differ only in their last bit. */
export const isCounted = (name: number): number => differs(name >>> 1, ENGAGEMENT >>> 1)

/** Returns 1 for a pageview. */
export const isPageview = (name: number): number => 1 - differs(name, PAGEVIEW)

/** One byte per dictionary number, 1 when the value passes. Text is compared once here and never per row. */
export type ValueMask = Uint8Array

export type TextTest = Pick<Condition, "op" | "values" | "caseSensitive" | "missing" | "named">

/** Returns the dictionary values that satisfy a condition. Number 0, the missing value, passes only when the condition names it; blanked values never pass. */
export function valueMask(dictionary: Dictionary, condition: TextTest): ValueMask {
  const mask = new Uint8Array(Math.max(1, dictionary.size))
  const passes = textTest(condition)
  if (condition.named) markMatching(dictionary, (code) => passes(countryNameOrCode(code)), mask)
  else if (condition.op === "is" && condition.caseSensitive) markExact(dictionary, condition.values, mask)
  else markMatching(dictionary, passes, mask)
  mask[0] = condition.missing ? 1 : 0
  return mask
}

/** Returns the dictionary values that match a goal or funnel step, case-sensitively. */
export function ruleMask(dictionary: Dictionary, { match, value }: Pick<GoalRule, "match" | "value">): ValueMask {
  return valueMask(dictionary, { op: RULE_OPERATORS[match], values: [value], caseSensitive: true, missing: false })
}

const RULE_OPERATORS = { exact: "is", prefix: "starts_with", contains: "contains", wildcard: "matches_wildcard" } as const

function markExact(dictionary: Dictionary, values: readonly string[], mask: ValueMask): void {
  for (const value of values) {
    const id = value === "" ? undefined : dictionary.find(value)
    if (id !== undefined && id < mask.length) mask[id] = 1
  }
}

function markMatching(dictionary: Dictionary, passes: (text: string) => boolean, mask: ValueMask): void {
  for (let id = 1; id < mask.length; id++) {
    const text = dictionary.text(id)
    if (text !== "" && passes(text)) mask[id] = 1
  }
}

/**
 * Kernels over masks: one byte per event or visit of a part, 0 or 1. `visit` is the visit pointer of the events. Each kernel
 * overwrites its whole first argument unless stated otherwise.
 */

export function fillByValue(mask: Uint8Array, column: Uint32Array, values: ValueMask): void {
  for (let row = 0; row < mask.length; row++) mask[row] = values[column[row]!]!
}

/** Marks the visits of people whose state is IN. */
export function fillByPerson(mask: Uint8Array, visitor: Uint32Array, states: Uint8Array): void {
  for (let row = 0; row < mask.length; row++) mask[row] = states[visitor[row]!]! >>> 1
}

/** Marks counted events: all but `engagement` and `vitals`. */
export function fillCounted(mask: Uint8Array, name: Uint32Array): void {
  for (let row = 0; row < mask.length; row++) mask[row] = isCounted(name[row]!)
}

/** Clears the rows that are not counted events. */
export function keepCounted(mask: Uint8Array, name: Uint32Array): void {
  for (let row = 0; row < mask.length; row++) mask[row] = mask[row]! & isCounted(name[row]!)
}

/** Marks the events of chosen visits. */
export function fillByVisit(mask: Uint8Array, visit: Uint32Array, visits: Uint8Array): void {
  for (let row = 0; row < mask.length; row++) mask[row] = visits[visit[row]!]!
}

/** Marks the visits that have a chosen event. */
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

/** Marks events by the value of a property. Rows without the key are unchanged. `row` is sparse and ascending. */
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

/** Smallest size of a mask in a pool. */
const MIN_MASK = 4_096

/** Reusable masks: a report over many parts allocates only those of one part. */
export class MaskPool {
  private readonly buffers: Uint8Array[] = []
  private used = 0

  /** Returns a mask of a length, with undefined contents. */
  take(length: number): Uint8Array {
    const buffer = this.buffers[this.used]
    const fitting = buffer && buffer.length >= length ? buffer : new Uint8Array(Math.max(length, MIN_MASK))
    this.buffers[this.used++] = fitting
    return fitting.subarray(0, length)
  }

  /** Releases all masks taken so far. They may be overwritten from now on. */
  reuse(): void {
    this.used = 0
  }
}
