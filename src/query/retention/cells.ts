import type { RetentionQuery, RetentionResult } from "../../domain/people.ts"

/** The numbers of a report: the people of each cohort, and by period those who returned. Breakdowns have such cells for each value. */
export class RetentionCells {
  readonly #cohorts: number
  readonly #periods: number
  readonly #sizes: Uint32Array
  /** By cohort and period. */
  readonly #counts: Uint32Array

  constructor({ cohorts, periods }: Pick<RetentionQuery, "cohorts" | "periods">) {
    this.#cohorts = cohorts
    this.#periods = periods
    this.#sizes = new Uint32Array(cohorts)
    this.#counts = new Uint32Array(cohorts * periods)
  }

  addPerson(cohort: number): void {
    this.#sizes[cohort]!++
  }

  /** Counts a return of a person of the cohort. Periods beyond the last cell are ignored. */
  addReturn(cohort: number, period: number): void {
    if (period < this.#periods) this.#counts[cohort * this.#periods + period]!++
  }

  /** Counts a return in all periods from `first` to `last`. */
  addReturns(cohort: number, first: number, last: number): void {
    const end = Math.min(last, this.#periods - 1)
    for (let period = first; period <= end; period++) this.#counts[cohort * this.#periods + period]!++
  }

  row(cohort: number): RetentionResult["rows"][number] {
    const from = cohort * this.#periods
    return { cohort, size: this.#sizes[cohort]!, counts: Array.from(this.#counts.subarray(from, from + this.#periods)) }
  }

  rows(): RetentionResult["rows"] {
    return Array.from({ length: this.#cohorts }, (_, cohort) => this.row(cohort))
  }
}
