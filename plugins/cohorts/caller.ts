import {
  clippedDays,
  dayStart,
  type Fault,
  type Filter,
  fault,
  localDay,
  parseDay,
  type Range,
  readFilterList,
  type SavedFilter,
  type SavedFilters,
  type Site,
} from "#plugin"

/** Who asks for a report, and what they may see. */
export interface ReportCaller {
  site: Site
  /** Smallest group of people that is shown. 0 for those who may see people: nothing is hidden from them. */
  least: number
  seesRevenue: boolean
  /** User whose personal segments can be named. */
  userId?: number
  signal?: AbortSignal
  /** Filters of a shared dashboard, which always apply. With one that cannot be used any more, the report is refused. */
  locked?: readonly SavedFilter[]
  /** A filter that always applies, in the form of queries. */
  lockedFilter?: Filter
}

/** Returns what someone with these permissions on a site may see. */
export const sightOf = (site: Site, permissions: ReadonlySet<string>): Pick<ReportCaller, "site" | "least" | "seesRevenue"> => ({
  site,
  least: permissions.has("people:read") ? 0 : site.settings.min_group,
  seesRevenue: permissions.has("revenue:read"),
})

export const engineCaller = ({ site, signal }: Pick<ReportCaller, "site" | "signal">) => ({
  organizationId: site.organization_id,
  ...(signal && { signal }),
})

/** Percent with one decimal, half away from zero; 0 without a whole. */
export const percent = (part: number, whole: number): number => (whole === 0 ? 0 : Math.round((10_000 * part) / whole) / 100)

/** Reads the day `as_of`, which defaults to `usual` and is not after today. */
export function readAsOf(
  given: unknown,
  pointer: string,
  { usual, today }: Record<"usual" | "today", Temporal.PlainDate>,
  faults: Fault[],
) {
  if (given === undefined) return usual
  const day = typeof given === "string" ? parseDay(given) : undefined
  if (!day) faults.push(fault(pointer, typeof given === "string" ? "invalid_date" : "invalid_type", "must be a calendar date, YYYY-MM-DD"))
  else if (Temporal.PlainDate.compare(day, today) > 0) faults.push(fault(pointer, "out_of_range", "must not be after today"))
  return day ?? usual
}

export const todayOf = ({ timezone }: Site, now: number): Temporal.PlainDate => localDay(now, timezone)

/** Returns the local days of a range, both inclusive. */
export const daysOf = (from: Temporal.PlainDate, to: Temporal.PlainDate, timezone: string): Range => ({
  from: dayStart(from, timezone),
  to: dayStart(to.add({ days: 1 }), timezone),
})

/** Returns the starts of the local days of a range and its end. */
export function dayEdges(from: Temporal.PlainDate, to: Temporal.PlainDate, timezone: string): number[] {
  const count = from.until(to).days + 2
  return Array.from({ length: count }, (_, i) => dayStart(from.add({ days: i }), timezone))
}

/** Reads two days, both inclusive, of which the last one is clipped to today. Faults are added to `faults`. */
export function readDays(
  given: { from?: unknown; to?: unknown },
  usual: { from: Temporal.PlainDate; to: Temporal.PlainDate },
  { now, site }: { now: number; site: Site },
  faults: Fault[],
): { from: Temporal.PlainDate; to: Temporal.PlainDate } {
  if (given.from === undefined && given.to === undefined) return usual
  const read = (name: "from" | "to") => {
    const value = given[name]
    const day = typeof value === "string" ? parseDay(value) : undefined
    if (!day)
      faults.push(
        fault(`/${name}`, value === undefined ? "required" : "invalid_date", "must be a calendar date, YYYY-MM-DD. Set both from and to"),
      )
    return day
  }
  const [from, to] = [read("from"), read("to")]
  if (!from || !to) return usual
  const days = clippedDays(from, to, { now, timezone: site.timezone })
  if (typeof days === "object") return days
  faults.push(fault("/from", "invalid_range", RANGE_FAULTS[days]))
  return usual
}

const RANGE_FAULTS = {
  reversed: "must not be after to",
  future: "must not be after today",
  long: "must be at most ten years before to",
} as const

/** Reads filters, which are a list in a body and JSON text in a query string. Faults are added to `faults`. */
export function readReportFilters(given: unknown, saved: SavedFilters, faults: Fault[]): SavedFilter[] {
  if (given === undefined) return []
  const list = typeof given === "string" ? parsed(given) : given
  const { faults: found } = readFilterList(list, "/filters", saved)
  faults.push(...found)
  return found.length > 0 ? [] : (list as SavedFilter[]) // checked by the line above
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // not a list, which is reported as such
  }
}
