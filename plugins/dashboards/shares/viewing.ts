/** Shared dashboards as their viewers use them: what they may ask, and what the answers leave out. */
import { AppError, canLock, type FoundShare, fault, isObject, isRevenueOpen, parseId, refuseFaults, type Site } from "#plugin"
import type { DashboardsHost, StoredWidget } from "../board.ts"
import { keyOf } from "../data/budget.ts"
import { csvOf } from "../data/csv.ts"
import { createData, type ShownBoard } from "../data/data.ts"
import { showsRevenue } from "../data/question.ts"
import type { SiteSight, Viewer } from "../data/viewer.ts"
import { widgetNotFound } from "../errors.ts"
import { readDataQuery, readDataRequest } from "../requests.ts"
import type { DataResponse, WidgetResult } from "../responses.ts"
import { listWidgets } from "../rows.ts"
import { createJoined } from "./joined.ts"
import { drawnConfig, type OpenBoard, type SharedBoardResponse, withoutIds } from "./responses.ts"
import { type BoardShare, type SharedBoard, smallestGroup } from "./share.ts"
import type { BoardShares } from "./shares.ts"

export type FoundBoard = FoundShare<SharedBoard, BoardShare>
type Line = [id: number, WidgetResult]

/** Queries of viewers of one organization that run at the same time. Members have the other places of the pool, and wait for one query at most. */
const QUERIES_AT_ONCE = 1
const QUEUE = { running: 1, waiting: 32 } as const

/** Widgets without figures, which no filter changes. */
const PLAIN: readonly string[] = ["text", "annotations"]

