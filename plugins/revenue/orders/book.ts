/**
 * The transactions of a site within one transaction of the event store's writer. A row is read once, changed in memory, and written at the
 * end, and what many claims are about is read with one statement: incoming events wait for the writer.
 */
import { type RowStatements, raw, type Sql, sql } from "#plugin"
import { Aliases, type AliasKey, type AliasOwner, ORDER } from "./aliases.ts"
import { Marks } from "./marks.ts"
import { Presence } from "./presence.ts"
import { COLUMN_NAMES, COLUMNS, type Key, keyText, type Provider, type TransactionRow } from "./transaction.ts"

/** A row to insert, which becomes that of the book. It gets an id unless it has one. */
export type NewRow = Omit<TransactionRow, "id" | "site_id"> & { id?: number | undefined }

/** Values of columns to write. */
export type Values = Partial<Omit<TransactionRow, "id">>

/** What claims are about, to be read at once. */
export interface Wanted {
  keys: readonly Key[]
  aliases: readonly AliasKey[]
  orders: readonly string[]
  /** IDs by which transactions can wait for their sale. */
  parentKeys: readonly string[]
}

/** Columns by whose value rows are looked up. */
type Listed = "order_id" | "parent_key" | "parent_id"
const LISTED: readonly Listed[] = ["order_id", "parent_key", "parent_id"]

/** Rows with an order whose own ID does not name it, as the ID of a tracked sale does. Only these are indexed by their order. */
const NAMED_OTHERWISE = sql`order_id is not null
  and not (type = 'sale' and provider in ('tracker', 'import') and external_id = 'order:' || order_id)`

/** Columns that reports do not read, so that a change of them leaves the packed rows as they are. */
const NOT_PACKED: ReadonlySet<string> = new Set<keyof TransactionRow>([
  ...(["base_minor", "base_currency", "rate", "rate_day", "is_open", "is_announced", "flags_json", "received_at", "order_id"] as const),
  ...(["external_id", "parent_key", "amount_rank", "note", "created_by", "sale_sequence", "visit_sequence", "person", "provider"] as const),
  "stated_at",
])

const NO_ROWS: readonly TransactionRow[] = []

const hole = (name: string): string => (name === "base_minor" ? "cast(? as integer)" : "?")
const INSERT = `insert into revenue_transactions (${COLUMN_NAMES.join(", ")}) values (${COLUMN_NAMES.map(hole).join(", ")})`

export class Book {
  readonly #rows: RowStatements
  readonly #siteId: number
  /** Rows that were read or written, and null for those that were deleted. */
  readonly #known = new Map<number, TransactionRow | null>()
  /** Ids of the rows with a value, for the values that were looked up. A changed row is in the list of its value. */
  readonly #lists: Record<Listed, Map<string | number, number[]>> = { order_id: new Map(), parent_key: new Map(), parent_id: new Map() }
  readonly #keys = new Map<string, number | null>()
  /** The further IDs of its sales, and the IDs that providers have voided. */
  readonly aliases: Aliases
  readonly marks: Marks
  readonly #parentKeys: Presence
  readonly #imported: Presence
  readonly #namedOtherwise: Presence
  // What is to be written.
  readonly #inserted = new Set<number>()
  readonly #changed = new Map<number, Set<string>>()
  readonly #deleted = new Set<number>()
  #nextId: number | undefined
  /** Ids of the rows whose packed rows are out of date. */
  readonly unpacked = new Set<number>()

  constructor(rows: RowStatements, siteId: number) {
    this.#rows = rows
    this.#siteId = siteId
    this.aliases = new Aliases(rows, siteId)
    this.marks = new Marks(rows, siteId)
    this.#parentKeys = new Presence(rows, siteId, sql`revenue_transactions where parent_key is not null and`)
    this.#imported = new Presence(rows, siteId, sql`revenue_transactions where import_id > 0 and`)
    this.#namedOtherwise = new Presence(rows, siteId, sql`revenue_transactions where ${NAMED_OTHERWISE} and`)
  }

