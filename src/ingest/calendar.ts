import type { Site } from "../domain/site.ts"
import { type Period, periodOf } from "./salts.ts"

/** The salts' periods that may know a visitor of a moment. */
export interface Periods {
  current: Period
  /** The one before, while its salt may still exist: it keeps a visitor over midnight. */
  previous: Period | undefined
}

interface Known {
  timezone: string
  mode: Site["settings"]["identity_mode"]
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
    if (known?.timezone === site.timezone && known.mode === site.settings.identity_mode) return known
    const fresh: Known = { timezone: site.timezone, mode: site.settings.identity_mode, days: [], periods: [] }
    // A change of zone or mode takes effect when the running period ends (metrics.md 2.2).
    if (known) fresh.periods.push(...known.periods)
    sites.set(site.id, fresh)
    return fresh
  }

  return {
    /** The site's local day of a moment, such as `2026-11-21`. */
    day: (site: Site, at: number): string => {
      const known = knownOf(site)
      return inList(known.days, at, () => periodOf("daily", known.timezone, at)).name
    },

    /** When the site's local day of a moment begins. */
    dayStart: (site: Site, at: number): number => {
      const known = knownOf(site)
      return inList(known.days, at, () => periodOf("daily", known.timezone, at)).from
    },

    /** The periods of an event's moment, as they stand at the moment `now`. */
    periods(site: Site, at: number, now: number): Periods {
      const known = knownOf(site)
      const periodAt = (moment: number) => inList(known.periods, moment, () => periodOf(known.mode, known.timezone, moment))
      const current = periodAt(at)
      const previous = periodAt(current.from - 1)
      return { current, previous: now < previous.expiresAt ? previous : undefined }
    },
  }
}

function inList(list: Period[], at: number, compute: () => Period): Period {
  const found = list.find(({ from, to }) => from <= at && at < to)
  if (found) return found
  const period = compute()
  list.unshift(period)
  if (list.length > KEPT) list.pop()
  return period
}
