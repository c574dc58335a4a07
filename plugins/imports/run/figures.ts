import { shownTotals } from "../preview.ts"
import type { Totals } from "../responses.ts"
import type { DayRow, ImportChange, ImportRow } from "../rows.ts"
import type { PendingRun } from "../streams/rows.ts"
import type { Staged } from "./task.ts"

/** Figures and days of an import: those of its only run, or of a stream those of all runs together. */

/** Returns the figures of a run as those of its import. */
export const runFigures = (staged: Staged): ImportChange => ({
  kind: staged.kind,
  rows_total: staged.rows.read,
  rows_read: staged.rows.read,
  rows_skipped: staged.rows.skipped,
  rows_rejected: staged.rows.rejected,
  skip_reasons_json: JSON.stringify(staged.skipReasons),
  totals_json: JSON.stringify(shownTotals(staged)),
  date_start: staged.days[0]?.day ?? null,
  date_end: staged.days.at(-1)?.day ?? null,
})

/**
 * Returns the figures of a stream with those of one more run. `newVisitors` are those that no earlier run has. The files are those of the
 * last run that had any.
 */
export function extendedFigures(row: ImportRow, staged: Staged, newVisitors: number, files: PendingRun["files"]): ImportChange {
  const { rows } = staged
  const before = JSON.parse(row.totals_json) as Totals // written by an earlier run
  const added = shownTotals(staged)
  const skips = JSON.parse(row.skip_reasons_json) as Record<string, number> // written by an earlier run
  for (const [reason, count] of Object.entries(staged.skipReasons)) skips[reason] = (skips[reason] ?? 0) + count
  const dates = [row.date_start, row.date_end, ...staged.days.map(({ day }) => day)].filter((day) => day !== null).sort()
  return {
    ...(files.length > 0 && { files_json: JSON.stringify(files) }),
    bytes: row.bytes + files.reduce((sum, { bytes }) => sum + bytes, 0),
    rows_total: row.rows_read + rows.read,
    rows_read: row.rows_read + rows.read,
    rows_imported: row.rows_imported + rows.accepted,
    rows_skipped: row.rows_skipped + rows.skipped,
    rows_rejected: row.rows_rejected + rows.rejected,
    skip_reasons_json: JSON.stringify(skips),
    totals_json: JSON.stringify({
      visitors: before.visitors + newVisitors,
      visits: before.visits + added.visits,
      pageviews: before.pageviews + added.pageviews,
      events: before.events + added.events,
      ...(before.revenue && { revenue: before.revenue }), // a log has none
    } satisfies Totals),
    date_start: dates[0] ?? null,
    date_end: dates.at(-1) ?? null,
  }
}

/** Returns the days of a run. Those with rows are effective or masked once their holder is known. */
export const dayRows = ({ days }: Pick<Staged, "days">): DayRow[] =>
  days.map(({ day, skip }) =>
    skip ? { day, state: "skipped", reason: skip, masked_by: null } : { day, state: "masked", reason: null, masked_by: null },
  )

/** Returns the days by which a run extends those of a stream. A day of which earlier runs have stored rows stays as it is. */
export function addedDays(before: readonly DayRow[], staged: Pick<Staged, "days">): DayRow[] {
  const stored = new Set(before.filter(({ state }) => state !== "skipped").map(({ day }) => day))
  return dayRows(staged).filter(({ day }) => !stored.has(day))
}
