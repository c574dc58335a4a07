import { Type as t } from "@sinclair/typebox"
import { field, orNull, type ProductEventForm, type Site, type TransactionType, textOf } from "#plugin"

const payload = t.Object(
  {
    transaction_id: field.id("Id of the transaction."),
    type: textOf<TransactionType>({ description: "Type of the transaction." }),
    order_id: orNull(t.String(), { description: "Id of the order in the shop. null if it is not known." }),
    amount_minor: field.integer("Amount in minor units of the currency."),
    currency: field.text("ISO 4217 code."),
    sale_id: t.Optional(
      orNull(t.Integer(), {
        description: "Id of the sale that this transaction belongs to. null while it is not known. Absent for sales.",
      }),
    ),
  },
  { additionalProperties: false },
)

/** The product events of transactions: sales and adjustments, and what was paid back. */
export const EVENTS = {
  "revenue.recorded": { title: "Revenue recorded", payload },
  "revenue.refunded": { title: "Revenue refunded", payload },
} as const satisfies Record<string, ProductEventForm>

type EventName = keyof typeof EVENTS
export const EVENT_NAMES = Object.keys(EVENTS) as EventName[] // the keys of its type

/** A transaction that was not announced yet. */
export interface Unannounced {
  id: number
  site_id: number
  type: TransactionType
  order_id: string | null
  amount_minor: number
  currency: string
  parent_id: number | null
}

/** Returns the product event of a transaction. It contains ids and amounts only. */
export const eventOf = (site: Site, { id, type, order_id, amount_minor, currency, parent_id }: Unannounced) => ({
  event: type === "sale" || type === "adjustment" ? "revenue.recorded" : "revenue.refunded",
  organizationId: site.organization_id,
  siteId: site.id,
  payload: { transaction_id: id, type, order_id, amount_minor, currency, ...(type !== "sale" && { sale_id: parent_id }) },
})
