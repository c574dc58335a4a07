/** What a sale event, a payment object or a member says about a transaction, in one form. */
import type { SaleEvent, SaleItem, TransactionType } from "#plugin"
import type { NewRow, Values } from "./book.ts"
import { dimensionsText } from "./frozen.ts"
import { EMPTY_ROW, NEW, type Provider, type Trust } from "./transaction.ts"

export interface Claim {
  type: TransactionType
  provider: Provider
  external_id: string
  /** Other IDs of the same payment at the provider. */
  aliases: readonly string[]
  order_id: string | null
  /** External ID or alias of the sale. Null on sales. */
  parent_key: string | null
  /** Id of the sale, if it is already known. */
  parent_id?: number
  amount_minor: number
  amount_rank: number
  currency: string
  tax_minor: number
  shipping_minor: number
  discount_minor: number
  items: readonly SaleItem[]
  trust: Trust
  recurring: "first" | "renewal" | null
  import_id: number
  occurred_at: number
  /** The same, unless a sale event or an import says so. */
  stated_at: number | null
  person: string | null
  created_by: number | null
  note: string | null
  /** Sequence of the sale event, and the name of the event. */
  sale_sequence: number | null
  visit_sequence: number | null
  event: string
  /** Columns of the visit that led to it, if it was looked up already. A new transaction gets them. */
  visit?: Values | undefined
}

/** The fields that most claims leave empty. */
export const NO_DETAILS = {
  ...{ aliases: [], parent_key: null, amount_rank: 1, tax_minor: 0, shipping_minor: 0, discount_minor: 0, items: [] },
  ...{ recurring: null, import_id: 0, person: null, created_by: null, note: null, sale_sequence: null, visit_sequence: null, event: "" },
  stated_at: null,
} as const

/** The fields of a refund that a member adds to a sale. */
export const NO_DETAILS_OF_REFUND = { ...NO_DETAILS, type: "refund", provider: "manual", external_id: null, trust: "server" } as const

/** Returns the row of a new transaction. Events of imports are history, so they have no product event. */
export const rowOf = (claim: Claim, now: number): NewRow => ({
  ...EMPTY_ROW,
  id: undefined,
  provider: claim.provider,
  external_id: claim.external_id,
  type: claim.type,
  order_id: claim.order_id,
  parent_key: claim.parent_key,
  amount_minor: claim.amount_minor,
  amount_rank: claim.amount_rank,
  currency: claim.currency,
  tax_minor: claim.tax_minor,
  shipping_minor: claim.shipping_minor,
  discount_minor: claim.discount_minor,
  items_json: claim.items.length === 0 ? "[]" : JSON.stringify(claim.items),
  trust: claim.trust,
  recurring: claim.recurring,
  import_id: claim.import_id,
  occurred_at: claim.occurred_at,
  stated_at: claim.stated_at,
  received_at: now,
  person: claim.person,
  sale_sequence: claim.sale_sequence,
  visit_sequence: claim.visit_sequence,
  dims_json: claim.visit?.dims_json ?? dimensionsText({ event: claim.event }),
  is_open: claim.sale_sequence !== null || claim.person !== null ? NEW : 0,
  is_announced: claim.import_id === 0 ? 0 : 1,
  created_by: claim.created_by,
  note: claim.note,
  ...claim.visit,
})

/** Returns what a sale event says: a sale, or a refund if its amount is negative. */
export function claimOf(event: SaleEvent): Claim {
  const isSale = event.amount_minor >= 0
  return {
    ...NO_DETAILS,
    type: isSale ? "sale" : "refund",
    provider: event.import_id === 0 ? "tracker" : "import",
    external_id: isSale && event.order_id !== null ? `order:${event.order_id}` : `event:${event.sequence}`,
    amount_minor: Math.abs(event.amount_minor),
    order_id: event.order_id,
    currency: event.currency,
    trust: event.trust,
    import_id: event.import_id,
    occurred_at: event.at,
    sale_sequence: event.sequence,
    visit_sequence: event.visit_sequence,
    event: event.name,
  }
}
