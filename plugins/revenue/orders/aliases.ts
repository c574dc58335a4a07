import { type RowStatements, sql } from "#plugin"
import { Presence } from "./presence.ts"
import type { Provider } from "./transaction.ts"

/** Provider of aliases that are order IDs: those of a row with several. */
export const ORDER = "order"
/** Provider of aliases that are sequences of further sale events of the order, so that one remains when another report is removed. */
export const EVENT = "event"
export type AliasOwner = Provider | typeof ORDER | typeof EVENT

/** Another ID of a sale. */
interface Alias {
  provider: AliasOwner
  alias: string
  external_id: string
  transaction_id: number
}
export type AliasKey = Pick<Alias, "provider" | "alias">

const textOf = ({ provider, alias }: AliasKey): string => `${provider} ${alias}`

/** The further IDs of the sales of a site within one transaction of the event store's writer. They are written with its book. */
export class Aliases {
  readonly #rows: RowStatements
  readonly #siteId: number
  readonly #known = new Map<string, Alias | null>()
  readonly #changed = new Set<string>()
  readonly #presence: Presence

  constructor(rows: RowStatements, siteId: number) {
    this.#rows = rows
    this.#siteId = siteId
    this.#presence = new Presence(rows, siteId, sql`revenue_aliases where`)
  }

  find(provider: AliasOwner, alias: string): Alias | undefined {
    if (this.#presence.isAbsent() && this.#known.size === 0) return undefined
    const text = textOf({ provider, alias })
    if (!this.#known.has(text)) this.load([{ provider, alias }])
    return this.#known.get(text) ?? undefined
  }

  /** Adds an ID of a sale, unless it is taken. */
  add(alias: Alias): void {
    if (!this.find(alias.provider, alias.alias)) this.#set(textOf(alias), alias)
  }

  /** Remembers that a sale event is about a sale. No other sale has it. */
  addEvent(id: number, sequence: number, externalId: string): void {
    const alias = { provider: EVENT, alias: String(sequence), external_id: externalId, transaction_id: id } as const
    this.#set(textOf(alias), alias)
  }

  remove(provider: AliasOwner, alias: string): void {
    if (this.find(provider, alias)) this.#set(textOf({ provider, alias }), null)
  }

  /** Returns the aliases of a sale. */
  of(id: number): Alias[] {
    const stored = this.#rows.all<Alias>(sql`select provider, alias, external_id, transaction_id from revenue_aliases
      where transaction_id = ${id} order by provider, alias`)
    const unchanged = stored.filter((alias) => !this.#changed.has(textOf(alias)))
    const changed = [...this.#changed].flatMap((text) => this.#known.get(text) ?? [])
    return [...unchanged, ...changed.filter((alias) => alias.transaction_id === id)]
  }

  /** Gives the aliases of a sale to another one, or deletes them. */
  move(id: number, to: number | null): void {
    for (const alias of this.of(id)) this.#set(textOf(alias), to === null ? null : { ...alias, transaction_id: to })
  }

  /** Reads aliases at once. Returns the ids of their sales. */
  load(wanted: readonly AliasKey[]): number[] {
    if (this.#presence.isAbsent(wanted.length)) return []
    const missing = wanted.filter((alias) => !this.#known.has(textOf(alias)))
    if (missing.length === 0) return []
    for (const alias of missing) this.#known.set(textOf(alias), null)
    const values = missing.map(({ provider, alias }) => [provider, alias])
    const found =
      this.#rows.all<Alias>(sql`select provider, alias, external_id, transaction_id from json_each(${JSON.stringify(values)}) as wanted
      cross join revenue_aliases on site_id = ${this.#siteId} and provider = wanted.value ->> 0 and alias = wanted.value ->> 1`)
    for (const alias of found) this.#known.set(textOf(alias), alias)
    return [...new Set(found.map(({ transaction_id }) => transaction_id))]
  }

  /** Writes everything that was changed. */
  flush(): void {
    const { runEach } = this.#rows
    const changed = [...this.#changed].map((text) => [text, this.#known.get(text)] as const)
    runEach(
      "delete from revenue_aliases where site_id = ? and provider = ? and alias = ?",
      changed
        .filter(([, alias]) => !alias)
        .map(([text]) => [this.#siteId, text.slice(0, text.indexOf(" ")), text.slice(text.indexOf(" ") + 1)]),
    )
    runEach(
      `insert into revenue_aliases (site_id, provider, alias, external_id, transaction_id) values (?, ?, ?, ?, ?)
        on conflict (site_id, provider, alias) do update set external_id = excluded.external_id, transaction_id = excluded.transaction_id`,
      changed.flatMap(([, alias]) => (alias ? [[this.#siteId, alias.provider, alias.alias, alias.external_id, alias.transaction_id]] : [])),
    )
    this.#changed.clear()
  }

  #set(text: string, alias: Alias | null): void {
    this.#known.set(text, alias)
    this.#changed.add(text)
  }
}
