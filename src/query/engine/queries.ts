import type { CoverageQuery } from "../../domain/people.ts"
import type { FunnelQuery, FunnelResult } from "../../domain/query.ts"
import { OutdatedSnapshot } from "../../store/events/dictionary/read-dictionary.ts"
import type { Snapshot } from "../../store/events/part.ts"
import type { SentStatement } from "../../store/events/tables/row-tables.ts"
import { amounts } from "../amounts/amounts.ts"
import { funnel } from "../funnel/funnel.ts"
import { importFacts } from "../imported/imported.ts"
import { type ImportedRowsCursor, importedRows } from "../imported/imported-rows.ts"
import { aggregate, comparedTables } from "../measure/aggregate.ts"
import { paths } from "../paths/paths.ts"
import { activeDays } from "../people/active-days.ts"
import { coverage } from "../people/coverage.ts"
import { engagement } from "../people/engagement.ts"
import { evaluate, members } from "../people/evaluate.ts"
import { peopleList } from "../people/people-list.ts"
import { person } from "../people/person.ts"
import { withPeople } from "../people/sets.ts"
import { lastMatch, pulse, realtime } from "../realtime/realtime.ts"
import { signals } from "../realtime/signals.ts"
import { retention } from "../retention/retention.ts"
import { chosenVisits, visitsWeight } from "../rows/choice.ts"
import type { RowsCursor } from "../rows/cursor.ts"
import { exportBreakdown, exportRows } from "../rows/export-rows.ts"
import { visitRows } from "../rows/rows.ts"
import { suggest } from "../rows/suggest.ts"
import { propertyKeys, tally } from "../rows/tally.ts"
import { saleVisits } from "../sales/sale-visits.ts"
import { touches } from "../sales/touches.ts"
import { sums } from "../sums/sums.ts"
import { visitTimeline } from "../visits/timeline.ts"
import { visitList } from "../visits/visits.ts"

/**
 * Every kind of query and the function that computes it in a worker. Query and result types are inferred from the functions. A
 * function is pure and synchronous; it calls `check` between parts, which throws when the query was given up.
 */
export const QUERIES = {
  /** Metrics by 0 to 3 groupings: summary, timeseries, breakdown. */
  aggregate,
  /** The same table, and the table of the compared range. */
  compare: comparedTables,
  /** Ordered steps per visitor. */
  funnel,
  /** One result for each variant of a funnel. */
  funnels,
  /** Cohorts of people, and their return by period. */
  retention,
  /** The last 30 minutes. */
  realtime,
  /** Journeys: the items that visits took from a start, or up to an end. */
  paths,
  /** The size of a set of people, and what they have in common. */
  evaluate,
  /** The pseudonyms of a set of people, in batches. */
  members,
  /** Keys of the properties that events have. */
  propertyKeys,
  /** Values of a dimension, those with the most visitors first. */
  suggest,
  /** Current visitors and the last event. */
  pulse,
  /** Numbers about the latest traffic, for alerts. */
  signals,
  /** Epoch ms of the last completion of a goal; undefined without any. */
  lastMatch,
  /** What an erasure of the chosen visits would remove. */
  visitsWeight,
  /** The chosen visits, with their visitors. */
  chosenVisits,
  /** Records of an area counted by their properties, after a given sequence. */
  tally,
  /** All rows of a breakdown, encoded for a file. */
  exportBreakdown,
  /** Which imports are part of a report on visits. */
  importFacts,
  /** How many visits of a range belong to visitors who are recognized throughout it. */
  coverage: (snapshot: Snapshot, { scope, range }: CoverageQuery, check: () => void) =>
    coverage(snapshot, scope, [range.from, range.to], check),
  /** People by number of active days. */
  activeDays,
  /** People with their activity, the most active first. */
  peopleList,
  /** One person and their visits, newest first. */
  person,
  /** Recorded visits, newest first. */
  visitList,
  /** One recorded visit with its events. */
  visitTimeline,
  /** The visits of sale events, as they are now. */
  saleVisits,
  /** Visit starts and link clicks of many visitors. */
  touches,
  /** Active, new, returning, resurrected and dormant people by point. */
  engagement,
  /** Sums of amounts in the row tables of an area. */
  amounts,
  /** Sums of columns in the row tables of an area, by one column. */
  sums,
}

