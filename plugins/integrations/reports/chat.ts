import { changeText, daysText, FIGURE_LABELS, figureText, LIST_LABELS, numberText, type ReportContent } from "./content.ts"

/** A line of a chat message. A list has one text per row. */
export interface ReportFact {
  label: string
  value: string | string[]
}

/** Returns the lines of a report in a chat, with the same content as the email. */
export function factsOf(content: ReportContent): ReportFact[] {
  const figures = content.figures.map((figure) => {
    const change = changeText(figure)
    return {
      label: FIGURE_LABELS[figure.metric],
      value: figureText(figure, content.currency) + (change === undefined ? "" : ` (${change})`),
    }
  })
  const lists = content.lists.map(({ section, rows }) => {
    const { title, unit } = LIST_LABELS[section]
    const lines = rows.map(({ name, value }) => `${name}: ${numberText(value)}`)
    return { label: `${title} (${unit.toLowerCase()})`, value: lines.length > 0 ? lines : "Nothing in this period." }
  })
  return [{ label: "Period", value: daysText(content) }, ...figures, ...lists]
}