  /** Reads what claims are about with one statement for each kind, instead of one for each claim. */
  prefetch({ keys, aliases, orders, parentKeys }: Wanted): void {
    this.#loadKeys(keys)
    this.marks.load(keys)
    this.load(this.aliases.load(aliases))
    this.#loadLists("order_id", orders)
    this.#loadLists("parent_key", parentKeys)
  }

  /** Takes rows that are as they are stored. */
  adopt(rows: readonly TransactionRow[]): void {
    for (const row of rows) this.#known.set(row.id, row)
  }

  /** Returns whether an id was given to a row by this book. */
  isNew(id: number): boolean {
    return this.#firstId !== undefined && id >= this.#firstId
  }

  byId(id: number): TransactionRow | undefined {
    if (!this.#known.has(id)) this.load([id])
    return this.#known.get(id) ?? undefined
  }

  /** Reads rows by id at once. */
  load(ids: readonly number[]): void {
    const missing = ids.filter((id) => !this.#known.has(id))
    if (missing.length === 0) return
    // The plus keeps the planner from reading all transactions of the site, of which it expects few.
    this.#take(sql`id in (select value from json_each(${JSON.stringify(missing)})) and +site_id = ${this.#siteId}`)
    for (const id of missing) if (!this.#known.has(id)) this.#known.set(id, null)
  }

  /** Reads the rows of the site that match a condition. Rows that were changed since are as they are in memory. */
  select(condition: Sql): TransactionRow[] {
    // The condition says which index is used. The plus keeps the planner from reading all transactions of the site.
    return this.#take(sql`+site_id = ${this.#siteId} and ${condition}`).flatMap(({ id }) => this.byId(id) ?? [])
  }

  byKey(key: Key): TransactionRow | undefined {
    const text = keyText(key)
    if (!this.#keys.has(text)) this.#loadKeys([key])
    const id = this.#keys.get(text) ?? undefined
    return id === undefined ? undefined : this.byId(id)
  }

  /** Returns the sale with an ID of a provider. */
  saleByPaymentId(provider: Provider, id: string): TransactionRow | undefined {
    return this.byKey({ provider, external_id: id, type: "sale" }) ?? this.#saleByAlias(provider, id)
  }

  /** Returns the sale of an order. */
  saleByOrder(orderId: string): TransactionRow | undefined {
    return this.#listed("order_id", orderId).find(({ type }) => type === "sale") ?? this.#saleByAlias(ORDER, orderId)
  }

  #saleByAlias(provider: AliasOwner, alias: string): TransactionRow | undefined {
    const found = this.aliases.find(provider, alias)
    return found && this.byId(found.transaction_id)
  }

  /** Returns the refunds, disputes and adjustments that are linked to a sale, by id. */
  linkedTo(saleId: number): readonly TransactionRow[] {
    return this.#listed("parent_id", saleId)
  }

  /** Returns the transactions that wait for a sale with an ID, by id. */
  waitingFor(column: "parent_key" | "order_id", value: string): readonly TransactionRow[] {
    const listed = this.#listed(column, value)
    return listed.length === 0 ? listed : listed.filter(({ parent_id, type }) => parent_id === null && type !== "sale")
  }

  /** Inserts a row, which gets an id unless it has one, and returns the id. */
  insert(values: NewRow): number {
    const id = values.id ?? this.#newId(values)
    const row = values as TransactionRow // completed here
    row.id = id
    row.site_id = this.#siteId
    if (!this.#known.has(id)) this.#lists.parent_id.set(id, []) // a new id has no linked rows
    this.#known.set(id, row)
    if (id !== this.#firstId) this.#inserted.add(id)
    this.#changed.delete(id)
    this.unpacked.add(id)
    this.#keys.set(keyText(row), id)
    for (const column of LISTED) this.#enlist(column, row)
    return id
  }

  /** Changes a row. Values that it has already are not written. */
  update(id: number, values: Values): void {
    const row = this.byId(id)
    if (!row) return
    const names = (Object.keys(values) as (keyof Values)[]).filter((name) => values[name] !== row[name])
    if (names.length === 0) return
    const next: TransactionRow = { ...row, ...values }
    const hasOtherKey = next.external_id !== row.external_id || next.provider !== row.provider || next.type !== row.type
    // The list of its order is read by the key that it has in the table.
    if (hasOtherKey && row.order_id !== null) this.#listed("order_id", row.order_id)
    const listed = LISTED.filter((column) => names.includes(column))
    this.#delist(row, listed)
    this.#known.set(id, next)
    for (const column of listed) this.#enlist(column, next)
    if (hasOtherKey) {
      this.#keys.set(keyText(row), null)
      this.#keys.set(keyText(next), id)
    }
    if (names.some((name) => !NOT_PACKED.has(name))) this.unpacked.add(id)
    if (this.#inserted.has(id)) return
    const changed = this.#changed.get(id) ?? new Set()
    this.#changed.set(id, changed)
    for (const name of names) changed.add(name)
  }

  delete(id: number): void {
    const row = this.byId(id)
    if (!row) return
    this.#delist(row, LISTED)
    this.#known.set(id, null)
    this.#keys.set(keyText(row), null)
    this.#changed.delete(id)
    this.unpacked.add(id)
    if (!this.#inserted.delete(id)) this.#deleted.add(id)
  }

  /** Writes everything that was changed. */
  flush(): void {
    const { run, runEach } = this.#rows
    if (this.#deleted.size > 0)
      run(sql`delete from revenue_transactions where id in (select value from json_each(${JSON.stringify([...this.#deleted])}))`)
    // Rows that get the same columns share a prepared statement.
    for (const [names, changes] of Map.groupBy(this.#changed, ([, changed]) => [...changed].sort().join())) {
      const columns = names.split(",") as (keyof TransactionRow)[]
      const text = `update revenue_transactions set ${columns.map((name) => `${name} = ${hole(name)}`).join(", ")} where id = ?`
      runEach(
        text,
        changes.map(([id]) => [...columns.map((name) => this.byId(id)![name]), id]), // a changed row exists
      )
    }
    runEach(
      INSERT,
      [...this.#inserted].map((id) => valuesOf(this.byId(id)!)), // as above
    )
    this.aliases.flush()
    this.marks.flush()
    for (const written of [this.#deleted, this.#changed, this.#inserted]) written.clear()
  }

  /** Id of the row that was inserted at once. */
  #firstId: number | undefined

  /** Returns the id of a new row. The first one is inserted at once, because only the table knows which ids were used. */
  #newId(values: NewRow): number {
    if (this.#nextId === undefined) {
      this.flush() // the new row can have a key that another one has left
      const row = { ...values, site_id: this.#siteId }
      const names = COLUMN_NAMES.filter((name) => name !== "id")
      const text = `insert into revenue_transactions (${names.join(", ")}) values (${names.map(hole).join(", ")}) returning id`
      const { id } = this.#rows.get<{ id: number }>({ text, values: names.map((name) => row[name]) })! // an insert returns its row
      this.#firstId = id
      this.#nextId = id + 1
      return id
    }
    return this.#nextId++
  }

  #listed(column: Listed, value: string | number): readonly TransactionRow[] {
    if (column === "parent_key" && this.#parentKeys.isAbsent() && this.#lists.parent_key.size === 0) return NO_ROWS
    if (!this.#lists[column].has(value)) this.#loadLists(column, [value])
    const ids = this.#lists[column].get(value)
    return ids?.length ? ids.toSorted((a, b) => a - b).map((id) => this.byId(id)!) : NO_ROWS // only rows that exist are listed
  }

  /** Adds a row to the list of its value, which is read first: a list contains all rows of a value. */
  #enlist(column: Listed, row: TransactionRow): void {
    const value = row[column]
    if (value === null) return
    if (!this.#lists[column].has(value)) this.#loadLists(column, [value])
    const ids = this.#lists[column].get(value)
    if (!ids) this.#lists[column].set(value, [row.id])
    else if (!ids.includes(row.id)) ids.push(row.id)
  }

  #delist(row: TransactionRow, columns: readonly Listed[]): void {
    for (const column of columns) {
      const value = row[column]
      const ids = value === null ? undefined : this.#lists[column].get(value)
      if (ids?.includes(row.id)) ids.splice(ids.indexOf(row.id), 1)
    }
  }

  /** Reads rows, and keeps those that are not known yet. */
  #take(condition: Sql): TransactionRow[] {
    const read = this.#rows.all<TransactionRow>(sql`select ${COLUMNS} from revenue_transactions where ${condition}`)
    for (const row of read) if (!this.#known.has(row.id)) this.#known.set(row.id, row)
    return read
  }

  #loadLists(column: Listed, values: readonly (string | number)[]): void {
    const lists = this.#lists[column]
    const missing = values.filter((value) => !lists.has(value))
    if (missing.length === 0) return
    if (column === "parent_key" && this.#parentKeys.isAbsent(missing.length)) return
    for (const value of missing) lists.set(value, [])
    const found = column === "order_id" ? this.#idsOfOrders(missing.map(String)) : this.#idsWith(column, missing)
    for (const id of found) {
      const row = this.#known.get(id)
      const value = row?.[column] ?? null
      const ids = value === null ? undefined : lists.get(value)
      if (ids && !ids.includes(id)) ids.push(id)
    }
  }

  /** Returns the ids of the rows in the table that have one of some values. */
  #idsWith(column: Listed, values: readonly (string | number)[], condition = sql`true`): number[] {
    const site = column === "parent_id" ? sql`+site_id` : sql`site_id` // the other indexes begin with the site
    const isListed = sql`${raw(column)} in (select value from json_each(${JSON.stringify(values)})) and ${site} = ${this.#siteId}`
    return this.#take(sql`${isListed} and ${condition}`).map(({ id }) => id)
  }

  /** Returns the ids of the rows in the table that are about orders. Tracked sales are found by their own ID. */
  #idsOfOrders(orders: readonly string[]): number[] {
    const providers: readonly Provider[] = this.#imported.isAbsent(orders.length) ? ["tracker"] : ["tracker", "import"]
    const keys = orders.flatMap((order) => providers.map((provider): Key => ({ provider, external_id: `order:${order}`, type: "sale" })))
    this.#loadKeys(keys)
    const named = keys.flatMap((key) => this.#keys.get(keyText(key)) ?? [])
    return this.#namedOtherwise.isAbsent(orders.length) ? named : [...named, ...this.#idsWith("order_id", orders, NAMED_OTHERWISE)]
  }

  #loadKeys(keys: readonly Key[]): void {
    const missing = keys.filter((key) => !this.#keys.has(keyText(key)))
    if (missing.length === 0) return
    for (const key of missing) this.#keys.set(keyText(key), null)
    const found = [...Map.groupBy(missing, ({ provider, type }) => `${provider} ${type}`).values()].flatMap((keys) => {
      const [{ provider, type }] = keys as [Key] // a group has a key
      const ids = JSON.stringify(keys.map(({ external_id }) => external_id))
      return this.#rows.all<{ id: number }>(sql`select id from revenue_transactions where site_id = ${this.#siteId}
        and provider = ${provider} and external_id in (select value from json_each(${ids})) and type = ${type}`)
    })
    this.load(found.map(({ id }) => id))
    for (const { id } of found) {
      const row = this.#known.get(id)
      if (row) this.#keys.set(keyText(row), id)
    }
  }
}

const valuesOf = (row: TransactionRow) => COLUMN_NAMES.map((name) => row[name])
