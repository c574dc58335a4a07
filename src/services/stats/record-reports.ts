import type { Filter } from "../../domain/filter.ts"
import type { CodeNames } from "../../domain/place-names.ts"
import type { DimensionGrouping, Key, Query, Row } from "../../domain/query.ts"
import { ANONYMOUS, type RecordKind } from "../../domain/record.ts"
import type { ReportFacts, ReportRange } from "../../domain/report.ts"
import type { Site } from "../../domain/site.ts"
import type { Engine } from "../../query/engine/engine.ts"
import type { SavedOf } from "../../query/parse/array-filters.ts"
import { bucketsOf, flatLabel, isPartial } from "../../query/parse/buckets.ts"
import { flatQuery } from "../../query/parse/flat-query.ts"
import type { LocalRange } from "../../query/parse/period.ts"
import { shownValue } from "../../query/show/result.ts"
import { segmentsOnly } from "../people/visitor-sets.ts"
import {
  both,
  codeNames,
  type NamesOptions,
  type OpenReport,
  type OpenReportOptions,
  openReports,
  type ReportOptions,
  reportFacts,
  shownRange,
} from "./open-report.ts"

/**
 * Reports on the records of areas: clicks on links, opens of pixels. A report counts its records by the values of one property in a single
 * query, so that parts and totals are of the same moment. Anonymous records count as records and as no visitor.
 */
export interface RecordReports {
  summary(site: Site, given: Record<string, unknown>, options: RecordReportOptions): Promise<RecordSummary>
  timeseries(site: Site, given: Record<string, unknown>, options: RecordReportOptions): Promise<RecordTimeseries>
  /**
   * The arguments are those of a breakdown with the metrics `visitors` and `events`; `ranked` chooses the records that rows are made and
   * ordered by. Each row counts all records with its value.
   */
  breakdown(site: Site, given: Record<string, unknown>, options: RecordReportOptions): Promise<RecordBreakdown>
}

export interface RecordReportOptions extends ReportOptions {
  records: RecordKind
  /** The property that tells the records apart, and its values. Records with another value are not counted. */
  by: { property: string; values: readonly string[] }
  /** Filter of the records by which a breakdown chooses and orders its rows. Default: all. */
  ranked?: Filter
}

export interface RecordCount {
  records: number
  visitors: number
}
/** Counts by the value of the property; an entry for each value. */
export type RecordCounts = Readonly<Record<string, RecordCount>>

export interface RecordSummary extends ReportFacts {
  counts: RecordCounts
  comparison?: { range: ReportRange; counts: RecordCounts }
}

export interface RecordPoint {
  time: string
  partial?: true
  counts: RecordCounts
}
export interface RecordTimeseries extends ReportFacts {
  interval: string
  points: RecordPoint[]
  comparison?: { range: ReportRange; points: RecordPoint[] }
}

export interface RecordBreakdown extends ReportFacts {
  rows: (ReturnType<typeof shownValue> & { counts: RecordCounts })[]
  total_rows: number
  has_more: boolean
}

export interface RecordReportsOptions extends OpenReportOptions, NamesOptions {
  engine: Pick<Engine, "aggregate">
  /** Saved segments that filters may refer to. */
  saved: SavedOf
}

