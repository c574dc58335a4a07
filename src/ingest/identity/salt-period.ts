/**
 * The lifetimes of rotating ids: local days, ISO weeks or months of a site. The periods of a site have no gaps and no overlaps, even
 * when its time zone or mode changes, and no two have the same name. They are computed only from stored properties of the site, so
 * that neither a restart nor a jump of the clock changes them.
 */
import type { IdentityPhase, Site } from "../../domain/site.ts"
import type { IdentityMode } from "../../domain/visit.ts"

/** The lifetime of a salt, half-open, in epoch ms. */
export interface Period {
  /** `2026-11-21`, `2026-W47` or `2026-11`, followed by the time zone once the zone or the mode was changed. */
  name: string
  from: number
  to: number
  /** Time at which the salt is destroyed. */
  expiresAt: number
}

/** The properties of a site that its periods are computed from. */
export type Rotation = Pick<Site, "timezone" | "identity_history"> & { settings: Pick<Site["settings"], "identity_mode"> }

const HOUR = 3_600_000
/** Maximum number of stored changes of a site's zone and mode. The periods of the latest ones outlast every salt. */
const MAX_PHASES = 100

/** Returns the period of an instant, by the zone and mode in effect at that time. */
export function periodAt(site: Rotation, at: number): Period {
  const { identity_history: history } = site
  const index = Math.max(
    0,
    history.findLastIndex(({ from }) => from <= at),
  )
  const { from, timezone, identity_mode } = history[index] ?? currentPhase(site)
  const whole = periodOf(identity_mode, timezone, at)
  // After a change to a zone further west the same date occurs again, and needs another salt.
  const name = from === 0 ? whole.name : `${whole.name} ${timezone}`
  const end = history[index + 1]?.from ?? Number.POSITIVE_INFINITY
  return { ...whole, name, from: Math.max(whole.from, from), to: Math.min(whole.to, end) }
}

/**
 * Returns the history after a change of zone or mode, which takes effect when the current period ends (metrics.md 2.2). The day of a
 * change of the mode remains recorded even when the change is reverted, because user ids were counted by the other mode in between.
 */
export function changedHistory(site: Rotation, next: RotationRule, now: number): IdentityPhase[] {
  if (isSame(currentPhase(site), next)) return [...site.identity_history]
  const past = site.identity_history.filter(({ from }) => from <= now)
  const begun = past.length > 0 ? past : [currentPhase(site)]
  if (next.identity_mode !== site.settings.identity_mode) begun.push(withChange(begun.pop()!, localDate(now, site.timezone).toString()))
  // A pending change is replaced. Reverting to the current rule leaves no pending change.
  if (isSame(begun.at(-1)!, next)) return begun
  const { to } = periodAt({ ...site, identity_history: begun }, now)
  return [...begun, { from: to, timezone: next.timezone, identity_mode: next.identity_mode }].slice(-MAX_PHASES)
}

function withChange({ mode_changed_on: before = [], ...phase }: IdentityPhase, day: string): IdentityPhase {
  return { ...phase, mode_changed_on: before.at(-1) === day ? before : [...before, day].slice(-MAX_PHASES) }
}

/** The rule by which periods are formed. */
type RotationRule = Pick<IdentityPhase, "timezone" | "identity_mode">
const isSame = (a: RotationRule, b: RotationRule): boolean => a.timezone === b.timezone && a.identity_mode === b.identity_mode

const currentPhase = ({ timezone, settings }: Rotation): IdentityPhase => ({ from: 0, timezone, identity_mode: settings.identity_mode })

/** Returns the whole local period of an instant under one zone and mode. */
export function periodOf(mode: IdentityMode, timezone: string, at: number): Period {
  const day = localDate(at, timezone)
  if (mode === "weekly") return weekOf(day, timezone)
  if (mode === "monthly") return monthOf(day, timezone)
  const from = startOf(day, timezone)
  return { name: day.toString(), from, to: startOf(day.add({ days: 1 }), timezone), expiresAt: from + 48 * HOUR }
}

function weekOf(day: Temporal.PlainDate, timezone: string): Period {
  const monday = day.subtract({ days: day.dayOfWeek - 1 })
  const to = startOf(monday.add({ days: 7 }), timezone)
  const name = `${day.yearOfWeek}-W${String(day.weekOfYear).padStart(2, "0")}`
  return { name, from: startOf(monday, timezone), to, expiresAt: to + 24 * HOUR }
}

function monthOf(day: Temporal.PlainDate, timezone: string): Period {
  const first = day.with({ day: 1 })
  const to = startOf(first.add({ months: 1 }), timezone)
  return { name: first.toString().slice(0, 7), from: startOf(first, timezone), to, expiresAt: to + 24 * HOUR }
}

const localDate = (at: number, timezone: string): Temporal.PlainDate =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(timezone).toPlainDate()

/** Returns the first instant of a local day, even when a clock change skips midnight. */
const startOf = (day: Temporal.PlainDate, timezone: string): number => day.toZonedDateTime(timezone).epochMilliseconds

/** Random salts by site and period, stored encrypted in the catalog and destroyed when they expire (metrics.md 2.2). */
export interface Salts {
  /** Returns the 32 bytes of a salt, which is created at first use. Synchronous when the salt is in memory. */
  get(siteId: number, period: Pick<Period, "name" | "expiresAt">): Uint8Array | Promise<Uint8Array>
}

/** The identity keys of sites, stored encrypted in the catalog, by which person keys are computed (metrics.md 2.3). */
export interface IdentityKeys {
  identityKey(siteId: number): Uint8Array | Promise<Uint8Array>
}

/** The periods whose salts can recognize the visitor of an event. A salt may already be destroyed (`expiresAt`). */
export interface Periods {
  current: Period
  /** The period before, by which a visit continues over midnight. */
  previous: Period
}

/** The cached periods of a site, the most recently added first. */
interface SiteCalendar {
  /** Identifies the version of the site, because the directory returns a new object after every change. */
  site: Site
  days: Period[]
  periods: Period[]
}

/** Number of periods cached per site: more than the number of days that events arrive for at any one time. */
const CACHED_PERIODS = 8

/** Creates a cache of local days and salt periods by site, so that most events need no calendar arithmetic. */
export function createCalendar() {
  const calendars = new Map<number, SiteCalendar>()

  function calendarOf(site: Site): SiteCalendar {
    const known = calendars.get(site.id)
    if (known?.site === site) return known
    const fresh: SiteCalendar = { site, days: [], periods: [] }
    calendars.set(site.id, fresh)
    return fresh
  }
  function dayOf(site: Site, at: number): Period {
    const { days } = calendarOf(site)
    return periodIn(days, at) ?? cache(days, periodOf("daily", site.timezone, at))
  }

  return {
    /** Returns the local day of an instant at a site, such as `2026-11-21`. */
    day: (site: Site, at: number): string => dayOf(site, at).name,

    /** Returns the start of the local day of an instant at a site. */
    dayStart: (site: Site, at: number): number => dayOf(site, at).from,

    /** Returns the salt periods of an instant at a site. */
    periods(site: Site, at: number): Periods {
      const { periods } = calendarOf(site)
      const current = periodIn(periods, at) ?? cache(periods, periodAt(site, at))
      const before = current.from - 1
      const previous = periodIn(periods, before) ?? cache(periods, periodAt(site, before))
      return { current, previous }
    },
  }
}

const periodIn = (list: readonly Period[], at: number): Period | undefined => list.find(({ from, to }) => from <= at && at < to)

function cache(list: Period[], period: Period): Period {
  list.unshift(period)
  if (list.length > CACHED_PERIODS) list.pop()
  return period
}
