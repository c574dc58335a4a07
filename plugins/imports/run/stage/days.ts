import { type DayRules, type DaySkip, daySkips, localDay } from "../../days.ts"
import type { DayReport } from "../task.ts"
import { byKey } from "./findings.ts"

/** The local days of an import, with the number of their visits and refunds, or rows of totals. */
export class StagedDays {
  /** Returns the local day of an instant. */
  readonly of: (at: number) => string
  readonly #skipOf: ReturnType<typeof daySkips>
  readonly #rows = new Map<string, number>()

  constructor(rules: DayRules, timezone: string) {
    this.of = daysBySpan(timezone)
    this.#skipOf = daySkips(rules)
  }

  /** Counts a row. Returns why its day is not stored, if there is a reason. */
  add(day: string): DaySkip | undefined {
    this.#rows.set(day, (this.#rows.get(day) ?? 0) + 1)
    return this.#skipOf(day)
  }

  reports(): DayReport[] {
    return [...this.#rows].sort(byKey).map(([day, rows]) => {
      const skip = this.#skipOf(day)
      return { day, rows, ...(skip && { skip }) }
    })
  }
}

/** Returns the function that finds the local day of an instant. Most instants lie on the day of the one before. */
function daysBySpan(timezone: string): (at: number) => string {
  const hours = new Map<number, string>()
  return (at) => {
    // Zones change at multiples of 15 minutes only, so a quarter of an hour lies within one day.
    const quarter = Math.floor(at / 900_000)
    const known = hours.get(quarter)
    if (known !== undefined) return known
    if (hours.size > 50_000) hours.clear()
    const day = localDay(quarter * 900_000, timezone)
    hours.set(quarter, day)
    return day
  }
}
