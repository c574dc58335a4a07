import {
  type Condition,
  cursorOf,
  dayNumber,
  dayText,
  queryOf,
  type ReportOptions,
  type RowCondition,
  readPlace,
  roundedRatio,
  type Site,
  type SumsGroup,
  type SumsPlace,
  sortedPage,
  sql,
} from "#plugin"
import type { IntegrationsHost } from "../area.ts"
import { integrationError } from "../errors.ts"
import { integrationsOfKind } from "../rows.ts"
import { readRequest, type SearchRequest, WHOLE } from "./request.ts"
import type { SearchReport } from "./responses.ts"
import { type Detail, type Figures, type Series, seriesCondition, type TermKind } from "./storage.ts"
import { SEARCH_ZONE } from "./sync.ts"
import { KIND_OF } from "./work.ts"

export type ReportCall = (
  site: Site,
  given: Record<string, unknown>,
  options: ReportOptions & { isWhole?: boolean },
) => Promise<SearchReport>

const FIGURES = ["clicks", "impressions", "position_sum"] as const
const EMPTY: Figures = { clicks: 0, impressions: 0, position_sum: 0 }

interface Group extends SumsPlace {
  figures: StoredFigures
}
/** Bing states no positions of totals. */
type StoredFigures = Omit<Figures, "position_sum"> & { position_sum: number | null }

/** Creates the report on search results. It reads stored data only, so it works while the search engine can't be reached. */
export const createSearchReport =
  (host: IntegrationsHost): ReportCall =>
  async (site, given, options) => {
    const request = await readRequest(host, site, given, options)
    const { property, status } = await sourceOf(host, site, request)
    const series: Series = { siteId: site.id, engine: request.engine, property, searchType: request.searchType }
    const days = { from: dayNumber(request.from), to: dayNumber(request.to) }
    const isAll = given.period === "all" && given.from === undefined
    if (isAll) days.from = (await firstDay(host, request, series)) ?? days.from
    const read = readerOf(host, request, series, days)
    const [facts, dailyTotals, page] = await Promise.all([read.facts(), read.totals(), read.rows()])
    const isFiltered = Object.keys(request.filters).length > 0
    const totals = isFiltered ? (page.totals ?? EMPTY) : dailyTotals
    const isWithheld = !isFiltered && (request.groupBy === "query" || request.groupBy === "page")
    const keys = await read.keys(page.groups)
    const visits = request.groupBy === "page" ? await visitsOf(host, request, keys) : undefined
    return {
      totals: shown(totals),
      withheld: isWithheld && page.totals ? difference(dailyTotals, page.totals) : null,
      rows: page.groups.map(({ figures }, i) => ({ key: keys[i]!, ...shown(figures), ...(visits && { visits: visits[i]! }) })),
      data_until: facts.until === null ? null : dayText(facts.until),
      fresh_from: facts.freshFrom === null ? null : dayText(facts.freshFrom),
      cut_days: facts.cutDays,
      timezone: SEARCH_ZONE,
      status,
      range: { from: dayText(days.from), to: request.to },
      has_more: page.nextCursor !== null,
      next_cursor: page.nextCursor,
    }
  }

const shown = ({ clicks, impressions, position_sum }: StoredFigures) => ({
  clicks,
  impressions,
  ctr: roundedRatio(100 * clicks, impressions, 1),
  position: position_sum === null || position_sum === 0 || impressions === 0 ? null : roundedRatio(position_sum, 1_000 * impressions, 2),
})

/** Totals count an impression once for each property, details once for each page, so details can be larger. */
const difference = (totals: Pick<Figures, "clicks" | "impressions">, details: Pick<Figures, "clicks" | "impressions">) => ({
  clicks: Math.max(0, totals.clicks - details.clicks),
  impressions: Math.max(0, totals.impressions - details.impressions),
})

