import { type RowStatements, type Sql, sql } from "#plugin"

/** A number of lookups that takes longer than to find out whether there is anything to look up. */
const MANY = 10

/** Whether a site has any rows of a kind, as most sites have none. Then there is only what the transaction of the writer adds. */
export class Presence {
  readonly #rows: RowStatements
  readonly #siteId: number
  /** The table and the beginning of its condition, to which the site is added. */
  readonly #kind: Sql
  #isAbsent = false

  constructor(rows: RowStatements, siteId: number, kind: Sql) {
    this.#rows = rows
    this.#siteId = siteId
    this.#kind = kind
  }

  /** Returns whether the site has nothing of the kind, which is found out before many lookups. */
  isAbsent(lookups = 0): boolean {
    if (this.#isAbsent || lookups <= MANY) return this.#isAbsent
    this.#isAbsent = this.#rows.get(sql`select 1 as one from ${this.#kind} site_id = ${this.#siteId} limit 1`) === undefined
    return this.#isAbsent
  }
}
