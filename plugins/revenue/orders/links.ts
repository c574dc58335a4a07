/** What connects the transactions of an order: refunds with their sale, their common rate, and the flags of the sale. */
import { convert } from "../rates/rate.ts"
import type { Provider, TransactionRow } from "./transaction.ts"
import type { RevenueWriter } from "./writer.ts"

/** The largest number that a column can hold. A converted amount beyond it counts as not convertible. */
const MAX_INTEGER = 2n ** 63n - 1n

/** The columns of a converted amount. */
export type Conversion = Pick<TransactionRow, "base_minor" | "base_currency" | "rate" | "rate_day">

const NOT_CONVERTED: Conversion = { base_minor: null, base_currency: null, rate: null, rate_day: null }

/** Converts an amount to the base currency, with the rate of a time's day. */
export function conversionOf(
  { settings, lookup, dayOf }: RevenueWriter,
  { currency, amount_minor }: Pick<TransactionRow, "currency" | "amount_minor">,
  at: number,
): Conversion {
  const base = settings.baseCurrency
  if (currency === base) return { base_minor: String(amount_minor), base_currency: base, rate: "1", rate_day: dayOf(at) }
  const factor = lookup(currency, base, dayOf(at))
  if (!factor) return NOT_CONVERTED
  const minor = convert(amount_minor, currency, base, factor)
  if (minor > MAX_INTEGER || minor < -MAX_INTEGER) return NOT_CONVERTED
  return { base_minor: minor.toString(), base_currency: base, rate: factor.text, rate_day: factor.day }
}

/** Converts a transaction again, with the rate of its day, or of the day of its sale. */
export function convertRow(writer: RevenueWriter, row: TransactionRow, sale?: TransactionRow): void {
  writer.book.update(row.id, conversionOf(writer, row, (sale ?? row).occurred_at))
}

/** Converts transactions again, those that are linked to a sale with the rate of its day. */
export function convertRows(writer: RevenueWriter, rows: readonly TransactionRow[]): void {
  const { book } = writer
  book.load(rows.flatMap(({ parent_id }) => parent_id ?? []))
  for (const row of rows) convertRow(writer, row, row.parent_id === null ? undefined : book.byId(row.parent_id))
}

/** Converts the refunds of a sale again, after its day, amount or currency changed. */
export function relink(writer: RevenueWriter, sale: TransactionRow): void {
  for (const row of writer.book.linkedTo(sale.id)) convertRow(writer, row, sale)
}

/** Links the transactions that came before their sale, by one of its IDs or by its order. Returns whether there were any. */
export function linkWaiting(
  writer: RevenueWriter,
  saleId: number,
  ids: readonly string[],
  provider: Provider,
  orderId: string | null,
): boolean {
  const { book } = writer
  const found: TransactionRow[] = []
  for (const id of ids)
    for (const row of book.waitingFor("parent_key", id)) if (row.provider === provider || id === orderId) found.push(row)
  if (orderId !== null) found.push(...book.waitingFor("parent_key", orderId), ...book.waitingFor("order_id", orderId))
  if (found.length === 0) return false
  const sale = book.byId(saleId)! // written in this transaction
  for (const row of new Map(found.map((each) => [each.id, each])).values()) {
    book.update(row.id, { parent_id: saleId })
    convertRow(writer, row, sale)
  }
  return true
}

/** Sets the flags of a sale: whether it is disputed, and whether more was paid back than it brought in. Hidden imports do not count. */
export function settle({ book, isShown }: RevenueWriter, saleId: number): void {
  const linked = book.linkedTo(saleId).filter(isShown)
  const sale = book.byId(saleId)
  if (!sale || (linked.length === 0 && sale.flags_json === "[]")) return
  const paidBack = linked
    .filter(({ currency }) => currency === sale.currency)
    .reduce((sum, { type, amount_minor }) => sum + (type === "adjustment" ? -BigInt(amount_minor) : BigInt(amount_minor)), 0n)
  const flags = [
    ...(linked.some(({ type }) => type === "dispute") ? ["disputed"] : []),
    ...(paidBack > BigInt(sale.amount_minor) ? ["over_refunded"] : []),
  ]
  book.update(saleId, { flags_json: JSON.stringify(flags) })
}