/** Returns the property of a site. Without a mapping, that of the data which was kept. Throws `not_connected` if there is neither. */
async function sourceOf(host: IntegrationsHost, site: Site, { engine, open }: SearchRequest) {
  const [mapping] = await integrationsOfKind(host.db, site.id, KIND_OF[engine])
  if (mapping) {
    const connection = mapping.connection_id === null ? undefined : await host.connections.get(site.organization_id, mapping.connection_id)
    const status = connection && connection.status !== "ok" ? connection.status : mapping.status
    return { property: String(engine === "google" ? mapping.config.property : mapping.config.site_url), status }
  }
  const [kept] = await host.rows.read<{ property: string }>(
    sql`select property from integrations_search_sync where site_id = ${site.id} and engine = ${engine} order by synced_to desc limit 1`,
    open.caller,
  )
  if (kept) return { property: kept.property, status: "disconnected" as const }
  const remedy = engine === "google" ? "Connect Search Console and map a property." : "Connect Bing Webmaster Tools."
  throw integrationError("not_connected", `This site has no data of the search engine. ${remedy}`)
}

/** Returns the first day with data, which can be before the first visit. */
async function firstDay(host: IntegrationsHost, { open }: SearchRequest, series: Series): Promise<number | undefined> {
  const [row] = await host.rows.read<{ day: number | null }>(
    sql`select min(day) as day from integrations_search_totals where ${seriesCondition(series)}`,
    open.caller,
  )
  return row?.day ?? undefined
}

/** Reads stored data of a request, in query workers. */
function readerOf(host: IntegrationsHost, request: SearchRequest, series: Series, days: { from: number; to: number }) {
  const { caller } = request.open
  const ofSeries = seriesCondition(series)
  const inRange = sql`${ofSeries} and day between ${days.from} and ${days.to}`

  async function facts(): Promise<{ until: number | null; freshFrom: number | null; cutDays: number }> {
    const [[sync], [flags]] = await Promise.all([
      host.rows.read<{ synced_to: number | null }>(sql`select synced_to from integrations_search_sync where ${ofSeries}`, caller),
      host.rows.read<{ fresh_from: number | null; cut_days: number }>(
        sql`select min(iif(fresh = 1, day, null)) as fresh_from, coalesce(sum(cut), 0) as cut_days from integrations_search_totals
          where ${inRange}`,
        caller,
      ),
    ])
    return { until: sync?.synced_to ?? null, freshFrom: flags?.fresh_from ?? null, cutDays: flags?.cut_days ?? 0 }
  }

  async function totals(): Promise<StoredFigures> {
    const [row] = await host.rows.read<StoredFigures>(
      sql`select coalesce(sum(clicks), 0) as clicks, coalesce(sum(impressions), 0) as impressions, sum(position_sum) as position_sum
        from integrations_search_totals where ${inRange}`,
      caller,
    )
    return row!
  }

  async function termOf(kind: TermKind, value: string): Promise<number> {
    const [found] = await host.rows.read<{ id: number }>(
      sql`select id from integrations_search_terms where site_id = ${series.siteId} and kind = ${kind} and value = ${value}`,
      caller,
    )
    return found?.id ?? -1
  }

  async function conditions(): Promise<RowCondition[]> {
    const { page, query, country, device } = request.filters
    return [
      ...(page === undefined ? [] : [{ column: "page_id", values: [await termOf("page", page)] }]),
      ...(query === undefined ? [] : [{ column: "query_id", values: [await termOf("query", query)] }]),
      ...(country === undefined ? [] : [{ column: "country", values: [country] }]),
      ...(device === undefined ? [] : [{ column: "device", values: [device] }]),
    ]
  }

  const list = `search-report/${series.siteId}/${Bun.hash.wyhash(JSON.stringify([series, days, request.groupBy, request.filters, request.sort, request.descending])).toString(36)}`

  interface Rows {
    groups: Group[]
    /** Sums of all rows. undefined if they are those of the totals. */
    totals: Figures | undefined
    nextCursor: string | null
  }

  async function rows(): Promise<Rows> {
    return request.detail === undefined ? daily() : detailed(request.detail)
  }

  /** The days of a report without filters. */
  async function daily(): Promise<Rows> {
    const all = await host.rows.read<StoredFigures & { day: number }>(
      sql`select day, clicks, impressions, position_sum from integrations_search_totals where ${inRange} order by day`,
      caller,
    )
    const groups = all.map(({ day, ...figures }): Group => ({ key: day, value: sortValue(figures, request.sort), figures }))
    const sign = request.descending ? -1 : 1
    const placeOf = ({ key, value }: Group) => (request.sort === "key" ? [sign * Number(key)] : [sign * value, Number(key)])
    const { data, next_cursor } = sortedPage(groups, placeOf, { list, cursor: request.cursor, limit: request.limit, count: false })
    return { groups: data, totals: undefined, nextCursor: next_cursor }
  }

  async function detailed(detail: Detail): Promise<Rows> {
    const [value, key] = request.cursor === undefined ? [] : readPlace(list, request.cursor)
    const found = await host.rows.sums(
      {
        site: { id: series.siteId },
        statement: sql`select day, rows from integrations_search_rows where ${ofSeries} and detail = ${detail}
          and day between ${days.from} and ${days.to} order by day`,
        keep: await conditions(),
        by: COLUMN_OF[request.groupBy],
        columns: FIGURES,
        order: { ...ORDERS[request.sort], descending: request.descending },
        limit: request.limit,
        ...(key !== undefined && { after: { value: Number(value), key } }),
      },
      caller,
    )
    const last = found.groups.at(-1)
    return {
      groups: found.groups.map(({ sums, ...place }) => ({ ...place, figures: figuresOf(sums) })),
      totals: figuresOf(found.totals),
      nextCursor: found.hasMore && last ? cursorOf(list, [last.value, last.key]) : null,
    }
  }

  /** Returns the keys of groups as texts. */
  async function keys(groups: readonly Group[]): Promise<string[]> {
    if (request.groupBy === "date") return groups.map(({ key }) => dayText(Number(key)))
    if (request.groupBy === "country" || request.groupBy === "device") return groups.map(({ key }) => String(key))
    const texts = new Map<number, string>()
    for (let at = 0; at < groups.length; at += SLICE) {
      const ids = groups.slice(at, at + SLICE).map(({ key }) => key)
      const found = await host.rows.read<{ id: number; value: string }>(
        sql`select id, value from integrations_search_terms where id in (select value from json_each(${JSON.stringify(ids)}))`,
        caller,
      )
      for (const { id, value } of found) texts.set(id, value)
    }
    return groups.map(({ key }) => texts.get(Number(key)) ?? "")
  }

  return { facts, totals, rows, keys }
}

