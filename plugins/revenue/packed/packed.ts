/** The packed rows of transactions: one for each touch that a model of attribution credits, and one for each item. */
import type { PackedColumns, PackedValue, RowColumns, SaleItem } from "#plugin"
import { type Dimensions, dimensionsOf, TOUCH_DIMENSIONS, touchesOf } from "../orders/frozen.ts"
import type { TransactionRow } from "../orders/transaction.ts"
import { creditsOf, MODELS } from "./models.ts"

/** The dimensions of a visit, and the name of the event, by which transactions can be filtered. */
export const FILTER_DIMENSIONS = [
  ...(["entry_page", "hostname", "source", "referrer", "channel", "utm_source", "utm_medium", "utm_campaign", "utm_term"] as const),
  ...(["utm_content", "country", "region", "city", "device", "browser", "os", "language", "event"] as const),
] as const

/** Name of the column with a dimension of the credited touch. */
export function touchColumn(dimension: (typeof TOUCH_DIMENSIONS)[number]): string {
  return `touch_${dimension}`
}

/** Converts pseudonyms to the numbers of visitors. */
export type Numberer = (pseudonyms: readonly string[]) => number[]

/** A transaction, and the sale that it is linked to: its visit and touches credit the transaction. */
export interface Source {
  own: TransactionRow
  sale: TransactionRow | undefined
}

/** The rows to pack of some transactions. */
export interface Packed {
  credits: RowColumns
  items: RowColumns
}

/** A row to pack. */
interface Line {
  own: TransactionRow
  credited: TransactionRow
  dims: Dimensions
  /** Ordinal of the visitor plus 1, or 0 if none is known. */
  visitor: number
  isAttributed: boolean
  amount: number
  weight: number
  models: number
  part: number
  parts: number
  touch: Readonly<Partial<Record<(typeof TOUCH_DIMENSIONS)[number], string>>>
  item: SaleItem | undefined
}

type Columns<Value> = Readonly<Record<string, (line: Line) => Value>>

const NUMBERS: Columns<number> = {
  transaction_id: ({ own }) => own.id,
  at: ({ own }) => own.occurred_at,
  sale_at: ({ credited }) => credited.occurred_at,
  sale_id: ({ own, credited }) => (own === credited && own.type !== "sale" ? 0 : credited.id),
  amount: ({ amount }) => amount,
  weight: ({ weight }) => weight,
  visitor: ({ visitor }) => visitor,
  is_known: ({ visitor }) => (visitor === 0 ? 0 : 1),
  is_attributed: ({ isAttributed }) => (isAttributed ? 1 : 0),
  link_id: ({ credited }) => credited.link_id ?? 0,
  import_id: ({ own }) => own.import_id,
  import_at: ({ own }) => own.visit_started_at ?? own.occurred_at,
  models: ({ models }) => models,
  part: ({ part }) => part,
  parts: ({ parts }) => parts,
}

const TEXTS: Columns<string> = {
  type: ({ own }) => own.type,
  currency: ({ own }) => own.currency,
  trust: ({ own }) => own.trust,
  recurring: ({ credited }) => credited.recurring ?? "",
  visitor_kind: ({ credited }) => credited.visitor_kind ?? "",
}

const ITEM_TEXTS: Columns<string> = {
  sku: ({ item }) => item?.sku ?? "",
  name: ({ item }) => item?.name ?? "",
  category: ({ item }) => item?.category ?? "",
  product: ({ item }) => item?.name || item?.sku || "",
}

const TOUCH_COLUMNS = TOUCH_DIMENSIONS.map((name) => [name, touchColumn(name)] as const)

/** The columns of credits. Those of the touch are of the credited one, the other dimensions those of the visit. */
export const CREDIT_COLUMNS: PackedColumns = {
  numbers: Object.keys(NUMBERS),
  texts: [...Object.keys(TEXTS), ...FILTER_DIMENSIONS, ...TOUCH_COLUMNS.map(([, column]) => column)],
}
/** The columns of items. The amount is that of the item, the weight the number of its pieces. */
export const ITEM_COLUMNS: PackedColumns = {
  numbers: Object.keys(NUMBERS),
  texts: [...Object.keys(TEXTS), ...FILTER_DIMENSIONS, ...Object.keys(ITEM_TEXTS)],
}

/** Returns the rows to pack of transactions. */
export function packedRowsOf(sources: readonly Source[], numberer: Numberer): Packed {
  const credits: Line[] = []
  const items: Line[] = []
  const visitors = sources.flatMap(({ own, sale }) => (sale ?? own).visitor ?? [])
  const numbers = numberer(visitors)[Symbol.iterator]()
  for (const { own, sale } of sources) {
    const credited = sale ?? own
    const dims = dimensionsOf(credited)
    const visitor = credited.visitor === null ? 0 : numbers.next().value! + 1 // one for each visitor
    const isAttributed = visitor !== 0 || credited.visit_started_at !== null
    const weight = own.type === "sale" ? 1 : 0
    const line = { own, credited, dims, visitor, isAttributed }
    const touches = touchesOf(credited)
    for (const { touch, models, part, parts } of creditsOf(touches, dims, isAttributed))
      credits.push({ ...line, amount: own.amount_minor, weight: 100 * weight, models, part, parts, touch, item: undefined })
    const sold = own.items_json === "[]" ? [] : (JSON.parse(own.items_json) as SaleItem[]) // written by this plugin
    for (const item of sold) {
      const ofItem = { amount: item.total_minor, weight: weight * item.quantity, models: MODELS.last_touch, part: 0, parts: 1 }
      items.push({ ...line, ...ofItem, touch: NO_TOUCH, item })
    }
  }
  return { credits: columnsOf(credits, CREDIT_READERS), items: items.length === 0 ? NO_ROWS : columnsOf(items, ITEM_READERS) }
}

type Reader = readonly [name: string, read: (line: Line) => PackedValue]
const CREDIT_READERS: readonly Reader[] = Object.entries<Reader[1]>({ ...NUMBERS, ...TEXTS })
const ITEM_READERS: readonly Reader[] = [...CREDIT_READERS, ...Object.entries(ITEM_TEXTS)]
const NO_ROWS: RowColumns = { count: 0, columns: {} }

const NO_TOUCH = {}

function columnsOf(lines: readonly Line[], readers: readonly Reader[]): RowColumns {
  const columns: Record<string, PackedValue[]> = {}
  for (const [name, read] of readers) columns[name] = lines.map(read)
  // Most dimensions are missing.
  const add = (column: string, row: number, text: string): void => {
    columns[column] ??= new Array<string>(lines.length).fill("")
    columns[column][row] = text
  }
  for (const [row, { dims, touch }] of lines.entries()) {
    for (const name of FILTER_DIMENSIONS) if (dims[name] !== undefined) add(name, row, dims[name])
    for (const [name, column] of TOUCH_COLUMNS) if (touch[name] !== undefined) add(column, row, touch[name])
  }
  return { count: lines.length, columns }
}
