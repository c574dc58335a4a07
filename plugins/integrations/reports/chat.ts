import type { ReportContent } from "./content.ts"
import { NO_ROWS, wordedReport } from "./wording.ts"

/** A line of a chat message. A list has one text per row. */
export interface ReportFact {
  label: string
  value: string | string[]
}

/** Returns the lines of a report in a chat, with the same content as the email. */
export function factsOf(content: ReportContent): ReportFact[] {
  const { days, figures, lists } = wordedReport(content, "")
  return [
    { label: "Period", value: days },
    ...figures.map(({ label, value, change }) => ({ label, value: change === null ? value : `${value} (${change})` })),
    ...lists.map(({ title, unit, rows }) => ({
      label: `${title} (${unit.toLowerCase()})`,
      value: rows.length > 0 ? rows.map(({ name, value }) => `${name}: ${value}`) : NO_ROWS,
    })),
  ]
}