const SLICE = 5_000
const COLUMN_OF = { query: "query_id", page: "page_id", country: "country", device: "device", date: "day" } as const
const ORDERS = {
  clicks: { of: 0 },
  impressions: { of: 1 },
  ctr: { of: 0, per: 1 },
  position: { of: 2, per: 1 },
  key: { of: "key" },
} as const

const figuresOf = ([clicks = 0, impressions = 0, position_sum = 0]: SumsGroup["sums"]): Figures => ({ clicks, impressions, position_sum })

function sortValue({ clicks, impressions, position_sum }: StoredFigures, sort: SearchRequest["sort"]): number {
  if (sort === "clicks") return clicks
  if (sort === "impressions") return impressions
  if (impressions === 0) return 0
  return sort === "ctr" ? clicks / impressions : (position_sum ?? 0) / impressions
}

const FROM_SEARCH: Condition = { op: "is", dimension: "channel", values: ["Organic Search"], missing: false, caseSensitive: true }

/** Returns the visits of the site that search engines sent to pages, in the order of the pages. Days are those of the site. */
async function visitsOf(host: IntegrationsHost, { open }: SearchRequest, pages: readonly string[]): Promise<number[]> {
  const places = pages.map(placeOf)
  const only = places.filter((place) => place !== undefined)
  if (only.length === 0 || pages.length >= WHOLE) return pages.map(() => 0)
  const { filter, ...query } = queryOf(open, {
    metrics: ["visits"],
    groupings: [
      { by: "dimension", dimension: "hostname" },
      { by: "dimension", dimension: "entry_page" },
    ],
    only,
    fillBuckets: false,
  })
  const combined = filter ? { op: "and" as const, filters: [filter, FROM_SEARCH] } : FROM_SEARCH
  const { rows } = await host.engine.aggregate({ ...query, filter: combined }, open.caller)
  const counts = new Map(rows.map(({ keys, values }) => [JSON.stringify(keys), values[0] ?? 0]))
  return places.map((place) => (place && counts.get(JSON.stringify(place))) ?? 0)
}

/** Returns host and path of a page as visits have them. */
function placeOf(page: string): [string, string] | undefined {
  const url = URL.parse(page)
  if (!url) return undefined
  try {
    return [url.hostname, decodeURI(url.pathname)]
  } catch {
    return [url.hostname, url.pathname]
  }
}
