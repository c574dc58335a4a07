import { LIMITS, type Report, type ReportKind, type Run } from "./report.ts"

/** Days that a report covers, both inclusive, and those it is compared with. */
export interface ReportPeriod {
  from: string
  to: string
  before: { from: string; to: string }
}

/** When a report is sent, and what it covers. */
export interface Due {
  /** Epoch milliseconds. */
  at: number
  period: ReportPeriod
}

interface Rhythm {
  kind: ReportKind
  hour: number
}

/** Returns the last time up to `now` at which a report is due. */
export function lastDue(rhythm: Rhythm, timezone: string, now: number): Due {
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timezone).toPlainDate()
  const day = dueDay(rhythm.kind, today)
  const due = dueOn(rhythm, timezone, day)
  return due.at <= now ? due : dueOn(rhythm, timezone, dueDay(rhythm.kind, day.subtract({ days: 1 })))
}

/** Returns the first time after a moment at which a report is due. */
export function nextDue(rhythm: Rhythm, timezone: string, after: number): number {
  const today = Temporal.Instant.fromEpochMilliseconds(after).toZonedDateTimeISO(timezone).toPlainDate()
  for (let day = dueDay(rhythm.kind, today); ; day = following(rhythm.kind, day)) {
    const { at } = dueOn(rhythm, timezone, day)
    if (at > after) return at
  }
}

/** What to do with a report: the period to send, if any, the runs afterwards, and the next time. */
export interface Plan {
  period?: ReportPeriod
  sent: readonly Run[]
  next_at: number
}

/**
 * Decides about a report whose time has come, from what is stored. A period is sent once, and not more than 24 hours late. If the clock was
 * set back, the next time is later than the last one that is due. Then only a period that follows one that was sent is due.
 */
export function plan(report: Pick<Report, "kind" | "hour" | "next_at" | "sent">, timezone: string, now: number): Plan {
  const { at, period } = lastDue(report, timezone, now)
  const next_at = nextDue(report, timezone, now)
  const isDue = report.next_at <= at || wasSent(report.sent, period.before)
  const isSent = isDue && now - at <= LIMITS.lateMs && !wasSent(report.sent, period)
  return isSent ? { period, sent: withSent(report.sent, period), next_at } : { sent: report.sent, next_at }
}

/**
 * Returns the next time of a report whose time zone may have changed. A period that is due already in the new zone and was not in the old
 * one is due now, if it follows one that was sent.
 */
export function plannedAgain(report: Pick<Report, "kind" | "hour" | "sent">, timezone: string, now: number): number {
  const { at, period } = lastDue(report, timezone, now)
  const isMissed = now - at <= LIMITS.lateMs && !wasSent(report.sent, period) && wasSent(report.sent, period.before)
  return isMissed ? at : nextDue(report, timezone, now)
}

/** Returns the last day up to a day on which a report of a kind is due: every day, on Mondays, or on the first of a month. */
function dueDay(kind: ReportKind, day: Temporal.PlainDate): Temporal.PlainDate {
  if (kind === "daily") return day
  return kind === "weekly" ? day.subtract({ days: day.dayOfWeek - 1 }) : day.with({ day: 1 })
}

const following = (kind: ReportKind, day: Temporal.PlainDate): Temporal.PlainDate => day.add(LENGTHS[kind])

const LENGTHS = { daily: { days: 1 }, weekly: { days: 7 }, monthly: { months: 1 } } as const

function dueOn({ kind, hour }: Rhythm, timezone: string, day: Temporal.PlainDate): Due {
  // A time that a clock change skips is moved to the next one that exists; of two equal times the first one is taken.
  const at = day.toPlainDateTime({ hour }).toZonedDateTime(timezone, { disambiguation: "compatible" }).epochMilliseconds
  return { at, period: periodBefore(kind, day) }
}

/** Returns the whole period that ends before a day on which a report is due. */
function periodBefore(kind: ReportKind, day: Temporal.PlainDate): ReportPeriod {
  const from = day.subtract(LENGTHS[kind])
  const lastDayBefore = (end: Temporal.PlainDate) => end.subtract({ days: 1 }).toString()
  return {
    ...{ from: from.toString(), to: lastDayBefore(day) },
    before: { from: from.subtract(LENGTHS[kind]).toString(), to: lastDayBefore(from) },
  }
}

/** Runs that are kept. There is more than one only after missed periods and clock changes. */
const MAX_RUNS = 50

/** Returns whether a period was sent. */
const wasSent = (runs: readonly Run[], { to }: Pick<ReportPeriod, "to">): boolean => runs.some(([first, last]) => first <= to && to <= last)

/** Adds a period to the runs of those that were sent. The last run is that of the latest sending. */
function withSent(runs: readonly Run[], { from, to }: Pick<ReportPeriod, "from" | "to">): Run[] {
  const dayBefore = Temporal.PlainDate.from(from).subtract({ days: 1 }).toString()
  const grown = runs.find(([first, last]) => first <= dayBefore && dayBefore <= last)
  const others = runs.filter((run) => run !== grown)
  return [...others, [grown?.[0] ?? to, to] as const].slice(-MAX_RUNS)
}
