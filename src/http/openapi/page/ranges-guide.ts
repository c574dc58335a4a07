import type { PERIOD_NAMES } from "../../../domain/relative-period.ts"
import { type Guide, inline, prose, table } from "./markup.ts"

/** Meaning of each period (metrics.md section 9.1). */
const PERIODS: Readonly<Record<(typeof PERIOD_NAMES)[number] | "7d" | "3mo", string>> = {
  today: "Today, as a whole day. `date_range` also calls it `day`.",
  yesterday: "Yesterday.",
  "24h": "The current hour and the 23 hours before it.",
  "7d": "Today and the 6 days before it. Any other number works the same, such as `14d` or `90d`.",
  "3mo": "The current month up to today, and the 2 whole months before it. Any other number works the same, such as `12mo`.",
  last_week: "The last whole week, Monday to Sunday.",
  month: "The current month up to today.",
  last_month: "The last whole month.",
  year: "The current year up to today.",
  all: "From the first recorded or imported day up to today.",
}

const ABOUT = `Reports under \`stats\` take \`period\`, or \`from\` and \`to\`. \`POST /query\` takes the same values in \`date_range\`, and also \`realtime\` for the last 5
minutes. Days are those of the site’s time zone, or of \`timezone\` in the request.`

const ENDS = `The two ends of a range are both days or both times, and both are inclusive: \`from=2026-11-14&to=2026-11-20\`, or \`"date_range": ["2026-11-14", "2026-11-20"]\`.
A time with an offset or \`Z\` is an instant, such as \`2026-11-20T08:00:00Z\`. A time without one is local, such as \`2026-11-20T08:00:00\`. An end after today is moved to the
end of today. A range covers at most 10 years.`

const PLAUSIBLE = `Periods of days and months include today at all paths. In Plausible itself, \`7d\`, \`28d\` and \`30d\` have ended yesterday since 2025, so its clients get other days here. For
completed days, send the first and the last one.`

const COMPARING = `Under \`stats\`, \`compare\` adds a second range to totals and time series. In \`POST /query\`, \`include.comparisons\` adds it to each row.

\`previous_period\` is the range of equal length just before: for \`7d\` the 7 days before these 7 days. The earlier range has whole days: as long as today is
not over, it covers more time than has passed. To compare equal times, use completed days, or send \`match_time_of_day\` in \`POST /query\`, which ends the earlier range at
the current time of day.

The rows of a compared query are those of the range. A row that does not occur in the earlier range is compared with 0, or with \`null\` for metrics that were not measured,
and its \`change\` is \`null\`. Rows that occur only in the earlier range are not returned: request that range to see them.`

/** Explains the ranges of reports, and the ranges that they can be compared with. */
export const rangesGuide = (): Guide => ({
  id: "ranges",
  title: "Ranges and comparisons",
  html: `${prose(ABOUT)}${table(
    ["Period", "Range"],
    Object.entries(PERIODS).map(([name, meaning]) => [`<code>${name}</code>`, inline(meaning)]),
  )}${prose(ENDS)}${prose(PLAUSIBLE)}<h3>Comparisons</h3>${prose(COMPARING)}`,
})
