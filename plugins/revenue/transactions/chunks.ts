import { type PackedColumns, type RowStatements, repackRows, type SaleItem, sql, unpackRows } from "#plugin"
import { Book } from "./book.ts"
import { type Credit, creditsOf, MODELS } from "./models.ts"
import { FROZEN_TOUCH, type FrozenTouch, type TransactionRow } from "./transaction.ts"

/** The dimensions of a visit, and the name of the event, by which transactions can be filtered. */
export const FILTER_DIMENSIONS = [
  ...(["entry_page", "hostname", "source", "referrer", "channel", "utm_source", "utm_medium", "utm_campaign", "utm_term"] as const),
  ...(["utm_content", "country", "region", "city", "device", "browser", "os", "language", "event"] as const),
] as const

/**
 * The transactions as the report reads them: packed column by column, the rows of 512 ids together, derived from `revenue_transactions`
 * in the transaction that changes it. Every transaction has one row for each touch that a model of attribution credits.
 */
export const CHUNK_COLUMNS: PackedColumns = {
  numbers: [
    ...["transaction_id", "at", "sale_at", "sale_id", "amount", "weight", "visitor", "is_known", "is_attributed", "link_id", "import_id"],
    ...["import_at", "models", "part", "parts"],
  ],
  texts: [
    ...["type", "currency", "trust", "recurring", "visitor_kind"],
    ...FILTER_DIMENSIONS,
    // Of the touch that is credited. The others are those of the visit.
    ...FROZEN_TOUCH.map(touchColumn),
  ],
}

/** The items of transactions, one row for each. The amount is that of the item, the weight the number of its pieces. */
export const ITEM_COLUMNS: PackedColumns = {
  numbers: CHUNK_COLUMNS.numbers,
  texts: [...CHUNK_COLUMNS.texts.filter((column) => !column.startsWith("touch_")), "sku", "name", "category", "product"],
}

export type ChunkRow = Record<string, string | number>

/** Name of the column with a dimension of the credited touch. */
export function touchColumn(dimension: (typeof FROZEN_TOUCH)[number]): string {
  return `touch_${dimension}`
}

/** Transactions whose ids have the same number without these low bits share a chunk. */
const CHUNK_BITS = 9
const chunkOf = (id: number): number => Math.floor(id / 2 ** CHUNK_BITS)

/** Converts pseudonyms to ordinals. */
export type Numberer = (pseudonyms: readonly string[]) => number[]

/**
 * Packs transactions of a site again that were inserted, changed or deleted, and those that are linked to them. Runs in the transaction of
 * the change, after it was written.
 */
export function packTransactions(
  rows: RowStatements,
  siteId: number,
  ids: Iterable<number>,
  numberer: Numberer,
  book = new Book(rows, siteId),
): void {
  const changed = [...ids]
  if (changed.length === 0) return
  const packed = [...new Set([...changed, ...linkedTo(rows, siteId, changed)])].sort((a, b) => a - b)
  book.load(packed)
  const current = packed.flatMap((id) => book.byId(id) ?? [])
  book.load(current.flatMap(({ parent_id }) => parent_id ?? []))
  const sources = current.map((own) => ({ own, sale: own.parent_id === null ? undefined : book.byId(own.parent_id) }))
  const byChunk = Map.groupBy(packedRowsOf(sources, numberer), ({ id }) => chunkOf(id))
  for (const [chunk, members] of Map.groupBy(packed, chunkOf)) replaceRows(rows, siteId, chunk, new Set(members), byChunk.get(chunk) ?? [])
}

/** The packed rows of a transaction. */
interface Packed {
  id: number
  credits: ChunkRow[]
  items: ChunkRow[]
}

function replaceRows(rows: RowStatements, siteId: number, chunk: number, ids: ReadonlySet<number>, added: readonly Packed[]): void {
  const before = rows.get<{ rows: Uint8Array; items: Uint8Array | null }>(
    sql`select rows, items from revenue_chunks where site_id = ${siteId} and chunk = ${chunk}`,
  )
  const credits = added.flatMap((one) => one.credits)
  const all = repacked(before?.rows, ids, credits, CHUNK_COLUMNS)
  const items = repacked(
    before?.items,
    ids,
    added.flatMap((one) => one.items),
    ITEM_COLUMNS,
  )
  if (!all) {
    rows.run(sql`delete from revenue_chunks where site_id = ${siteId} and chunk = ${chunk}`)
    return
  }
  const packed = unpackRows(all)
  const [at, saleAt] = [spanOf(packed.numbers("at")), spanOf(packed.numbers("sale_at"))]
  const currencies = packed.texts("currency").values.toSorted().join(" ")
  rows.run(sql`insert or replace into revenue_chunks
    (site_id, chunk, min_at, max_at, min_sale_at, max_sale_at, currencies, rows, items)
    values (${siteId}, ${chunk}, ${at.min}, ${at.max}, ${saleAt.min}, ${saleAt.max}, ${currencies}, ${all}, ${items ?? null})`)
}

