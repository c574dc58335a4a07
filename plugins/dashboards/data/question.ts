/** From a stored widget to what it asks: its site, range and filters, if the viewer may see it. */
import {
  AppError,
  canFilter,
  canLock,
  daysRange,
  isRevenueOpen,
  type KnownWidget,
  periodRange,
  type ReportOptions,
  type Site,
  shownRange,
} from "#plugin"
import type { Board, BoardFilter, Config, DashboardsHost, StoredWidget } from "../board.ts"
import { compareArguments, type RangeSource, rangeArguments, winningRange } from "../ranges.ts"
import { isMissingName, type Lookup, lookupOn, referencesIn, withIds, withNames } from "../references.ts"
import { inspectConfig, splitConfig } from "../widget-checks.ts"
import type { CoreQuestion } from "../widgets/core.ts"
import { type DataRequest, reportOptionsOf, type SiteSight, type Viewer } from "./viewer.ts"

/** What a widget asks. */
export interface Question extends CoreQuestion {
  known: KnownWidget
  config: Config
  /** Arguments for widgets of other plugins. */
  given: Record<string, unknown>
}

export interface Shown {
  board: Board
  /** Site of which the dashboard is shown: its own, or one that the viewer of a public link has chosen. */
  site: Site
  viewer: Viewer
  request: DataRequest
}

/** Reads what widgets ask. `undefined` stands for a widget that is unavailable to the viewer. */
export function createQuestions(host: DashboardsHost) {
  return async (shown: Shown, widget: StoredWidget): Promise<Question | undefined> => {
    const { board, site, viewer, request } = shown
    const known = host.widgets().find(({ type }) => type === widget.type)
    if (!known?.isAvailable()) return undefined
    const sight = await sightOf(shown, widget)
    const refusal = sight ? refusalOf(viewer, sight, known, widget) : siteGone()
    // A public link says nothing about what its creator may no longer see.
    if (refusal && viewer.share) return undefined
    if (!sight || refusal) throw refusal
    const target = sight.site
    const own = host.services.sites.directory.byId(board.site_id) ?? site
    const lookups: Lookups = {
      own: lookupOn(host, own, viewer.userId),
      target: lookupOn(host, target, viewer.userId),
      isSame: own.id === target.id,
    }
    const locked = await locksOf(viewer, lookups)
    if (!locked || locked.some(({ dimension }) => !canLock(known, dimension))) return undefined

    const config = widget.source_site_id === null ? await translated(widget.config, lookups) : widget.config
    const { overrides, own: fields } = splitConfig(config)
    const inherited = await translated([...(request.filters ?? []), ...board.filters], lookups)
    const filters = [...filtersIn(overrides), ...inherited]
    if (viewer.share && (await namesPersonal([config, filters], lookupOn(host, target, undefined)))) return undefined
    await refuseBroken([fields, filters], lookups.target)
    const unknown = filters.find(({ dimension }) => !canFilter(known, dimension))
    if (unknown) throw unsupported(`This widget can't be filtered by ${unknown.dimension}.`)

    const inspected = inspectConfig(known, fields, "/config")
    if (inspected.faults.length > 0) throw unsupported("The configuration of this widget is no longer valid.", inspected.faults)
    const { range, compare } = winningRange([overrides as RangeSource, request, board]) // checked when it was saved
    const days = resolvedDays(host, target, range)
    const asking: ReportOptions = reportOptionsOf(viewer, sight, locked)
    return {
      known,
      config: inspected.config,
      site: target,
      range: rangeArguments(range),
      days,
      compare,
      interval: range.interval,
      filters,
      asking,
      isShared: viewer.share !== undefined,
      given: { ...(range.period === "24h" ? { period: "24h" } : { from: days.from, to: days.to }), ...compareArguments(compare) },
    }
  }
}

async function sightOf({ site, viewer }: Shown, { source_site_id, source_site_name }: StoredWidget): Promise<SiteSight | undefined> {
  if (source_site_name !== null) return undefined
  return viewer.accessTo(source_site_id ?? site.id)
}

const siteGone = () => new AppError("site_not_found", "The site of this widget doesn't exist or you don't have access to it.")

