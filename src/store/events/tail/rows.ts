/** A visit as the log tells it: everything by number. */
export interface TailVisit {
  id: number
  rotating: number
  visitor: number
  kind: number
  /** In the order of TRAITS. */
  traits: readonly number[]
}

/** An event as the log tells it: everything by number. */
export interface TailEvent {
  at: number
  sequence: number
  name: number
  page: number
  hostname: number
  title: number
  interactive: number
  /** Key, value, key, value, … */
  props: readonly number[]
  revenue: { amount: number; currency: number } | undefined
  engagement: { engaged: number; scroll: number } | undefined
  /** In the order of VITAL_NAMES. */
  vitals: readonly number[] | undefined
}

/** The order of the numbers in `TailEvent.vitals`. */
export const VITAL_NAMES = ["lcp", "inp", "fcp", "ttfb", "cls"] as const

/** Where in the log an event stands: the record's id, and when the record arrived. */
export interface LogPlace {
  record: number
  arrivedAt: number
}
