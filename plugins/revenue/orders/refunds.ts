/** Refunds, disputes and adjustments: transactions of an order that change what it brought in. */
import type { Book, Values } from "./book.ts"
import { type Claim, rowOf } from "./claim.ts"
import { convertRow, settle } from "./links.ts"
import type { Recorded } from "./sales.ts"
import type { TransactionRow } from "./transaction.ts"
import type { RevenueWriter } from "./writer.ts"

/** Records a refund, dispute or adjustment. Without its sale it waits for it. Returns undefined if the provider has voided it. */
export function recordRefund(writer: RevenueWriter, claim: Claim): Recorded | undefined {
  const { book } = writer
  if (book.marks.has(claim)) return undefined
  const known = book.byKey(claim)
  const sale = saleOf(book, claim)
  const id = known ? update(writer, known, claim, sale) : insert(writer, claim, sale)
  const row = book.byId(id)! // written above
  convertRow(writer, row, row.parent_id === null ? undefined : book.byId(row.parent_id))
  if (row.parent_id !== null) settle(writer, row.parent_id)
  return { id, isNew: !known }
}

/** Removes a refund that failed, so that a later report of it is ignored. */
export function voidRefund(writer: RevenueWriter, claim: Claim): void {
  const row = writer.book.byKey(claim)
  if (row) deleteRefund(writer, row)
  writer.book.marks.add(claim)
}

export function deleteRefund(writer: RevenueWriter, { id, parent_id }: TransactionRow): void {
  writer.book.delete(id)
  if (parent_id !== null) settle(writer, parent_id)
}

/** Returns the sale of a refund: by the ID that the provider names, which can be that of the order, otherwise by the order. */
function saleOf(book: Book, { parent_id, parent_key, provider, order_id }: Claim): TransactionRow | undefined {
  if (parent_id !== undefined) return book.byId(parent_id)
  const byKey = parent_key === null ? undefined : (book.saleByPaymentId(provider, parent_key) ?? book.saleByOrder(parent_key))
  return byKey ?? (order_id === null ? undefined : book.saleByOrder(order_id))
}

const insert = ({ book, now }: RevenueWriter, claim: Claim, sale: TransactionRow | undefined): number =>
  book.insert({ ...rowOf(claim, now), parent_id: sale?.id ?? null })

/**
 * Adds what a repeated report says to a known refund. The amount of the lower rank wins. A refund that waits for the sale of its order is
 * not linked to that of another order.
 */
function update(writer: RevenueWriter, row: TransactionRow, claim: Claim, sale: TransactionRow | undefined): number {
  const isBetterRecord = claim.amount_rank < (row.amount_rank ?? 1)
  const isOtherOrder = row.order_id !== null && claim.order_id !== null && claim.order_id !== row.order_id
  const values: Values = {
    ...(isBetterRecord && { amount_minor: claim.amount_minor, amount_rank: claim.amount_rank, currency: claim.currency }),
    ...(row.parent_id === null && sale && !isOtherOrder && { parent_id: sale.id }),
    ...(row.order_id === null && claim.order_id !== null && { order_id: claim.order_id }),
    ...(row.parent_key === null && claim.parent_key !== null && { parent_key: claim.parent_key }),
  }
  writer.book.update(row.id, values)
  return row.id
}
