import type { Clock } from "../../domain/clock.ts"
import { AppError } from "../../domain/error.ts"
import type { OverviewResponse } from "../../domain/insight.ts"
import { API } from "../../domain/limits.ts"
import { instantText } from "../../domain/moment.ts"
import type { PrivatePage } from "../../domain/response.ts"
import type { Site } from "../../domain/site.ts"
import type { Engine } from "../../query/engine/engine.ts"
import { ArgumentReader, refuseArguments } from "../../query/parse/arguments.ts"
import type { SiteAccess } from "../access/access.ts"
import { type Place, sortedPage } from "../lists/paging.ts"
import { mapConcurrent } from "../runtime/tasks.ts"
import { callerOf } from "./open-report.ts"
import type { Stats } from "./stats.ts"

/** A site in a user's list. */
export interface ListedSite extends SiteAccess {
  pinned: boolean
  current_visitors: number
  /** Time of the latest event, or null if there is none. */
  last_event_at: string | null
  /** The last seven days. Present only if requested. */
  week?: Week
}

/** Visitors of the last seven days, by day from the oldest, and how they compare with the seven days before. */
export interface Week {
  visitors: number
  visitors_by_day: number[]
  change_percent?: number
}

export interface SiteOverview {
  /** Lists sites. Arguments are text of a query string. Throws `invalid_query` with all faults at once, or `invalid_cursor`. */
  list(
    sites: readonly SiteAccess[],
    pinned: ReadonlySet<number>,
    given: Record<string, unknown>,
    signal?: AbortSignal,
  ): Promise<PrivatePage<ListedSite>>
  /** Returns a summary of each site over the days in its own time zone. */
  table(sites: readonly SiteAccess[], given: Record<string, unknown>, signal?: AbortSignal): Promise<OverviewResponse["data"]>
}

interface SiteOverviewOptions {
  engine: Pick<Engine, "pulse">
  stats: Pick<Stats, "summary" | "timeseries">
  clock: Pick<Clock, "now">
}

const SORTS = ["name", "visitors", "change", "created"] as const
/** Concurrent reports. An organization can run this many at a time; more would wait and then be refused. */
const MAX_CONCURRENT = 4
/** Sorts after every number. */
const LAST = Number.MAX_SAFE_INTEGER

export function createSiteOverview({ engine, stats, clock }: SiteOverviewOptions): SiteOverview {
  const pulseOf = (site: Site, signal?: AbortSignal) =>
    engine.pulse({ site: { id: site.id }, now: clock.now() }, callerOf(site, signal ? { signal } : {}))

  async function weekOf(site: Site, signal?: AbortSignal): Promise<Week> {
    const options = signal ? { signal } : {}
    const [days, total] = await Promise.all([
      stats.timeseries(site, { period: "7d", interval: "day", metrics: ["visitors"] }, options),
      stats.summary(site, { period: "7d", compare: "previous_period", metrics: ["visitors"] }, options),
    ])
    const change = total.comparison?.change_percent.visitors
    return {
      visitors: total.metrics.visitors ?? 0,
      visitors_by_day: days.points.map(({ visitors }) => visitors ?? 0),
      ...(change !== undefined && { change_percent: change }),
    }
  }

  return {
    async list(sites, pinned, given, signal) {
      const { search, sort, sparkline, ...paging } = readList(given)
      const part = search.toLowerCase()
      const found = sites.filter(({ site: { name, hosts } }) => [name, ...hosts].some((text) => text.toLowerCase().includes(part)))
      const byNumbers = sort === "visitors" || sort === "change"
      const weeks = new Map<number, Week>()
      const loadWeeks = (some: readonly SiteAccess[]) =>
        mapConcurrent(some, MAX_CONCURRENT, async ({ site }) => {
          try {
            weeks.set(site.id, await weekOf(site, signal))
          } catch (thrown) {
            // A failing report of one site must not hide the other sites.
            if (!(thrown instanceof AppError)) throw thrown
          }
        })
      if (byNumbers) await loadWeeks(found)
      const page = sortedPage(found, ({ site }) => placeOf(site, pinned.has(site.id), sort, weeks.get(site.id)), {
        ...paging,
        list: `sites ${sort} ${search}`,
      })
      if (sparkline && !byNumbers) await loadWeeks(page.data)
      const data = await mapConcurrent(page.data, MAX_CONCURRENT, async (access) => {
        const { visitors, lastAt } = await pulseOf(access.site, signal)
        const week = weeks.get(access.site.id)
        return {
          ...access,
          pinned: pinned.has(access.site.id),
          current_visitors: visitors,
          last_event_at: lastAt === undefined ? null : instantText(lastAt),
          ...(sparkline && week && { week }),
        }
      })
      return { ...page, data }
    },
    async table(sites, given, signal) {
      const options = { form: "text" as const, ...(signal && { signal }) }
      return mapConcurrent(sites, MAX_CONCURRENT, async ({ site, permissions }) => {
        const { id: site_id, name, organization_id } = site
        const hidesRevenue = !permissions.has("revenue:read")
        const { visitors: current_visitors } = await pulseOf(site, signal)
        const row = { site_id, name, organization_id, current_visitors }
        try {
          const { range, metrics, comparison } = await stats.summary(site, given, { ...options, hidesRevenue })
          return { ...row, range, metrics, ...(comparison && { change_percent: comparison.change_percent }) }
        } catch (thrown) {
          // Faults of the arguments affect every site. Any other error of one site must not hide the other sites.
          if (!(thrown instanceof AppError) || thrown.members.errors) throw thrown
          return { ...row, problem: thrown.code }
        }
      })
    },
  }
}

function readList(given: Record<string, unknown>) {
  const reader = new ArgumentReader(given, ["limit", "cursor", "count", "search", "sort", "sparkline"])
  const limit = reader.integer("limit", API.privateListLimit) ?? API.privateListLimit.default
  const cursor = reader.text("cursor", { min: 1, max: 1_000 })
  const count = reader.choice("count", ["true", "false"]) === "true"
  const search = reader.text("search", { min: 0, max: API.searchChars }) ?? ""
  const sort = reader.choice("sort", SORTS) ?? "name"
  const sparkline = reader.choice("sparkline", ["7d"]) !== undefined
  refuseArguments(reader, "text")
  return { limit, cursor, count, search, sort, sparkline }
}

/** Returns the sort key of a site: pinned sites first, names ascending, numbers and times descending. */
function placeOf(site: Site, isPinned: boolean, sort: (typeof SORTS)[number], week: Week | undefined): Place {
  const keys: Record<typeof sort, number | string> = {
    name: site.name.toLowerCase(),
    visitors: -(week?.visitors ?? 0),
    change: week?.change_percent === undefined ? LAST : -week.change_percent,
    created: -site.created_at,
  }
  return [isPinned ? 0 : 1, keys[sort], site.id]
}