export function createViewing(host: DashboardsHost, shares: Pick<BoardShares, "allows">) {
  const data = createData(host, { atOnce: QUERIES_AT_ONCE })
  const join = createJoined<Line>(QUEUE)
  const { access } = host.services

  /** A viewer sees what the creator of the share may see now, on sites whose organization allows it. */
  function viewerOf({ share, owner }: FoundBoard): Viewer {
    const known = new Map<number, Promise<SiteSight | undefined>>()
    async function sightOf(siteId: number): Promise<SiteSight | undefined> {
      const sight = await access.ofUser(share.created_by, siteId)
      return sight && (await shares.allows(sight.site, share.has_password)) ? sight : undefined
    }
    return {
      accessTo(siteId) {
        if (!known.has(siteId)) known.set(siteId, sightOf(siteId))
        return known.get(siteId)!
      },
      share: { lockedFilters: [...share.locked_filters] as ShownFilters, minGroup: smallestGroup(share, owner.site) },
    }
  }

  /** Returns the sites of the selector by number, without those that the creator no longer sees. */
  async function sitesOf({ share, owner }: FoundBoard, { accessTo }: Viewer): Promise<Map<number, Site>> {
    const numbered = await Promise.all(
      [owner.site.id, ...share.site_ids].map(
        async (id, number) => [number, number === 0 ? owner.site : (await accessTo(id))?.site] as const,
      ),
    )
    return new Map(numbered.filter((entry): entry is [number, Site] => entry[1] !== undefined))
  }
  async function chosenSite(found: FoundBoard, viewer: Viewer, number: unknown, { isQuery }: { isQuery: boolean }): Promise<Site> {
    if (number === undefined) return found.owner.site
    const site = typeof number === "number" ? (await sitesOf(found, viewer)).get(number) : undefined
    if (site) return site
    const faults = [fault("/site", "invalid_choice", "must be the number of a site of this share")]
    if (isQuery) throw new AppError("invalid_query", "The query is not valid.", { errors: faults })
    refuseFaults(faults)
    return found.owner.site
  }

  /** Returns the site whose figures a widget shows, and whether viewers see them. */
  async function shownOn(
    found: FoundBoard,
    site: Site,
    viewer: Viewer,
    widget: StoredWidget,
  ): Promise<{ siteId: number; isShown: boolean }> {
    const siteId = widget.source_site_id ?? site.id
    const known = host.widgets().find(({ type }) => type === widget.type)
    if (!known?.isAvailable() || widget.source_site_name !== null) return { siteId, isShown: false }
    const sight = await viewer.accessTo(siteId)
    const isShown =
      sight?.permissions.has(known.needs) === true &&
      known.shareable(sight.site) &&
      (!showsRevenue(widget.config) || isRevenueOpen(sight.site)) &&
      found.share.locked_filters.every(({ dimension }) => canLock(known, dimension))
    return { siteId, isShown }
  }

  /**
   * Returns the filters that a viewer may add, as `dimension` or `property:<key>`: those whose values a list of the share shows, for each
   * site with figures. Filtering by anything else would reveal it value by value.
   */
  async function filterable(found: FoundBoard, site: Site, viewer: Viewer, widgets: readonly StoredWidget[]): Promise<Set<string>> {
    const listed = new Map<number, Set<string>>()
    for (const widget of widgets) {
      if (PLAIN.includes(widget.type)) continue
      const { siteId, isShown } = await shownOn(found, site, viewer, widget)
      if (!isShown) continue
      const names = listed.get(siteId) ?? new Set()
      listed.set(siteId, names)
      const name = listedBy(widget)
      if (name !== undefined) names.add(name)
    }
    const [first = new Set<string>(), ...others] = listed.values()
    return others.reduce((common, names) => common.intersection(names), first)
  }

  async function shownTo(found: FoundBoard, given: unknown, { isQuery }: { isQuery: boolean }): Promise<ShownBoard> {
    const { share, owner } = found
    const viewer = viewerOf(found)
    const { site: number, ...asked } = isObject(given) ? given : {}
    const site = await chosenSite(found, viewer, isQuery && typeof number === "string" ? parsedNumber(number) : number, { isQuery })
    const board = { ...owner.board, widgets: await listWidgets(host.db, owner.board.id) }
    if (!share.allow_range && (asked.range !== undefined || asked.compare !== undefined))
      throw notAllowed("The range of this share is fixed.")
    if (asked.filters !== undefined) {
      if (!share.allow_filters) throw notAllowed("The filters of this share are fixed.")
      const names = await filterable(found, site, viewer, board.widgets)
      if (!namesIn(asked.filters).every((name) => names.has(name)))
        throw notAllowed("This share can only be filtered by dimensions whose values it lists.")
    }
    const request = await (isQuery
      ? readDataQuery({ host }, site, asked, undefined)
      : readDataRequest({ host }, site, board, isObject(given) ? asked : given, undefined))
    return { board, widgets: board.widgets, site, viewer, request }
  }

  /** Returns the results of a request, which equal requests share while the creator's access stays the same. */
  async function linesOf({ share, owner }: FoundBoard, shown: ShownBoard): Promise<AsyncGenerator<Line>> {
    const siteIds = new Set([shown.site.id, ...shown.widgets.flatMap(({ source_site_id }) => source_site_id ?? [])])
    const sights = await Promise.all([...siteIds].map(async (id) => shown.viewer.accessTo(id)))
    const access = sights.map((sight) => sight && [sight.site.id, sight.site.version, ...[...sight.permissions].sort()])
    const key = keyOf([share.id, share.version, owner.board.version, shown.site.id, shown.request, access])
    return join(owner.site.organization_id, key, () => redacted(data.results(shown)))
  }

  return {
    async view(found: FoundBoard): Promise<SharedBoardResponse> {
      if (found.isLocked) return { password_required: true }
      const { share, owner } = found
      const { board, site } = owner
      const viewer = viewerOf(found)
      const selectable = share.site_ids.length === 0 ? undefined : [...(await sitesOf(found, viewer))]
      const widgets = await listWidgets(host.db, board.id)
      const answer: OpenBoard = {
        password_required: false,
        name: share.name,
        title: board.name,
        timezone: site.timezone,
        range: board.range,
        refresh_s: board.refresh_s,
        theme: share.theme,
        allow_range: share.allow_range,
        allow_filters: share.allow_filters,
        allow_export: share.allow_export,
        filtered: share.locked_filters.length > 0,
        ...(selectable && { sites: selectable.map(([number, { name }]) => ({ site: number, name })) }),
        widgets: await Promise.all(
          widgets.map(async (widget) => {
            const { id, type, title, x, y, w, h, config } = widget
            const { isShown } = await shownOn(found, site, viewer, widget)
            return { id, type, title, x, y, w, h, config: isShown ? drawnConfig(config) : {} }
          }),
        ),
      }
      return answer
    },

    async collect(found: FoundBoard, body: unknown): Promise<DataResponse> {
      const shown = await shownTo(found, body, { isQuery: false })
      return data.collect(shown, await linesOf(found, shown))
    },

    async stream(found: FoundBoard, body: unknown): Promise<ReadableStream<Uint8Array>> {
      const shown = await shownTo(found, body, { isQuery: false })
      return data.stream(shown, await linesOf(found, shown))
    },

    /** Returns the figures of one widget. Throws `query_timeout`, and `not_allowed` if the share allows no export or does not show the widget. */
    async csv(found: FoundBoard, idText: string | undefined, query: Readonly<Record<string, unknown>>): Promise<string> {
      if (!found.share.allow_export) throw notAllowed("This share allows no export.")
      const shown = await shownTo(found, query, { isQuery: true })
      const widget = shown.widgets.find(({ id }) => id === parseId(idText))
      if (!widget) throw widgetNotFound()
      const one = { ...shown, request: { ...shown.request, widgets: [widget.id] } }
      const { results } = await data.collect(one, await linesOf(found, one))
      const result = results[widget.id]
      if (result?.status === "ok") return csvOf(widget.type, result.data)
      if (result?.status === "error" && result.error.code === "query_timeout")
        throw new AppError("query_timeout", result.error.detail, { retry_after: 5 })
      throw notAllowed(result?.status === "error" ? result.error.detail : "This share does not show this widget.")
    },
  }
}

