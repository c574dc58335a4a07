import type { NewSums } from "../../store/events/tables/month-sums.ts"
import type { SentStatement } from "../../store/events/tables/row-tables.ts"
import { type Caller, Pool, type PoolOptions } from "./pool.ts"
import { QUERIES, type QueryKind, type QueryOf, type ResultOf, type Task } from "./queries.ts"
import { createRowStreams } from "./row-streams.ts"

/**
 * Runs queries. Every report of the product is one of the kinds in `QUERIES`. A result contains everything that was committed before
 * the call. Refusals are AppErrors: `rate_limited` and `unavailable` when too many queries wait, `query_timeout` 15 s after arrival,
 * `unavailable` when a worker died or the query was cancelled.
 */
export type Engine = { [Kind in QueryKind]: (query: QueryOf<Kind>, caller: Caller) => Promise<ResultOf<Kind>> } & {
  /** Streams visits with their events by start, in batches that are computed on demand. No time limit for the whole stream. */
  rows(query: QueryOf<"rows">, caller: Caller): AsyncIterable<ResultOf<"rows">["rows"]>
  /** Streams visits or events, encoded for a file. The last batch contains the number of omitted visits. */
  exportRows(query: QueryOf<"exportRows">, caller: Caller): AsyncIterable<ResultOf<"exportRows">>
  /** Streams the imported totals that answers include, in batches. */
  importedRows(query: QueryOf<"importedRows">, caller: Caller): AsyncIterable<ResultOf<"importedRows">["rows"]>
  /** Cancels all running and waiting queries. */
  close(): Promise<void>
}

export type PooledEngine = Engine & {
  /** Returns at most `maxRows` rows of an area's row tables, and one more when there are more. */
  rowTables(statement: SentStatement, maxRows: number, caller: Caller): Promise<object[]>
  /**
   * Prepares the first worker. Called as soon as the store can be read, so that the first result comes sooner. `onDamage` is called when
   * a query finds damage in the store.
   */
  begin(onDamage?: (detail: string) => void): void
  /** Sets what stores the sums that workers compute. Until then they are kept in memory only. */
  onSums(store: (sums: NewSums) => void): void
}

/** Opens an engine with query workers over the event store at `options.path`, which the main thread has open for writing. */
export function openEngine(options: PoolOptions): PooledEngine {
  let reportDamage: (detail: string) => void = () => {}
  let storeSums: (sums: NewSums) => void = () => {}
  const threads = { ...options, onDamage: (detail: string) => reportDamage(detail), onSums: (sums: NewSums) => storeSums(sums) }
  const pool = new Pool(threads)
  const streams = createRowStreams(threads)
  return {
    ...pooledQueries(pool),
    async *rows(query, caller) {
      for await (const { rows } of streams.visits(query, caller.signal)) if (rows.length > 0) yield rows
    },
    exportRows: (query, caller) => streams.exported(query, caller.signal),
    async *importedRows(query, caller) {
      for await (const { rows } of streams.imported(query, caller.signal)) if (rows.length > 0) yield rows
    },
    // A statement has methods too, and only text and values can be sent to a worker.
    rowTables: ({ text, values }, maxRows, caller) => pool.ask({ kind: "rowTables", statement: { text, values }, maxRows }, caller),
    begin(onDamage) {
      if (onDamage) reportDamage = onDamage
      pool.begin()
    },
    onSums(store) {
      storeSums = store
    },
    async close() {
      pool.close()
      streams.close()
    },
  }
}

/** One method per kind of query, which sends the query to a worker. */
function pooledQueries(pool: Pool): Pick<Engine, QueryKind> {
  // The keys are those of the table.
  const kinds = Object.keys(QUERIES) as QueryKind[]
  // The type system pairs no more than 25 kinds with their queries.
  const methods = kinds.map((kind) => [kind, (query: unknown, caller: Caller) => pool.ask({ kind, query } as Task, caller)] as const)
  return Object.fromEntries(methods) as unknown as Pick<Engine, QueryKind>
}
