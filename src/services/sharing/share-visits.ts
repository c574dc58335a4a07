import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import { isRowType } from "../../domain/export.ts"
import type { Suggestions } from "../../domain/insight.ts"
import { isRevenueOpen } from "../../domain/permission.ts"
import { isObject } from "../../domain/shape.ts"
import { type Section, type Share, type SharedViewResponse, sectionOf } from "../../domain/share.ts"
import type { Site } from "../../domain/site.ts"
import type { Export, Exports } from "../export/export.ts"
import type { Hashes } from "../sign-in/passwords.ts"
import type { Insights } from "../stats/insights.ts"
import type { ReportOptions } from "../stats/open-report.ts"
import type { Stats } from "../stats/stats.ts"
import { createShareOpening, type FoundShare, nothingHere, type ShareOpening } from "./opening.ts"
import type { Shares } from "./shares.ts"
import { createUnlockCookies } from "./unlock-cookies.ts"

const SHARED_REPORTS = ["summary", "timeseries", "breakdown", "goals", "realtime", "busy-hours", "events", "properties", "values"] as const
export type SharedReport = (typeof SHARED_REPORTS)[number]

/** A shared view as its viewers find it. */
export type FoundView = FoundShare<Site, Share>

/**
 * Shared views as their viewers use them, once they are unlocked. Anything that a view does not show or allow is `not_allowed`. The
 * owner's locked filters apply to every report.
 */
export interface ShareVisits {
  opening: ShareOpening<Site, Share>
  view(found: FoundView): SharedViewResponse
  /** Computes a report. The arguments are those of a query string. */
  report(found: FoundView, report: string, given: Record<string, unknown>, signal: AbortSignal): Promise<object>
  export(found: FoundView, given: Record<string, unknown>): Promise<Export>
}

interface ShareVisitsOptions {
  shares: Pick<Shares, "open">
  passwords: Pick<Hashes, "verify">
  stats: Stats
  insights: Insights
  exports: Exports
  clock: Pick<Clock, "now">
  cookieSecrets: readonly [string, ...string[]]
  isSecure: boolean
}

const RANGE = ["period", "from", "to", "timezone", "compare", "compare_from", "compare_to", "match_weekday"]

export function createShareVisits(options: ShareVisitsOptions): ShareVisits {
  const { stats, insights, exports } = options
  const cookies = createUnlockCookies({ ...options, kind: "share", infix: "", isSecure: () => options.isSecure })
  const askingOf = ({ share, site }: { share: Share; site: Site }): ReportOptions => {
    const { min_group: minVisitors } = site.settings
    const sight = { comparesRows: true, hidesRevenue: !share.sections.includes("revenue"), ...(minVisitors > 1 && { minVisitors }) }
    return { form: "text", ...sight, lockedFilters: share.locked_filters }
  }

  const REPORTS: Readonly<Record<SharedReport, (site: Site, given: Record<string, unknown>, asking: ReportOptions) => Promise<object>>> = {
    summary: stats.summary,
    timeseries: stats.timeseries,
    breakdown: stats.breakdown,
    goals: stats.goals,
    realtime: insights.realtime,
    "busy-hours": insights.busyHours,
    events: insights.events,
    properties: insights.properties,
    values: insights.values,
  }

  return {
    opening: createShareOpening({ ...options, cookies }),
    view(found) {
      const { share, owner: site, isLocked } = seen(found)
      if (isLocked) return { password_required: true }
      const { name, sections, allow_range, allow_filters, allow_export } = share
      const shown = { name: site.name, timezone: site.timezone }
      return {
        password_required: false,
        name,
        site: sections.includes("revenue") ? { ...shown, revenue_currency: site.revenue_currency } : shown,
        sections: [...sections],
        allow_range,
        allow_filters,
        allow_export,
      }
    },
    async report(found, named, given, signal) {
      const report = SHARED_REPORTS.find((known) => known === named)
      if (!report) throw nothingHere()
      const { share, owner: site } = seen(found)
      refuseSection(share, reportSection(report, given))
      refuseArguments(share, given)
      const answer = await REPORTS[report](site, given, { ...askingOf({ share, site }), signal })
      return redactedFor(share, site, report, answer)
    },
    async export(found, given) {
      const { share, owner: site } = seen(found)
      const { type } = given
      if (!share.allow_export || type === undefined || isRowType(type as "events"))
        throw notAllowed("This view does not allow this export.")
      refuseSection(share, type === "timeseries" ? "summary" : type === "goals" ? "goals" : sectionOf(type))
      refuseArguments(share, given)
      return exports.open(site, given, askingOf({ share, site }))
    },
  }
}

