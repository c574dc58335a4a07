import { dayNumber, dayText, parseDay } from "#plugin"
import type { IntegrationsHost } from "../area.ts"
import { countryOf } from "./countries.ts"
import { SearchFailure } from "./failure.ts"
import { askGoogle, type GoogleAccess } from "./google-api.ts"
import { searchConsoleBase } from "./properties.ts"
import type { SearchType } from "./search-type.ts"
import type { DayData, Figures } from "./storage.ts"

/** Rows of one answer, and the most that Google returns for a day and type. */
const PAGE_ROWS = 25_000
const MAX_ROWS = 50_000

interface ApiRow extends Figures {
  keys: readonly string[]
}

interface ApiAnswer {
  rows: ApiRow[]
  /** First day that Google may still change. */
  firstIncomplete: number | undefined
}

/** A day as it was fetched. */
export interface FetchedDay {
  data: DayData
  firstIncomplete: number | undefined
}

/** Source of one property in Search Console. */
export interface Source {
  access: GoogleAccess
  property: string
  searchType: SearchType
}

/**
 * Fetches one day with four queries. Google leaves out rows of rare pages and queries, so that one query with all dimensions would make
 * countries and devices wrong too.
 */
export async function fetchDay(host: IntegrationsHost, source: Source, day: number): Promise<FetchedDay> {
  const isDiscover = source.searchType === "discover"
  const totals = await query(host, source, day, ["date"], 0)
  const { firstIncomplete } = totals
  const fresh = firstIncomplete !== undefined && day >= firstIncomplete
  const nothing = { page: [], place: [], query: [], fresh, cut: false }
  // Without impressions there are no details either.
  if (totals.rows.length === 0) return { data: { ...nothing, totals: undefined }, firstIncomplete }
  const page = await allRows(host, source, day, ["date", "page"])
  const place = await allRows(host, source, day, isDiscover ? ["date", "country"] : ["date", "country", "device"])
  const queries = isDiscover ? { rows: [], cut: false } : await allRows(host, source, day, ["date", "query", "page"])
  const { clicks, impressions, position_sum } = sumOf(totals.rows)
  const data: DayData = {
    totals: { clicks, impressions, position_sum },
    page: page.rows.map(({ keys, ...figures }) => ({ ...figures, page: keys[1]! })), // the number of keys is checked
    place: place.rows.map(({ keys, ...figures }) => ({ ...figures, country: countryOf(keys[1]!), device: (keys[2] ?? "").toLowerCase() })),
    query: queries.rows.map(({ keys, ...figures }) => ({ ...figures, query: keys[1]!, page: keys[2]! })),
    fresh,
    cut: page.cut || place.cut || queries.cut,
  }
  return { data, firstIncomplete }
}

function sumOf(rows: readonly Figures[]): Figures {
  const sum = { clicks: 0, impressions: 0, position_sum: 0 }
  for (const row of rows) {
    sum.clicks += row.clicks
    sum.impressions += row.impressions
    sum.position_sum += row.position_sum
  }
  return sum
}

/** Fetches pages of rows until one is empty. */
async function allRows(
  host: IntegrationsHost,
  source: Source,
  day: number,
  dimensions: readonly string[],
): Promise<{ rows: ApiRow[]; cut: boolean }> {
  const rows: ApiRow[] = []
  while (rows.length < MAX_ROWS) {
    const page = await query(host, source, day, dimensions, rows.length)
    if (page.rows.length === 0) return { rows, cut: false }
    rows.push(...page.rows)
  }
  return { rows: rows.slice(0, MAX_ROWS), cut: true }
}

async function query(
  host: IntegrationsHost,
  { access, property, searchType }: Source,
  day: number,
  dimensions: readonly string[],
  startRow: number,
): Promise<ApiAnswer> {
  const { base, byOperator } = searchConsoleBase(host)
  const url = `${base}/webmasters/v3/sites/${encodeURIComponent(property)}/searchAnalytics/query`
  const date = dayText(day)
  const body = { startDate: date, endDate: date, dimensions, type: searchType, rowLimit: PAGE_ROWS, startRow, dataState: "all" }
  return readAnswer(await askGoogle(host, access, { url, body, byOperator }), { date, keys: dimensions.length })
}

const MAX_TEXT = 4_096

/** Checks an answer. Written by hand, because an answer has up to 25,000 rows and arrives on the thread that serves requests. */
function readAnswer(json: unknown, { date, keys }: { date: string; keys: number }): ApiAnswer {
  const malformed = () => new SearchFailure("unavailable")
  if (typeof json !== "object" || json === null || Array.isArray(json)) throw malformed()
  const { rows = [], metadata } = json as { rows?: unknown; metadata?: unknown } // checked below
  if (!Array.isArray(rows) || rows.length > PAGE_ROWS) throw malformed()
  return { rows: rows.map((row) => readRow(row, date, keys) ?? raise(malformed())), firstIncomplete: firstIncompleteOf(metadata) }
}

function readRow(row: unknown, date: string, count: number): ApiRow | undefined {
  if (typeof row !== "object" || row === null) return undefined
  const { keys, clicks, impressions, position } = row as Partial<Record<"keys" | "clicks" | "impressions" | "position", unknown>> // checked below
  if (!Array.isArray(keys) || keys.length !== count || keys[0] !== date) return undefined
  if (!keys.every((key) => typeof key === "string" && key.length <= MAX_TEXT)) return undefined
  // Discover has no positions.
  if (!isCount(clicks) || !isCount(impressions) || !(position === undefined || (typeof position === "number" && position >= 0)))
    return undefined
  const position_sum = Math.round((position ?? 0) * impressions * 1_000)
  return Number.isSafeInteger(position_sum) ? { keys, clicks, impressions, position_sum } : undefined
}

/** The API states counts as floating-point numbers, such as 3.0. */
const isCount = (value: unknown): value is number => typeof value === "number" && Number.isSafeInteger(value) && value >= 0

function firstIncompleteOf(metadata: unknown): number | undefined {
  if (typeof metadata !== "object" || metadata === null) return undefined
  const { first_incomplete_date: snake, firstIncompleteDate: camel } = metadata as Record<string, unknown> // checked below
  const text = snake ?? camel
  return typeof text === "string" && parseDay(text) ? dayNumber(text) : undefined
}

function raise(error: Error): never {
  throw error
}