/** Queries that are answered in batches. Each function computes the batch after a cursor, or the first one without a cursor. */
export const STREAMS = {
  /** Visits with their events, by start. Visits that are removed meanwhile are left out. */
  rows: visitRows,
  /** Visits or events, encoded for a file. The last batch contains the number of omitted visits. */
  exportRows,
  /** Rows of imported totals. */
  importedRows,
}

/** Queries for which the visits of hidden imports and masked days count too: those of an erasure, and of sale events. */
export const OF_EVERY_IMPORT: readonly Task["kind"][] = ["visitsWeight", "chosenVisits", "saleVisits"]

/** Queries about what this node has recorded, in the order in which it was recorded. On a server, earlier records can arrive later. */
export const OF_THIS_NODE: readonly Task["kind"][] = ["tally"]

/** Queries that read a part a few times in a row, and then not for long. People ask for reports more often. */
export const IN_PASSING: readonly Task["kind"][] = ["saleVisits", "touches", "visitsWeight", "chosenVisits", "rows", "exportRows"]

/** Parts of a funnel that a variant replaces: the range, the filter, or both. */
export type FunnelVariant = Partial<Pick<FunnelQuery, "range" | "filter">>

function funnels(snapshot: Snapshot, { variants, ...query }: FunnelQuery & { variants: readonly FunnelVariant[] }, check: () => void) {
  return variants.map((variant): FunnelResult => funnel(snapshot, { ...query, ...variant }, check))
}

type Queries = typeof QUERIES
type Streams = typeof STREAMS
export type QueryKind = keyof Queries
export type StreamKind = keyof Streams

export type QueryOf<Kind extends QueryKind | StreamKind> = Parameters<(Queries & Streams)[Kind]>[1]
export type ResultOf<Kind extends QueryKind | StreamKind> = ReturnType<(Queries & Streams)[Kind]>

/** A batch of a stream, as it is requested from a worker. */
export type StreamTask = { [Kind in StreamKind]: { kind: Kind; query: QueryOf<Kind>; cursor: StreamCursor | undefined } }[StreamKind]

/** The position of a stream. A task has that of its own kind. */
export type StreamCursor = RowsCursor | ImportedRowsCursor

/** A query of an area's own row tables. It concerns no site and reads the tables as of the last commit. */
export interface RowTablesTask {
  kind: "rowTables"
  statement: SentStatement
  maxRows: number
}

/** A query as it is sent to a worker: a plain value. */
export type Task = { [Kind in QueryKind]: { kind: Kind; query: QueryOf<Kind> } }[QueryKind] | StreamTask | RowTablesTask

/** Result of a task, by its kind. */
export type Answers = { [Kind in QueryKind | StreamKind]: ResultOf<Kind> } & { rowTables: object[] }
export type Answer = Answers[keyof Answers]

/** Computes a query or a batch from a snapshot. */
export function answerTask(snapshot: Snapshot, task: Exclude<Task, RowTablesTask>, check: () => void): Answer {
  // The table pairs each kind with the function that takes its query, which the type of a union cannot express.
  const known = withPeople(snapshot, check)
  if ("cursor" in task) return (STREAMS[task.kind] as BatchFunction)(known, task.query, task.cursor, check)
  return (QUERIES[task.kind] as QueryFunction)(known, task.query, check)
}

/**
 * Number of attempts at a query whose snapshot does not hold. Erasures of texts are rare, and take longer than most queries. On ClickHouse a
 * query over visits that change all the time finds at each attempt what else it has to read at the same moment.
 */
const ATTEMPTS = 20

/** Computes an answer again, from another snapshot, when texts of its snapshot were erased or visits were changed meanwhile. */
export function repeatOutdated<Result>(attempt: () => Result): Result {
  for (let left = ATTEMPTS; ; left--) {
    try {
      return attempt()
    } catch (error) {
      if (left === 1 || !(error instanceof OutdatedSnapshot)) throw error
    }
  }
}

type QueryFunction = (snapshot: Snapshot, query: unknown, check: () => void) => Answer
type BatchFunction = (snapshot: Snapshot, query: unknown, cursor: StreamCursor | undefined, check: () => void) => Answer
