import { type RowStatements, sql, type TransactionType } from "#plugin"
import { Presence } from "./presence.ts"
import { type Key, keyText } from "./transaction.ts"

/** The IDs that providers have voided, within one transaction of the event store's writer. They are written with its book. */
export class Marks {
  readonly #rows: RowStatements
  readonly #siteId: number
  readonly #known = new Map<string, boolean>()
  readonly #new: Key[] = []
  readonly #presence: Presence

  constructor(rows: RowStatements, siteId: number) {
    this.#rows = rows
    this.#siteId = siteId
    this.#presence = new Presence(rows, siteId, sql`revenue_voided where`)
  }

  /** Returns whether the provider has voided an ID. */
  has(key: Key): boolean {
    if (this.#presence.isAbsent() && this.#known.size === 0) return false
    const text = keyText(key)
    if (!this.#known.has(text)) this.load([key])
    return this.#known.get(text) ?? false
  }

  /** Marks an ID as voided by its provider. */
  add(key: Key): void {
    if (this.has(key)) return
    this.#known.set(keyText(key), true)
    this.#new.push(key)
  }

  /** Reads marks at once. */
  load(keys: readonly Key[]): void {
    if (this.#presence.isAbsent(keys.length)) return
    const missing = keys.filter((key) => !this.#known.has(keyText(key)))
    if (missing.length === 0) return
    for (const key of missing) this.#known.set(keyText(key), false)
    const found = this.#rows.all<Key>(sql`select provider, external_id, revenue_voided.type as type
      from json_each(${JSON.stringify(missing.map(valuesOf))}) as wanted
      cross join revenue_voided on site_id = ${this.#siteId} and provider = wanted.value ->> 0
        and external_id = wanted.value ->> 1 and revenue_voided.type = wanted.value ->> 2`)
    for (const key of found) this.#known.set(keyText(key), true)
  }

  /** Writes the new marks. */
  flush(): void {
    this.#rows.runEach(
      "insert into revenue_voided (site_id, provider, external_id, type) values (?, ?, ?, ?) on conflict do nothing",
      this.#new.map((key) => [this.#siteId, ...valuesOf(key)]),
    )
    this.#new.length = 0
  }
}

const valuesOf = ({ provider, external_id, type }: Key): [string, string, TransactionType] => [provider, external_id, type]
