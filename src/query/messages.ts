import type { ErrorCode } from "../domain/error.ts"
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
import type { RowsPlace } from "./row-places.ts"
import type { RowsBatch, VisitRow } from "./rows.ts"
import type { SuggestedValue, SuggestQuery } from "./suggest.ts"

/** A question as it travels to a worker: a plain value. */
export type Task =
  | { kind: "aggregate"; query: Query }
  | { kind: "compare"; query: Query; range: Range }
  | { kind: "funnels"; query: FunnelQuery; variants: readonly FunnelVariant[] }
  | { kind: "realtime"; query: RealtimeQuery }
  | { kind: "paths"; query: PathsQuery }
  | { kind: "property_keys"; query: PropertyKeysQuery }
  | { kind: "pulse"; query: PulseQuery }
  | { kind: "last_match"; query: LastMatchQuery }
  | { kind: "suggest"; query: SuggestQuery }
  | { kind: "visits_weight"; query: RowsQuery }
  | { kind: "chosen_visits"; query: RowsQuery }
  | { kind: "tally"; query: TallyQuery }
  | { kind: "rows"; query: RowsQuery; place: RowsPlace | undefined }
  | { kind: "export_rows"; query: ExportQuery; place: RowsPlace | undefined }
  | { kind: "export_breakdown"; query: BreakdownExport }
  | RowTablesTask

/** What of a funnel is different: another range, another filter. */
export type FunnelVariant = Partial<Pick<FunnelQuery, "range" | "filter">>

/** Of the row tables of an area: no site and no snapshot, but what was committed before. */
export interface RowTablesTask {
  kind: "row_tables"
  statement: SentStatement
  most: number
}

export interface Answers {
  aggregate: Table
  compare: ComparedTables
  funnels: FunnelResult[]
  realtime: RealtimeResult
  paths: PathsResult
  property_keys: PropertyKeyCount[]
  pulse: PulseResult
  last_match: number | undefined
  suggest: SuggestedValue[]
  visits_weight: VisitsWeight
  chosen_visits: Float64Array
  tally: Tally
  rows: RowsBatch<VisitRow[]>
  export_rows: RowsBatch<Uint8Array>
  export_breakdown: Uint8Array
  row_tables: object[]
}
export type Answer = Answers[keyof Answers]

/** What the main thread says to a worker. `stop` is one Int32: set to STOP, the running question ends at its next check. */
export type ToWorker = { type: "open"; path: string; cacheBytes: number; stop: SharedArrayBuffer } | { type: "ask"; task: Task }

export type FromWorker =
  | { type: "answer"; answer: Answer }
  /** Without a code it is a bug, and `detail` is for the log. */
  | { type: "failure"; code: ErrorCode | undefined; detail: string }

export const STOP = 1
