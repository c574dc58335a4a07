import type { Clock } from "../domain/clock.ts"
import { AppError } from "../domain/error.ts"
import { API } from "../domain/limits.ts"
import { instantText } from "../domain/moment.ts"
import type { ReportRange } from "../domain/report.ts"
import type { Site } from "../domain/site.ts"
import { ArgumentReader, refuseArguments } from "../query/arguments.ts"
import type { Engine } from "../query/engine.ts"
import type { SiteAccess } from "./access.ts"
import { inTurn } from "./in-turn.ts"
import { askerOf } from "./open-report.ts"
import type { PrivatePage } from "./paging.ts"
import { type Place, sortedPage } from "./sorted-page.ts"
import type { Stats } from "./stats.ts"

/** A site in somebody's list. */
export interface ListedSite extends SiteAccess {
  pinned: boolean
  current_visitors: number
  /** An instant; null without any event. */
  last_event_at: string | null
  /** Of the last seven days, when they are asked for. */
  week?: Week
}

/** Visitors of the last seven days, by day from the oldest, and how they compare with the seven days before. */
export interface Week {
  visitors: number
  visitors_by_day: number[]
  change_percent?: number
}

/** A site in the table of all sites; what cannot be answered now says why. */
export interface OverviewRow {
  site_id: number
  name: string
  organization_id: number
  current_visitors: number
  range?: ReportRange
  metrics?: Record<string, number>
  change_percent?: Record<string, number>
  problem?: string
}

export interface SiteOverview {
  /** Arguments are text of a query string. Throws what is wrong with them at once, or `invalid_cursor`. */
  list(
    sites: readonly SiteAccess[],
    pinned: ReadonlySet<number>,
    given: Record<string, unknown>,
    signal?: AbortSignal,
  ): Promise<PrivatePage<ListedSite>>
  /** One report of every site, over its own days. */
  table(sites: readonly SiteAccess[], given: Record<string, unknown>, signal?: AbortSignal): Promise<OverviewRow[]>
}

interface SiteOverviewOptions {
  engine: Pick<Engine, "pulse">
  stats: Pick<Stats, "summary" | "timeseries">
  clock: Pick<Clock, "now">
}

const SORTS = ["name", "visitors", "change", "created"] as const
/** An organization's reports run so many at a time: more would only wait, and then be refused. */
const AT_ONCE = 4
/** Behind everything that has a number. */
const LAST = Number.MAX_SAFE_INTEGER

export function createSiteOverview({ engine, stats, clock }: SiteOverviewOptions): SiteOverview {
  const pulseOf = (site: Site, signal?: AbortSignal) =>
    engine.pulse({ site: { id: site.id }, now: clock.now() }, askerOf(site, signal ? { signal } : {}))

  async function weekOf(site: Site, signal?: AbortSignal): Promise<Week> {
    const asking = signal ? { signal } : {}
    const [days, total] = await Promise.all([
      stats.timeseries(site, { period: "7d", interval: "day", metrics: ["visitors"] }, asking),
      stats.summary(site, { period: "7d", compare: "previous_period", metrics: ["visitors"] }, asking),
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
      const learn = (some: readonly SiteAccess[]) =>
        inTurn(some, AT_ONCE, async ({ site }) => {
          try {
            weeks.set(site.id, await weekOf(site, signal))
          } catch (thrown) {
            // A site that cannot be counted now keeps no other back.
            if (!(thrown instanceof AppError)) throw thrown
          }
        })
      if (byNumbers) await learn(found)
      const page = sortedPage(found, ({ site }) => placeOf(site, pinned.has(site.id), sort, weeks.get(site.id)), {
        ...paging,
        list: `sites ${sort} ${search}`,
      })
      if (sparkline && !byNumbers) await learn(page.data)
      const data = await inTurn(page.data, AT_ONCE, async (access) => {
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
      const asking = { form: "text" as const, ...(signal && { signal }) }
      return inTurn(sites, AT_ONCE, async ({ site, permissions }) => {
        const { id: site_id, name, organization_id } = site
        const hidesRevenue = !permissions.has("revenue:read")
        const { visitors: current_visitors } = await pulseOf(site, signal)
        const row = { site_id, name, organization_id, current_visitors }
        try {
          const { range, metrics, comparison } = await stats.summary(site, given, { ...asking, hidesRevenue })
          return { ...row, range, metrics, ...(comparison && { change_percent: comparison.change_percent }) }
        } catch (thrown) {
          // What is wrong with the question is wrong for every site; what one site cannot answer now keeps no other back.
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

/** Pinned ones first; names ascending, numbers and moments descending. */
function placeOf(site: Site, isPinned: boolean, sort: (typeof SORTS)[number], week: Week | undefined): Place {
  const keys: Record<typeof sort, number | string> = {
    name: site.name.toLowerCase(),
    visitors: -(week?.visitors ?? 0),
    change: week?.change_percent === undefined ? LAST : -week.change_percent,
    created: -site.created_at,
  }
  return [isPinned ? 0 : 1, keys[sort], site.id]
}
