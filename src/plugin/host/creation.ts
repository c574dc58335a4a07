import type { ErrorCode } from "../../domain/error.ts"
import type { Idempotency } from "../../services/api-keys/idempotency.ts"
import type { Change } from "../../services/definitions/site-things.ts"
import { type BatchKeeping, batchCreation, type Created, type Creating, creation } from "../../web/creation.ts"
import { type OwnStatements, statementsBehind } from "./own-tables.ts"

/**
 * Creates a resource and responds with 201, `Location` and `ETag`. A repeated request with the same `Idempotency-Key` gets the same
 * response. `make` calls `alongside` in the transaction that stores the resource.
 */
export type PluginCreation = <Thing, Shown>(
  call: Creating,
  make: (body: unknown, alongside: (statements: OwnStatements, change: Change<Thing>) => Promise<void>) => Promise<Thing>,
  show: (thing: Thing) => Created<Shown>,
) => Promise<Shown>

export function pluginCreation(idempotency: Idempotency, statusOf: (code: ErrorCode) => number): PluginCreation {
  const create = creation(idempotency, statusOf)
  return (call, make, show) =>
    create(call, (body, alongside) => make(body, async (statements, change) => alongside?.(statementsBehind(statements), change)), show)
}

/** Progress of a batch, stored with its rows. */
export interface BatchProgress<Outcome> extends Pick<BatchKeeping<Outcome>, "done"> {
  /** Stores the outcomes of rows, starting at an index, in the transaction that writes them. */
  keep(statements: OwnStatements, from: number, outcomes: readonly Outcome[]): Promise<void>
}

/**
 * Writes many rows and responds with 200. A repeated request with the same `Idempotency-Key` gets the same response, or continues
 * after the last written row. `write` skips the rows in `done` and calls `keep` in each transaction.
 */
export type PluginBatch = <Outcome, Shown>(
  call: Creating,
  write: (body: unknown, progress: BatchProgress<Outcome>) => Promise<Shown>,
) => Promise<Shown>

export function pluginBatch(idempotency: Idempotency, statusOf: (code: ErrorCode) => number): PluginBatch {
  const batch = batchCreation(idempotency, statusOf)
  return <Outcome, Shown>(call: Creating, write: (body: unknown, progress: BatchProgress<Outcome>) => Promise<Shown>) =>
    batch<Outcome, Shown>(call, (body, { done, keep }) =>
      write(body, { done, keep: (statements, from, outcomes) => keep(statementsBehind(statements), from, outcomes) }),
    )
}
