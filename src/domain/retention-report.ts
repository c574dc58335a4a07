import { roundedRatio } from "./metric.ts"
import type { RetentionQuery } from "./people.ts"
import type { Range } from "./query.ts"

/**
 * The cells of a retention report (areas/04-cohorts.md section 5): what can be known about each of them. `suppressed` cells are those
 * of groups that are too small to be shown, which the area of cohorts decides.
 */
export const CELL_STATES = ["complete", "partial", "future", "unobservable", "suppressed"] as const
export type CellState = (typeof CELL_STATES)[number]

/** What the state of a cell depends on. */
export type CellRules = Pick<RetentionQuery, "edges" | "cohorts" | "periods" | "isSame" | "counting" | "elapsed"> & {
  /** Time of the report, epoch ms. */
  now: number
}

const DAY_MS = 86_400_000

/**
 * Returns the time in which people must be recognized for a cell: from the start of the cohort's period until the end of the time that
 * the cell counts. Undefined for a cell that is the cohort itself, and for one that has not begun.
 */
export function cellWindow(rules: CellRules, cohort: number, period: number): Range | undefined {
  const { from, to } = countedTime(rules, cohort, period)
  if (from > rules.now || isCohort(rules, period)) return undefined
  return { from: rules.edges[cohort]!, to: rules.counting === "unbounded" ? Math.max(to, rules.now + 1) : to }
}

/**
 * Returns the state of each cell by cohort and period. `recognizes` tells whether everyone who counts is recognized throughout a window.
 * Of several states the first applies: future, unobservable, partial, complete.
 */
export function cellStates(rules: CellRules, recognizes: (window: Range) => boolean): CellState[][] {
  return Array.from({ length: rules.cohorts }, (_, cohort) =>
    Array.from({ length: rules.periods }, (_, period): CellState => {
      const { from, to } = countedTime(rules, cohort, period)
      if (from > rules.now) return "future"
      const window = cellWindow(rules, cohort, period)
      if (window && !recognizes(window)) return "unobservable"
      return to > rules.now ? "partial" : "complete"
    }),
  )
}

/** Returns from when until when the period of a cell runs, for the first and the last person of the cohort. */
function countedTime({ edges, elapsed }: CellRules, cohort: number, period: number): Range {
  if (elapsed) return { from: edges[cohort]! + period * DAY_MS, to: edges[cohort + 1]! + (period + 1) * DAY_MS }
  // The edges reach up to the time of the report.
  return { from: edges[cohort + period] ?? Number.POSITIVE_INFINITY, to: edges[cohort + period + 1] ?? Number.POSITIVE_INFINITY }
}

const isCohort = ({ isSame }: CellRules, period: number): boolean => isSame && period === 0

/** The mean of a period over all cohorts. */
export interface RetentionAverage {
  period: number
  /** Percentage with one decimal, or null without people. */
  rate: number | null
  based_on_people: number
}

/** A row with the states of its cells. Only complete cells are read. */
export interface StatedRow {
  size: number
  counts: readonly number[]
  states: readonly CellState[]
}

/** Returns the mean rate of each period over its complete cells, weighted by people. */
export function averageRates(rows: readonly StatedRow[], periods: number): RetentionAverage[] {
  return Array.from({ length: periods }, (_, period) => {
    const complete = rows.filter(({ states }) => states[period] === "complete")
    const people = complete.reduce((sum, { size }) => sum + size, 0)
    const returned = complete.reduce((sum, { counts }) => sum + counts[period]!, 0)
    return { period, rate: returnRate(returned, people), based_on_people: people }
  })
}

/** Returns the percentage of people who returned, with one decimal. Null without people. */
export const returnRate = (returned: number, people: number): number | null =>
  people === 0 ? null : roundedRatio(100 * returned, people, 1)
