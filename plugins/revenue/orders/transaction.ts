import { raw, type Sql, type TransactionType } from "#plugin"

/** Who reported a transaction. */
export const PROVIDERS = ["tracker", "manual", "import", "stripe", "paddle", "lemonsqueezy", "woocommerce", "shopify", "generic"] as const
export type Provider = (typeof PROVIDERS)[number]

/** How far an amount can be trusted, from a browser to a verified payment provider. A higher one replaces a lower one. */
export const TRUSTS = ["client", "server", "webhook"] as const
export type Trust = (typeof TRUSTS)[number]

/** Marks of a transaction, stored in `flags_json`. */
export const FLAGS = ["disputed", "over_refunded"] as const
export type Flag = (typeof FLAGS)[number]

/** A row of `revenue_transactions`. `base_minor` is text, because it can exceed 2^53. */
export interface TransactionRow {
  id: number
  site_id: number
  provider: Provider
  external_id: string
  type: TransactionType
  order_id: string | null
  parent_id: number | null
  /** External ID or alias of the sale, by which a refund that came first is linked later. */
  parent_key: string | null
  amount_minor: number
  amount_rank: number | null
  currency: string
  tax_minor: number
  shipping_minor: number
  discount_minor: number
  base_minor: string | null
  base_currency: string | null
  rate: string | null
  rate_day: string | null
  trust: Trust
  recurring: "first" | "renewal" | null
  import_id: number
  occurred_at: number
  /** When a provider, a member or an erased event says that it occurred. Null if its sale events alone say so. */
  stated_at: number | null
  received_at: number
  visitor: string | null
  visitor_kind: string | null
  visit_started_at: number | null
  /** Sequence of its event among the sale events. */
  sale_sequence: number | null
  /** Null without a visit, and of one that the retention has removed. */
  visit_sequence: number | null
  /** 2 until the visit was looked up, 1 while the visit can still change, 0 afterwards. */
  is_open: number
  /** 1 if it has no product event. Those of others are published up to the one in `revenue_announced`. */
  is_announced: number
  person: string | null
  link_id: number | null
  created_by: number | null
  note: string | null
  flags_json: string
  dims_json: string
  touches_json: string
  items_json: string
}

/** Identifies a transaction at its provider. */
export type Key = Pick<TransactionRow, "provider" | "external_id" | "type">
export const keyText = ({ provider, external_id, type }: Key): string => `${provider} ${type} ${external_id}`

/** Values of `is_open`: the visit was not looked up yet, or it can still change. */
export const NEW = 2
export const OPEN = 1

/** The columns of a transaction without a visit. */
export const NO_VISIT: Partial<TransactionRow> = {
  ...{ visitor: null, visitor_kind: null, visit_started_at: null, visit_sequence: null, sale_sequence: null, is_open: 0, person: null },
  ...{ link_id: null, dims_json: "{}", touches_json: "[]" },
}

/** What a transaction has of a visit that the retention has removed, and with it the sale event and `visit_sequence`. */
export type LostVisit = Pick<TransactionRow, "sale_sequence" | "visit_sequence" | "visitor" | "link_id" | "touches_json"> & {
  visit_started_at: number
}

/** Returns whether the retention has removed the visit of a tracked transaction, which keeps what it has of it. */
export const hasLostVisit = <Row extends Partial<Pick<TransactionRow, "sale_sequence" | "visit_sequence" | "visit_started_at">>>(
  row: Row,
): row is Row & LostVisit =>
  typeof row.sale_sequence === "number" && row.visit_sequence === null && typeof row.visit_started_at === "number"

/** The columns of a transaction of which nothing but its key and amount is known. */
export const EMPTY_ROW = {
  ...{ order_id: null, parent_id: null, parent_key: null, amount_rank: null, tax_minor: 0, shipping_minor: 0, discount_minor: 0 },
  ...{ base_minor: null, base_currency: null, rate: null, rate_day: null, recurring: null, import_id: 0, visitor: null },
  ...{ visitor_kind: null, visit_started_at: null, sale_sequence: null, visit_sequence: null, is_open: 0, is_announced: 0, person: null },
  ...{ link_id: null, created_by: null, note: null, flags_json: "[]", dims_json: "{}", touches_json: "[]", items_json: "[]" },
  stated_at: null,
} as const satisfies Partial<TransactionRow>

export const COLUMN_NAMES = [
  ...(["id", "site_id", "provider", "external_id", "type", "order_id", "parent_id", "parent_key", "amount_minor", "amount_rank"] as const),
  ...(["currency", "tax_minor", "shipping_minor", "discount_minor", "base_minor", "base_currency", "rate", "rate_day", "trust"] as const),
  ...(["recurring", "import_id", "occurred_at", "received_at", "visitor", "visitor_kind", "visit_started_at", "sale_sequence"] as const),
  ...(["visit_sequence", "is_open", "is_announced", "person", "link_id", "created_by", "note", "flags_json", "dims_json"] as const),
  ...(["touches_json", "items_json", "stated_at"] as const),
] as const satisfies readonly (keyof TransactionRow)[]

const columnsOf = (names: readonly string[]): Sql =>
  raw(names.map((name) => (name === "base_minor" ? `cast(${name} as text) as ${name}` : name)).join(", "))

/** The columns of a `TransactionRow`. */
export const COLUMNS = columnsOf(COLUMN_NAMES)

/** A row of a list, without the touches and items, which can be far larger than the rest. */
export type ListedRow = Omit<TransactionRow, "touches_json" | "items_json">
export const LISTED_COLUMNS = columnsOf(COLUMN_NAMES.filter((name) => name !== "touches_json" && name !== "items_json"))
