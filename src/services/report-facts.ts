import { currencyDecimals } from "../domain/currency.ts"
import { instantText } from "../domain/moment.ts"
import type { GoalRule, SiteFacts, Table } from "../domain/query.ts"
import type { RecordKind } from "../domain/record.ts"
import type { ReportFacts, ReportRange } from "../domain/report.ts"
import type { Site } from "../domain/site.ts"
import type { Question } from "../query/parse.ts"
import { type LocalRange, today } from "../query/period.ts"
import type { Asker } from "../query/pool.ts"
import { NO_GOALS, otherCurrenciesNote, rangeNotes, visitorFacts } from "./range-facts.ts"

/** A question of the flat form with everything that answering it needs. */
export interface OpenReport {
  site: Site
  facts: SiteFacts
  question: Question
  now: number
  asker: Asker
  /** In place of visits. */
  records?: RecordKind
}

export const siteFacts = (site: Site, goals: readonly GoalRule[]): SiteFacts => ({
  id: site.id,
  bounceEngagedSeconds: site.settings.bounce_engaged_seconds,
  revenueCurrency: site.revenue_currency,
  goals,
})

export const decimalsOf = ({ revenue_currency }: Site): number => currencyDecimals(revenue_currency) ?? 2

/** What a report says beside its numbers: what was really used, and what a reader must know of it. */
export function reportFacts(report: OpenReport, table: Pick<Table, "otherCurrencies" | "smallRows">, showsRevenue: boolean): ReportFacts {
  const { site, question, now } = report
  const notes = notesOf(report, table)
  return {
    site_id: site.id,
    range: shownRange(question.range, now),
    ...visitorFacts(site, question.range),
    ...(notes.length > 0 && { notes }),
    ...(showsRevenue && { revenue_currency: site.revenue_currency }),
  }
}

export function shownRange({ range, from, to, timezone, hours }: LocalRange, now: number): ReportRange {
  const day = today({ now, timezone }).toString()
  const times = { from_time: instantText(range.from), to_time: instantText(range.to) }
  return { from, to, timezone, includes_today: from <= day && day <= to, ...(hours && times) }
}

function notesOf(
  { site, facts, question, now }: OpenReport,
  { otherCurrencies, smallRows = 0 }: Pick<Table, "otherCurrencies" | "smallRows">,
): string[] {
  const { report, metrics, dimension, filtered } = question
  const notes = rangeNotes(site, question, now)
  // Of an event or a property the rate is its own, whatever goals there are.
  const hasOwnRate = dimension === "event" || dimension === "property"
  const asksGoals = report !== "funnel" && (metrics.includes("conversions") || (metrics.includes("conversion_rate") && !hasOwnRate))
  const isByGoal = asksGoals || dimension === "goal" || filtered.includes("goal")
  if (isByGoal && facts.goals.length === 0) notes.push(NO_GOALS)
  if (metrics.includes("revenue") && otherCurrencies.length > 0) notes.push(otherCurrenciesNote("revenue", site, otherCurrencies))
  if (smallRows > 0) notes.push(`Groups of fewer than ${question.leastVisitors} visitors are not shown.`)
  return notes
}
