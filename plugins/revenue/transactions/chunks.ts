import { type PackedColumns, packedObjects, packRows, type RowStatements, raw, type SaleItem, sql, unpackRows } from "#plugin"
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
 * the change.
 */
export function packTransactions(rows: RowStatements, siteId: number, ids: Iterable<number>, numberer: Numberer): void {
  const changed = new Set(ids)
  for (const slice of slicesOf([...changed])) for (const { id } of linkedTo(rows, siteId, slice)) changed.add(id)
  const packed = [...changed].sort((a, b) => a - b)
  const current = slicesOf(packed).flatMap((slice) => packedRowsOf(sources(rows, siteId, slice), numberer))
  const byChunk = Map.groupBy(current, ({ id }) => chunkOf(id))
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
  const kept = (bytes: Uint8Array | null | undefined, columns: PackedColumns): ChunkRow[] =>
    bytes ? packedObjects(unpackRows(bytes), columns).filter((row) => !ids.has(row.transaction_id as number)) : []
  const all = [...kept(before?.rows, CHUNK_COLUMNS), ...added.flatMap(({ credits }) => credits)]
  const items = [...kept(before?.items, ITEM_COLUMNS), ...added.flatMap((one) => one.items)]
  if (all.length === 0) {
    rows.run(sql`delete from revenue_chunks where site_id = ${siteId} and chunk = ${chunk}`)
    return
  }
  const [at, saleAt] = [spanOf(all, "at"), spanOf(all, "sale_at")]
  rows.run(sql`insert or replace into revenue_chunks
    (site_id, chunk, min_at, max_at, min_sale_at, max_sale_at, currencies, rows, items)
    values (${siteId}, ${chunk}, ${at.min}, ${at.max}, ${saleAt.min}, ${saleAt.max}, ${currenciesIn(all)}, ${packRows(all, CHUNK_COLUMNS)},
      ${items.length === 0 ? null : packRows(items, ITEM_COLUMNS)})`)
}

/** The currencies of a chunk, separated by spaces. */
const currenciesIn = (rows: readonly ChunkRow[]): string => [...new Set(rows.map(({ currency }) => currency))].sort().join(" ")

function spanOf(rows: readonly ChunkRow[], column: string): { min: number; max: number } {
  let [min, max] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const row of rows) {
    min = Math.min(min, row[column] as number)
    max = Math.max(max, row[column] as number)
  }
  return { min, max }
}

const SLICE = 500

function slicesOf(ids: readonly number[]): number[][] {
  return Array.from({ length: Math.ceil(ids.length / SLICE) }, (_, i) => ids.slice(i * SLICE, (i + 1) * SLICE))
}

const linkedTo = (rows: RowStatements, siteId: number, ids: readonly number[]): { id: number }[] =>
  rows.all(sql`select id from revenue_transactions
    where parent_id in (select value from json_each(${JSON.stringify(ids)})) and site_id = ${siteId}`)

/** A transaction, and the columns of what credits it: its sale if it is linked to one, otherwise itself. */
interface Source
  extends Pick<TransactionRow, "id" | "type" | "currency" | "amount_minor" | "trust" | "import_id" | "occurred_at" | "parent_id"> {
  sale_at: number
  own_started_at: number | null
  recurring: TransactionRow["recurring"]
  visitor: string | null
  visitor_kind: string | null
  visit_started_at: number | null
  link_id: number | null
  dims_json: string
  touches_json: string
  items_json: string
}

const CREDITING = raw(
  ["recurring", "visitor", "visitor_kind", "visit_started_at", "link_id", "dims_json", "touches_json"]
    .map((name) => `iif(sale.id is null, own.${name}, sale.${name}) as ${name}`)
    .join(", "),
)

const sources = (rows: RowStatements, siteId: number, ids: readonly number[]): Source[] =>
  rows.all(sql`select own.id, own.type, own.currency, own.amount_minor, own.trust, own.import_id, own.occurred_at, sale.id as parent_id,
      coalesce(sale.occurred_at, own.occurred_at) as sale_at, own.visit_started_at as own_started_at,
      own.items_json, ${CREDITING}
    from revenue_transactions own left join revenue_transactions sale on sale.id = own.parent_id
    where own.id in (select value from json_each(${JSON.stringify(ids)})) and own.site_id = ${siteId} order by own.id`)

function packedRowsOf(sources: readonly Source[], numberer: Numberer): Packed[] {
  const named = sources.filter(({ visitor }) => visitor !== null)
  const ordinals = numberer(named.map(({ visitor }) => visitor!))
  const ordinalOf = new Map(named.map(({ id }, i) => [id, ordinals[i]!]))
  return sources.map((source) => {
    const isSale = source.type === "sale"
    const dims = JSON.parse(source.dims_json) as Record<string, string> // written by this plugin
    const isAttributed = source.visitor !== null || source.visit_started_at !== null
    const shared: ChunkRow = {
      transaction_id: source.id,
      at: source.occurred_at,
      sale_at: source.sale_at,
      sale_id: isSale ? source.id : (source.parent_id ?? 0),
      amount: source.amount_minor,
      weight: isSale ? 100 : 0,
      visitor: (ordinalOf.get(source.id) ?? -1) + 1,
      is_known: source.visitor === null ? 0 : 1,
      is_attributed: isAttributed ? 1 : 0,
      link_id: source.link_id ?? 0,
      import_id: source.import_id,
      import_at: source.own_started_at ?? source.occurred_at,
      type: source.type,
      currency: source.currency,
      trust: source.trust,
      recurring: source.recurring ?? "",
      visitor_kind: source.visitor_kind ?? "",
      ...Object.fromEntries(FILTER_DIMENSIONS.map((name) => [name, dims[name] ?? ""])),
    }
    const touches = JSON.parse(source.touches_json) as FrozenTouch[] // as above
    return {
      id: source.id,
      credits: creditsOf(touches, dims, isAttributed).map((credit) => ({ ...shared, ...creditColumns(credit) })),
      items: (JSON.parse(source.items_json) as SaleItem[]).map((item) => ({ ...shared, ...itemColumns(item, isSale) })), // as above
    }
  })
}

const itemColumns = ({ sku = "", name = "", category = "", quantity, total_minor }: SaleItem, isSale: boolean): ChunkRow => ({
  ...{ models: MODELS.last_touch, part: 0, parts: 1 },
  ...{ sku, name, category, product: name || sku },
  amount: total_minor,
  weight: isSale ? quantity : 0,
})

const creditColumns = ({ touch, models, part, parts }: Credit): ChunkRow => ({
  models,
  part,
  parts,
  ...Object.fromEntries(FROZEN_TOUCH.map((name) => [touchColumn(name), touch[name] ?? ""])),
})
