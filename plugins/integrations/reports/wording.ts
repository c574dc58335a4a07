import { currencyStyle, dayNumber } from "#plugin"
import { plain } from "../text.ts"
import type { ReportContent, ReportFigure, ReportList, ReportMetric } from "./content.ts"
import type { Report } from "./report.ts"

/** A report in words, from which the email, the message to a chat and the preview are written. */
export interface WordedReport {
  title: string
  days: string
  figures: { label: string; value: string; change: string | null; tone: FigureTone }[]
  lists: { title: string; unit: string; rows: { name: string; value: string }[] }[]
}

/** Whether a change is for the better. `none` without a change, or without a period to compare with. */
export type FigureTone = "good" | "bad" | "none"

/** What stands in place of the rows of an empty list. */
export const NO_ROWS = "Nothing in this period."

export const wordedReport = (content: ReportContent, siteName: string): WordedReport => ({
  title: titleOf(content.kind, siteName),
  days: daysText(content),
  figures: content.figures.map((figure) => ({
    label: FIGURE_LABELS[figure.metric],
    value: figureText(figure, content.currency),
    change: changeText(figure),
    tone: toneOf(figure),
  })),
  lists: content.lists.map(({ section, rows }) => ({
    ...LIST_LABELS[section],
    rows: rows.map(({ name, value }) => ({ name, value: numberText(value) })),
  })),
})

/** A lower bounce rate is better; of everything else more is. */
function toneOf({ metric, change }: ReportFigure): FigureTone {
  const rounded = Math.round(change ?? 0)
  if (rounded === 0) return "none"
  return rounded > 0 === (metric !== "bounce_rate") ? "good" : "bad"
}

const FIGURE_LABELS: Readonly<Record<ReportMetric, string>> = {
  visitors: "Visitors",
  visits: "Visits",
  pageviews: "Pageviews",
  bounce_rate: "Bounce rate",
  visit_duration: "Visit duration",
  revenue: "Revenue",
}

const LIST_LABELS: Readonly<Record<ReportList["section"], { title: string; unit: string }>> = {
  pages: { title: "Top pages", unit: "Visitors" },
  sources: { title: "Sources", unit: "Visitors" },
  places: { title: "Countries", unit: "Visitors" },
  goals: { title: "Goals", unit: "Conversions" },
  search_queries: { title: "Search queries", unit: "Clicks" },
}

const NUMBER = new Intl.NumberFormat("en-US")
const numberText = (value: number): string => NUMBER.format(value)

function figureText({ metric, value }: ReportFigure, currency: string): string {
  if (metric === "bounce_rate") return `${Math.round(value)}%`
  if (metric === "visit_duration") return durationText(Math.round(value))
  if (metric === "revenue") return new Intl.NumberFormat("en-US", currencyStyle(currency)).format(value)
  return numberText(value)
}

function durationText(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60]
  if (hours > 0) return `${hours}h ${minutes}m`
  return minutes > 0 ? `${minutes}m ${seconds % 60}s` : `${seconds}s`
}

/** Returns the change of a figure, such as `+12%`. null without a period to compare with. */
function changeText({ change }: ReportFigure): string | null {
  if (change === null) return null
  const rounded = Math.round(change)
  return rounded === 0 ? "±0%" : `${rounded > 0 ? "+" : "−"}${numberText(Math.abs(rounded))}%`
}

const NAMES = { daily: "Daily report", weekly: "Weekly report", monthly: "Monthly report" } as const

/** Returns the title of a report, such as `Weekly report for Shop`. */
export const titleOf = (kind: Report["kind"], siteName: string): string => `${NAMES[kind]} for ${plain(siteName)}`

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"] as const
const WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"] as const

/** Returns the days of a report in words, such as `16 – 22 Nov 2026`. */
function daysText({ kind, from, to }: Pick<ReportContent, "kind" | "from" | "to">): string {
  const [first, last] = [Temporal.PlainDate.from(from), Temporal.PlainDate.from(to)]
  const month = (day: Temporal.PlainDate) => MONTHS[day.month - 1]
  if (dayNumber(from) === dayNumber(to)) return `${WEEKDAYS[last.dayOfWeek - 1]}, ${last.day} ${month(last)} ${last.year}`
  if (kind === "monthly") return `${month(first)} ${first.year}`
  const begin =
    first.year !== last.year
      ? `${first.day} ${month(first)} ${first.year}`
      : first.month !== last.month
        ? `${first.day} ${month(first)}`
        : `${first.day}`
  return `${begin} – ${last.day} ${month(last)} ${last.year}`
}
