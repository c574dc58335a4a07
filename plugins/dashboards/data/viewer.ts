/** Who looks at a dashboard, and what applies to them. */
import { AppError, type HostServices, isRevenueOpen, type ReportOptions, type Site } from "#plugin"
import type { BoardFilter, BoardRange, Compare } from "../board.ts"

export interface SiteSight {
  site: Site
  permissions: ReadonlySet<string>
}

export interface Viewer {
  /** User who looks. Absent for viewers of a public link. */
  userId?: number
  signal?: AbortSignal
  /** Returns what the viewer may see of a site; undefined if it is not visible. For a public link, the present access of its creator. */
  accessTo(siteId: number): Promise<SiteSight | undefined>
  /** Only for viewers of a public link. */
  share?: {
    /** Filters that are part of every query, with ids of the dashboard's site. */
    lockedFilters: readonly BoardFilter[]
    /** Smallest group of visitors that is shown. A higher value of the site wins. */
    minGroup: number
  }
}

/** What a request asks of a dashboard, checked. */
export interface DataRequest {
  range?: BoardRange
  compare?: Compare
  filters?: BoardFilter[]
  /** Ids of the widgets to compute. Default: all. */
  widgets?: number[]
}

type Person = Parameters<HostServices["access"]["onSite"]>[0]

/** Returns the viewer of a signed-in user. Each site is looked up once. */
export function memberViewer(access: HostServices["access"], person: Person, signal: AbortSignal): Viewer {
  const known = new Map<number, Promise<SiteSight | undefined>>()
  return {
    userId: person.user.id,
    signal,
    accessTo(siteId) {
      if (!known.has(siteId)) known.set(siteId, visibleTo(access, person, siteId))
      return known.get(siteId)!
    },
  }
}

async function visibleTo(access: HostServices["access"], person: Person, siteId: number): Promise<SiteSight | undefined> {
  try {
    return await access.onSite(person, String(siteId))
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

/** Returns the options of reports on a site. */
export function reportOptionsOf(
  { userId, share }: Viewer,
  { site, permissions }: SiteSight,
  locked: readonly BoardFilter[],
): ReportOptions {
  const least = share ? Math.max(share.minGroup, site.settings.min_group) : 0
  return {
    form: "json",
    comparesRows: true,
    hidesRevenue: !permissions.has("revenue:read") || (share !== undefined && !isRevenueOpen(site)),
    seesPeople: !share && permissions.has("people:read"),
    ...(userId !== undefined && { userId }),
    ...(least > 1 && { minVisitors: least }),
    ...(locked.length > 0 && { lockedFilters: locked as NonNullable<ReportOptions["lockedFilters"]> }), // without names of missing objects
  }
}