/** Returns why a viewer must not see a widget, or undefined. */
function refusalOf(
  { share }: Viewer,
  { site, permissions }: SiteSight,
  known: KnownWidget,
  { config }: StoredWidget,
): AppError | undefined {
  const needs = [known.needs, ...(showsRevenue(config) ? ["revenue:read"] : [])]
  const missing = needs.find((permission) => !permissions.has(permission))
  if (missing !== undefined) return forbidden(missing)
  const hidden = share && (!known.shareable(site) || (showsRevenue(config) && !isRevenueOpen(site)))
  return hidden ? forbidden(known.needs) : undefined
}

const forbidden = (permission: string) =>
  new AppError("forbidden", `This widget requires the permission ${permission}.`, { required_permission: permission })

export const showsRevenue = ({ metric, metrics }: Config): boolean =>
  metric === "revenue" || (Array.isArray(metrics) && metrics.includes("revenue"))

interface Lookups {
  /** Objects of the dashboard's site, whose ids its filters have. */
  own: Lookup
  /** Objects of the site that is shown. */
  target: Lookup
  isSame: boolean
}

/** Replaces ids of the dashboard's site by those of the site that is shown. */
async function translated<Value extends Config | BoardFilter[]>(value: Value, { own, target, isSame }: Lookups): Promise<Value> {
  return isSame ? value : (await withIds(await withNames(value, own), target)).value
}

/** Returns the locked filters of a public link on the site that is shown; undefined if one of them names something that it lacks. */
async function locksOf({ share }: Viewer, lookups: Lookups): Promise<BoardFilter[] | undefined> {
  const locks = await translated([...(share?.lockedFilters ?? [])], lookups)
  return (await isWhole(locks, lookups.target)) ? locks : undefined
}

async function isWhole(value: Config | readonly BoardFilter[], lookup: Lookup): Promise<boolean> {
  for (const { kind, value: named } of referencesIn(value))
    if (isMissingName(named) || (await lookup.nameOf(kind, named)) === undefined) return false
  return true
}

async function refuseBroken(values: readonly (Config | readonly BoardFilter[])[], lookup: Lookup): Promise<void> {
  for (const value of values)
    for (const { kind, value: named } of referencesIn(value)) {
      const isGone = isMissingName(named) || (await lookup.nameOf(kind, named)) === undefined
      if (isGone) throw new AppError("broken_reference", brokenText(kind, named), { kind })
    }
}

const brokenText = (kind: string, named: number | { name: string }): string =>
  typeof named === "object" && named.name !== ""
    ? `This site has no ${kind} named ${named.name}.`
    : `The ${kind} of this widget was deleted.`

/** Returns whether a widget of a public link names a segment that is not shared with the site. */
async function namesPersonal(values: readonly (Config | readonly BoardFilter[])[], shared: Lookup): Promise<boolean> {
  for (const value of values)
    for (const { kind, value: named } of referencesIn(value))
      if (kind === "segment" && typeof named === "number" && (await shared.nameOf("segment", named)) === undefined) return true
  return false
}

/** Returns the filters that the overrides of a widget add. */
function filtersIn({ filters, segment_id, cohort_id }: Config): BoardFilter[] {
  const set = (dimension: string, id: unknown): BoardFilter[] =>
    id === undefined ? [] : [{ dimension, operator: "is", values: [id as number] }] // an id or a missing name
  return [...((filters as BoardFilter[] | undefined) ?? []), ...set("segment", segment_id), ...set("cohort", cohort_id)]
}

const unsupported = (detail: string, errors?: readonly object[]) => new UnsupportedWidget(detail, errors)

/** A widget that cannot be computed with the filters, range or configuration that it has. */
export class UnsupportedWidget extends Error {
  constructor(
    detail: string,
    readonly errors: readonly object[] = [],
  ) {
    super(detail)
    this.name = "UnsupportedWidget"
  }
}

/** Returns the first and last day of a range on a site. */
export function resolvedDays(host: DashboardsHost, site: Site, range: ReturnType<typeof winningRange>["range"]) {
  const { timezone } = site
  const now = host.now()
  if (range.period !== undefined) {
    const moment = { now, timezone, firstAt: host.services.people.firstAt(site) }
    return shownRange(periodRange(range.period as Parameters<typeof periodRange>[0], moment), now) // a known period
  }
  const [from, to] = [Temporal.PlainDate.from(range.from!), Temporal.PlainDate.from(range.to!)] // both, without a period
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(timezone).toPlainDate()
  const last = Temporal.PlainDate.compare(to, today) > 0 ? today : to
  return shownRange(daysRange(from, Temporal.PlainDate.compare(from, last) > 0 ? from : last, timezone), now)
}
