import type { ReportRange } from "../../domain/report.ts"
import { rangeText } from "../format.ts"

interface Compared {
  range: ReportRange
  comparison?: { range: ReportRange }
}

/** What figures are compared with: all of a range, also where their own is not over. Then it says so. */
export const otherText = ({ range, comparison }: Compared): string | undefined =>
  comparison &&
  `${rangeText(comparison.range.from, comparison.range.to)}${range.includes_today && !comparison.range.includes_today ? " (whole)" : ""}`
