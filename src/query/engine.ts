import type {
  FunnelQuery,
  FunnelResult,
  LastMatchQuery,
  PathsQuery,
  PathsResult,
  PropertyKeyCount,
  PropertyKeysQuery,
  PulseQuery,
  PulseResult,
  Query,
  Range,
  RealtimeQuery,
  RealtimeResult,
  RowsQuery,
  Table,
  Tally,
  TallyQuery,
  VisitsWeight,
} from "../domain/query.ts"
import type { SentStatement } from "../store/events/row-tables.ts"
import type { ComparedTables } from "./compared-tables.ts"
import type { BreakdownExport } from "./export-breakdown.ts"
import type { ExportQuery } from "./export-rows.ts"
import type { FunnelVariant } from "./messages.ts"
import { type Asker, Pool, type PoolOptions } from "./pool.ts"
import { createRowStreams } from "./row-streams.ts"
import type { RowsBatch, VisitRow } from "./rows.ts"
import type { SuggestedValue, SuggestQuery } from "./suggest.ts"

/**
 * Everything the product shows is one of these questions. An answer holds what was committed before the question came.
 * Refusals are AppErrors: `rate_limited` and `unavailable` when too many wait, `query_timeout` 15 s after arrival,
 * `unavailable` when a worker died or the question was given up.
 */
export interface Engine {
  /** Metrics by 0 to 3 groupings: summary, timeseries, breakdown. */
  aggregate(query: Query, asker: Asker): Promise<Table>
  /** The same with what each row was in another range: one question with one limit of time. */
  compare(query: Query, range: Range, asker: Asker): Promise<ComparedTables>
  /** Ordered steps per visitor. */
  funnel(query: FunnelQuery, asker: Asker): Promise<FunnelResult>
  /** One result for each variant of a funnel: one question with one limit of time. */
  funnels(query: FunnelQuery, variants: readonly FunnelVariant[], asker: Asker): Promise<FunnelResult[]>
  realtime(query: RealtimeQuery, asker: Asker): Promise<RealtimeResult>
  /** Journeys: the items that visits took from one on, or up to one. */
  paths(query: PathsQuery, asker: Asker): Promise<PathsResult>
  /** Keys of the properties that events carry. */
  propertyKeys(query: PropertyKeysQuery, asker: Asker): Promise<PropertyKeyCount[]>
  /** Values of a dimension, those with most visitors first. */
  suggest(query: SuggestQuery, asker: Asker): Promise<SuggestedValue[]>
  /** Current visitors and the last event. */
  pulse(query: PulseQuery, asker: Asker): Promise<PulseResult>
  /** Epoch ms of the last completion of a goal; undefined without any. */
  lastMatch(query: LastMatchQuery, asker: Asker): Promise<number | undefined>
  /** What an erasure of these visits takes away. */
  visitsWeight(query: RowsQuery, asker: Asker): Promise<VisitsWeight>
  /** The same visits by the sequences of their first events, ascending. */
  chosenVisits(query: RowsQuery, asker: Asker): Promise<Float64Array>
  /** Records of an area by what their properties say, of those that came after others. */
  tally(query: TallyQuery, asker: Asker): Promise<Tally>
  /** Raw visits with their events by start, batch by batch as they are taken. What is removed meanwhile is left out. No time limit. */
  rows(query: RowsQuery, asker: Asker): AsyncIterable<VisitRow[]>
  /** The same as text, of visits or of events. The last batch says what was left out. */
  exportRows(query: ExportQuery, asker: Asker): AsyncIterable<RowsBatch<Uint8Array>>
  /** All rows of a breakdown as text. */
  exportBreakdown(query: BreakdownExport, asker: Asker): Promise<Uint8Array>
  /** Gives up all that runs and waits. */
  close(): Promise<void>
}

export interface PooledEngine extends Engine {
  /** Rows of row tables of an area, at most so many, one more when there are more. */
  rowTables(statement: SentStatement, most: number, asker: Asker): Promise<object[]>
  /** The store can be read from now on. Called as soon as that is so, it makes the first answer come sooner. */
  begin(): void
}

/** Answers in query workers over the event store at `options.path`, which is opened for writing on the main thread. */
export function openEngine(options: PoolOptions): PooledEngine {
  const pool = new Pool(options)
  const streams = createRowStreams(options)
  return {
    begin: () => pool.begin(),
    // Apart from what else the statement is: only text and values travel.
    rowTables: ({ text, values }, most, asker) => pool.ask({ kind: "row_tables", statement: { text, values }, most }, asker),
    aggregate: (query, asker) => pool.ask({ kind: "aggregate", query }, asker),
    compare: (query, range, asker) => pool.ask({ kind: "compare", query, range }, asker),
    funnel: async (query, asker) => (await pool.ask({ kind: "funnels", query, variants: [{}] }, asker))[0]!,
    funnels: (query, variants, asker) => pool.ask({ kind: "funnels", query, variants }, asker),
    realtime: (query, asker) => pool.ask({ kind: "realtime", query }, asker),
    paths: (query, asker) => pool.ask({ kind: "paths", query }, asker),
    propertyKeys: (query, asker) => pool.ask({ kind: "property_keys", query }, asker),
    suggest: (query, asker) => pool.ask({ kind: "suggest", query }, asker),
    pulse: (query, asker) => pool.ask({ kind: "pulse", query }, asker),
    lastMatch: (query, asker) => pool.ask({ kind: "last_match", query }, asker),
    visitsWeight: (query, asker) => pool.ask({ kind: "visits_weight", query }, asker),
    chosenVisits: (query, asker) => pool.ask({ kind: "chosen_visits", query }, asker),
    tally: (query, asker) => pool.ask({ kind: "tally", query }, asker),
    async *rows(query, asker) {
      for await (const { rows } of streams.visits(query, asker.signal)) if (rows.length > 0) yield rows
    },
    exportRows: (query, asker) => streams.exported(query, asker.signal),
    exportBreakdown: (query, asker) => pool.ask({ kind: "export_breakdown", query }, asker),
    async close() {
      pool.close()
      streams.close()
    },
  }
}
