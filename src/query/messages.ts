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
  RealtimeQuery,
  RealtimeResult,
  RowsQuery,
  Table,
  VisitsWeight,
} from "../domain/query.ts"
import type { SentStatement } from "../store/events/row-tables.ts"
import type { BreakdownExport } from "./export-breakdown.ts"
import type { ExportQuery } from "./export-rows.ts"
import type { RowsPlace } from "./row-places.ts"
import type { RowsBatch, VisitRow } from "./rows.ts"

/** A question as it travels to a worker: a plain value. */
export type Task =
  | { kind: "aggregate"; query: Query }
  | { kind: "funnel"; query: FunnelQuery }
  | { kind: "realtime"; query: RealtimeQuery }
  | { kind: "paths"; query: PathsQuery }
  | { kind: "property_keys"; query: PropertyKeysQuery }
  | { kind: "pulse"; query: PulseQuery }
  | { kind: "last_match"; query: LastMatchQuery }
  | { kind: "visits_weight"; query: RowsQuery }
  | { kind: "chosen_visits"; query: RowsQuery }
  | { kind: "rows"; query: RowsQuery; place: RowsPlace | undefined }
  | { kind: "export_rows"; query: ExportQuery; place: RowsPlace | undefined }
  | { kind: "export_breakdown"; query: BreakdownExport }
  | RowTablesTask

/** Of the row tables of an area: no site and no snapshot, but what was committed before. */
export interface RowTablesTask {
  kind: "row_tables"
  statement: SentStatement
  most: number
}

export interface Answers {
  aggregate: Table
  funnel: FunnelResult
  realtime: RealtimeResult
  paths: PathsResult
  property_keys: PropertyKeyCount[]
  pulse: PulseResult
  last_match: number | undefined
  visits_weight: VisitsWeight
  chosen_visits: Float64Array
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