type ShownFilters = NonNullable<Viewer["share"]>["lockedFilters"][number][]
export type Viewing = ReturnType<typeof createViewing>

const notAllowed = (detail: string) => new AppError("not_allowed", detail)

const parsedNumber = (text: string): number | string => (/^\d{1,3}$/.test(text) ? Number(text) : text)

/** Returns the dimension whose values a widget lists. */
function listedBy({ type, config }: StoredWidget): string | undefined {
  if (type === "map") return config.level === "region" ? "region" : "country"
  if (type !== "breakdown") return undefined
  return config.dimension === "property" ? `property:${config.property}` : String(config.dimension)
}

/** Returns what filters name, in the same form. Invalid filters are refused later, when they are parsed. */
function namesIn(given: unknown): string[] {
  const filters = typeof given === "string" ? parsedList(given) : given
  if (!Array.isArray(filters)) return []
  return filters.map((filter: unknown) => {
    const { dimension, property } = isObject(filter) ? filter : {}
    // A list of one name would read as that name.
    if (typeof dimension !== "string" || typeof (property ?? "") !== "string") return ""
    return dimension === "property" ? `property:${property}` : dimension
  })
}

function parsedList(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Explanations of errors without anything about the configuration. */
const DETAILS: Readonly<Record<string, string>> = {
  broken_reference: "Something that this widget shows was deleted.",
  query_timeout: "The widget took too long. Try again, or choose a shorter range.",
  identity_insufficient: "The site doesn't recognize visitors for long enough to show this widget.",
  unsupported_combination: "This widget can't be shown with this range and these filters.",
}

/** Removes ids from results, and what errors say about the configuration. */
async function* redacted(results: AsyncIterable<Line>): AsyncGenerator<Line> {
  for await (const [id, result] of results) {
    if (result.status === "ok") yield [id, { status: "ok", data: withoutIds(result.data), meta: withoutIds(result.meta) }]
    else if (result.status === "error") {
      const { code } = result.error
      yield [id, { status: "error", error: { code, detail: DETAILS[code] ?? "Something went wrong. Try again." } }]
    } else yield [id, result]
  }
}
