/** What the killed process and its judge agree on. */
export const PHASES = ["seal", "merge", "erase", "retain", "import", "undo", "checkpoint", "backup"] as const
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

/** A visit has three events; each is known by the amount it carries. */
export const eventsOfVisit = (visit: number): number[] => [visit * 10 + 1, visit * 10 + 2, visit * 10 + 3]
/** Visits that the erasure chooses. */
export const erasable = (visit: number): boolean => visit % 7 === 3
/** Two seconds of the loop's own clock for each visit: half an hour goes by in a moment. */
export const momentOf = (visit: number): number => Date.parse("2026-01-05T00:00:00Z") + visit * 2_000