export function createRecordReports(dependencies: RecordReportsOptions): RecordReports {
  const { engine } = dependencies
  // Cohorts are sets of the visitors of a site's own visits, so records are not filtered by them.
  const open = openReports({ ...dependencies, savedSets: segmentsOnly(dependencies.saved) })

  /** Returns rows whose last two keys are the value of the property and the mark of anonymous records. */
  async function countedRows(report: OpenReport, options: RecordReportOptions, more: Partial<Query>): Promise<readonly Row[]> {
    const query = recordQuery(report, options)
    const groupings = [...query.groupings, byProperty(options.by.property), byProperty(ANONYMOUS)]
    const all = { order: [], limit: Number.MAX_SAFE_INTEGER, offset: 0, fillBuckets: false }
    return (await engine.aggregate({ ...query, ...all, groupings, metrics: ["events", "visitors"], ...more }, report.caller)).rows
  }

  async function countsIn(report: OpenReport, options: RecordReportOptions, { range }: LocalRange): Promise<RecordCounts> {
    return countsOf(await countedRows(report, options, { range }), options)
  }

  async function pointsIn(report: OpenReport, options: RecordReportOptions, { range, timezone }: LocalRange): Promise<RecordPoint[]> {
    const { interval = "day" } = report.parsed
    const buckets = bucketsOf(range, interval, timezone)
    const byStart = Map.groupBy(await countedRows(report, options, { range, timezone }), ({ keys: [start] }) => start)
    return Array.from(buckets.edges.subarray(0, -1), (start, i) => ({
      time: flatLabel(start, interval, timezone),
      ...(isPartial(buckets, i, report.now) && { partial: true }),
      counts: countsOf(byStart.get(start) ?? [], options),
    }))
  }

  return {
    async summary(site, given, options) {
      const report = await open("summary", site, given, options)
      const { range, compared } = report.parsed
      const [counts, before] = await Promise.all([countsIn(report, options, range), compared && countsIn(report, options, compared)])
      const comparison = compared && before && { range: shownRange(compared, report.now), counts: before }
      return { ...factsOf(report), counts, ...(comparison && { comparison }) }
    },
    async timeseries(site, given, options) {
      const report = await open("timeseries", site, given, options)
      const { range, compared, interval = "day" } = report.parsed
      const [points, before] = await Promise.all([pointsIn(report, options, range), compared && pointsIn(report, options, compared)])
      const comparison = compared &&
        before && { range: shownRange(compared, report.now), points: before.map(({ partial: _, ...point }): RecordPoint => point) }
      return { ...factsOf(report), interval, points, ...(comparison && { comparison }) }
    },
    async breakdown(site, given, options) {
      const report = await open("breakdown", site, given, options)
      const { sort, dimension = "page", offset } = report.parsed
      const query = recordQuery(report, options)
      const ranked = both(options.ranked, sort === "visitors" ? IDENTIFIED : undefined)
      const filter = both(query.filter, ranked)
      const page = await engine.aggregate({ ...query, ...(filter && { filter }) }, report.caller)
      const keys = page.rows.map(({ keys: [key = null] }) => key)
      const only = keys.flatMap((key) => options.by.values.flatMap((value) => [null, "1"].map((mark): Key[] => [key, value, mark])))
      const byKey = Map.groupBy(keys.length === 0 ? [] : await countedRows(report, options, { only }), ({ keys: [key] }) => key)
      const names: CodeNames | undefined = await codeNames(dependencies, dimension)
      return {
        ...factsOf(report),
        rows: keys.map((key) => ({ ...shownValue(dimension, key, { names }), counts: countsOf(byKey.get(key) ?? [], options) })),
        total_rows: page.totalRows,
        has_more: offset + keys.length < page.totalRows,
      }
    },
  }
}

const recordQuery = ({ parsed, facts, now }: OpenReport, { records }: RecordReportOptions): Query => ({
  ...flatQuery(parsed, { site: facts, now }),
  records,
})

const byProperty = (property: string): DimensionGrouping => ({ by: "dimension", dimension: "property", property })

/** Chooses records whose visitor is known. */
const IDENTIFIED = {
  ...{ op: "is" as const, dimension: "property" as const, property: ANONYMOUS },
  ...{ values: [], missing: true, caseSensitive: true },
}

const factsOf = (report: OpenReport): ReportFacts => reportFacts(report, { otherCurrencies: [] }, false)

function countsOf(rows: readonly Row[], { by }: RecordReportOptions): RecordCounts {
  const counts = new Map(by.values.map((value) => [value, { records: 0, visitors: 0 }]))
  for (const { keys, values } of rows) {
    const [value, mark] = keys.slice(-2)
    const count = counts.get(String(value))
    if (!count) continue
    const [records, visitors] = values
    count.records += records ?? 0
    // All anonymous records of a site share one stored visitor, who must not be counted.
    if (mark === null) count.visitors += visitors ?? 0
  }
  return Object.fromEntries(counts)
}