/** Replaces the packed rows of some transactions. Returns undefined if no rows are left. */
function repacked(
  bytes: Uint8Array | null | undefined,
  replaced: ReadonlySet<number>,
  added: readonly ChunkRow[],
  columns: PackedColumns,
): Uint8Array | undefined {
  const before = bytes ? unpackRows(bytes) : undefined
  const kept: number[] = []
  before?.numbers("transaction_id").forEach((id, row) => void (replaced.has(id) || kept.push(row)))
  return kept.length + added.length === 0 ? undefined : repackRows(before, kept, added, columns)
}

function spanOf(values: Float64Array): { min: number; max: number } {
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const value of values) {
    if (value < min) min = value
    if (value > max) max = value
  }
  return { min, max }
}

/** The plus keeps the planner from reading all transactions of the site, of which it expects few. */
const linkedTo = (rows: RowStatements, siteId: number, ids: readonly number[]): number[] =>
  rows
    .all<{ id: number }>(sql`select id from revenue_transactions
      where parent_id in (select value from json_each(${JSON.stringify(ids)})) and +site_id = ${siteId}`)
    .map(({ id }) => id)

/** A transaction, and the sale that it is linked to: its visit and touches credit the transaction. */
interface Source {
  own: TransactionRow
  sale: TransactionRow | undefined
}

function packedRowsOf(sources: readonly Source[], numberer: Numberer): Packed[] {
  const visitors = sources.flatMap(({ own, sale }) => (sale ?? own).visitor ?? [])
  const ordinals = numberer(visitors)
  const ordinalOf = new Map(visitors.map((visitor, i) => [visitor, ordinals[i]!]))
  return sources.map(({ own, sale }) => {
    const credited = sale ?? own
    const { visitor } = credited
    const dims = JSON.parse(credited.dims_json) as Record<string, string> // written by this plugin
    const isAttributed = visitor !== null || credited.visit_started_at !== null
    const isSale = own.type === "sale"
    const shared: ChunkRow = {
      transaction_id: own.id,
      at: own.occurred_at,
      sale_at: credited.occurred_at,
      sale_id: isSale ? own.id : (sale?.id ?? 0),
      amount: own.amount_minor,
      weight: isSale ? 100 : 0,
      visitor: visitor === null ? 0 : ordinalOf.get(visitor)! + 1,
      is_known: visitor === null ? 0 : 1,
      is_attributed: isAttributed ? 1 : 0,
      link_id: credited.link_id ?? 0,
      import_id: own.import_id,
      import_at: own.visit_started_at ?? own.occurred_at,
      models: 0,
      part: 0,
      parts: 1,
      type: own.type,
      currency: own.currency,
      trust: own.trust,
      recurring: credited.recurring ?? "",
      visitor_kind: credited.visitor_kind ?? "",
    }
    for (const name of FILTER_DIMENSIONS) shared[name] = dims[name] ?? ""
    const items = own.items_json === "[]" ? [] : (JSON.parse(own.items_json) as SaleItem[]) // as above
    const touches = credited.touches_json === "[]" ? [] : (JSON.parse(credited.touches_json) as FrozenTouch[]) // as above
    return {
      id: own.id,
      items: items.map((item) => ({ ...shared, ...itemColumns(item, isSale) })),
      credits: creditsOf(touches, dims, isAttributed).map((credit) => creditRow(shared, credit)),
    }
  })
}

const itemColumns = ({ sku = "", name = "", category = "", quantity, total_minor }: SaleItem, isSale: boolean): ChunkRow => ({
  models: MODELS.last_touch,
  ...{ sku, name, category, product: name || sku },
  amount: total_minor,
  weight: isSale ? quantity : 0,
})

const TOUCH_COLUMNS = FROZEN_TOUCH.map((name) => ({ name, column: touchColumn(name) }))

function creditRow(shared: ChunkRow, { touch, models, part, parts }: Credit): ChunkRow {
  const row: ChunkRow = { ...shared, models, part, parts }
  for (const { name, column } of TOUCH_COLUMNS) row[column] = touch[name] ?? ""
  return row
}
