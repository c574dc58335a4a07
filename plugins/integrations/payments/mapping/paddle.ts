import { type Mapped, type PaymentDraft, paid, unknownType } from "./mapped.ts"
import {
  aliasesOf,
  currencyIn,
  detailIn,
  entryOf,
  itemsOf,
  type Json,
  listIn,
  minorIn,
  objectIn,
  requiredId,
  textIn,
  timeIn,
} from "./reading.ts"

export function mapPaddle(event: Json): Mapped {
  const type = textIn(event, "event_type")
  const map = entryOf(TYPES, type)
  if (!map) return unknownType(type)
  const data = objectIn(event, "data")
  return map(data, { currency: currencyIn(data, "currency_code"), occurred_at: timeIn(event, ["occurred_at"]) })
}

type Base = Pick<PaymentDraft, "currency" | "occurred_at">

const TYPES: Readonly<Record<string, (data: Json, base: Base) => Mapped>> = {
  "transaction.completed": transaction,
  "adjustment.created": adjustment,
  "adjustment.updated": adjustment,
}

/** Returns whether a transaction belongs to a subscription, and which one it is. */
function recurringOf(data: Json): "first" | "renewal" | undefined {
  if (textIn(data, "subscription_id") === undefined) return undefined
  return textIn(data, "origin")?.startsWith("subscription_") ? "renewal" : "first"
}

function transaction(data: Json, base: Base): Mapped {
  const external_id = requiredId(data, "id")
  const details = objectIn(data, "details")
  const totals = objectIn(details, "totals")
  const custom = objectIn(data, "custom_data")
  const recurring = recurringOf(data)
  // Renewals repeat the custom data of the first transaction, but are orders of their own.
  const order = recurring === "renewal" ? undefined : textIn(custom, "order_id")
  return paid({
    payment: {
      ...base,
      ...{ type: "sale", external_id, aliases: aliasesOf(external_id, [textIn(data, "invoice_id")]), order_id: order ?? external_id },
      amount_minor: minorIn(totals, "grand_total"),
      tax_minor: detailIn(() => minorIn(totals, "tax")),
      discount_minor: detailIn(() => minorIn(totals, "discount")),
      ...itemsOf(listIn(details, "line_items"), (line) => ({
        sku: textIn(line, "price_id"),
        name: textIn(objectIn(line, "product"), "name"),
        total: minorIn(objectIn(line, "totals"), "total"),
      })),
      ...(recurring && { recurring }),
    },
    userId: textIn(custom, "user_id"),
  })
}

/** Types of the adjustments that move money. Credits stay with the customer, and warnings come before a chargeback. */
const ACTIONS = { refund: "refund", chargeback: "dispute", chargeback_reverse: "adjustment" } as const

function adjustment(data: Json, base: Base): Mapped {
  const type = entryOf<(typeof ACTIONS)[keyof typeof ACTIONS]>(ACTIONS, textIn(data, "action"))
  if (!type) return { ignored: "The adjustment pays nothing back." }
  return {
    payments: [
      {
        payment: {
          ...base,
          ...{ type, external_id: requiredId(data, "id"), aliases: [], parent: requiredId(data, "transaction_id") },
          amount_minor: minorIn(objectIn(data, "totals"), "total"),
          ...(textIn(data, "status") === "rejected" && { voided: true }),
        },
      },
    ],
  }
}
