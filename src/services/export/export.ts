import { type ExportFormat, type ExportType, isRowType, type RowType, rowColumns } from "../../domain/export.ts"
import type { PeopleIdentity } from "../../domain/identity.ts"
import { revenueProperties } from "../../domain/permission.ts"
import type { Range } from "../../domain/query.ts"
import type { ReportRange } from "../../domain/report.ts"
import type { Site } from "../../domain/site.ts"
import { VISIT_IDLE_MS } from "../../domain/visit.ts"
import type { SavedFilters } from "../../query/parse/array-filters.ts"
import { type ParsedExport, parseExport } from "../../query/parse/export-query.ts"
import { flatQuery } from "../../query/parse/flat-query.ts"
import { type EncodedRows, type ExportFile, encodeRecords, exportFile } from "../../query/rows/export-file.ts"
import { breakdownColumns } from "../../query/rows/export-rows.ts"
import type { ExportRecord } from "../../query/rows/export-text.ts"
import type { SiteKeys } from "../sites/site-keys.ts"
import { shownImports, visitImports } from "../stats/import-facts.ts"
import {
  codeNames,
  decimalsOf,
  hidesRevenue,
  lateFact,
  type ReportOptions,
  readFiltered,
  shownRange,
  siteFacts,
} from "../stats/open-report.ts"
import { createStats, type StatsOptions } from "../stats/stats.ts"

/** An export that has been requested but not started. Its range is fixed. */
export interface Export {
  type: ExportType
  format: ExportFormat
  fileName: string
  /** Time at which the next incremental export begins. Absent for an export of a range. */
  nextSince?: string
  /**
   * Yields the file in pieces, on demand. The first piece contains data, so that an error of the query is thrown before the response
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

interface OpenExport extends Omit<ParsedExport, "since"> {
  site: Site
  now: number
  range: ReportRange
  /** The arrivals that an incremental export covers. */
  arrived?: Range
  sight: ExportSight
  /** Whether events that were acknowledged a while before the export may be missing. */
  isLate: boolean
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
    const { type, format, since } = parsed
    return {
      ...{ type, format, parsed, site, now, sight, range: shownRange(parsed.range, now), isLate: options.hasLateEvents() },
      ...(since !== undefined && { arrived: { from: since, to: endOfEnded(now) } }),
      ...(identity && { identity }),
    }
  }

  async function* rows(
    { site, format, range, parsed, now, sight, identity, arrived, isLate }: OpenExport,
    of: RowType,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    const isHidden = hidesRevenue(site, sight)
    const columns = rowColumns(of, isHidden)
    const query = {
      site: siteFacts(site, goals.rules(site.id)),
      ...(arrived ? { range: ALL_TIME, arrived } : { range: parsed.range.range }),
      ...(parsed.filter && { filter: parsed.filter }),
      ...{ of, format, siteKey: await options.siteKeys.siteKey(site.id) },
      ...(isHidden && { withoutRevenue: [...revenueProperties(site)] }),
    }
    const report = { site, facts: query.site, parsed, now, isLate, caller: callerOf(site, signal) }
    const imports = arrived ? {} : shownImports((await visitImports(options, report)).imports)
    const covered = arrived ? { since: new Date(arrived.from).toISOString(), next_since: new Date(arrived.to).toISOString() } : { range }
    const file = exportFile(format, columns, { ...covered, ...(identity && { identity }), ...imports, ...lateFact(isLate) })
    for await (const batch of engine.exportRows(query, callerOf(site, signal))) {
      const bytes = file.add(batch)
      const piece = batch.next ? bytes : Buffer.concat([bytes, file.end(batch.omitted)])
      if (piece.length > 0) yield piece
    }
  }

  async function* breakdown(
    { site, format, range, parsed, now, identity, isLate }: OpenExport,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    const facts = siteFacts(site, goals.rules(site.id))
    const names = await codeNames(options, parsed.dimension)
    const query = {
      ...{ site: facts, query: flatQuery(parsed, { site: facts, now }), parsed, format, decimals: decimalsOf(site) },
      ...(names && { names: JSON.stringify([...names]) }),
    }
    const columns = breakdownColumns(parsed)
    const { imports, ...rows } = await engine.exportBreakdown(query, callerOf(site, signal))
    const stated = { range, ...(identity && { identity }), ...shownImports(imports), ...lateFact(isLate) }
    yield wholeFile(exportFile(format, columns, stated), rows)
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
    const { imports, visitors_estimated, late_events = false, identity } = answer
    const ofImports = { ...(imports && { imports }), ...(visitors_estimated && { visitors_estimated }) }
    const facts = { range, ...(identity && { identity }), ...ofImports, ...lateFact(late_events) }
    yield wholeFile(exportFile(format, columns, facts), encodeRecords(format, columns, records))
  }

  return {
    async open(site, given, sight = {}) {
      const asked = await open(site, given, sight)
      const { type, format, range, arrived } = asked
      const nextSince = arrived && new Date(arrived.to).toISOString()
      return {
        ...{ type, format },
        fileName: `${site.id}-${type}-${nextSince ? `until-${nextSince.replace(/[:.]/g, "")}` : `${range.from}-${range.to}`}.${format}`,
        ...(nextSince && { nextSince }),
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

/** Returns a file with one batch of rows. */
const wholeFile = (file: ExportFile, rows: EncodedRows): Uint8Array => Buffer.concat([file.add(rows), file.end(0)])

/** Every time that a visit can start at. */
const ALL_TIME: Range = { from: -8.64e15, to: 8.64e15 }

/**
 * Returns the time before which the last event of a visit must have arrived for the visit to have ended. Arrivals are known to the
 * second. Later arrivals are all later than this time, so an incremental export that begins with it misses no visit.
 */
const endOfEnded = (now: number): number => now - VISIT_IDLE_MS - 1_000
