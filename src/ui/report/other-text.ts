import type { ReportRange } from "../../domain/report.ts"
import { rangeText } from "../text/format.ts"

interface Compared {
  range: ReportRange
  comparison?: { range: ReportRange }
}

/** Returns the range of the comparison. Marks it as a full day or period if the current range is still in progress. */
export const comparisonText = ({ range, comparison }: Compared): string | undefined =>
  comparison &&
  `${rangeText(comparison.range.from, comparison.range.to)}${range.includes_today && !comparison.range.includes_today ? (comparison.range.from === comparison.range.to ? " (full day)" : " (full period)") : ""}`
