import { type PackedColumns, packRows, type RowStatements, sql } from "#plugin"
import type { Engine } from "./search-type.ts"

/** What data belongs to: a property of a search engine, and a type of search. */
export interface Series {
  siteId: number
  engine: Engine
  property: string
  searchType: string
}

/** Figures of one row. `position_sum` is the position times the impressions, in thousandths. */
export interface Figures {
  clicks: number
  impressions: number
  position_sum: number
}

export interface PageRow extends Figures {
  page: string
}
export interface PlaceRow extends Figures {
  /** ISO alpha-2, "" if unknown. */
  country: string
  device: string
}
export interface QueryRow extends Figures {
  query: string
  /** "" if the engine does not state it. */
  page: string
}

/** Everything that is stored of one day. */
export interface DayData {
  /** undefined for a day without any result. */
  totals: (Omit<Figures, "position_sum"> & { position_sum: number | null }) | undefined
  page: readonly PageRow[]
  place: readonly PlaceRow[]
  query: readonly QueryRow[]
  fresh: boolean
  cut: boolean
}

export const DETAILS = ["page", "place", "query"] as const
export type Detail = (typeof DETAILS)[number]

const FIGURES = ["clicks", "impressions", "position_sum"] as const
export const COLUMNS: Readonly<Record<Detail, PackedColumns>> = {
  page: { numbers: ["page_id", ...FIGURES], texts: [] },
  place: { numbers: FIGURES, texts: ["country", "device"] },
  query: { numbers: ["query_id", "page_id", ...FIGURES], texts: [] },
}

export type TermKind = "query" | "page"
/** Ids of texts by kind. */
export type TermIds = Readonly<Record<TermKind, ReadonlyMap<string, number>>>

/** Returns the ids of texts, and stores those that are new. At most some hundred at a time, because incoming events wait. */
export function termIds(rows: RowStatements, siteId: number, kind: TermKind, values: readonly string[]): Map<string, number> {
  const given = JSON.stringify(values)
  rows.run(sql`insert into integrations_search_terms (site_id, kind, value)
    select ${siteId}, ${kind}, value from json_each(${given}) where true on conflict do nothing`)
  const found = rows.all<{ id: number; value: string }>(sql`
    select id, value from integrations_search_terms
    where site_id = ${siteId} and kind = ${kind} and value in (select value from json_each(${given}))`)
  return new Map(found.map(({ id, value }) => [value, id]))
}

/** Packs the rows of a day. `terms` has an id for each of their texts. */
export function packDay({ page, place, query }: DayData, terms: TermIds): Readonly<Record<Detail, Uint8Array | undefined>> {
  const pageId = (text: string): number => (text === "" ? 0 : terms.page.get(text)!)
  const pack = (detail: Detail, rows: readonly Readonly<Record<string, string | number>>[]) =>
    rows.length === 0 ? undefined : packRows(rows, COLUMNS[detail])
  return {
    page: pack(
      "page",
      page.map((row) => ({ ...figuresOf(row), page_id: pageId(row.page) })),
    ),
    place: pack(
      "place",
      place.map((row) => ({ ...figuresOf(row), country: row.country, device: row.device })),
    ),
    query: pack(
      "query",
      query.map((row) => ({ ...figuresOf(row), query_id: terms.query.get(row.query)!, page_id: pageId(row.page) })),
    ),
  }
}

const figuresOf = ({ clicks, impressions, position_sum }: Figures) => ({ clicks, impressions, position_sum })

export const seriesCondition = ({ siteId, engine, property, searchType }: Series) =>
  sql`site_id = ${siteId} and engine = ${engine} and property = ${property} and search_type = ${searchType}`

/** Replaces a day. Runs in the transaction that moves the position. */
export function replaceDay(
  rows: RowStatements,
  series: Series,
  day: number,
  { totals, fresh, cut }: Pick<DayData, "totals" | "fresh" | "cut">,
  packed: Readonly<Record<Detail, Uint8Array | undefined>>,
): void {
  const { siteId, engine, property, searchType } = series
  rows.run(sql`delete from integrations_search_rows where ${seriesCondition(series)} and day = ${day}`)
  rows.run(sql`delete from integrations_search_totals where ${seriesCondition(series)} and day = ${day}`)
  for (const detail of DETAILS) {
    const bytes = packed[detail]
    if (bytes)
      rows.run(sql`insert into integrations_search_rows (site_id, engine, property, search_type, detail, day, rows)
        values (${siteId}, ${engine}, ${property}, ${searchType}, ${detail}, ${day}, ${bytes})`)
  }
  if (totals)
    rows.run(sql`insert into integrations_search_totals
        (site_id, engine, property, search_type, day, clicks, impressions, position_sum, fresh, cut)
      values (${siteId}, ${engine}, ${property}, ${searchType}, ${day}, ${totals.clicks}, ${totals.impressions}, ${totals.position_sum},
        ${fresh ? 1 : 0}, ${cut ? 1 : 0})`)
}

/** How far a series was fetched, as numbers of days. All days between the two were fetched. */
export interface Position {
  backfilled_to: number | null
  synced_to: number | null
  first_incomplete_day: number | null
  /** Oldest day of the back-fill. */
  end: number | null
}

export function readPosition(rows: RowStatements, series: Series): Position {
  const row = rows.get<Omit<Position, "end"> & { position_json: string }>(sql`
    select backfilled_to, synced_to, first_incomplete_day, position_json from integrations_search_sync where ${seriesCondition(series)}`)
  if (!row) return { backfilled_to: null, synced_to: null, first_incomplete_day: null, end: null }
  const { position_json, ...position } = row
  return { ...position, end: (JSON.parse(position_json) as { end?: number }).end ?? null } // written below
}

export function writePosition(rows: RowStatements, series: Series, position: Position): void {
  const { siteId, engine, property, searchType } = series
  const { backfilled_to, synced_to, first_incomplete_day, end } = position
  rows.run(sql`insert or replace into integrations_search_sync
      (site_id, engine, property, search_type, backfilled_to, synced_to, first_incomplete_day, position_json)
    values (${siteId}, ${engine}, ${property}, ${searchType}, ${backfilled_to}, ${synced_to}, ${first_incomplete_day},
      ${JSON.stringify({ end })})`)
}

const SLICE = 200

/** Deletes a part of a site's data, of one engine or of all. Returns the number of deleted rows, 0 when nothing is left. */
export function deleteSlice(rows: RowStatements, siteId: number, engine?: Engine): number {
  const own = engine === undefined ? sql`site_id = ${siteId}` : sql`site_id = ${siteId} and engine = ${engine}`
  rows.run(sql`delete from integrations_search_sync where ${own}`)
  const days = rows.all(sql`delete from integrations_search_rows where rowid in
    (select rowid from integrations_search_rows where ${own} limit ${SLICE}) returning day`).length
  if (days > 0) return days
  rows.run(sql`delete from integrations_search_totals where ${own}`)
  const others = rows.get(sql`select 1 from integrations_search_rows where site_id = ${siteId} limit 1`)
  if (others) return 0
  return rows.all(sql`delete from integrations_search_terms where id in
    (select id from integrations_search_terms where site_id = ${siteId} limit 5000) returning id`).length
}
