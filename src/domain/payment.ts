/**
 * The payment object: what a payment provider, or an import, reports about one payment. It is the payload of the product event
 * `internal.payment_received`. Its publisher has verified the sender; its consumer knows no provider.
 */
import { type Static, Type as t } from "@sinclair/typebox"
import { parseCurrency } from "./currency.ts"
import type { Fault } from "./error.ts"
import { parseInstant } from "./moment.ts"
import { MAX_AMOUNT_MINOR } from "./money.ts"
import { fault, inspect } from "./shape.ts"

/** Name of the product event whose payload is a payment object. */
export const PAYMENT_RECEIVED = "internal.payment_received"

export const PAYMENT_PROVIDERS = ["stripe", "paddle", "lemonsqueezy", "woocommerce", "shopify", "generic", "import"] as const
export const TRANSACTION_TYPES = ["sale", "refund", "dispute", "adjustment"] as const
export type TransactionType = (typeof TRANSACTION_TYPES)[number]

const oneOf = <Name extends string>(names: readonly Name[], description: string) =>
  t.Union(
    names.map((name) => t.Literal(name)),
    { description },
  )
const identifier = (description: string) => t.String({ minLength: 1, maxLength: 200, description })
const amount = (minimum: number, description: string) => t.Integer({ minimum, maximum: MAX_AMOUNT_MINOR, description })

/** A line item of a sale. */
export const SaleItem = t.Object(
  {
    sku: t.Optional(t.String({ maxLength: 200, description: "Stock keeping unit." })),
    name: t.Optional(t.String({ maxLength: 200, description: "Name of the product." })),
    category: t.Optional(t.String({ maxLength: 200, description: "Category of the product." })),
    quantity: t.Integer({ minimum: 1, maximum: 1_000_000, description: "Number of pieces." }),
    unit_minor: t.Optional(amount(-MAX_AMOUNT_MINOR, "Price of one piece in minor units.")),
    total_minor: amount(-MAX_AMOUNT_MINOR, "Price of all pieces in minor units."),
  },
  { additionalProperties: false, title: "SaleItem" },
)
export type SaleItem = Static<typeof SaleItem>

/** Schema of the payment object, version 1. A later version of the program may add fields, so unknown fields are ignored. */
export const PaymentReceived = t.Object(
  {
    version: t.Literal(1, { description: "Version of the schema." }),
    provider: oneOf(PAYMENT_PROVIDERS, "Sender of the payment. `import` marks an imported refund."),
    import_id: t.Optional(t.Integer({ minimum: 1, description: "ID of the import. Present only with the provider `import`." })),
    type: oneOf(TRANSACTION_TYPES, "Type of the transaction. A dispute that was won is an adjustment."),
    external_id: identifier(
      "Sale: ID of the payment, otherwise of the charge, invoice, checkout session or order. Refund: its own ID. Dispute and its adjustment: ID of the dispute.",
    ),
    aliases: t.Array(identifier("ID."), {
      maxItems: 10,
      uniqueItems: true,
      description: "Other IDs of the same payment at the provider, such as those of its charge and its invoice.",
    }),
    order_id: t.Optional(identifier("ID of the order in the shop.")),
    parent: t.Optional(identifier("External ID or alias of the sale. Not present on sales.")),
    amount_minor: t.Integer({
      minimum: -MAX_AMOUNT_MINOR,
      maximum: MAX_AMOUNT_MINOR,
      description: "Received, refunded or disputed amount in minor units. Negative only on adjustments.",
    }),
    amount_rank: t.Optional(
      t.Integer({
        minimum: 1,
        maximum: 4,
        description:
          "Record that states the amount: 1 payment, 2 charge, 3 invoice, 4 checkout session or order. The lowest rank wins. Default: 1.",
      }),
    ),
    currency: t.String({ description: "Active ISO 4217 code in upper case." }),
    tax_minor: t.Optional(amount(0, "Tax in minor units, as stated by the provider. Default: 0.")),
    shipping_minor: t.Optional(amount(0, "Shipping in minor units, as stated by the provider. Default: 0.")),
    discount_minor: t.Optional(amount(0, "Discount in minor units, as stated by the provider. Default: 0.")),
    items: t.Optional(t.Array(SaleItem, { maxItems: 100, description: "Line items." })),
    person: t.Optional(
      t.String({ minLength: 1, maxLength: 64, description: "Opaque key of the customer, made by the core. Never a user ID." }),
    ),
    recurring: t.Optional(
      oneOf(["first", "renewal"], "Whether this is the first payment of a subscription or a later one. Absent for other payments."),
    ),
    voided: t.Optional(t.Boolean({ description: "Whether the transaction is removed, as for a refund that failed. Default: false." })),
    occurred_at: t.String({ description: "Time at which the provider created its event, as RFC 3339 in UTC." }),
  },
  { title: "PaymentReceived" },
)
export type PaymentReceived = Static<typeof PaymentReceived>

/** A payment object with the defaults of its optional fields, and its time in epoch milliseconds. */
export type Payment = Omit<PaymentReceived, "occurred_at"> &
  Required<Pick<PaymentReceived, "amount_rank" | "tax_minor" | "shipping_minor" | "discount_minor" | "items" | "voided">> & {
    occurredAt: number
  }

/** Reads an untrusted payment object. Returns all its faults, or the payment. An object with a fault must not be published. */
export function readPayment(sent: unknown): { payment: Payment } | { faults: Fault[] } {
  const { fields, faults } = inspect(PaymentReceived, sent, "", [])
  const found = [...faults, ...meaningFaults(fields)]
  if (found.length > 0) return { faults: found }
  const payment = fields as PaymentReceived // without faults no field is missing
  const { occurred_at, ...rest } = payment
  return {
    payment: {
      ...{ amount_rank: 1, tax_minor: 0, shipping_minor: 0, discount_minor: 0, items: [], voided: false },
      ...rest,
      occurredAt: parseInstant(occurred_at)!, // checked above
    },
  }
}

/** Yields the faults of fields that are valid on their own. */
function* meaningFaults(fields: Partial<PaymentReceived>): Iterable<Fault> {
  const { provider, import_id, type, parent, amount_minor, currency, occurred_at } = fields
  if (import_id !== undefined && provider !== undefined && provider !== "import")
    yield fault("/import_id", "unsupported_combination", "is allowed only with the provider import")
  if (parent !== undefined && type === "sale") yield fault("/parent", "unsupported_combination", "is not allowed on a sale")
  if (amount_minor !== undefined && amount_minor < 0 && type !== undefined && type !== "adjustment")
    yield fault("/amount_minor", "out_of_range", "must not be negative, except on an adjustment")
  if (currency !== undefined && parseCurrency(currency) !== currency)
    yield fault("/currency", "unknown_currency", "must be an active ISO 4217 code in upper case")
  if (occurred_at !== undefined && (!occurred_at.endsWith("Z") || parseInstant(occurred_at) === undefined))
    yield fault("/occurred_at", "invalid_date", "must be an RFC 3339 time in UTC")
}
