/** Responses of transactions. The dashboard takes its types from here as well. */
import { type Static, Type as t } from "@sinclair/typebox"
import {
  field,
  formatMoney,
  instantOrNull,
  instantText,
  Money,
  orNull,
  SaleItem,
  TRANSACTION_TYPES,
  type TransactionType,
  textOf,
} from "#plugin"
import { dimensionsOf, touchesOf } from "../orders/frozen.ts"
import { FLAGS, type ListedRow, PROVIDERS, type Provider, TRUSTS, type TransactionRow, type Trust } from "../orders/transaction.ts"

/** Marks of a transaction in answers: the stored ones, and that its visit is unknown. */
export const SHOWN_FLAGS = [...FLAGS, "unattributed"] as const
/** Returns the schema of an amount, described as what it is an amount of. */
export const money = (description: string) => t.Composite([Money], { description })
const textOrNull = (description: string) => orNull(t.String(), { description })

const FIELDS = {
  id: field.id("ID of the transaction."),
  type: textOf<TransactionType>({ description: `Type: ${TRANSACTION_TYPES.join(", ")}.` }),
  provider: textOf<Provider>({ description: `Who reported it: ${PROVIDERS.join(", ")}.` }),
  external_id: field.text("ID of the transaction at the provider."),
  order_id: textOrNull("ID of the order. null without one."),
  parent_id: orNull(t.Integer(), { description: "ID of the sale. null on sales, and while the sale is unknown." }),
  amount: money("Amount. Negative only on adjustments."),
  tax: money("Tax that the amount contains."),
  shipping: money("Shipping costs that the amount contains."),
  discount: money("Discount that the amount no longer contains."),
  base: orNull(
    t.Object({
      amount: money("Converted amount."),
      rate: field.text("Factor of the conversion: `1.0853`, `1/1.0853`, or `0.86/1.0853` through a third currency."),
      rate_day: field.text("Day of the rate."),
    }),
    { description: "Amount in the base currency. null without a rate." },
  ),
  trust: textOf<Trust>({ description: `How far the amount can be trusted: ${TRUSTS.join(", ")}.` }),
  recurring: orNull(textOf<"first" | "renewal">(), {
    description: "`first` or `renewal` for a payment of a subscription. null for others.",
  }),
  flags: t.Array(textOf<(typeof SHOWN_FLAGS)[number]>(), { description: `Marks: ${SHOWN_FLAGS.join(", ")}.` }),
  source: textOrNull("Source of its visit. null for direct visits and without a visit."),
  channel: textOrNull("Channel of its visit. null without a visit."),
  country: textOrNull("Country of its visit, as an ISO 3166-1 code. null when it is unknown."),
  person: t.Optional(textOrNull("Token of the visitor. Present only with the permission `people:read`.")),
  import_id: orNull(t.Integer(), { description: "ID of the import. null for others." }),
  note: textOrNull("Note of the member who added it."),
  created_by: orNull(t.Integer(), { description: "ID of the user who added it. null for others." }),
  occurred_at: field.instant("Time of the transaction."),
  received_at: field.instant("Time at which Footfall first learned of it."),
}

export const TransactionResponse = t.Object(FIELDS, { title: "Transaction" })
export type TransactionResponse = Static<typeof TransactionResponse>

const Texts = (description: string) => t.Record(t.String(), t.String(), { description })

export const TransactionDetail = t.Object(
  {
    ...FIELDS,
    visit_started_at: orNull(field.instant("Start of its visit."), { description: "Start of its visit. null without a visit." }),
    dimensions: Texts("Dimensions of its visit, without missing ones."),
    link_id: orNull(t.Integer(), { description: "ID of the short link that the visitor last clicked. null without one." }),
    touches: t.Array(
      t.Object({
        at: field.instant("Start of the visit."),
        dimensions: Texts("Dimensions of the visit, without missing ones. Without `source` the visit was direct."),
      }),
      { description: "Visits that can be credited, oldest first." },
    ),
    items: t.Array(SaleItem, { description: "Line items." }),
    transactions: t.Array(TransactionResponse, { description: "Refunds, disputes and adjustments of a sale, or the sale of others." }),
    ids: t.Array(t.Object({ provider: field.text("Provider, or `order` for an ID of the order."), id: field.text("ID.") }), {
      description: "All IDs by which the transaction is known.",
    }),
  },
  { title: "TransactionDetail" },
)
export type TransactionDetail = Static<typeof TransactionDetail>

export const TransactionList = t.Object(
  { data: t.Array(TransactionResponse, { description: "Added transactions, in the order in which they were sent." }) },
  { title: "AddedTransactions" },
)

/** What a caller sees of a transaction. */
export interface Sight {
  seesPeople: boolean
}

export function formatTransaction(row: ListedRow, { seesPeople }: Sight): TransactionResponse {
  const dims = dimensionsOf(row)
  const money = (minor: number) => formatMoney(minor, row.currency)
  return {
    ...{
      id: row.id,
      type: row.type,
      provider: row.provider,
      external_id: row.external_id,
      order_id: row.order_id,
      parent_id: row.parent_id,
    },
    ...{ amount: money(row.amount_minor), tax: money(row.tax_minor), shipping: money(row.shipping_minor) },
    discount: money(row.discount_minor),
    base:
      row.base_minor === null
        ? null
        : { amount: formatMoney(BigInt(row.base_minor), row.base_currency!), rate: row.rate!, rate_day: row.rate_day! }, // set together
    ...{ trust: row.trust, recurring: row.recurring, flags: flagsOf(row) },
    ...{ source: dims.source ?? null, channel: dims.channel ?? null, country: dims.country ?? null },
    ...(seesPeople && { person: row.visitor }),
    ...{ import_id: row.import_id === 0 ? null : row.import_id, note: row.note, created_by: row.created_by },
    ...{ occurred_at: instantText(row.occurred_at), received_at: instantText(row.received_at) },
  }
}

interface DetailParts extends Sight {
  related: readonly TransactionRow[]
  aliases: readonly { provider: string; alias: string }[]
}

export function formatDetail(row: TransactionRow, { related, aliases, seesPeople }: DetailParts): TransactionDetail {
  return {
    ...formatTransaction(row, { seesPeople }),
    visit_started_at: instantOrNull(row.visit_started_at),
    dimensions: dimensionsOf(row),
    link_id: row.link_id,
    touches: touchesOf(row).map(({ at, sequence: _, ...dimensions }) => ({ at: instantText(at), dimensions })),
    items: JSON.parse(row.items_json) as SaleItem[], // written when the transaction was stored
    transactions: related.map((each) => formatTransaction(each, { seesPeople })),
    ids: [{ provider: row.provider, id: row.external_id }, ...aliases.map(({ provider, alias }) => ({ provider, id: alias }))],
  }
}

function flagsOf(row: ListedRow): TransactionResponse["flags"] {
  const stored = JSON.parse(row.flags_json) as TransactionResponse["flags"] // written by `settle`
  return isUnattributed(row) ? [...stored, "unattributed"] : stored
}

/** Refunds and the like are credited like their sale, so only sales are marked. */
const isUnattributed = ({ type, visit_started_at, is_open }: ListedRow): boolean =>
  type === "sale" && visit_started_at === null && is_open === 0
