import type { ErrorCode } from "../domain/error.ts"
import type { Idempotency } from "../services/idempotency.ts"
import type { Change } from "../services/site-things.ts"
import { type Created, type Creating, creation } from "./creation.ts"
import { type OwnStatements, statementsBehind } from "./own-tables.ts"

/**
 * Makes a thing and answers 201 with `Location` and `ETag`, once for each `Idempotency-Key`: a request that comes again gets the
 * same answer. `make` calls `alongside` in the transaction that stores the thing.
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
