/**
 * How long a rotating id lives: the local day, ISO week or month of its site. The periods of a site follow one another
 * without gap or overlap, also over changes of its zone and mode, and no two have the same name. They follow from what is
 * stored of the site alone, so that a restart or a jump of the clock changes none of them.
 */
import type { IdentityPhase, Site } from "../../domain/site.ts"
import type { IdentityMode } from "../../domain/visit.ts"

/** Half-open, epoch ms. */
export interface Period {
  /** `2026-11-21`, `2026-W47` or `2026-11`; after a change of zone or mode with the zone behind it. */
  name: string
  from: number
  to: number
  /** When its salt is destroyed. */
  expiresAt: number
}

/** What of a site its periods follow from. */
export type Rotation = Pick<Site, "timezone" | "identity_history"> & { settings: Pick<Site["settings"], "identity_mode"> }

const HOUR = 3_600_000
/** Of the changes of a site's zone and mode, the latest are kept: far more than salts live. */
const KEPT_PHASES = 100

/** The period of a moment, by the zone and mode that held then. */
export function periodAt(site: Rotation, at: number): Period {
  const { identity_history: history } = site
  const index = Math.max(
    0,
    history.findLastIndex(({ from }) => from <= at),
  )
  const { from, timezone, identity_mode } = history[index] ?? present(site)
  const whole = periodOf(identity_mode, timezone, at)
  // West of the zone before, the same date comes again: its salt must be another one.
  const name = from === 0 ? whole.name : `${whole.name} ${timezone}`
  const end = history[index + 1]?.from ?? Number.POSITIVE_INFINITY
  return { ...whole, name, from: Math.max(whole.from, from), to: Math.min(whole.to, end) }
}

/**
 * Returns the history after a change of zone or mode, which takes effect when the running period ends (metrics.md 2.2). The
 * day of a change of the mode is kept also when the change is taken back: user ids counted by the other mode meanwhile.
 */
export function changedHistory(site: Rotation, next: Way, now: number): IdentityPhase[] {
  if (isSame(present(site), next)) return [...site.identity_history]
  const past = site.identity_history.filter(({ from }) => from <= now)
  const begun = past.length > 0 ? past : [present(site)]
  if (next.identity_mode !== site.settings.identity_mode) begun.push(withChange(begun.pop()!, localDate(now, site.timezone).toString()))
  // What waits for the end of the running period is replaced; a return to what runs leaves nothing to wait for.
  if (isSame(begun.at(-1)!, next)) return begun
  const { to } = periodAt({ ...site, identity_history: begun }, now)
  return [...begun, { from: to, timezone: next.timezone, identity_mode: next.identity_mode }].slice(-KEPT_PHASES)
}

function withChange({ mode_changed_on: before = [], ...phase }: IdentityPhase, day: string): IdentityPhase {
  return { ...phase, mode_changed_on: before.at(-1) === day ? before : [...before, day].slice(-KEPT_PHASES) }
}

/** How periods are told apart. */
type Way = Pick<IdentityPhase, "timezone" | "identity_mode">
const isSame = (a: Way, b: Way): boolean => a.timezone === b.timezone && a.identity_mode === b.identity_mode

const present = ({ timezone, settings }: Rotation): IdentityPhase => ({ from: 0, timezone, identity_mode: settings.identity_mode })

/** The whole period of a moment in one zone and mode, by the zone and not by UTC. */
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

/** The first instant of a local day, also where midnight does not exist. */
const startOf = (day: Temporal.PlainDate, timezone: string): number => day.toZonedDateTime(timezone).epochMilliseconds

/** Random salts by site and period, kept sealed in the catalog and destroyed when their time is over (metrics.md 2.2). */
export interface Salts {
  /** 32 bytes, at once when they are in memory; made at first use. */
  get(siteId: number, period: Pick<Period, "name" | "expiresAt">): Uint8Array | Promise<Uint8Array>
}

/** The sites' identity keys, sealed in the catalog: the key of person keys (metrics.md 2.3). */
export interface IdentityKeys {
  identityKey(siteId: number): Uint8Array | Promise<Uint8Array>
}

/** The salts' periods that may know a visitor of a moment. Their salts may be destroyed already (`expiresAt`). */
export interface Periods {
  current: Period
  /** The one before: it keeps a visitor over midnight. */
  previous: Period
}

interface Known {
  /** As it was: the directory hands out a new object after every change. */
  site: Site
  /** The latest first. */
  days: Period[]
  periods: Period[]
}

/** More than the days of the events that come in at one time. */
const KEPT = 8

/** Local days and salt periods per site, worked out once each: no event pays for calendar arithmetic. */
export function createCalendar() {
  const sites = new Map<number, Known>()

  function knownOf(site: Site): Known {
    const known = sites.get(site.id)
    if (known?.site === site) return known
    const fresh: Known = { site, days: [], periods: [] }
    sites.set(site.id, fresh)
    return fresh
  }
  function dayOf(site: Site, at: number): Period {
    const { days } = knownOf(site)
    return among(days, at) ?? keep(days, periodOf("daily", site.timezone, at))
  }

  return {
    /** The site's local day of a moment, such as `2026-11-21`. */
    day: (site: Site, at: number): string => dayOf(site, at).name,

    /** When the site's local day of a moment begins. */
    dayStart: (site: Site, at: number): number => dayOf(site, at).from,

    /** Returns the periods of an event's moment. */
    periods(site: Site, at: number): Periods {
      const { periods } = knownOf(site)
      const current = among(periods, at) ?? keep(periods, periodAt(site, at))
      const before = current.from - 1
      const previous = among(periods, before) ?? keep(periods, periodAt(site, before))
      return { current, previous }
    },
  }
}

const among = (list: readonly Period[], at: number): Period | undefined => list.find(({ from, to }) => from <= at && at < to)

function keep(list: Period[], period: Period): Period {
  list.unshift(period)
  if (list.length > KEPT) list.pop()
  return period
}
