/**
 * Synchronous work on row tables that are on a server. Its statements would block the thread, so the work is run again instead: up to the
 * first answer that is not there yet, which is then fetched together with everything that the work has written before.
 */
import type { TransactionStatements } from "../catalog/catalog.ts"
import type { RowStatements, SentStatement } from "../events/tables/row-tables.ts"
import { Sql } from "../sql.ts"

/** A statement that was executed, with its rows. */
interface Executed extends SentStatement {
  rows: readonly object[]
}

/** Thrown through the work when it asks for an answer that is not there yet. */
const NOT_READ_YET = new Error("The rows of a statement are being fetched")

/**
 * Runs work within a transaction of a server. The work must do the same each time, and change nothing outside until it has read
 * everything.
 */
export async function replayed<T>(statements: TransactionStatements, work: (rows: RowStatements) => T): Promise<T> {
  const executed: Executed[] = []
  for (;;) {
    const attempt = new Attempt(executed)
    const { result, isDone } = attempt.run(work)
    if (attempt.pending.length > 0) {
      const found = await statements.batch(attempt.pending.map(({ text, values }) => new Sql(text, values)))
      for (const [i, statement] of attempt.pending.entries()) executed.push({ ...statement, rows: found[i]! })
    }
    if (isDone) return result
  }
}

class Attempt {
  /** Statements that are not executed yet. */
  readonly pending: SentStatement[] = []
  readonly #executed: readonly Executed[]
  #next = 0

  constructor(executed: readonly Executed[]) {
    this.#executed = executed
  }

  run<T>(work: (rows: RowStatements) => T): { isDone: true; result: T } | { isDone: false; result?: never } {
    const all = <Row>(statement: SentStatement): Row[] => {
      const known = this.#again(statement)
      // The work may change the rows that it gets. The statement's author knows its columns.
      if (known) return known.rows.map((row) => ({ ...row }) as Row)
      this.pending.push(statement)
      throw NOT_READ_YET
    }
    const run = (statement: SentStatement): void => {
      if (!this.#again(statement)) this.pending.push(statement)
    }
    try {
      const result = work({
        all,
        get: <Row>(statement: SentStatement) => all<Row>(statement)[0],
        run,
        runEach(text, lists) {
          for (const values of lists) run({ text, values })
        },
      })
      const left = this.#executed[this.#next]
      if (left) throw notTheSame(left)
      return { isDone: true, result }
    } catch (error) {
      if (error === NOT_READ_YET) return { isDone: false }
      throw error
    }
  }

  /** Returns the execution that a statement repeats; undefined when everything executed has been repeated. */
  #again(statement: SentStatement): Executed | undefined {
    const known = this.#executed[this.#next]
    if (!known) return undefined
    if (!isSame(known, statement)) throw notTheSame(known)
    this.#next++
    return known
  }
}

const notTheSame = ({ text }: Executed) => new Error(`The work of a transaction did not do the same again: it left out ${text}`)

const isSame = (known: SentStatement, { text, values }: SentStatement): boolean =>
  known.text === text && (known.values === values || Bun.deepEquals(known.values, values))
