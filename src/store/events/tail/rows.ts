/** A visit in the form of the log, with dictionary numbers instead of texts. */
export interface TailVisit {
  id: number
  rotating: number
  visitor: number
  kind: number
  /** In the order of TRAITS. */
  traits: readonly number[]
}

/** An event in the form of the log, with dictionary numbers instead of texts. */
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

/** The position of an event in the log: id and arrival of its record. */
export interface LogPlace {
  record: number
  arrivedAt: number
}
