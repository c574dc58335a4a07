import { DEFAULT_ADDRESS, type FlatArguments, type SiteAddress } from "../../../domain/site-address.ts"
import { get, Problem } from "../../api.ts"
import { asFileQuery, asQuery, type StatsSource } from "../../stats/source.ts"

/** A shared view as `GET /api/share/s/{slug}` tells it to strangers. */
export interface SharedView {
  password_required: false
  name: string
  site: { name: string; timezone: string; revenue_currency?: string }
  sections: string[]
  allow_range: boolean
  allow_filters: boolean
  allow_export: boolean
}
export type ShareAnswer = SharedView | { password_required: true }

const RANGE = ["period", "from", "to", "timezone", "compare", "compare_from", "compare_to", "match_weekday"]

/** What may be asked of the view: where its range or its filters are fixed, the server refuses to hear of any. */
export function allowedArguments({ allow_range, allow_filters }: SharedView, given: FlatArguments): FlatArguments {
  const refused = [...(allow_range ? [] : RANGE), ...(allow_filters ? [] : ["filters"])]
  return Object.fromEntries(Object.entries(given).filter(([name]) => !refused.includes(name)))
}

/** What of an address holds at the view. A segment may hold anything, so no view is narrowed by one. */
export function allowedAddress({ allow_range, allow_filters }: SharedView, address: SiteAddress): SiteAddress {
  const { segment: _, cohort: __, from, to, compareFrom, compareTo, ...plain } = address
  const { period, compare, match } = DEFAULT_ADDRESS
  const days = { ...(from && to && { from, to }), ...(compareFrom && compareTo && { compareFrom, compareTo }) }
  return {
    ...plain,
    ...(allow_range ? days : { period, compare, match }),
    ...(!allow_filters && { filters: [] }),
  }
}

/** The reports of a shared view, as its owner has limited them. `onLocked`: the password that was given holds no longer. */
export function sharedSource(slug: string, view: SharedView, onLocked: () => void): StatsSource {
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
    shows: (section) => view.sections.includes(section),
    can: (permission) => permission === "revenue:read" && view.sections.includes("revenue"),
  }
}
