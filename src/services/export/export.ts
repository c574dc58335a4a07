import { type ExportFormat, type ExportType, isRowType, ROW_COLUMNS, type RowType } from "../../domain/export.ts"
import type { ReportRange } from "../../domain/report.ts"
import type { Site } from "../../domain/site.ts"
import { type ParsedExport, parseExport } from "../../query/parse/export-query.ts"
import { flatQuery } from "../../query/parse/flat-query.ts"
import { breakdownColumns } from "../../query/rows/export-rows.ts"
import { betweenBatches, type ExportRecord, exportHead, exportTrailer, recordsText } from "../../query/rows/export-text.ts"
import type { SiteKeys } from "../sites/site-keys.ts"
import { both, codeNames, decimalsOf, type ReportOptions, shownRange, siteFacts } from "../stats/open-report.ts"
import { createStats, type StatsOptions } from "../stats/stats.ts"

/** An export that has been asked for and not begun. Its range is fixed. */
export interface Export {
  type: ExportType
  format: ExportFormat
  range: ReportRange
  fileName: string
  /**
   * The text, piece by piece as it is taken. The first piece is made of data, so that what refuses the query is thrown
   * before anything is said; what fails later is thrown then, and the text that was given has no regular end.
   */
  read(signal: AbortSignal): AsyncGenerator<Uint8Array>
}

/** A site's data to take away (api.md section 10). */
export interface Exports {
  /** Judges the arguments, which are text of a query string: `invalid_query` with all faults at once. Counts and reads nothing. */
  open(site: Site, given: Record<string, unknown>, sight?: ExportSight): Promise<Export>
}

/** What of the site whoever exports may see. */
export type ExportSight = Pick<ReportOptions, "userId" | "hidesRevenue" | "locked" | "minVisitors">

interface ExportsOptions extends StatsOptions {
  siteKeys: Pick<SiteKeys, "siteKey">
}

interface Asked extends ParsedExport {
  site: Site
  now: number
  range: ReportRange
  sight: ExportSight
}

export function createExports(options: ExportsOptions): Exports {
  const { engine, goals, clock } = options
  const callerOf = (site: Site, signal: AbortSignal) => ({ organizationId: site.organization_id, signal })

  function open(site: Site, given: Record<string, unknown>, sight: ExportSight): Asked {
    const firstAt = given.period === "all" ? options.events.firstAt(site.id) : undefined
    const now = clock.now()
    const { userId, hidesRevenue = false, minVisitors, locked } = sight
    const saved = options.saved?.(site, userId)
    const seen = { ...(saved && { saved }), hidesRevenue, minVisitors }
    const { parsed, ...asked } = parseExport(given, { now, timezone: site.timezone, firstAt }, seen)
    const filter = both(locked, parsed.filter)
    return { ...asked, parsed: { ...parsed, ...(filter && { filter }) }, site, now, sight, range: shownRange(parsed.range, now) }
  }

  async function* rows({ site, format, range, parsed }: Asked, of: RowType, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const query = {
      site: siteFacts(site, goals.rules(site.id)),
      range: parsed.range.range,
      ...(parsed.filter && { filter: parsed.filter }),
      ...{ of, format, siteKey: await options.siteKeys.siteKey(site.id) },
    }
    let before = exportHead(format, ROW_COLUMNS[of], range)
    for await (const batch of engine.exportRows(query, callerOf(site, signal))) {
      const after = batch.next ? "" : exportTrailer(format, ROW_COLUMNS[of], batch.omitted)
      yield* piece(batch.rows.length === 0 && batch.next ? "" : before, batch.rows, after)
      if (batch.rows.length > 0) before = betweenBatches(format)
    }
  }

  async function* breakdown({ site, format, range, parsed, now }: Asked, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const facts = siteFacts(site, goals.rules(site.id))
    const names = await codeNames(options, parsed.dimension)
    const query = {
      ...{ site: facts, query: flatQuery(parsed, { site: facts, now }), parsed, format, decimals: decimalsOf(site) },
      ...(names && { names: JSON.stringify([...names]) }),
    }
    const columns = breakdownColumns(parsed)
    const text = await engine.exportBreakdown(query, callerOf(site, signal))
    yield* piece(exportHead(format, columns, range), text, exportTrailer(format, columns, 0))
  }

  /** Reports that have few rows are those of the statistics, of the moment that fixed the range. */
  async function* report({ type, site, format, range, parsed, now, sight }: Asked, given: Record<string, unknown>, signal: AbortSignal) {
    const { type: _, format: __, ...own } = given
    const stats = createStats({ ...options, clock: { now: () => now } })
    const asking = { ...sight, form: "text" as const, signal }
    const columns = type === "goals" ? GOAL_COLUMNS : ["time", "partial", ...parsed.metrics]
    const records: readonly ExportRecord[] =
      type === "goals"
        ? (await stats.goals(site, own, asking)).goals
        : pointRecords(format, (await stats.timeseries(site, own, asking)).points)
    const text = new TextEncoder().encode(recordsText(format, columns, records))
    yield* piece(exportHead(format, columns, range), text, exportTrailer(format, columns, 0))
  }

  return {
    async open(site, given, sight = {}) {
      const asked = open(site, given, sight)
      const { type, format, range } = asked
      return {
        ...{ type, format, range },
        fileName: `${site.id}-${type}-${range.from}-${range.to}.${format}`,
        read(signal) {
          if (isRowType(type)) return rows(asked, type, signal)
          return type === "goals" || type === "timeseries" ? report(asked, given, signal) : breakdown(asked, signal)
        },
      }
    },
  }
}

const GOAL_COLUMNS = ["goal_id", "name", "kind", "match", "value", "threshold", "visitors", "conversions", "conversion_rate", "revenue"]

/** In a column of CSV a point that is whole says so. */
const pointRecords = (format: ExportFormat, points: readonly { partial?: boolean }[]): ExportRecord[] =>
  points.map((point) => (format === "csv" ? { partial: false, ...point } : { ...point }))

/** One piece of the parts that there are, or none. */
function* piece(before: string, rows: Uint8Array, after: string): Generator<Uint8Array> {
  const bytes = Buffer.concat([Buffer.from(before), rows, Buffer.from(after)])
  if (bytes.length > 0) yield bytes
}
