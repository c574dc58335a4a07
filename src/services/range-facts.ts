import type { ReportFacts } from "../domain/report.ts"
import type { Site } from "../domain/site.ts"
import type { IdentityMode } from "../domain/visit.ts"
import { dayStart, type LocalRange, localDay, today } from "../query/period.ts"

/** What a reader must know of the numbers of a range, in whatever form they were asked for. */

type VisitorWindow = NonNullable<ReportFacts["visitor_window"]>

/** For how long a visitor is counted once, when the range covers more than one of the site's days. */
export const visitorFacts = (site: Site, range: LocalRange): { visitor_window?: VisitorWindow } =>
  coversDays(range, site.timezone) ? { visitor_window: visitorWindow(site, range) } : {}

/** Of what was cut off: days to come, and what is older than the site keeps. */
export function rangeNotes(site: Site, { range, clipped }: { range: LocalRange; clipped: boolean }, now: number): string[] {
  const cutoff = retentionStart(site, now)
  const isCut = cutoff !== undefined && range.range.from < cutoff
  return [
    ...(clipped ? [`to lay in the future and was set to today, ${range.to}.`] : []),
    ...(isCut ? [`Data is kept for ${site.retention_days} days: what is older is not in the answer.`] : []),
  ]
}

export const NO_GOALS = "The site has no goals: conversions are 0."

export const otherCurrenciesNote = (metric: string, { revenue_currency }: Site, others: readonly string[]): string =>
  `Amounts in ${others.join(", ")} are not part of ${metric}, which is in ${revenue_currency}.`

const WINDOWS: Record<IdentityMode, VisitorWindow> = {
  daily: "day",
  weekly: "week",
  monthly: "month",
  identified: "identified",
  persistent: "persistent",
}

function visitorWindow({ settings, identity_history }: Site, { range }: LocalRange): VisitorWindow {
  const inRange = identity_history.filter(
    ({ from }, i) => from < range.to && (identity_history[i + 1]?.from ?? Number.POSITIVE_INFINITY) > range.from,
  )
  const [mode = settings.identity_mode, ...others] = new Set(inRange.map(({ identity_mode }) => identity_mode))
  return others.length > 0 ? "mixed" : WINDOWS[mode]
}

/** Visitors are told apart by the site's own days, whatever zone the answer is in. */
const coversDays = ({ range }: LocalRange, timezone: string): boolean =>
  !localDay(range.from, timezone).equals(localDay(range.to - 1, timezone))

function retentionStart({ retention_days, timezone }: Site, now: number): number | undefined {
  return retention_days === null ? undefined : dayStart(today({ now, timezone }).subtract({ days: retention_days }), timezone)
}
