import type { Catalog, Statements } from "../store/catalog/catalog.ts"
import type { Sql } from "../store/catalog/sql.ts"
import { foreignTable } from "../store/own-tables.ts"

/**
 * A plugin's own tables in the catalog. A statement touches no other table, is one of `select`, `insert`, `update`, `delete`,
 * and is short, for it runs on the event loop: it reads at most 1,000 rows, longer lists go in slices.
 */
export interface OwnStatements {
  all<Row>(statement: Sql): Promise<Row[]>
  get<Row>(statement: Sql): Promise<Row | undefined>
  run(statement: Sql): Promise<void>
}

export interface OwnTables extends OwnStatements {
  /**
   * All or nothing, with what is written beside it: `host.audit`, `host.outbox`, `host.jobs` and `host.secrets` take these
   * statements. Inside, use the given ones only. `committed` runs right after the commit and before any later statement: the
   * place to change what is kept in memory.
   */
  transaction<T>(work: (statements: OwnStatements) => Promise<T>, committed?: (result: T) => void): Promise<T>
}

const MOST_ROWS = 1_000

/** The statements behind those of a plugin, for services that write in the same transaction. */
const behind = new WeakMap<OwnStatements, Statements>()

/** What a service of the core writes with: plugins hand on their own statements, or those a core service gave them. */
export const statementsBehind = (given: OwnStatements | Statements): Statements => behind.get(given) ?? (given as Statements)

export function ownTables(catalog: Catalog, pluginId: string): OwnTables {
  const within = (statements: Statements): OwnStatements => limited(statements, pluginId)
  return {
    ...within(catalog),
    transaction: (work, committed) => catalog.transaction((statements) => work(within(statements)), committed),
  }
}

/** A statement that reaches further is a bug of the plugin, so it is no `AppError`. */
function limited(statements: Statements, pluginId: string): OwnStatements {
  const all = async <Row>(statement: Sql): Promise<Row[]> => {
    const fault = foreignTable(statement.text, `${pluginId}_`)
    if (fault !== undefined) throw new Error(`A statement of the plugin ${pluginId} was refused: ${fault}`)
    const rows = await statements.all<Row>(statement)
    if (rows.length > MOST_ROWS) throw new Error(`A statement of the plugin ${pluginId} reads more than ${MOST_ROWS} rows: read slices`)
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