/** Returns a view without the section of revenue while the site keeps it to some roles. */
function seen(found: FoundView): FoundView {
  const { share, owner } = found
  return isRevenueOpen(owner) ? found : { ...found, share: { ...share, sections: share.sections.filter((name) => name !== "revenue") } }
}

const notAllowed = (detail: string) => new AppError("not_allowed", detail)

/** Returns the section of a report. Undefined for a breakdown by an unknown dimension, which the parser refuses. */
function reportSection(report: SharedReport, { dimension }: Record<string, unknown>): Section | undefined {
  switch (report) {
    case "breakdown":
    case "values":
      return sectionOf(dimension)
    case "busy-hours":
      return "busy_hours"
    case "timeseries":
      return "summary"
    case "properties":
      return "events"
    default:
      return report
  }
}

function refuseSection({ sections }: Share, section: Section | undefined): void {
  if (section !== undefined && !sections.includes(section)) throw notAllowed("This view does not show this section.")
}

function refuseArguments({ allow_range, allow_filters, sections }: Share, given: Record<string, unknown>): void {
  if (!allow_range && RANGE.some((name) => given[name] !== undefined)) throw notAllowed("The range of this view is fixed.")
  if (given.filters === undefined) return
  if (!allow_filters) throw notAllowed("The filters of this view are fixed.")
  // Filtering by a hidden dimension would reveal it value by value. A segment can filter by any dimension.
  const hidden = filteredDimensions(given.filters).filter((dimension) => {
    const section = sectionOf(dimension)
    return dimension === "segment" || dimension === "cohort" || (section !== undefined && !sections.includes(section))
  })
  if (hidden.length > 0) throw notAllowed("This view cannot be filtered by dimensions that it does not show.")
}

/** Returns the dimensions of filters and of groups of alternatives. Invalid filters are refused later, when the query is parsed. */
function filteredDimensions(text: unknown): unknown[] {
  try {
    return dimensionsIn(JSON.parse(String(text)))
  } catch {
    return []
  }
}

const dimensionsIn = (filters: unknown): unknown[] =>
  Array.isArray(filters) ? filters.flatMap((filter) => (isObject(filter) ? [filter.dimension, ...dimensionsIn(filter.any)] : [])) : []

/** The values of an event that describe its visitor, blanked. */
const WITHOUT_VISITOR = { country: "", source: "", device: "", browser: "" }

/** Removes everything that the view does not show, and small groups of visitors in reports whose query does not remove them. */
function redactedFor(share: Share, site: Site, report: SharedReport, answer: object): object {
  const { min_group: minVisitors } = site.settings
  const shows = (section: Section) => share.sections.includes(section)
  const large = <Row extends { visitors: number }>(rows: readonly Row[]) => rows.filter(({ visitors }) => visitors >= minVisitors)
  if (report === "values") return { data: large((answer as Suggestions).data) }
  if (report === "goals") return { ...answer, funnels: [] }
  if (report !== "realtime") return answer
  // Countries and sources of the realtime report belong to other sections.
  const { pages, sources, countries, events, ...rest } = answer as Awaited<ReturnType<Insights["realtime"]>>
  return {
    ...rest,
    pages: shows("pages") ? large(pages) : [],
    sources: shows("sources") ? large(sources) : [],
    countries: shows("locations") ? large(countries) : [],
    events: shows("events")
      ? events.map((event) => ({
          ...event,
          ...(!shows("locations") && { country: "" }),
          ...(!shows("sources") && { source: "" }),
          // A single event is a group of one visitor.
          ...(minVisitors > 1 && WITHOUT_VISITOR),
        }))
      : [],
  }
}
