import { type ExportFormat, type ExportType, isRowType, type RowType, rowColumns } from "../../domain/export.ts"
import type { PeopleIdentity } from "../../domain/identity.ts"
import { revenueProperties } from "../../domain/permission.ts"
import type { ReportRange } from "../../domain/report.ts"
import type { Site } from "../../domain/site.ts"
import type { SavedFilters } from "../../query/parse/array-filters.ts"
import { type ParsedExport, parseExport } from "../../query/parse/export-query.ts"
import { flatQuery } from "../../query/parse/flat-query.ts"
import { breakdownColumns } from "../../query/rows/export-rows.ts"
import { betweenBatches, type ExportRecord, exportHead, exportTrailer, recordsText } from "../../query/rows/export-text.ts"
import type { SiteKeys } from "../sites/site-keys.ts"
import { shownImports, visitImports } from "../stats/import-facts.ts"
import { codeNames, decimalsOf, hidesRevenue, type ReportOptions, readFiltered, shownRange, siteFacts } from "../stats/open-report.ts"
import { createStats, type StatsOptions } from "../stats/stats.ts"

/** An export that has been requested but not started. Its range is fixed. */
export interface Export {
  type: ExportType
  format: ExportFormat
  range: ReportRange
  fileName: string
  /**
   * Yields the text in pieces, on demand. The first piece contains data, so that an error of the query is thrown before the response
   * starts. After a later error the text has no regular end.
   */
  read(signal: AbortSignal): AsyncGenerator<Uint8Array>
}

/** Exports of a site's data (api.md section 10). */
export interface Exports {
  /** Parses the arguments of a query string. Throws `invalid_query` with all faults at once. Reads no data. */
  open(site: Site, given: Record<string, unknown>, sight?: ExportSight): Promise<Export>
}

/** The parts of a site that the caller can see. */
export type ExportSight = Pick<ReportOptions, "userId" | "hidesRevenue" | "lockedFilters" | "minVisitors" | "seesPeople">

interface ExportsOptions extends StatsOptions {
  siteKeys: Pick<SiteKeys, "siteKey">
}

interface OpenExport extends ParsedExport {
  site: Site
  now: number
  range: ReportRange
  sight: ExportSight
  /** How people are recognized. Present if a filter names a cohort. */
  identity?: PeopleIdentity
}

export function createExports(options: ExportsOptions): Exports {
  const { engine, goals, clock } = options
  const callerOf = (site: Site, signal: AbortSignal) => ({ organizationId: site.organization_id, signal })

  async function open(site: Site, given: Record<string, unknown>, sight: ExportSight): Promise<OpenExport> {
    const firstAt = given.period === "all" ? options.imports.firstAt(site.id) : undefined
    const now = clock.now()
    const { minVisitors } = sight
    const moment = { now, timezone: site.timezone, firstAt }
    const parse = (saved: SavedFilters) => {
      const { parsed, ...kind } = parseExport(given, moment, { saved, minVisitors })
      return { ...parsed, ...kind }
    }
    const { parsed, identity } = await readFiltered({ savedSets: options.savedSets, site, options: sight, parse })
    const { type, format } = parsed
    return { type, format, parsed, site, now, sight, range: shownRange(parsed.range, now), ...(identity && { identity }) }
  }

  async function* rows(
    { site, format, range, parsed, now, sight, identity }: OpenExport,
    of: RowType,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    const isHidden = hidesRevenue(site, sight)
    const columns = rowColumns(of, isHidden)
    const query = {
      site: siteFacts(site, goals.rules(site.id)),
      range: parsed.range.range,
      ...(parsed.filter && { filter: parsed.filter }),
      ...{ of, format, siteKey: await options.siteKeys.siteKey(site.id) },
      ...(isHidden && { withoutRevenue: [...revenueProperties(site)] }),
    }
    const report = { site, facts: query.site, parsed, now, caller: callerOf(site, signal) }
    let before = exportHead(format, columns, {
      range,
      ...(identity && { identity }),
      ...shownImports((await visitImports(options, report)).imports),
    })
    for await (const batch of engine.exportRows(query, callerOf(site, signal))) {
      const after = batch.next ? "" : exportTrailer(format, columns, batch.omitted)
      yield* piece(batch.rows.length === 0 && batch.next ? "" : before, batch.rows, after)
      if (batch.rows.length > 0) before = betweenBatches(format)
    }
  }

  async function* breakdown({ site, format, range, parsed, now, identity }: OpenExport, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const facts = siteFacts(site, goals.rules(site.id))
    const names = await codeNames(options, parsed.dimension)
    const query = {
      ...{ site: facts, query: flatQuery(parsed, { site: facts, now }), parsed, format, decimals: decimalsOf(site) },
      ...(names && { names: JSON.stringify([...names]) }),
    }
    const columns = breakdownColumns(parsed)
    const { text, imports } = await engine.exportBreakdown(query, callerOf(site, signal))
    yield* piece(
      exportHead(format, columns, { range, ...(identity && { identity }), ...shownImports(imports) }),
      text,
      exportTrailer(format, columns, 0),
    )
  }

  /** Yields a report with few rows, computed by the statistics as of the time at which the range was fixed. */
  async function* report(
    { type, site, format, range, parsed, now, sight }: OpenExport,
    given: Record<string, unknown>,
    signal: AbortSignal,
  ) {
    const { type: _, format: __, ...own } = given
    const stats = createStats({ ...options, clock: { now: () => now } })
    const asking = { ...sight, form: "text" as const, signal }
    const columns = type === "goals" ? GOAL_COLUMNS : ["time", "partial", ...parsed.metrics]
    const answer = type === "goals" ? await stats.goals(site, own, asking) : await stats.timeseries(site, own, asking)
    const records: readonly ExportRecord[] = "goals" in answer ? answer.goals : pointRecords(format, answer.points)
    const { imports, visitors_estimated, identity } = answer
    const facts = { range, ...(identity && { identity }), ...(imports && { imports }), ...(visitors_estimated && { visitors_estimated }) }
    const text = new TextEncoder().encode(recordsText(format, columns, records))
    yield* piece(exportHead(format, columns, facts), text, exportTrailer(format, columns, 0))
  }

  return {
    async open(site, given, sight = {}) {
      const asked = await open(site, given, sight)
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

/** Returns the points of a timeseries. CSV has a column for `partial`, so complete points are marked too. */
const pointRecords = (format: ExportFormat, points: readonly { partial?: boolean }[]): ExportRecord[] =>
  points.map((point) => (format === "csv" ? { partial: false, ...point } : { ...point }))

/** Yields the parts as one piece, or nothing if they are empty. */
function* piece(before: string, rows: Uint8Array, after: string): Generator<Uint8Array> {
  const bytes = Buffer.concat([Buffer.from(before), rows, Buffer.from(after)])
  if (bytes.length > 0) yield bytes
}
