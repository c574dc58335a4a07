import type { Site } from "../domain/site.ts"
import { type Period, periodAt, periodOf } from "./salt-period.ts"

/** The salts' periods that may know a visitor of a moment. */
export interface Periods {
  current: Period
  /** The one before, while its salt may still exist: it keeps a visitor over midnight. */
  previous: Period | undefined
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

    /** The periods of an event's moment, as they stand at the moment `now`. */
    periods(site: Site, at: number, now: number): Periods {
      const { periods } = knownOf(site)
      const current = among(periods, at) ?? keep(periods, periodAt(site, at))
      const before = current.from - 1
      const previous = among(periods, before) ?? keep(periods, periodAt(site, before))
      return { current, previous: now < previous.expiresAt ? previous : undefined }
    },
  }
}

const among = (list: readonly Period[], at: number): Period | undefined => list.find(({ from, to }) => from <= at && at < to)

function keep(list: Period[], period: Period): Period {
  list.unshift(period)
  if (list.length > KEPT) list.pop()
  return period
}
