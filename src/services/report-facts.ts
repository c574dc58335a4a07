import { currencyDecimals } from "../domain/currency.ts"
import { instantText } from "../domain/moment.ts"
import type { GoalRule, SiteFacts, Table } from "../domain/query.ts"
import type { ReportFacts, ReportRange } from "../domain/report.ts"
import type { Site } from "../domain/site.ts"
import type { IdentityMode } from "../domain/visit.ts"
import type { Question } from "../query/parse.ts"
import { dayStart, type LocalRange, localDay, today } from "../query/period.ts"
import type { Asker } from "../query/pool.ts"

/** A question of the flat form with everything that answering it needs. */
export interface OpenReport {
  site: Site
  facts: SiteFacts
  question: Question
  now: number
  asker: Asker
}

export const siteFacts = (site: Site, goals: readonly GoalRule[]): SiteFacts => ({
  id: site.id,
  bounceEngagedSeconds: site.settings.bounce_engaged_seconds,
  revenueCurrency: site.revenue_currency,
  goals,
})

export const decimalsOf = ({ revenue_currency }: Site): number => currencyDecimals(revenue_currency) ?? 2

/** What a report says beside its numbers: what was really used, and what a reader must know of it. */
export function reportFacts(report: OpenReport, { otherCurrencies }: Pick<Table, "otherCurrencies">, showsRevenue: boolean): ReportFacts {
  const { site, question, now } = report
  const notes = notesOf(report, otherCurrencies)
  return {
    site_id: site.id,
    range: shownRange(question.range, now),
    ...(coversDays(question.range, site.timezone) && { visitor_window: visitorWindow(site, question.range) }),
    ...(notes.length > 0 && { notes }),
    ...(showsRevenue && { revenue_currency: site.revenue_currency }),
  }
}

export function shownRange({ range, from, to, timezone, hours }: LocalRange, now: number): ReportRange {
  const day = today({ now, timezone }).toString()
  const times = { from_time: instantText(range.from), to_time: instantText(range.to) }
  return { from, to, timezone, includes_today: from <= day && day <= to, ...(hours && times) }
}

const WINDOWS: Record<IdentityMode, NonNullable<ReportFacts["visitor_window"]>> = {
  daily: "day",
  weekly: "week",
  monthly: "month",
  identified: "identified",
  persistent: "persistent",
}

function visitorWindow({ settings, identity_history }: Site, { range }: LocalRange): NonNullable<ReportFacts["visitor_window"]> {
  const inRange = identity_history.filter(
    ({ from }, i) => from < range.to && (identity_history[i + 1]?.from ?? Number.POSITIVE_INFINITY) > range.from,
  )
  const [mode = settings.identity_mode, ...others] = new Set(inRange.map(({ identity_mode }) => identity_mode))
  return others.length > 0 ? "mixed" : WINDOWS[mode]
}

/** Visitors are told apart by the site's own days, whatever zone the answer is in. */
const coversDays = ({ range }: LocalRange, timezone: string): boolean =>
  !localDay(range.from, timezone).equals(localDay(range.to - 1, timezone))

function notesOf({ site, facts, question, now }: OpenReport, otherCurrencies: readonly string[]): string[] {
  const notes: string[] = []
  const { range, clipped, report, metrics, dimension, filtered } = question
  if (clipped) notes.push(`to lay in the future and was set to today, ${range.to}.`)
  const cutoff = retentionStart(site, now)
  if (cutoff !== undefined && range.range.from < cutoff)
    notes.push(`Data is kept for ${site.retention_days} days: what is older is not in the answer.`)
  const asksGoals = report !== "funnel" && (metrics.includes("conversions") || metrics.includes("conversion_rate"))
  const isByGoal = asksGoals || dimension === "goal" || filtered.includes("goal")
  if (isByGoal && facts.goals.length === 0) notes.push("The site has no goals: conversions are 0.")
  if (metrics.includes("revenue") && otherCurrencies.length > 0) {
    notes.push(`Amounts in ${otherCurrencies.join(", ")} are not part of revenue, which is in ${site.revenue_currency}.`)
  }
  return notes
}

function retentionStart({ retention_days, timezone }: Site, now: number): number | undefined {
  return retention_days === null ? undefined : dayStart(today({ now, timezone }).subtract({ days: retention_days }), timezone)
}
