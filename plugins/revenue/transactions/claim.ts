/** What a sale event, a payment object or a member says about a transaction, in one form. */
import type { SaleItem, TransactionType } from "#plugin"
import type { Provider, Trust } from "./transaction.ts"

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
  person: string | null
  created_by: number | null
  note: string | null
  /** Sequence of the sale event, and the name of the event. */
  sale_sequence: number | null
  visit_sequence: number | null
  event: string
}

/** The fields that most claims leave empty. */
export const NO_DETAILS = {
  ...{ aliases: [], parent_key: null, amount_rank: 1, tax_minor: 0, shipping_minor: 0, discount_minor: 0, items: [] },
  ...{ recurring: null, import_id: 0, person: null, created_by: null, note: null, sale_sequence: null, visit_sequence: null, event: "" },
} as const

/** The fields of a refund that a member adds to a sale. */
export const NO_DETAILS_OF_REFUND = { ...NO_DETAILS, type: "refund", provider: "manual", external_id: null, trust: "server" } as const
