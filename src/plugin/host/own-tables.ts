import type { Changes } from "../../services/changes/changes.ts"
import type { Catalog, Statements } from "../../store/catalog/catalog.ts"
import type { Sql } from "../../store/sql.ts"

/**
 * Tables of a plugin in the catalog, whose names begin with its id. A statement may use no others. It must be short, because it runs on
 * the event loop: it reads at most 1,000 rows. Read longer lists in slices.
 */
export interface OwnStatements {
  all<Row>(statement: Sql): Promise<Row[]>
  get<Row>(statement: Sql): Promise<Row | undefined>
  run(statement: Sql): Promise<void>
}

export interface OwnTables extends OwnStatements {
  /**
   * Runs a transaction. `host.audit`, `host.outbox`, `host.jobs` and `host.secrets` accept its statements to write in the same
   * transaction. Use only the given statements inside. `committed` runs directly after the commit and before any later statement,
   * for updating state in memory.
   */
  transaction<T>(work: (statements: OwnStatements) => Promise<T>, committed?: (result: T) => void): Promise<T>
  /**
   * Follows what other nodes change in a table of the plugin that it keeps in memory: `reload` gets the ids of rows that were inserted,
   * changed or deleted. Call it during setup, before the table is read.
   */
  follow(table: string, reload: (statements: OwnStatements, ids: readonly number[]) => Promise<void>): Promise<void>
}

const MAX_ROWS = 1_000

/** Core statements by statements of plugins, for services that write in the same transaction. */
const behind = new WeakMap<OwnStatements, Statements>()

/** Returns the statements with which a core service writes. Plugins pass their own statements or those of a core service. */
export const statementsBehind = (given: OwnStatements | Statements): Statements => behind.get(given) ?? (given as Statements)

interface OwnTablesParts {
  catalog: Catalog
  /** What other nodes change. Undefined for the only process of a catalog. */
  changes: Pick<Changes, "follow"> | undefined
}

export const ownTables = ({ catalog, changes }: OwnTablesParts, pluginId: string): OwnTables => ({
  ...ownStatements(catalog, pluginId),
  transaction: (work, committed) => catalog.transaction((statements) => work(ownStatements(statements, pluginId)), committed),
  async follow(table, reload) {
    await changes?.follow(table, (statements, keys) => reload(ownStatements(statements, pluginId), keys.map(Number)))
  },
})

/** Limits the number of rows that a statement of a plugin reads. More of them are a bug, so this is not an `AppError`. */
export function ownStatements(statements: Statements, pluginId: string): OwnStatements {
  const all = async <Row>(statement: Sql): Promise<Row[]> => {
    const rows = await statements.all<Row>(statement)
    if (rows.length > MAX_ROWS) throw new Error(`A statement of the plugin ${pluginId} reads more than ${MAX_ROWS} rows: read slices`)
    return rows
  }
  const own: OwnStatements = {
    all,
    get: async <Row>(statement: Sql) => (await all<Row>(statement))[0],
    run: async (statement) => void (await all(statement)),
  }
  behind.set(own, statements)
  return own
}
