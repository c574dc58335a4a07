/** Definitions shared by the killed process and the process that checks it. */
export const PHASES = ["seal", "seal-open", "merge", "erase", "retain", "import", "undo", "checkpoint", "backup"] as const
export type Phase = (typeof PHASES)[number]

export interface LoopOptions {
  path: string
  phase: Phase
  /** Number of the first visit to write. */
  next: number
  importId: number
}

export const SITE = 1
export const IMPORTED_VISITS = 2_000
export const RETAINED_MS = 3_600_000

/** A visit has three events, each identified by its amount. */
export const eventsOfVisit = (visit: number): number[] => [visit * 10 + 1, visit * 10 + 2, visit * 10 + 3]
/** Reports whether the erasure selects a visit. */
export const erasable = (visit: number): boolean => visit % 7 === 3
/** Two seconds of the loop's clock per visit, so that half an hour passes in a moment. */
export const momentOf = (visit: number): number => Date.parse("2026-01-05T00:00:00Z") + visit * 2_000
