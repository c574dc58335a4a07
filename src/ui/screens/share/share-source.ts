import type { OpenShareResponse } from "../../../domain/share.ts"
import { DEFAULT_ADDRESS, type FlatArguments, type SiteAddress } from "../../../domain/site-address.ts"
import { get, Problem } from "../../api/api.ts"
import { asFileQuery, asQuery, type StatsSource } from "../../report/data/reports.ts"

const RANGE = ["period", "from", "to", "timezone", "compare", "compare_from", "compare_to", "match_weekday"]

/** Removes arguments that the view does not allow. The server rejects them if the period or filters are fixed. */
export function allowedArguments({ allow_range, allow_filters }: OpenShareResponse, given: FlatArguments): FlatArguments {
  const forbidden = [...(allow_range ? [] : RANGE), ...(allow_filters ? [] : ["filters"])]
  return Object.fromEntries(Object.entries(given).filter(([name]) => !forbidden.includes(name)))
}

/** Removes the parts of the URL that the view does not allow. Segments are never allowed, because they can contain any filter. */
export function allowedAddress({ allow_range, allow_filters }: OpenShareResponse, address: SiteAddress): SiteAddress {
  const { segment: _, cohort: __, from, to, compareFrom, compareTo, ...plain } = address
  const { period, compare, match } = DEFAULT_ADDRESS
  const days = { ...(from && to && { from, to }), ...(compareFrom && compareTo && { compareFrom, compareTo }) }
  return {
    ...plain,
    ...(allow_range ? days : { period, compare, match }),
    ...(!allow_filters && { filters: [], any: [] }),
  }
}

/** Creates the report source of a shared view. Calls `onLocked` when the entered password is no longer accepted. */
export function sharedSource(slug: string, view: OpenShareResponse, onLocked: () => void): StatsSource {
  const base = `/api/share/s/${encodeURIComponent(slug)}`
  const allowed = (given: FlatArguments) => allowedArguments(view, given)
  return {
    key: `share ${slug}`,
    siteId: undefined,
    timezone: view.site.timezone,
    currency: view.site.revenue_currency ?? "EUR",
    ask: async (report, given, signal) => {
      try {
        return await get(`${base}/stats/${report}?${asQuery(allowed(given))}`, signal)
      } catch (error) {
        if (error instanceof Problem && error.code === "share_locked") onLocked()
        throw error
      }
    },
    exportAddress: view.allow_export ? (report, given) => `${base}/export?${asFileQuery(report, allowed(given))}` : undefined,
    filters: view.allow_filters,
    shows: (section) => view.sections.some((one) => one === section),
    can: (permission) => permission === "revenue:read" && view.sections.includes("revenue"),
  }
}
